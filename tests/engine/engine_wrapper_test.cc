// The C++ wrapper: what its header shows, and what it says when types do not fit.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <ingot/engine.hpp>

#include "tests/engine/engine_fixture.h"
#include "tests/engine/engine_kernels.h"
#include "tests/support/file_text.h"

namespace ingot::test {
namespace {

using engine::AlignedBytes;
using engine::Bundle;
using engine::Failure;
using engine::Session;

AlignedBytes aligned(const std::vector<std::byte>& bytes) {
  AlignedBytes copy(bytes.size(), 64);
  std::memcpy(copy.data(), bytes.data(), bytes.size());
  return copy;
}

std::string message(const std::function<void()>& action) {
  try {
    action();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

class EngineWrapper : public testing::Test {
 protected:
  AlignedBytes bytes = aligned(bundle::write_bundle(fit_spec()));
  Bundle bundle{std::span<const std::byte>(bytes.data(), bytes.size())};
  Session session{bundle, 2};
};

TEST_F(EngineWrapper, TrainsSavesAndPredicts) {
  session.entry("init").input<int32_t>("seed")[0] = 3;
  session.entry("init").run();
  const engine::Entry step = session.entry("train_step");
  const std::span<float> x = step.input<float>("x"), y = step.input<float>("batch.y");
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = 1;
    y[i] = static_cast<float>(i % 3);
  }
  step.input<float>("lr")[0] = 0.5f;
  const float& loss = step.output<float>("loss")[0];
  step.run();
  const float first_loss = loss;
  for (int i = 0; i < 30; ++i) step.run();
  EXPECT_LT(loss, 1e-3f * first_loss);
  EXPECT_EQ(session.read<int32_t>("step"), std::vector<int32_t>{31});
  EXPECT_NEAR(session.read<float>("fit.weight")[5], 2.0f, 1e-3f);

  AlignedBytes mine(4096, 64);
  const std::span<float> predicted(reinterpret_cast<float*>(mine.data()), kElements);
  const engine::Entry predict = session.entry("predict");
  predict.bind_input<float>("x", x);
  predict.bind_output<float>("y", predicted);
  predict.run();
  EXPECT_NEAR(predicted[4], 1.0f, 1e-3f);

  const TemporaryFolder directory;
  session.save(directory.file("s.safetensors"));
  const std::vector<std::byte> saved = session.save_to_memory();
  EXPECT_EQ(file_text(directory.file("s.safetensors")),
            std::string(reinterpret_cast<const char*>(saved.data()), saved.size()));
  const AlignedBytes snapshot = session.snapshot();
  session.write<int32_t>("step", std::vector<int32_t>{7});
  session.load_from_memory(saved);
  EXPECT_EQ(session.read<int32_t>("step")[0], 31);
  session.write<int32_t>("step", std::vector<int32_t>{7});
  session.load(directory.file("s.safetensors"));
  EXPECT_EQ(session.read<int32_t>("step")[0], 31);
  step.run();
  session.rollback(snapshot);
  EXPECT_EQ(session.read<int32_t>("step")[0], 31);
  while (!step.run_slice(1, 0)) {
  }
  EXPECT_EQ(session.metrics().runs, 35u);
}

TEST_F(EngineWrapper, TensorsHaveTypes) {
  const engine::Entry step = session.entry("train_step");
  using X = engine::TensorType<float, kElements>;
  static_assert(X::shape == std::array<uint64_t, 1>{kElements} && X::count == kElements);
  EXPECT_EQ(step.input_of<X>("x").data(), step.input<float>("x").data());
  EXPECT_EQ(step.output_of<engine::TensorType<float>>("loss").data(), step.output<float>("loss").data());
  EXPECT_NE(message([&] { step.input_of<engine::TensorType<float, kElements, 1>>("x"); }).find("another shape"),
            std::string::npos);
  EXPECT_NE(message([&] { step.input_of<engine::TensorType<double, kElements>>("x"); }).find("elements of type f32"),
            std::string::npos);
  EXPECT_EQ(ingot_api_version(), uint32_t{INGOT_API_VERSION});
}

TEST_F(EngineWrapper, ASessionLivesInMemoryOfTheCaller) {
  const ingot_requirements& needs = bundle.needs();
  const AlignedBytes memory(needs.session_bytes + needs.session_bytes_per_thread, 64), state(needs.state_bytes, 64);
  const AlignedBytes arena(needs.arena_bytes, 64), scratch(needs.scratch_bytes_per_thread, 64);
  Session small(bundle, {memory.data(), memory.size(), arena.data(), arena.size(), state.data(), state.size(),
                         scratch.data(), scratch.size(), 1});
  small.entry("init").run();
  const AlignedBytes snapshot = small.snapshot();
  ASSERT_EQ(snapshot.size(), state.size());
  EXPECT_EQ(std::memcmp(snapshot.data(), state.data(), state.size()), 0);
  EXPECT_NE(message([&] { Session(bundle, ingot_memory{}); }).find("the session memory is null"), std::string::npos);
}

// What was checked is opened, though the file is empty by then; and it is checked once.
TEST_F(EngineWrapper, ABundleIsCheckedOnce) {
  struct Checked {
    std::string path;
    int count = 0;
    ingot_status status = INGOT_OK;
  };
  const TemporaryFolder directory;
  Checked checked{directory.file("fit.ingot")};
  std::ofstream(checked.path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  ingot_open_options options = {};
  options.bundle_check_user = &checked;
  options.bundle_check = [](void* user, const void*, uint64_t, ingot_error* error) {
    auto& checked = *static_cast<Checked*>(user);
    checked.count += 1;
    std::filesystem::resize_file(checked.path, 0);
    error->status = checked.status;
    return checked.status;
  };
  const Bundle opened(checked.path, &options);
  EXPECT_EQ(checked.count, 1);
  Session(opened).entry("init").run();
  checked.status = INGOT_NOT_SIGNED;
  EXPECT_THROW(Bundle(checked.path, &options), Failure);
}

TEST_F(EngineWrapper, FailuresAreNamed) {
  const engine::Entry step = session.entry("train_step");
  EXPECT_EQ(message([&] { step.run(); }), "'model.fit.weight' has no value yet: run 'init' or load a state file first");
  EXPECT_EQ(message([&] { step.input<int32_t>("x"); }), "'batch.x' has elements of type f32");
  EXPECT_EQ(message([&] { session.read<float>("model.bias"); }), "'model.bias' has elements of type bf16");
  EXPECT_EQ(session.read<uint16_t>("model.bias"), (std::vector<uint16_t>{0x0201, 0x0403, 0x0605}));
  EXPECT_EQ(message([&] { session.entry("trian_step"); }), "there is no entry point 'trian_step'");
  EXPECT_EQ(message([&] { Bundle("/nonexistent.ingot"); }),
            "cannot open /nonexistent.ingot: No such file or directory");
}

}  // namespace
}  // namespace ingot::test
