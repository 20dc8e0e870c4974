// What several threads gain on each large contraction of contraction_problems, each on a core of its own, beside what
// multiply-adds in registers gain by them.
//
//   contraction_threads [--threads N] [--filter REGEX] [--rounds N]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <regex>

#include "bench/contraction_runner.h"
#include "bench/measure.h"

namespace ingot {
namespace {

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
  static double best_ns(bench::Runner& runner) {
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
  bench::Runner one_, other_;
  std::optional<bench::Runner> many_;
  std::function<void()> multiply_adds_;
  bench::Gang alone_, gang_;
  std::vector<Speedup> all_, still_;
};

void compare_threads(const std::string& filter, uint32_t threads, int rounds, const bench::Peak& peak) {
  fmt::print("{:54} {:>10} {:>10} {:>8} {:>8} {:>8} {:>8} {:>7}\n", "", "us", fmt::format("us by {}", threads),
             "speedup", "peak's", "share", "itself", "rounds");
  std::vector<double> shares;
  for (ContractionProblem& problem : contraction_problems()) {
    if (!std::regex_search(problem.name, std::regex(filter)) || problem.flops < kManyFlops) continue;
    const engine::AlignedBytes bytes = bench::compiled(problem);
    const Speedup it = SpeedupRounds(bytes, threads, peak).measure(rounds);
    shares.push_back(it.share);
    fmt::print("{:54} {:10.1f} {:10.1f} {:8.2f} {:8.2f} {:8.3f} {:8.2f} {:7}\n", problem.name, it.one_us, it.many_us,
               it.problem, it.peak, it.share, it.itself, it.rounds);
    std::fflush(stdout);
  }
  const auto good = std::ranges::count_if(shares, [](double share) { return share >= kGoodShare; });
  fmt::print("{} of {} gain at least {} % of what the peak gains\n", good, shares.size(), 100 * kGoodShare);
}

int main(int count, char** arguments) {
  CLI::App app("What threads gain on contractions, beside what the machine's peak gains");
  std::string filter = ".*";
  int rounds = 5;
  uint32_t threads = 2;
  app.add_option("--threads", threads, "beside one thread");
  app.add_option("--filter", filter, "a regular expression of names");
  app.add_option("--rounds", rounds, "how often each is measured; the median counts");
  CLI11_PARSE(app, count, arguments);
  compare_threads(filter, threads, rounds, bench::Peak());
  return 0;
}

}  // namespace
}  // namespace ingot

int main(int count, char** arguments) { return ingot::main(count, arguments); }
