// Every contraction of contraction_problems, one thread, beside its roof in the same rounds: the machine's peak of
// multiply-adds, or the speed of memory with as many bytes in use. Ends with sums of those bound by each.
//
//   contractions [--filter REGEX] [--rounds N] [--json]
//   contractions --threads N    the same by so many threads, beside what the peak gains by them
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <ingot/engine.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "aot/pipeline/compile.h"
#include "apps/ingot/roofline.h"
#include "bench/measure.h"
#include "tests/support/contraction_suite.h"

namespace ingot {
namespace {

struct Measured {
  double us, gflops, share;  // of the peak
  double attained;           // of what the roof allows
  std::string bound;
  size_t steps;
};

engine::AlignedBytes compiled(ContractionProblem& problem) {
  std::vector<std::unique_ptr<Module>> modules;
  modules.push_back(std::move(problem.module));
  CompileOptions options;
  options.targets = {"host"};
  const std::vector<std::byte> file = bundle::write_bundle(compile(std::move(modules), options).spec);
  engine::AlignedBytes bytes(file.size(), 64);
  std::ranges::copy(file, bytes.data());
  return bytes;
}

// A program with one input after the other, run by the engine.
class Runner {
 public:
  Runner(const engine::AlignedBytes& bytes, uint32_t threads)
      : bundle_(std::span<const std::byte>(bytes.data(), bytes.size())), session_(bundle_, threads) {
    const engine::Entry entry = session_.entry(0);
    for (uint32_t i = 0; i < bundle_.entry(0).input_count; ++i) {
      const std::span<float> values = entry.input<float>(bundle_.input(0, i).name);
      for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(k % 17) / 17 - 0.5f;
    }
    run();
  }

  void run() { session_.entry(0).run(); }
  size_t steps() const { return bundle_.entry(0).step_count; }

 private:
  engine::Bundle bundle_;
  engine::Session session_;
};

constexpr double kLevelSeconds = 0.01;  // for the speed of memory, in each round

// The machine at this moment, with memory as fast as where the problem's data lie.
Roof roof_now(const ContractionProblem& problem, const MachinePeaks& machine, double peak_gflops) {
  MachinePeaks now = machine;
  now.f32_gflops = peak_gflops;
  const size_t level = level_that_holds(static_cast<uint64_t>(problem.bytes()), machine);
  const auto bytes = static_cast<uint64_t>(problem.bytes());
  now.levels[level] = measure_level(machine.levels[level].name, bytes, 1, kLevelSeconds);
  Work work{.flops = problem.flops, .levels = std::vector<Moved>(machine.levels.size()), .steps = 1};
  work.levels[level] = {problem.bytes(), problem.read_bytes};
  return roof_of(work, now);
}

Measured measure(ContractionProblem& problem, const bench::Peak& peak, const MachinePeaks& machine, int rounds) {
  const engine::AlignedBytes bytes = compiled(problem);
  Runner runner(bytes, 1);
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

constexpr double kManyFlops = 1e8;  // that pay for a second thread

int compare_threads(const std::string& filter, uint32_t threads, const bench::Peak& peak) {
  fmt::print("{:54} {:>10} {:>10} {:>8} {:>8}\n", "", "us", fmt::format("us by {}", threads), "speedup", "peak's");
  for (ContractionProblem& problem : contraction_problems()) {
    if (!std::regex_search(problem.name, std::regex(filter)) || problem.flops < kManyFlops) continue;
    const engine::AlignedBytes bytes = compiled(problem);
    Runner one(bytes, 1), many(bytes, threads);
    double one_ns = INFINITY, many_ns = INFINITY;
    for (int round = 0; round < 8; ++round) {
      one_ns = std::min(one_ns, bench::best_ns(1e7, [&] { one.run(); }, bench::wall_ns));
      many_ns = std::min(many_ns, bench::best_ns(1e7, [&] { many.run(); }, bench::wall_ns));
    }
    fmt::print("{:54} {:10.1f} {:10.1f} {:8.2f} {:8.2f}\n", problem.name, one_ns / 1000, many_ns / 1000,
               one_ns / many_ns, peak.speedup(static_cast<int>(threads), one_ns));
  }
  return 0;
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

void compare_with_roofs(const std::string& filter, int rounds, bool json, const bench::Peak& peak) {
  const MachinePeaks machine = measure_peaks(1);
  std::map<std::string, Sum> sums;
  nlohmann::json all;
  if (!json)
    fmt::print("peak {:.1f} GFLOP/s\n{:54} {:>10} {:>9} {:>7} {:>6} {:>7}  bound\n", peak.gflops(), "", "us", "GFLOP/s",
               "peak%", "GB/s", "roof%");
  for (ContractionProblem& problem : contraction_problems()) {
    if (!std::regex_search(problem.name, std::regex(filter))) continue;
    const Measured m = measure(problem, peak, machine, rounds);
    const std::string bound = m.bound == "compute" ? m.bound : "memory";
    sums[bound].add(problem.name, m.attained);
    if (problem.flops > kLargeFlops) sums[bound + ", more than 20 MFLOP"].add(problem.name, m.attained);
    if (json) {
      all[problem.name] = row_of(problem, m);
    } else {
      fmt::print("{:54} {:10.1f} {:9.1f} {:7.1f} {:6.1f} {:7.1f}  {}\n", problem.name, m.us, m.gflops, 100 * m.share,
                 problem.bytes() / m.us / 1000, 100 * m.attained, m.bound);
    }
  }
  if (json) return fmt::print("{}\n", all.dump(2));
  for (const auto& [bound, sum] : sums) print_sum(bound, sum);
}

int main(int count, char** arguments) {
  CLI::App app("Contractions beside the machine's roofs, one thread");
  std::string filter = ".*";
  int rounds = 5;
  uint32_t threads = 1;
  bool json = false;
  app.add_option("--filter", filter, "a regular expression of names");
  app.add_option("--rounds", rounds, "how often each is measured; the median counts");
  app.add_flag("--json", json, "print JSON");
  app.add_option("--threads", threads, "beside one thread");
  CLI11_PARSE(app, count, arguments);
  const bench::Peak peak;
  if (threads > 1) return compare_threads(filter, threads, peak);
  compare_with_roofs(filter, rounds, json, peak);
  return 0;
}

}  // namespace
}  // namespace ingot

int main(int count, char** arguments) { return ingot::main(count, arguments); }
