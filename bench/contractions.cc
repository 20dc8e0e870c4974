// Every contraction of contraction_problems, one thread, beside the machine's peak of multiply-adds in the same rounds.
//
//   contractions [--filter REGEX] [--rounds N] [--json]
//   contractions --candidates N    each beside the next N - 1 by predicted time: what a better choice would gain
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <ctime>
#include <ingot/engine.hpp>
#include <nlohmann/json.hpp>
#include <regex>

#include "aot/codegen/compile.h"
#include "aot/codegen/execute.h"
#include "aot/loops/probe_kernels.h"
#include "aot/ops/ops.h"
#include "aot/pipeline/compile.h"
#include "tests/support/buffer.h"
#include "tests/support/contraction_suite.h"
#include "tests/support/schedule_fixture.h"

namespace ingot {
namespace {

// This thread's own time: others may run meanwhile.
double thread_ns() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

// The least time of a few calls that together take `at_least_ns`.
double best_ns(double at_least_ns, const std::function<void()>& call) {
  double best = INFINITY, total = 0;
  do {
    const double start = thread_ns();
    call();
    const double ns = thread_ns() - start;
    best = std::min(best, ns);
    total += ns;
  } while (total < at_least_ns);
  return best;
}

// Multiply-adds in registers alone, for as long as what they are compared with: a machine that others share gives more
// to short calls.
class Peak {
 public:
  Peak()
      : kernel_(loops::multiply_adds(DType::kF32, lanes(), kChains, kTrips)),
        code_(codegen::compile(std::span(&kernel_, 1), target())) {}

  double gflops(double call_ns = 1e5) {
    std::byte* const buffers[] = {x_.data(), y_.data()};
    const auto run = [&] { code_.run(0, buffers, 0); };
    const int64_t calls = std::max<int64_t>(1, std::llround(call_ns / best_ns(0, run)));
    const double ns = best_ns(4e6, [&] {
      for (int64_t k = 0; k < calls; ++k) run();
    });
    return 2.0 * kChains * kTrips * lanes() * static_cast<double>(calls) / ns;
  }

 private:
  static constexpr int64_t kChains = 12, kTrips = 5000;
  static const loops::Target& target() { return loops::find_target("host"); }
  static int lanes() { return target().lanes(DType::kF32); }

  loops::Kernel kernel_;
  codegen::Executable code_;
  Buffer x_{lanes() * 4}, y_{kChains * lanes() * 4};
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

struct Measured {
  double us, gflops, share;  // of the peak
  size_t steps;
};

std::vector<std::byte> compiled(ContractionProblem& problem) {
  std::vector<std::unique_ptr<Module>> modules;
  modules.push_back(std::move(problem.module));
  CompileOptions options;
  options.targets = {"host"};
  return bundle::write_bundle(compile(std::move(modules), options).spec);
}

Measured measure(ContractionProblem& problem, Peak& peak, int rounds) {
  const std::vector<std::byte> file = compiled(problem);
  engine::AlignedBytes bytes(file.size(), 64);
  std::ranges::copy(file, bytes.data());
  const engine::Bundle bundle(std::span<const std::byte>(bytes.data(), bytes.size()));
  engine::Session session(bundle);
  const engine::Entry entry = session.entry(0);
  for (uint32_t i = 0; i < bundle.entry(0).input_count; ++i) {
    const std::span<float> values = entry.input<float>(bundle.input(0, i).name);
    for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(k % 17) / 17 - 0.5f;
  }
  entry.run();
  std::vector<double> times, shares;
  for (int round = 0; round < rounds; ++round) {
    times.push_back(best_ns(4e6, [&] { entry.run(); }));
    shares.push_back(problem.flops / times.back() / peak.gflops(times.back()));
  }
  const double ns = median(times);
  return {ns / 1000, problem.flops / ns, median(shares), bundle.entry(0).step_count};
}

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
  double best_us = INFINITY;
};

// Of every kernel with a contraction: the chosen candidate's time as a share of the least of the nearest `count`.
std::vector<double> compare_candidates(ContractionProblem& problem, int count, int rounds, bool is_verbose) {
  PassContext context;
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
        it->best_us = std::min(it->best_us, best_ns(2e6, [&] { it->run.run(it->code, false); }) / 1000);
    }
    const auto& best = *std::ranges::min_element(alternatives, {}, [](const auto& it) { return it->best_us; });
    shares.push_back(alternatives[0]->best_us / best->best_us);
    fmt::print("{:54} {:10.1f} us, of {} the best {:10.1f} us: x{:.2f}\n", problem.name, alternatives[0]->best_us,
               alternatives.size(), best->best_us, shares.back());
    if (!is_verbose) continue;
    for (const auto& it : alternatives) fmt::print("    {:10.1f} us  {}\n", it->best_us, it->choice());
  }
  return shares;
}

int compare_all(const std::string& filter, int count, int rounds, bool is_verbose) {
  int64_t near = 0, all = 0;
  for (ContractionProblem& problem : contraction_problems()) {
    if (!std::regex_search(problem.name, std::regex(filter))) continue;
    for (const double share : compare_candidates(problem, count, rounds, is_verbose)) {
      ++all;
      if (share <= 1.05) ++near;
    }
  }
  fmt::print("{} of {} choices are within 5 % of the best of their {} nearest\n", near, all, count);
  return 0;
}

int main(int count, char** arguments) {
  CLI::App app("Contractions beside the machine's peak, one thread");
  std::string filter = ".*";
  int rounds = 5;
  int candidates = 0;
  bool json = false, verbose = false;
  app.add_option("--filter", filter, "a regular expression of names");
  app.add_option("--rounds", rounds, "how often each is measured; the median counts");
  app.add_flag("--json", json, "print JSON");
  app.add_option("--candidates", candidates, "measure so many ways to compute each");
  app.add_flag("--verbose", verbose, "list them");
  CLI11_PARSE(app, count, arguments);
  if (candidates > 0) return compare_all(filter, candidates, rounds, verbose);
  Peak peak;
  double logs = 0;
  int bound_by_compute = 0;
  nlohmann::json all;
  if (!json)
    fmt::print("peak {:.1f} GFLOP/s\n{:54} {:>10} {:>9} {:>7} {:>6}\n", peak.gflops(), "", "us", "GFLOP/s", "peak%",
               "GB/s");
  for (ContractionProblem& problem : contraction_problems()) {
    if (!std::regex_search(problem.name, std::regex(filter))) continue;
    const Measured m = measure(problem, peak, rounds);
    if (!problem.is_few_rows) {
      logs += std::log(m.share);
      ++bound_by_compute;
    }
    const double gbs = problem.bytes / m.us / 1000;
    if (json) {
      all[problem.name] = {
          {"us", m.us}, {"gflops", m.gflops}, {"share_of_peak", m.share}, {"gb_per_s", gbs}, {"steps", m.steps}};
    } else {
      fmt::print("{:54} {:10.1f} {:9.1f} {:7.1f} {:6.1f}\n", problem.name, m.us, m.gflops, 100 * m.share, gbs);
    }
  }
  const double mean = std::exp(logs / std::max(bound_by_compute, 1));
  if (json) {
    fmt::print("{}\n", all.dump(2));
  } else {
    fmt::print("{} bound by compute: geometric mean {:.1f} % of peak\n", bound_by_compute, 100 * mean);
  }
  return 0;
}

}  // namespace
}  // namespace ingot

int main(int count, char** arguments) { return ingot::main(count, arguments); }
