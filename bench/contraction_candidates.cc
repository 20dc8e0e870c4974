// Every contraction of contraction_problems as it is computed, beside the next candidates by predicted time: what a better
// choice would gain. Ends with 1 where more than a tenth of the choices are behind one of the next by more than 5 %.
//
//   contraction_candidates [--filter REGEX] [--count N] [--rounds N] [--verbose]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <regex>

#include "aot/ops/ops.h"
#include "aot/pipeline/passes.h"
#include "bench/measure.h"
#include "tests/support/contraction_suite.h"
#include "tests/support/schedule_fixture.h"

namespace ingot {
namespace {

constexpr double kNear = 1.05;        // as much time as the best of the next candidates
constexpr double kShareWanted = 0.9;  // of all choices: that are near

// One of the ways in which a contraction may be computed.
struct Alternative {
  Alternative(const Op& kernel, int rank)
      : lowering(lower(kernel, target(), {.contraction_rank = rank})),
        code(compile_lowering(lowering, target())),
        run(kernel, lowering) {
    std::vector<RefTensor> operands;
    for (const Value* operand : kernel.operands) {
      RefTensor& tensor = operands.emplace_back(operand->type);
      for (size_t k = 0; k < tensor.f.size(); ++k) tensor.f[k] = static_cast<double>(k % 17) / 17 - 0.5;
    }
    run.set_operands(operands);
  }
  static const loops::Target& target() { return loops::find_target("host"); }
  std::string choice() const { return lowering.choices.empty() ? "" : lowering.choices[0]; }

  Lowering lowering;
  codegen::Executable code;
  LoweringRun run;
  double us() const { return bench::median(round_us); }
  std::vector<double> round_us = {};
};

// Of every kernel with a contraction: the chosen candidate's time as a share of the least of the nearest `count`.
std::vector<double> compare_candidates(ContractionProblem& problem, int count, int rounds, bool is_verbose) {
  PassContext context;
  context.target = &Alternative::target();
  run_passes(compile_passes(), *problem.module, context);
  std::vector<double> shares;
  for (const auto& kernel : problem.module->functions[0]->body.ops) {
    if (!kernel->is(kKernel) || lower(*kernel, Alternative::target()).choices.empty()) continue;
    std::vector<std::unique_ptr<Alternative>> alternatives;
    for (int rank = 0; rank < count; ++rank) {
      auto next = std::make_unique<Alternative>(*kernel, rank);
      if (rank > 0 && next->choice() == alternatives.back()->choice()) break;
      alternatives.push_back(std::move(next));
    }
    for (int round = 0; round < rounds; ++round) {
      for (const auto& it : alternatives)
        it->round_us.push_back(bench::best_ns(2e6, [&] { it->run.run(it->code, false); }) / 1000);
    }
    const auto& best = *std::ranges::min_element(alternatives, {}, [](const auto& it) { return it->us(); });
    shares.push_back(alternatives[0]->us() / best->us());
    fmt::print("{:54} {:10.1f} us, of {} the best {:10.1f} us: x{:.2f}\n", problem.name, alternatives[0]->us(),
               alternatives.size(), best->us(), shares.back());
    if (!is_verbose) continue;
    for (const auto& it : alternatives) fmt::print("    {:10.1f} us  {}\n", it->us(), it->choice());
  }
  return shares;
}

int compare_all(const std::string& filter, int count, int rounds, bool is_verbose) {
  int64_t near = 0, all = 0;
  for (ContractionProblem& problem : contraction_problems()) {
    if (!std::regex_search(problem.name, std::regex(filter))) continue;
    for (const double share : compare_candidates(problem, count, rounds, is_verbose)) {
      ++all;
      if (share <= kNear) ++near;
    }
  }
  fmt::print("{} of {} choices are within {:.0f} % of the best of their {} nearest\n", near, all, 100 * (kNear - 1),
             count);
  return static_cast<double>(near) < kShareWanted * static_cast<double>(all) ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int count, char** arguments) {
  CLI::App app("Contractions as they are computed, beside other ways, one thread");
  std::string filter = ".*";
  int candidates = 10, rounds = 5;
  bool is_verbose = false;
  app.add_option("--filter", filter, "a regular expression of names");
  app.add_option("--count", candidates, "how many candidates");
  app.add_option("--rounds", rounds, "how often each is measured; the median counts");
  app.add_flag("--verbose", is_verbose, "list them");
  CLI11_PARSE(app, count, arguments);
  return compare_all(filter, candidates, rounds, is_verbose);
}

}  // namespace
}  // namespace ingot

int main(int count, char** arguments) { return ingot::main(count, arguments); }
