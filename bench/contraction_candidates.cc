// Every contraction of contraction_problems as it is computed, beside the next candidates by predicted time: what a better
// choice would gain. Ends with 1 where more than a tenth of the choices are behind one of the next by more than 5 %.
// --program: those of a program's kernels instead, with all that is computed in their epilogues.
//
// The least of several noisy times is less than any of them should be. So the first rounds only find who challenges the
// choice; what counts is measured afresh, of these two alone, in turn.
//
//   contraction_candidates [--filter REGEX] [--target NAME] [--count N] [--rounds N] [--verbose] [--program FILE]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <map>
#include <regex>

#include "aot/base/file.h"
#include "aot/graph/text/parse.h"
#include "aot/ops/ops.h"
#include "aot/pipeline/passes.h"
#include "bench/measure.h"
#include "tests/support/contraction_suite.h"
#include "tests/support/schedule_fixture.h"

namespace ingot {
namespace {

constexpr double kNear = 1.05;        // as much time as the best of the next candidates
constexpr int kDeciding = 3;          // times as many rounds between the choice and its challenger
constexpr double kShareWanted = 0.9;  // of all choices: that are near

struct Options {
  std::string filter = ".*", target = "host", program;
  int count = 10, rounds = 5;
  bool is_verbose = false;
};

bool is_wanted(const std::string& name, const Options& options) {
  return std::regex_search(name, std::regex(options.filter));
}

// One of the ways in which a contraction may be computed.
struct Alternative {
  Alternative(const Op& kernel, const loops::Target& target, int rank)
      : lowering(lower(kernel, target, {.contraction_rank = rank})),
        code(compile_lowering(lowering, target)),
        run(kernel, lowering) {
    std::vector<RefTensor> operands;
    for (const Value* operand : kernel.operands) {
      RefTensor& tensor = operands.emplace_back(operand->type);
      for (size_t k = 0; k < tensor.f.size(); ++k) tensor.f[k] = static_cast<double>(k % 17) / 17 - 0.5;
    }
    run.set_operands(operands);
  }
  std::string choice() const { return lowering.choices.empty() ? "" : lowering.choices[0]; }

