// Bundles written and read back by the compiler's side.
#include <gtest/gtest.h>

#include <algorithm>

#include "aot/base/error.h"
#include "aot/bundle/read_bundle.h"
#include "schema/checksum.h"
#include "schema/kernel_abi.h"
#include "tests/engine/engine_fixture.h"

namespace ingot::test {
namespace {

template <typename T>
T bytes_as(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

TEST(Bundle, WritesAgainWhatItRead) {
  for (const bool compress : {false, true}) {
    bundle::BundleSpec spec = fit_spec();
    spec.compress_initial_state = compress;
    spec.is_strict = compress;
    spec.entries[kTrainStep].inputs[2].default_value = {std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0x3E}};
    spec.targets.push_back(spec.targets[0]);
    spec.targets[1].name = "other";
    spec.targets[1].cpu_features = {"avx2", "fma"};
    spec.targets[1].rodata.clear();
    const std::vector<std::byte> file = bundle::write_bundle(spec);
    const bundle::BundleSpec read = bundle::read_bundle(file);
    EXPECT_EQ(bundle::write_bundle(read), file);
    EXPECT_EQ(read.targets[1].cpu_features, spec.targets[1].cpu_features);
    EXPECT_EQ(read.targets[0].plans[kTrainStep].buffers[2].in_place_of, 0u);
    EXPECT_EQ(read.is_strict, spec.is_strict);
    EXPECT_EQ(read.entries[kTrainStep].inputs[2].name, "lr");
    EXPECT_EQ(read.entries[kTrainStep].inputs[2].default_value, spec.entries[kTrainStep].inputs[2].default_value);
  }
}

TEST(Bundle, JumpsAreKeptAndRequireControlFlow) {
  bundle::BundleSpec spec = fit_spec();
  auto& steps = spec.targets[0].plans[kInit].steps;
  steps.push_back({1, true, {{INGOT_BASE_STATE, 4096, kStep}}, bundle::StepKind::kJumpUnless, 3, true});
  steps.push_back({0, true, {}, bundle::StepKind::kJump, 1});
  const std::vector<std::byte> file = bundle::write_bundle(spec);
  const bundle::BundleSpec read = bundle::read_bundle(file);
  EXPECT_EQ(bundle::write_bundle(read), file);
  EXPECT_EQ(read.required_features, std::vector<std::string>{"control_flow"});
  const bundle::Step& test = read.targets[0].plans[kInit].steps[1];
  EXPECT_EQ(test.kind, bundle::StepKind::kJumpUnless);
  EXPECT_EQ(test.kernel, 1u);
  EXPECT_EQ(test.target, 3u);
  EXPECT_TRUE(test.word);
  ASSERT_EQ(test.operands.size(), 1u);
  EXPECT_EQ(test.operands[0].offset_bytes, 4096u);
  EXPECT_EQ(read.targets[0].plans[kInit].steps[2].kind, bundle::StepKind::kJump);
  steps[2].target = 4;
  EXPECT_THROW(bundle::write_bundle(spec), std::exception);
}

TEST(Bundle, CallsAreKeptAndTheEnginePassesThemBy) {
  bundle::BundleSpec spec = fit_spec();
  bundle::Plan& plan = spec.targets[0].plans[kTrainStep];
  plan.calls = {{"f32_dot_general_8x4", "jit(step)/dot_general", "model.py:12:8", INGOT_F32, 64, 160, 32},
                {"copy", "", "", INGOT_I32, 0, 8, 8}};
  plan.steps[0].call = 1;
  const std::vector<std::byte> file = bundle::write_bundle(spec);
  const bundle::Plan read = bundle::read_bundle(file).targets[0].plans[kTrainStep];
  ASSERT_EQ(read.calls.size(), 2u);
  EXPECT_EQ(read.calls[0].op, "jit(step)/dot_general");
  EXPECT_EQ(read.calls[0].source, "model.py:12:8");
  EXPECT_EQ(read.calls[0].read_bytes, 160u);
  EXPECT_EQ(read.calls[1].dtype, INGOT_I32);
  EXPECT_EQ(read.steps[0].call, 1u);
  EXPECT_EQ(read.steps[1].call, std::nullopt);
  EXPECT_EQ(bundle::write_bundle(bundle::read_bundle(file)), file);
  const OpenBundle bundle(file);
  EXPECT_EQ(std::memcmp(ingot_get_bytes(bundle.bundle), file.data(), file.size()), 0);
  plan.steps[0].call = 2;
  EXPECT_THROW(bundle::write_bundle(spec), std::exception);
}

TEST(Bundle, EqualSegmentsAreStoredOnce) {
  bundle::BundleSpec spec = fit_spec();
  spec.targets[0].rodata.resize(100'000);
  const size_t one = bundle::write_bundle(spec).size();
  spec.targets.push_back(spec.targets[0]);
  spec.targets[1].name = "same";
  EXPECT_LT(bundle::write_bundle(spec).size(), one + 8192);
}

TEST(Bundle, SegmentsStartAtPages) {
  for (const uint32_t page_bytes : {4096u, 16384u, 65536u}) {
    bundle::BundleSpec spec = fit_spec();
    spec.targets[0].page_bytes = page_bytes;
    const OpenBundle bundle(bundle::write_bundle(spec));
    EXPECT_EQ(bundle.status, INGOT_OK) << bundle.error.text;
    EXPECT_EQ(bundle.bytes->size() / page_bytes, 4u) << "header, description, code, read-only data, initial state";
  }
}

// As for processors whose system maps no files. Others copy what they cannot map.
TEST(Bundle, SegmentsNeedNoPages) {
  bundle::BundleSpec spec = fit_spec();
  const size_t mapped_bytes = bundle::write_bundle(spec).size();
  spec.targets[0].page_bytes = 64;
  const std::vector<std::byte> bytes = bundle::write_bundle(spec);
  EXPECT_LT(bytes.size() + 2 * 4096, mapped_bytes);
  EXPECT_EQ(bundle::read_bundle(bytes).targets[0].page_bytes, 64);
  const OpenBundle opened(bytes);
  EXPECT_EQ(opened.status, INGOT_OK) << opened.error.text;
}

// Kernels that share their parameters, as no writer makes them: the square of what the file has.
TEST(Bundle, WhatUnfoldsToMuchMoreThanTheFileIsRefused) {
  constexpr uint32_t kKernels = 3000;
  bundle::BundleSpec spec = fit_spec();
  bundle::Kernel kernel = spec.targets[0].kernels[0];
  kernel.parameters.resize(1);
  spec.targets[0].kernels.resize(kKernels, kernel);
  std::vector<std::byte> file = bundle::write_bundle(spec);
  EXPECT_EQ(bundle::read_bundle(file).targets[0].kernels.size(), kKernels);

  const auto find = [&](const void* bytes, size_t count) {
    const auto* wanted = static_cast<const std::byte*>(bytes);
    return std::search(file.begin(), file.end(), wanted, wanted + count);
  };
  const auto segment = find(INGOT_CODE_MAGIC, 8);
  ASSERT_NE(segment, file.end());
  const auto header = bytes_as<ingot_code_header>(&*segment);
  const uint64_t segment_bytes = header.image_offset + header.image_bytes;
  const uint64_t checksum = ingot_checksum(&*segment, segment_bytes);
  for (uint32_t i = 0; i < kKernels; ++i) {
    auto* at = &*segment + sizeof header + i * sizeof(ingot_kernel_record);
    auto record = bytes_as<ingot_kernel_record>(at);
    record.first_parameter = 0;
    record.parameter_count = kKernels;
    std::memcpy(at, &record, sizeof record);
  }
  const uint64_t changed = ingot_checksum(&*segment, segment_bytes);
  std::memcpy(&*find(&checksum, sizeof checksum), &changed, sizeof changed);
  EXPECT_THROW(
      {
        try {
          bundle::read_bundle(resealed(file));
        } catch (const Error& error) {
          EXPECT_NE(std::string(error.what()).find("unfolds to much more than it is"), std::string::npos)
              << error.what();
          throw;
        }
      },
      Error);
}

TEST(Bundle, DamageIsAnError) {
  std::vector<std::byte> file = bundle::write_bundle(fit_spec());
  EXPECT_THROW(bundle::read_bundle(std::span(file).first(100)), std::exception);
  EXPECT_THROW(bundle::read_bundle({}), std::exception);
  file[200] ^= std::byte{1};
  EXPECT_THROW(bundle::read_bundle(file), std::exception);
}

}  // namespace
}  // namespace ingot::test
