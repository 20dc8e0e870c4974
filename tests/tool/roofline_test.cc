// The model behind `ingot bench --roofline`, on plans and machines that are made up.
#include "apps/ingot/measurements/roofline.h"

#include <gtest/gtest.h>

#include <limits>

#include "schema/kernel_abi.h"

namespace ingot {
namespace {

constexpr uint64_t kKilo = 1000;

// 100 GFLOP/s; a near level of 1000 bytes with 100 GB/s, and the memory with 10.
MachinePeaks machine() {
  return {.f32_gflops = 100,
          .f64_gflops = 50,
          .levels = {{"near", kKilo, 100}, {"memory", std::numeric_limits<uint64_t>::max(), 10}},
          .step_ns = 50};
}

// Kernels that read one operand and write another, of so many bytes each.
bundle::Target target_of(const std::vector<uint64_t>& reach_bytes) {
  bundle::Target target;
  for (const uint64_t bytes : reach_bytes) {
    bundle::Kernel kernel;
    kernel.name = "kernel" + std::to_string(target.kernels.size());
    kernel.parameters = {{bytes, true, false}, {bytes, false, true}};
    target.kernels.push_back(kernel);
  }
  return target;
}

bundle::Step step_of(uint32_t kernel, uint64_t from, uint64_t to, std::optional<uint32_t> call) {
  bundle::Step step;
  step.kernel = kernel;
  step.operands = {{INGOT_BASE_ARENA, from, 0}, {INGOT_BASE_ARENA, to, 0}};
  step.call = call;
  return step;
}

StepTime time_of(uint32_t step, double ms, uint64_t rounds = 1) {
  return {.step = step, .kernel = "", .tasks = 1, .rounds = rounds, .ms = ms};
}

bundle::Call call_of(const std::string& name, uint64_t flops, uint64_t bytes) {
  bundle::Call call;
  call.name = name;
  call.flops = flops;
  call.read_bytes = call.written_bytes = bytes / 2;
  return call;
}

TEST(Roofline, TheLongestOfThreeTimesBounds) {
  // All of it stays near: 400 bytes at a time, twice.
  bundle::Plan plan;
  plan.steps = {step_of(0, 0, 200, 0), step_of(0, 200, 0, 1), step_of(0, 0, 200, 2)};
  plan.calls = {call_of("computes", 100'000, 400), call_of("moves", 10, 400), call_of("idles", 10, 400)};
  MachinePeaks peaks = machine();
  peaks.levels[0].gb_per_second = 1;  // 400 ns for 400 bytes
  const StepTime times[] = {time_of(0, 0.002), time_of(1, 0.001), time_of(2, 0.0005)};
  std::vector<CallTime> calls = call_times(plan, target_of({200}), times, peaks);
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0].bound, "compute");
  EXPECT_DOUBLE_EQ(calls[0].attainable_ms, 0.001);
  EXPECT_DOUBLE_EQ(calls[0].attained_percent(), 50);
  EXPECT_DOUBLE_EQ(calls[0].gflops_per_second(), 50);
  EXPECT_EQ(calls[1].bound, "near");
  EXPECT_NEAR(calls[1].attainable_ms, 0.0004, 1e-12);
  EXPECT_NEAR(calls[1].gb_per_second(), 0.4, 1e-12);
  peaks.step_ns = 450;
  calls = call_times(plan, target_of({200}), times, peaks);
  EXPECT_EQ(calls[2].bound, "overhead");
  EXPECT_NEAR(calls[2].attainable_ms, 0.00045, 1e-12);
}

TEST(Roofline, WhatWasTouchedInBetweenSaysWhereAnOperandIs) {
  // Step 1 touches 8000 bytes: step 0 and 2 meet in memory what they would else meet near.
  bundle::Plan plan;
  plan.steps = {step_of(0, 0, 400, 0), step_of(1, 10'000, 20'000, 1), step_of(0, 400, 0, 2)};
  plan.calls = {call_of("first", 0, 800), call_of("large", 0, 8000), call_of("last", 0, 800)};
  const StepTime times[] = {time_of(0, 3), time_of(1, 2), time_of(2, 1)};
  MachinePeaks peaks = machine();
  peaks.step_ns = 1;
  const auto calls = call_times(plan, target_of({400, 4000}), times, peaks);
  EXPECT_EQ(calls[0].call.name, "first");
  EXPECT_EQ(calls[0].bound, "near") << "the last step of the run before has touched it";
  EXPECT_EQ(calls[1].bound, "memory");
  EXPECT_EQ(calls[2].bound, "memory");
  EXPECT_NEAR(calls[2].attainable_ms, 800 / 10.0 * 1e-6, 1e-12);
}

TEST(Roofline, StepsOfACallAreOneRowAndRoundsCount) {
  bundle::Plan plan;
  plan.steps = {step_of(0, 0, 64, 1), step_of(1, 64, 128, 1), step_of(0, 128, 0, std::nullopt)};
  plan.calls = {call_of("nobody's", 1, 1), call_of("two_steps", 1000, 100)};
  const StepTime times[] = {time_of(0, 0.25, 5), time_of(1, 0.5, 5), time_of(2, 0.1)};
  const auto calls = call_times(plan, target_of({64, 64}), times, machine());
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].steps, (std::vector<uint32_t>{0, 1}));
  EXPECT_DOUBLE_EQ(calls[0].ms, 0.75);
  EXPECT_DOUBLE_EQ(calls[0].flops(), 5000);
  EXPECT_NEAR(calls[0].attainable_ms, 10 * 50e-6, 1e-12) << "ten steps";
  EXPECT_EQ(calls[1].call.name, "kernel0") << "of a bundle that tells nothing";
  EXPECT_EQ(calls[1].call.read_bytes + calls[1].call.written_bytes, 128u);
}

