// Every contraction of contraction_problems, one thread, beside the machine's peak of multiply-adds in the same rounds.
//
//   contractions [--filter REGEX] [--rounds N] [--json]
//   contractions --threads N    the same by so many threads, beside what the peak gains by them
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <ingot/engine.hpp>
#include <nlohmann/json.hpp>
#include <regex>

#include "aot/pipeline/compile.h"
#include "bench/measure.h"
#include "tests/support/contraction_suite.h"

namespace ingot {
namespace {

struct Measured {
  double us, gflops, share;  // of the peak
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

Measured measure(ContractionProblem& problem, const bench::Peak& peak, int rounds) {
  const engine::AlignedBytes bytes = compiled(problem);
  Runner runner(bytes, 1);
  std::vector<double> times, shares;
  for (int round = 0; round < rounds; ++round) {
    times.push_back(bench::best_ns(4e6, [&] { runner.run(); }));
    shares.push_back(problem.flops / times.back() / peak.gflops(times.back()));
  }
  const double ns = bench::median(times);
  return {ns / 1000, problem.flops / ns, bench::median(shares), runner.steps()};
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

int main(int count, char** arguments) {
  CLI::App app("Contractions beside the machine's peak, one thread");
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