  Lowering lowering;
  codegen::Executable code;
  LoweringRun run;
  double us() const { return bench::median(round_us); }
  std::vector<double> round_us = {};
};

using Alternatives = std::vector<std::unique_ptr<Alternative>>;

// As it is computed, and then the next.
Alternatives nearest(const Op& kernel, const loops::Target& target, int count) {
  Alternatives alternatives;
  for (int rank = 0; rank < count; ++rank) {
    auto next = std::make_unique<Alternative>(kernel, target, rank);
    if (rank > 0 && next->choice() == alternatives.back()->choice()) break;
    alternatives.push_back(std::move(next));
  }
  return alternatives;
}

// Each of `some` in turn, so often; the order goes back and forth, so that none always follows the same.
void measure(const std::vector<Alternative*>& some, int rounds) {
  for (Alternative* const it : some) it->round_us.clear();
  for (int round = 0; round < rounds; ++round) {
    for (size_t k = 0; k < some.size(); ++k) {
      Alternative& it = *some[round % 2 == 0 ? k : some.size() - 1 - k];
      it.round_us.push_back(bench::best_ns(2e6, [&] { it.run.run(it.code, false); }) / 1000);
    }
  }
}

// How many times as long as `challenger` the chosen one takes: the median of rounds in which both ran, or by the least
// time of each, whichever speaks for the chosen one. 1 where it is its own challenger.
double behind(Alternative& chosen, Alternative& challenger, int rounds) {
  if (&chosen == &challenger) return 1;
  measure({&chosen, &challenger}, rounds);
  std::vector<double> shares;
  for (size_t k = 0; k < chosen.round_us.size(); ++k) shares.push_back(chosen.round_us[k] / challenger.round_us[k]);
  return std::min(bench::median(shares), std::ranges::min(chosen.round_us) / std::ranges::min(challenger.round_us));
}

// The chosen candidate's time as a share of that of its best challenger.
double compare_candidates(const std::string& name, const Op& kernel, const Options& options) {
  const Alternatives alternatives = nearest(kernel, loops::find_target(options.target), options.count);
  std::vector<Alternative*> all;
  for (const auto& it : alternatives) all.push_back(it.get());
  measure(all, options.rounds);
  std::vector<std::string> lines;
  for (const Alternative* const it : all) lines.push_back(fmt::format("    {:10.1f} us  {}", it->us(), it->choice()));
  Alternative &chosen = *all[0], &challenger = **std::ranges::min_element(all, {}, [](auto* it) { return it->us(); });
  const double share = behind(chosen, challenger, kDeciding * options.rounds);
  fmt::print("{:54} {:10.1f} us, of {} the challenger {:10.1f} us: x{:.2f}\n", name, chosen.us(), all.size(),
             challenger.us(), share);
  if (options.is_verbose) {
    for (const std::string& line : lines) fmt::print("{}\n", line);
    if (share > kNear) fmt::print("    better: {}\n", challenger.choice());
  }
  return share;
}

// The kernels in which there is something to choose, by what they compute.
using Contractions = std::map<std::string, const Op*>;

// Adds those of a block, and of the loops in it.
void find_contractions(const Block& block, const loops::Target& target, Contractions& found) {
  for (const auto& op : block.ops) {
    if (op->is(kKernel)) {
      const Lowering lowering = lower(*op, target);
      if (!lowering.choices.empty()) found.emplace(lowering.steps.back().kernel.name, op.get());
    } else {
      for (const auto& region : op->regions) find_contractions(*region, target, found);
    }
  }
}

// Of every kernel with a contraction.
std::vector<double> compare_candidates(ContractionProblem& problem, const Options& options) {
  PassContext context;
  const loops::Target& target = loops::find_target(options.target);
  context.target = &target;
  context.math = Math::kExact;  // convolutions stay
  run_passes(compile_passes(), *problem.module, context);
  Contractions kernels;
  find_contractions(problem.module->functions[0]->body, target, kernels);
  std::vector<double> shares;
  for (const auto& [kernel_name, kernel] : kernels) {
    const std::string& name = options.program.empty() ? problem.name : kernel_name;
    if (is_wanted(name, options)) shares.push_back(compare_candidates(name, *kernel, options));
  }
  return shares;
}

std::vector<ContractionProblem> problems(const Options& options) {
  if (options.program.empty()) {
    std::vector<ContractionProblem> suite = contraction_problems();
    std::erase_if(suite, [&](const ContractionProblem& problem) { return !is_wanted(problem.name, options); });
    return suite;
  }
  std::vector<ContractionProblem> program(1);
  program[0].module = parse_module(read_text(options.program), options.program, all_ops());
  return program;
}

int compare_all(const Options& options) {
  int64_t near = 0, all = 0;
  for (ContractionProblem& problem : problems(options)) {
    for (const double share : compare_candidates(problem, options)) {
      ++all;
      if (share <= kNear) ++near;
    }
  }
  fmt::print("{} of {} choices are within {:.0f} % of the best of their {} nearest\n", near, all, 100 * (kNear - 1),
             options.count);
  return static_cast<double>(near) < kShareWanted * static_cast<double>(all) ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int count, char** arguments) {
  CLI::App app("Contractions as they are computed, beside other ways, one thread");
  Options options;
  app.add_option("--filter", options.filter, "a regular expression of names");
  app.add_option("--target", options.target, "whose code is measured, of those that this machine runs");
  app.add_option("--count", options.count, "how many candidates");
  app.add_option("--rounds", options.rounds, "how often each is measured to find challengers");
  app.add_option("--program", options.program, "a StableHLO text whose kernels are measured");
  app.add_flag("--verbose", options.is_verbose, "list them");
  CLI11_PARSE(app, count, arguments);
  return compare_all(options);
}

}  // namespace
}  // namespace ingot

int main(int count, char** arguments) { return ingot::main(count, arguments); }