TEST(Roofline, ACallThatRunsAgainComputesTwice) {
  bundle::Plan plan;
  plan.steps = {step_of(0, 0, 200, 0), step_of(1, 200, 400, 0), step_of(0, 0, 200, 0), step_of(1, 200, 400, 0)};
  plan.calls = {call_of("again", 100'000, 400)};
  const StepTime times[] = {time_of(0, 0.001), time_of(1, 0.001), time_of(2, 0.001), time_of(3, 0.001)};
  const auto calls = call_times(plan, target_of({200, 200}), times, machine());
  ASSERT_EQ(calls.size(), 1);
  EXPECT_EQ(calls[0].times, 2);
  EXPECT_EQ(calls[0].flops(), 200'000);
  EXPECT_EQ(calls[0].bytes(), 800);
}

TEST(Roofline, DoublesHaveAPeakOfTheirOwn) {
  bundle::Plan plan;
  plan.steps = {step_of(0, 0, 64, 0)};
  plan.calls = {call_of("doubles", 1'000'000, 128)};
  plan.calls[0].dtype = INGOT_F64;
  const StepTime times[] = {time_of(0, 1)};
  EXPECT_DOUBLE_EQ(call_times(plan, target_of({64}), times, machine())[0].attainable_ms, 0.02);
}

TEST(Roofline, ReadingAndWritingHaveSpeedsOfTheirOwn) {
  MachinePeaks peaks = machine();
  peaks.levels[0].read_gb_per_second = 40;
  const Work work{.flops = 100, .levels = {{200, 200}, {0, 0}}};
  EXPECT_DOUBLE_EQ(roof_of(work, peaks).ms, 5e-6) << "200 bytes that are read";
  EXPECT_EQ(roof_of(work, peaks).bound, "near");
  peaks.levels[0].read_gb_per_second = 80;
  EXPECT_DOUBLE_EQ(roof_of(work, peaks).ms, 4e-6) << "400 bytes both ways";
  const Work reads{.flops = 100, .levels = {{400, 0}, {0, 0}}}, writes{.flops = 100, .levels = {{0, 400}, {0, 0}}};
  EXPECT_DOUBLE_EQ(roof_of(reads, peaks).ms, 5e-6);
  EXPECT_DOUBLE_EQ(roof_of(writes, peaks).ms, 3e-6) << "what 200 of each take, without reading";
  peaks.levels[0].write_gb_per_second = 50;
  EXPECT_DOUBLE_EQ(roof_of(writes, peaks).ms, 8e-6);

  // A step that reads 200 bytes and writes as many.
  peaks.levels[0].write_gb_per_second = 100;
  bundle::Plan plan;
  plan.steps = {step_of(0, 0, 200, 0)};
  plan.calls = {call_of("moves", 1, 400)};
  peaks.levels[0].read_gb_per_second = 1;
  const StepTime times[] = {time_of(0, 1)};
  EXPECT_DOUBLE_EQ(call_times(plan, target_of({200}), times, peaks)[0].attainable_ms, 200e-6);
}

TEST(Roofline, SumsKeepTheWhole) {
  bundle::Plan plan;
  plan.steps = {step_of(0, 0, 200, 0), step_of(0, 200, 0, 1), step_of(0, 0, 200, 2)};
  plan.calls = {call_of("a", 100'000, 400), call_of("b", 20, 400), call_of("a", 100'000, 400)};
  const StepTime times[] = {time_of(0, 1), time_of(1, 3), time_of(2, 1)};
  const auto calls = call_times(plan, target_of({200}), times, machine());
  const auto by_name = sums_by_name(calls);
  ASSERT_EQ(by_name.size(), 2u);
  EXPECT_EQ(by_name[0].name, "b");
  EXPECT_EQ(by_name[1].calls, 2u);
  EXPECT_DOUBLE_EQ(by_name[1].ms, 2);
  EXPECT_DOUBLE_EQ(sum_of(calls).ms, 5);
  EXPECT_DOUBLE_EQ(sum_of(calls).flops, 200'020);
  double ms = 0;
  for (const CallSum& sum : sums_by_bound(calls)) ms += sum.ms;
  EXPECT_DOUBLE_EQ(ms, 5);
  const std::string picture = roofline_svg("a & b", calls, machine());
  EXPECT_EQ(picture, roofline_svg("a & b", calls, machine()));
  for (const char* part : {"a &amp; b", "near: 100 GB/s", "memory: 10 GB/s", "100 GFLOP/s", "<circle", ">a</text>"}) {
    EXPECT_NE(picture.find(part), picture.npos) << part;
  }
  EXPECT_EQ(picture.find("nan"), picture.npos);
  EXPECT_EQ(picture.find("inf"), picture.npos);
}

}  // namespace
}  // namespace ingot
