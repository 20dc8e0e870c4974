// Every contraction of contraction_problems, one thread, beside its roof in the same rounds: the machine's peak of
// multiply-adds, or the speed of memory with as many bytes in use. Ends with sums of those bound by each.
//
//   contractions [--filter REGEX] [--target NAME] [--rounds N] [--json]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "apps/ingot/measurements/roofline.h"
#include "bench/contraction_runner.h"
#include "bench/measure.h"

namespace ingot {
namespace {

struct Measured {
  double us, gflops, share;  // of the peak
  double attained;           // of what the roof allows
  std::string bound;
  size_t steps;
};

constexpr double kLevelSeconds = 0.01;  // for the speed of memory, in each round

// The machine at this moment, with memory as fast as where the problem's data lie.
Roof roof_now(const ContractionProblem& problem, const MachinePeaks& machine, double peak_gflops) {
  MachinePeaks now = machine;
  now.f32_gflops = peak_gflops;
  const size_t level = level_that_holds(static_cast<uint64_t>(problem.bytes()), machine);
  const auto bytes = static_cast<uint64_t>(problem.bytes());
  now.levels[level] = measure_level(machine.levels[level], bytes, 1, kLevelSeconds);
  Work work{.flops = problem.flops, .levels = std::vector<Moved>(machine.levels.size()), .steps = 1};
  work.levels[level] = {problem.read_bytes, problem.written_bytes};
  return roof_of(work, now);
}

struct Options {
  std::string filter = ".*", target = "host";
  int rounds = 5;
  bool json = false;
};

Measured measure(const engine::AlignedBytes& bytes, const ContractionProblem& problem, const bench::Peak& peak,
                 const MachinePeaks& machine, int rounds) {
  bench::Runner runner(bytes, 1);
  std::vector<double> times, shares, attained;
  std::vector<std::string> bounds;
  for (int round = 0; round < rounds; ++round) {
    times.push_back(bench::best_ns(4e6, [&] { runner.run(); }));
    const double peak_gflops = peak.gflops(times.back());
    const Roof roof = roof_now(problem, machine, peak_gflops);
    shares.push_back(problem.flops / times.back() / peak_gflops);
    attained.push_back(roof.ms * 1e6 / times.back());
    bounds.push_back(roof.bound);
  }
  std::ranges::sort(bounds);
  const double ns = bench::median(times);
  return {ns / 1000,     problem.flops / ns, bench::median(shares), bench::median(attained), bounds[bounds.size() / 2],
          runner.steps()};
}

// Of all problems that have one bound: how near they come to it, and which is the farthest.
struct Sum {
  int count = 0;
  double logs = 0, least = INFINITY;
  std::string farthest;

  void add(const std::string& name, double attained) {
    ++count;
    logs += std::log(attained);
    if (attained < least) farthest = name;
    least = std::min(least, attained);
  }
  double mean() const { return std::exp(logs / std::max(count, 1)); }
};

void print_sum(const std::string& bound, const Sum& sum) {
  if (sum.count == 0) return;
  fmt::print("{:3} bound by {}: geometric mean {:.1f} % of the roof, the least {:.1f} % ({})\n", sum.count, bound,
             100 * sum.mean(), 100 * sum.least, sum.farthest);
}

nlohmann::json row_of(const ContractionProblem& problem, const Measured& m) {
  return {{"us", m.us},
          {"gflops", m.gflops},
          {"share_of_peak", m.share},
          {"gb_per_s", problem.bytes() / m.us / 1000},
          {"bound", m.bound},
          {"share_of_roof", m.attained},
          {"steps", m.steps}};
}

constexpr double kLargeFlops = 2e7;  // enough that beginning and ending do not count

void compare_with_roofs(const Options& options) {
  const bench::Peak peak(loops::find_target(options.target));
  const MachinePeaks machine = measure_peaks(1);
  std::map<std::string, Sum> sums;
  nlohmann::json all;
  if (!options.json)
    fmt::print("peak {:.1f} GFLOP/s\n{:54} {:>10} {:>9} {:>7} {:>6} {:>7}  bound\n", peak.gflops(), "", "us", "GFLOP/s",
               "peak%", "GB/s", "roof%");
  for (ContractionProblem& problem : contraction_problems()) {
    if (!std::regex_search(problem.name, std::regex(options.filter))) continue;
    const Measured m = measure(bench::compiled(problem, options.target), problem, peak, machine, options.rounds);
    const std::string bound = m.bound == "compute" ? m.bound : "memory";
    sums[bound].add(problem.name, m.attained);
    if (problem.flops > kLargeFlops) sums[bound + ", more than 20 MFLOP"].add(problem.name, m.attained);
    if (options.json) {
      all[problem.name] = row_of(problem, m);
    } else {
      fmt::print("{:54} {:10.1f} {:9.1f} {:7.1f} {:6.1f} {:7.1f}  {}\n", problem.name, m.us, m.gflops, 100 * m.share,
                 problem.bytes() / m.us / 1000, 100 * m.attained, m.bound);
    }
  }
  if (options.json) return fmt::print("{}\n", all.dump(2));
  for (const auto& [bound, sum] : sums) print_sum(bound, sum);
}

int main(int count, char** arguments) {
  CLI::App app("Contractions beside the machine's roofs, one thread");
  Options options;
  app.add_option("--filter", options.filter, "a regular expression of names");
  app.add_option("--target", options.target, "whose code is measured, of those that this machine runs");
  app.add_option("--rounds", options.rounds, "how often each is measured; the median counts");
  app.add_flag("--json", options.json, "print JSON");
  CLI11_PARSE(app, count, arguments);
  compare_with_roofs(options);
  return 0;
}

}  // namespace
}  // namespace ingot

int main(int count, char** arguments) { return ingot::main(count, arguments); }
