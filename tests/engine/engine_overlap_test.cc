// What a step writes lies apart from all that it reads, but for what its kernel may replace: else its result would depend
// on the number of threads.
#include <gtest/gtest.h>

#include <cstddef>
#include <optional>

#include "schema/checksum.h"
#include "tests/engine/engine_flow.h"

namespace ingot::test {
namespace {

constexpr const char* kRefusal = "step 1: it writes what a step beside it, or another of its own operands, touches";

// In train_step, the kernel of step 1 (h, y -> d, partial) writes d in place of h.
constexpr uint32_t kH = 0, kY = 1, kD = 2, kPartial = 3;

// As it was written before code told what may replace a parameter.
std::vector<std::byte> before_1_4(const bundle::BundleSpec& spec) {
  std::vector<std::byte> file = bundle::write_bundle(spec);
  ingot_segment_record& segment = segments_of(file)[0];
  const uint64_t no_flags = 0;
  std::memcpy(&file[segment.offset + offsetof(ingot_code_header, flags)], &no_flags, sizeof no_flags);
  segment.checksum = ingot_checksum(&file[segment.offset], segment.stored_bytes);
  return resealed(file);
}

TEST(EngineOverlap, OnlyWhatAKernelMayReplaceIsReplaced) {
  bundle::BundleSpec spec = fit_spec();
  EXPECT_EQ(refusal(spec), "");
  std::vector<bundle::Parameter>& parameters = spec.targets[0].kernels[kDifference].parameters;
  parameters[kH].replaced_by = std::nullopt;
  EXPECT_EQ(refusal(spec), kRefusal);
  parameters[kH].replaced_by = kPartial;
  EXPECT_EQ(refusal(spec), kRefusal) << "by another parameter";
  parameters[kH].replaced_by = kD;
  parameters[kY].replaced_by = kD;
  EXPECT_EQ(refusal(spec), "");
}

TEST(EngineOverlap, WhatIsReadTwiceIsReplacedIfBothMayBe) {
  bundle::BundleSpec spec = fit_spec();
  std::vector<bundle::Operand>& operands = spec.targets[0].plans[kTrainStep].steps[1].operands;
  operands[kY] = operands[kH];
  EXPECT_EQ(refusal(spec), kRefusal);
  spec.targets[0].kernels[kDifference].parameters[kY].replaced_by = kD;
  EXPECT_EQ(refusal(spec), "");
}

TEST(EngineOverlap, AReplacementStartsWhereTheOtherDoes) {
  FlowBuilder b;
  bundle::BundleSpec spec;
  const bundle::Operand v = b.vector();
  b.step(kMixTogether, {b.x(), b.x(), v});
  b.step(kMixTogether, {v, b.x(), v});
  for (uint32_t row = 0; row < 4; ++row) b.step(kMixAlone, {v, b.x(), b.y(row)}, row == 0);
  spec = b.finish();
  EXPECT_EQ(refusal(spec), "");
  bundle::Plan& plan = spec.targets[0].plans[0];
  plan.arena_bytes += 64;
  plan.buffers[v.index].bytes += 64;
  plan.steps[0].operands[2].offset_bytes += 64;
  plan.steps[1].operands[0].offset_bytes += 64;
  EXPECT_EQ(refusal(spec), kRefusal);
  const OpenBundle older(before_1_4(spec));
  EXPECT_EQ(older.error.text, std::string(kRefusal)) << "whatever the code tells";
}

TEST(EngineOverlap, TwoResultsLieApart) {
  bundle::BundleSpec spec = fit_spec();
  std::vector<bundle::Operand>& operands = spec.targets[0].plans[kTrainStep].steps[1].operands;
  operands[kPartial] = operands[kD];
  EXPECT_EQ(refusal(spec), kRefusal);
}

TEST(EngineOverlap, StatesAreReplacedLikeBuffers) {
  bundle::BundleSpec spec = fit_spec();
  // x * w -> w
  spec.targets[0].plans[kPredict].steps[0].operands[2] = {INGOT_BASE_STATE, 0, kWeight};
  spec.targets[0].plans[kPredict].steps.push_back(
      {kMultiply, true, {{INGOT_BASE_IO, 0, 0}, {INGOT_BASE_STATE, 0, kWeight}, {INGOT_BASE_IO + 1, 0, 0}}});
  EXPECT_EQ(refusal(spec), "step 0: it writes what a step beside it, or another of its own operands, touches");
  spec.targets[0].kernels[kMultiply].parameters[1].replaced_by = 2;
  EXPECT_EQ(refusal(spec), "");
}

TEST(EngineOverlap, OlderCodeTellsNothingAndMayReplaceAll) {
  bundle::BundleSpec spec = fit_spec();
  spec.targets[0].kernels[kDifference].parameters[kH].replaced_by = std::nullopt;
  const OpenBundle bundle(before_1_4(spec));
  EXPECT_EQ(bundle.status, INGOT_OK) << bundle.error.text;
}

}  // namespace
}  // namespace ingot::test
