#include "apps/ingot/measurements/roofline_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/ingot/terminal/row.h"

namespace ingot {
namespace {

// "12" or "12 to 14": the steps of a call, which stand together but in loops.
std::string steps_of(const CallTime& call) {
  const uint32_t first = call.steps.front(), last = call.steps.back();
  return first == last ? fmt::format("{}", first) : fmt::format("{} to {}", first, last);
}

Row row_of(const MachinePeaks& peaks) {
  Row row = {{"row", "machine"},
             {"f32_gflops_per_second", peaks.f32_gflops},
             {"f64_gflops_per_second", peaks.f64_gflops},
             {"step_ns", peaks.step_ns}};
  for (const MemoryLevel& level : peaks.levels) {
    row.emplace_back(level.name + "_gb_per_second", level.gb_per_second);
    row.emplace_back(level.name + "_read_gb_per_second", level.read_gb_per_second);
    row.emplace_back(level.name + "_write_gb_per_second", level.write_gb_per_second);
  }
  return row;
}

Row row_of(const CallTime& call, double all_ms) {
  return {{"row", "call"},
          {"first_step", uint64_t{call.steps.front()}},
          {"last_step", uint64_t{call.steps.back()}},
          {"kernel", call.call.name},
          {"op", call.call.op},
          {"source", call.call.source},
          {"ms", call.ms},
          {"percent", 100 * call.ms / all_ms},
          {"rounds", call.rounds},
          {"tasks", uint64_t{call.tasks}},
          {"flops", call.flops()},
          {"bytes", call.bytes()},
          {"gflops_per_second", call.gflops_per_second()},
          {"gb_per_second", call.gb_per_second()},
          {"bound", call.bound},
          {"attainable_ms", call.attainable_ms},
          {"attained_percent", call.attained_percent()}};
}

Row row_of(const CallSum& sum, const std::string& kind, const std::string& key, double all_ms) {
  Row row = {{"row", kind}};
  if (!key.empty()) row.emplace_back(key, sum.name);
  row.insert(row.end(), {{"calls", sum.calls},
                         {"ms", sum.ms},
                         {"percent", 100 * sum.ms / all_ms},
                         {"flops", sum.flops},
                         {"bytes", sum.bytes},
                         {"gflops_per_second", sum.flops / sum.ms * 1e-6},
                         {"gb_per_second", sum.bytes / sum.ms * 1e-6},
                         {"attainable_ms", sum.attainable_ms},
                         {"attained_percent", 100 * sum.attainable_ms / sum.ms}});
  return row;
}

void print_json(std::span<const CallTime> calls, const MachinePeaks& peaks, size_t most) {
  const CallSum all = sum_of(calls);
  fmt::print("{}\n", to_json(row_of(peaks)));
  for (const CallTime& call : calls.first(most)) fmt::print("{}\n", to_json(row_of(call, all.ms)));
  for (const CallSum& sum : sums_by_name(calls)) fmt::print("{}\n", to_json(row_of(sum, "kernel", "kernel", all.ms)));
  for (const CallSum& sum : sums_by_bound(calls)) fmt::print("{}\n", to_json(row_of(sum, "bound", "bound", all.ms)));
  fmt::print("{}\n", to_json(row_of(all, "sum", "", all.ms)));
}

void print_machine(const MachinePeaks& peaks) {
  fmt::print("\nmachine: {:.4g} GFLOP/s in f32, {:.4g} in f64", peaks.f32_gflops, peaks.f64_gflops);
  for (const MemoryLevel& level : peaks.levels) fmt::print(", {} {:.4g} GB/s", level.name, level.gb_per_second);
  fmt::print("; a step takes {:.3g} ns\n", peaks.step_ns);
}

// The columns that calls and sums share.
void print_measures(double ms, double all_ms, double flops, double bytes, double attainable_ms) {
  fmt::print("{:10.4f} {:6.1f} {:9.2f} {:8.2f} {:11.1f}", ms, 100 * ms / all_ms, flops / ms * 1e-6, bytes / ms * 1e-6,
             100 * attainable_ms / ms);
}
constexpr const char* kMeasures = "        ms      %   GFLOP/s     GB/s  % of roof";

void print_sums(const std::string& heading, std::span<const CallSum> sums, double all_ms) {
  fmt::print("\n{}  calls  {}\n", kMeasures, heading);
  for (const CallSum& sum : sums) {
    print_measures(sum.ms, all_ms, sum.flops, sum.bytes, sum.attainable_ms);
    fmt::print(" {:6}  {}\n", sum.calls, sum.name);
  }
}

}  // namespace

void print_roofline(std::span<const CallTime> calls, const MachinePeaks& peaks, size_t most, bool json) {
  most = std::min(most, calls.size());
  if (json) return print_json(calls, peaks, most);
  const CallSum all = sum_of(calls);
  print_machine(peaks);
  fmt::print("\n{}  bound     step       kernel, op, source\n", kMeasures);
  for (const CallTime& call : calls.first(most)) {
    print_measures(call.ms, all.ms, call.flops(), call.bytes(), call.attainable_ms);
    fmt::print("  {:8}  {:9}  {}  {}  {}\n", call.bound, steps_of(call), call.call.name, call.call.op,
               call.call.source);
  }
  std::vector<CallSum> by_name = sums_by_name(calls);
  by_name.resize(std::min(by_name.size(), most));
  print_sums("kernel", by_name, all.ms);
  print_sums("bound by", sums_by_bound(calls), all.ms);
  CallSum total = all;
  total.name = "all";
  print_sums("", std::vector<CallSum>{total}, all.ms);
}

}  // namespace ingot
