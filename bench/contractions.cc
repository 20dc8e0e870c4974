// Every contraction of contraction_problems, one thread, beside the machine's peak of multiply-adds in the same rounds.
//
//   contractions [--filter REGEX] [--rounds N] [--json]
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
#include "aot/pipeline/compile.h"
#include "tests/support/buffer.h"
#include "tests/support/contraction_suite.h"

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
  while (total < at_least_ns) {
    const double start = thread_ns();
    call();
    const double ns = thread_ns() - start;
    best = std::min(best, ns);
    total += ns;
  }
  return best;
}

// Multiply-adds in registers alone.
class Peak {
 public:
  Peak()
      : kernel_(loops::multiply_adds(DType::kF32, lanes(), kChains, kTrips)),
        code_(codegen::compile(std::span(&kernel_, 1), target())) {}

  double gflops() {
    std::byte* const buffers[] = {x_.data(), y_.data()};
    return 2.0 * kChains * kTrips * lanes() / best_ns(2e6, [&] { code_.run(0, buffers, 0); });
  }

 private:
  static constexpr int64_t kChains = 12, kTrips = 20000;
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
    const double attainable = peak.gflops();
    times.push_back(best_ns(4e6, [&] { entry.run(); }));
    shares.push_back(problem.flops / times.back() / std::max(attainable, peak.gflops()));
  }
  const double ns = median(times);
  return {ns / 1000, problem.flops / ns, median(shares), bundle.entry(0).step_count};
}

int main(int count, char** arguments) {
  CLI::App app("Contractions beside the machine's peak, one thread");
  std::string filter = ".*";
  int rounds = 5;
  bool json = false;
  app.add_option("--filter", filter, "a regular expression of names");
  app.add_option("--rounds", rounds, "how often each is measured; the median counts");
  app.add_flag("--json", json, "print JSON");
  CLI11_PARSE(app, count, arguments);
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
