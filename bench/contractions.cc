// Every contraction of contraction_problems, one thread, beside its roof in the same rounds: the machine's peak of
// multiply-adds, or the speed of memory with as many bytes in use. Ends with sums of those bound by each.
//
//   contractions [--filter REGEX] [--rounds N] [--json]
//   contractions --threads N    what so many threads gain, each on a core of its own, beside what the peak gains by them
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
  now.levels[level] = measure_level(machine.levels[level], bytes, 1, kLevelSeconds);
  Work work{.flops = problem.flops, .levels = std::vector<Moved>(machine.levels.size()), .steps = 1};
  work.levels[level] = {problem.read_bytes, problem.written_bytes};
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

constexpr double kManyFlops = 1e8;    // that pay for a second thread
constexpr double kGoodShare = 0.925;  // 1.85 of 2
constexpr double kRoundNs = 4e6;      // of each of those that are compared, in a round
constexpr double kPeakNs = 1.5e5;     // of the peak before and after them
constexpr double kStill = 1.05;       // as slow as the fastest of a round's peaks: the others
constexpr double kProblemNs = 1.2e9;  // of all rounds of a problem

// How many times as fast as one thread: several, by the problem, by multiply-adds in registers and, which is 1 but for
// noise, one thread in another session.
struct Speedup {
  double one_us, many_us, problem, peak, share, itself;
  size_t rounds;
};

// One thread and several in turn, with the peak before and after each. A round counts where all peaks agree: for some
// milliseconds two cores of a virtual machine may be one, or a core may serve two machines.
class SpeedupRounds {
 public:
  SpeedupRounds(const engine::AlignedBytes& bytes, uint32_t threads, const bench::Peak& peak)
      : threads_(threads),
        one_(bytes, 1),
        other_(bytes, 1),
        multiply_adds_(peak.calls(kPeakNs)),
        alone_(1),
        gang_(static_cast<int>(threads)) {
    bench::keep_to_cores(1, static_cast<int>(threads) - 1);
    many_.emplace(bytes, threads);
    bench::keep_to_cores(0, 1);
  }

  Speedup measure(int wanted) {
    const double end_ns = bench::wall_ns() + kProblemNs;
    while (static_cast<int>(still_.size()) < wanted && bench::wall_ns() < end_ns) add_round();
    const std::vector<Speedup>& rounds = still_.empty() ? all_ : still_;
    const auto median = [&](double Speedup::* value) {
      std::vector<double> values;
      for (const Speedup& round : rounds) values.push_back(round.*value);
      return bench::median(values);
    };
    return {median(&Speedup::one_us),
            median(&Speedup::many_us),
            median(&Speedup::problem),
            median(&Speedup::peak),
            median(&Speedup::share),
            median(&Speedup::itself),
            still_.size()};
  }

 private:
  // With its operands in the caches and its threads awake.
  static double best_ns(Runner& runner) {
    runner.run();
    return bench::best_ns(kRoundNs, [&] { runner.run(); }, bench::wall_ns);
  }

  void add_round() {
    std::vector<double> peaks_ns;
    const auto peak_ns = [&](bench::Gang& gang) { return peaks_ns.emplace_back(gang.best_ns(2, multiply_adds_)); };
    double one_peak_ns = peak_ns(alone_);
    const double one_ns = best_ns(one_);
    one_peak_ns += peak_ns(alone_);
    const double other_ns = best_ns(other_);
    peak_ns(alone_);
    double many_peak_ns = peak_ns(gang_);
    const double many_ns = best_ns(*many_);
    many_peak_ns += peak_ns(gang_);
    const double gain = one_ns / many_ns, peak_gain = threads_ * one_peak_ns / many_peak_ns;
    const auto [least, most] = std::ranges::minmax(peaks_ns);
    all_.push_back({one_ns / 1000, many_ns / 1000, gain, peak_gain, gain / peak_gain, other_ns / one_ns, 1});
    if (most <= kStill * least) still_.push_back(all_.back());
  }

  uint32_t threads_;
  Runner one_, other_;
  std::optional<Runner> many_;
  std::function<void()> multiply_adds_;
  bench::Gang alone_, gang_;
  std::vector<Speedup> all_, still_;
};

int compare_threads(const std::string& filter, uint32_t threads, int rounds, const bench::Peak& peak) {
  fmt::print("{:54} {:>10} {:>10} {:>8} {:>8} {:>8} {:>8} {:>7}\n", "", "us", fmt::format("us by {}", threads),
             "speedup", "peak's", "share", "itself", "rounds");
  std::vector<double> shares;
  for (ContractionProblem& problem : contraction_problems()) {
    if (!std::regex_search(problem.name, std::regex(filter)) || problem.flops < kManyFlops) continue;
    const engine::AlignedBytes bytes = compiled(problem);
    const Speedup it = SpeedupRounds(bytes, threads, peak).measure(rounds);
    shares.push_back(it.share);
    fmt::print("{:54} {:10.1f} {:10.1f} {:8.2f} {:8.2f} {:8.3f} {:8.2f} {:7}\n", problem.name, it.one_us, it.many_us,
               it.problem, it.peak, it.share, it.itself, it.rounds);
    std::fflush(stdout);
  }
  const auto good = std::ranges::count_if(shares, [](double share) { return share >= kGoodShare; });
  fmt::print("{} of {} gain at least {} % of what the peak gains\n", good, shares.size(), 100 * kGoodShare);
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
  if (threads > 1) return compare_threads(filter, threads, rounds, peak);
  compare_with_roofs(filter, rounds, json, peak);
  return 0;
}

}  // namespace
}  // namespace ingot

int main(int count, char** arguments) { return ingot::main(count, arguments); }
