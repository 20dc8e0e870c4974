// Programs that are compiled for less memory: arena and scratch fit, and every bit is as it was.
//   INGOT_EVERY_GOLDEN   1: all of JAX's goldens, not one
#include "aot/pipeline/memory_limit.h"

#include <gtest/gtest.h>
#include <ingot/ingot.h>

#include <bit>
#include <cstdlib>

#include "aot/base/file.h"
#include "aot/pipeline/compile.h"
#include "aot/pipeline/micro_batches.h"
#include "apps/ingot/device/device.h"
#include "apps/ingot/device/tensor_files.h"
#include "apps/ingot/files/sources.h"
#include "tests/support/device_run.h"
#include "tests/support/error_of.h"
#include "tests/support/jax_reference.h"
#include "tests/support/temporary_folder.h"

namespace ingot {
namespace {

// Layers whose results are read again on the way back: products, convolutions, normalisation over rows and over the
// batch, whose statistics are state, random masks.
struct DeepNet : nn::Module {
  static constexpr int64_t kLayers = 4;
  static auto images() { return f32[{256, 3, 4, 4}].named("images"); }
  static auto labels() { return i32[{256}].named("labels"); }

  nn::Conv2d conv = add("conv", nn::Conv2d(3, 4, 3, {.padding = 1}));
  nn::BatchNorm2d batch_norm = add("batch_norm", nn::BatchNorm2d(4));
  std::vector<nn::Linear> linears;
  std::vector<nn::LayerNorm> norms;
  nn::Linear out = add("out", nn::Linear(64, 10));

  DeepNet() {
    for (int64_t i = 0; i < kLayers; ++i) {
      linears.push_back(add("linear" + std::to_string(i), nn::Linear(i == 0 ? 4 * 4 * 4 : 64, 64)));
      norms.push_back(add("norm" + std::to_string(i), nn::LayerNorm(64)));
    }
  }
  Tensor forward(const Tensor& images) override {
    Tensor x = relu(batch_norm(conv(images))).flatten(1);
    for (int64_t i = 0; i < kLayers; ++i) x = dropout(gelu(norms[i](linears[i](x))), 0.1);
    return out(x);
  }
};

template <typename Net>
struct Training {
  Net net;
  optim::AdamW adam{net.parameters()};
  Program program;

  Training() {
    program.add(
        "train_step",
        [&](Tensor images, Tensor labels) {
          Tensor loss = cross_entropy(net(images), labels);
          loss.backward();
          adam.step();
          return Outputs{{"loss", loss}};
        },
        Net::images(), Net::labels());
  }

  Compiled compiled(std::vector<MemoryLimit> limits, CompileOptions options = {}) {
    options.memory_limits = std::move(limits);
    return compile(program, options);
  }
};

int64_t bytes_of(const plan::Plan& plan) { return plan.arena_bytes + plan.scratch_bytes; }

const plan::Plan& plan_of(const Compiled& compiled, size_t target, const std::string& entry) {
  const std::vector<plan::Plan>& plans = compiled.plans[target];
  return *std::ranges::find(plans, entry, &plan::Plan::entry);
}

// What three steps from what `init` gives leave behind: the loss of each, and the state.
std::string trained(const Compiled& compiled, uint32_t threads) {
  const TemporaryFolder folder;
  compiled.write(folder.file("net.ingot"));
  Device device(folder.file("net.ingot"), threads);
  device.start_state("", /*seed=*/1);
  const uint32_t entry = device.find_entry("train_step");
  const Device::Bound bound = device.bind(entry);
  const auto inputs = device.inputs(entry);
  for (size_t i = 0; i < inputs.size(); ++i) fill_random(inputs[i], bound.inputs[i]);
  std::string left;
  for (int step = 0; step < 3; ++step) {
    device.run(entry);
    for (const std::span<std::byte> bytes : bound.outputs) {
      left.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
  }
  device.save_state(folder.file("state.safetensors"));
  return left + read_text(folder.file("state.safetensors"));
}

TEST(MemoryLimit, ChangesNoBitAndLeavesWhatFitsAsItIs) {
  Training<DeepNet> training;
  const Compiled unlimited = training.compiled({});
  const std::string expected = trained(unlimited, 1);
  EXPECT_EQ(training.compiled({{"", int64_t{1} << 40}}).plans, unlimited.plans);
  const int64_t most_bytes = bytes_of(plan_of(unlimited, 0, "train_step"));
  for (const int percent : {90, 75}) {
    const int64_t limit_bytes = most_bytes * percent / 100;
    const Compiled limited = training.compiled({{"train_step", limit_bytes}});
    for (size_t target = 0; target < limited.plans.size(); ++target) {
      EXPECT_LE(bytes_of(plan_of(limited, target, "train_step")), limit_bytes) << percent << " %";
      EXPECT_EQ(plan_of(limited, target, "init"), plan_of(unlimited, target, "init"));
    }
    ASSERT_EQ(limited.memory_notes.size(), limited.plans.size());
    EXPECT_GT(limited.memory_notes[0].runs_again(), 0) << percent << " %";
    for (const uint32_t threads : {1, 3}) {
      EXPECT_TRUE(trained(limited, threads) == expected) << percent << " %, " << threads << " threads";
    }
  }
}

// Layers that keep rows apart, whose results take far more than weights and gradients.
struct RowNet : nn::Module {
  static constexpr int64_t kLayers = 6, kWidth = 32;
  static auto images() { return f32[{1024, kWidth}].named("images"); }
  static auto labels() { return i32[{1024}].named("labels"); }

  std::vector<nn::Linear> linears;
  nn::Linear out = add("out", nn::Linear(kWidth, 10));

  RowNet() {
    for (int64_t i = 0; i < kLayers; ++i)
      linears.push_back(add("linear" + std::to_string(i), nn::Linear(kWidth, kWidth)));
  }
  Tensor forward(const Tensor& images) override {
    Tensor x = images;
    for (nn::Linear& linear : linears) x = gelu(linear(x));
    return out(x);
  }
};

// How many steps of a plan are in its loop, which is one.
int64_t steps_in_loop(const plan::Plan& plan) {
  const auto is_back = [&](const plan::Step& step) {
    return step.kind == plan::StepKind::kJump && step.target <= &step - plan.steps.data();
  };
  EXPECT_EQ(std::ranges::count_if(plan.steps, is_back), 1);
  const auto back = std::ranges::find_if(plan.steps, is_back);
  return back - plan.steps.begin() - back->target;
}

// A limit that neither parts of the batch nor running again keep without the other.
TEST(MemoryLimit, KernelsOfPartsRunAgain) {
  Training<RowNet> training;
  CompileOptions options;
  options.targets = {"host"};
  const Compiled whole = training.compiled({{"train_step", kLeastBytes}}, options);
  options.micro_batches = {{"train_step", 4}};
  const Compiled parts = training.compiled({}, options);
  const int64_t limit_bytes = bytes_of(plan_of(parts, 0, "train_step")) * 9 / 10;
  EXPECT_GT(bytes_of(plan_of(whole, 0, "train_step")), limit_bytes);

  const Compiled limited = training.compiled({{"train_step", limit_bytes}}, options);
  const std::string expected = trained(parts, 1);
  for (const uint32_t threads : {1, 3}) EXPECT_TRUE(trained(limited, threads) == expected) << threads << " threads";
  const plan::Plan &before = plan_of(parts, 0, "train_step"), &after = plan_of(limited, 0, "train_step");
  EXPECT_LE(bytes_of(after), limit_bytes);
  EXPECT_GT(steps_in_loop(after), steps_in_loop(before));
}

// By how much of its time a step runs again in 1, 2, 4, ... parts; -1: the limit is not kept.
int64_t parts_for(const std::vector<double>& again_shares) {
  Function step;
  step.name = "step";
  const auto try_parts = [&](const std::vector<MicroBatches>& rows) -> std::map<std::string, double> {
    const auto doublings = static_cast<size_t>(std::countr_zero(static_cast<uint64_t>(rows[0].count)));
    if (doublings >= again_shares.size()) throw CannotSplit(step, "it has so many rows");
    if (again_shares[doublings] < 0) throw OverMemoryLimit(step, 1, "too much");
    return {{"step", again_shares[doublings]}};
  };
  return fewest_parts({{"", kAutoMicroBatches}}, {&step}, try_parts)[0].count;
}

TEST(MemoryLimit, MorePartsWhereMuchWouldRunAgain) {
  EXPECT_EQ(parts_for({0.5, 0}), 1) << "whole, no bit changes";
  EXPECT_EQ(parts_for({-1, 0.05, 0}), 2);
  EXPECT_EQ(parts_for({-1, 0.5, 0.3, 0.05, 0}), 8);
  EXPECT_EQ(parts_for({-1, 0.5, 0.3}), 2) << "no number is better";
  EXPECT_EQ(parts_for({-1, -1, 0.5, -1, 0}), 4) << "more parts need more memory";
  EXPECT_NE(error_of([] { parts_for({-1, -1}); }).find("too much"), std::string::npos);
}

class MemoryGolden : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!reference_.exists()) GTEST_SKIP() << "no goldens of " << GetParam();
    const bool is_every = std::getenv("INGOT_EVERY_GOLDEN") != nullptr;
    if (!is_every && std::string_view(GetParam()) != "lora_frozen_base") GTEST_SKIP() << "INGOT_EVERY_GOLDEN=1";
  }

  Compiled compiled(std::vector<MemoryLimit> limits) const {
    CompileOptions options;
    options.memory_limits = std::move(limits);
    std::vector<std::unique_ptr<Module>> modules;
    modules.push_back(load_program(reference_.program_path(), options.shapes).module);
    return compile(std::move(modules), options);
  }

  DeviceRun run(const Compiled& compiled) const {
    const TemporaryFolder folder;
    compiled.write(folder.file("step.ingot"));
    return train_on_device(folder.file("step.ingot"), reference_.data_path(), 2, 2);
  }

  const JaxReference reference_{GetParam()};
};

// Down to the least that is reached, each time by an eighth of what there was at first.
TEST_P(MemoryGolden, IsTheSameInLess) {
  const Compiled unlimited = compiled({});
  const DeviceRun expected = run(unlimited);
  const int64_t most_bytes = bytes_of(unlimited.plans[0][0]);
  for (int eighths = 7; eighths > 0; --eighths) {
    Compiled limited;
    const std::string error = error_of([&] { limited = compiled({{"", most_bytes * eighths / 8}}); });
    if (!error.empty()) {
      EXPECT_NE(error.find("--memory-limit"), std::string::npos) << error;
      break;
    }
    EXPECT_LE(bytes_of(limited.plans[0][0]), most_bytes * eighths / 8);
    EXPECT_TRUE(run(limited) == expected) << eighths << "/8";
  }
}

INSTANTIATE_TEST_SUITE_P(All, MemoryGolden,
                         testing::Values("chargpt_adamw_clip", "cnn_adamw", "depthwise_groupnorm_lion", "dlrm_sgd",
                                         "dropout_momentum", "lora_frozen_base", "lstm_scan_adam", "mlp_adamw",
                                         "mlp_bf16_mixed", "moe_topk_adagrad", "resnet8_batchnorm_nesterov",
                                         "unet_rmsprop", "vae_threefry_adam", "vit_adamw_schedule",
                                         "accumulate_fori_adamw"),
                         [](const auto& info) { return std::string(info.param); });

TEST(MemoryLimit, SaysWhatHoldsTheLeast) {
  Training<DeepNet> training;
  const std::string error = error_of([&] { training.compiled({{"train_step", 65536}}); });
  EXPECT_NE(error.find("more than the 65536 bytes of --memory-limit"), std::string::npos) << error;
  EXPECT_NE(error.find("@train_step takes "), std::string::npos) << error;
  EXPECT_NE(error.find("tensor<"), std::string::npos) << error;
}

TEST(MemoryLimit, IsOfAnEntryPointThatThereIs) {
  Training<DeepNet> training;
  EXPECT_EQ(error_of([&] { training.compiled({{"predict", 65536}}); }),
            "error: --memory-limit: there is no entry point 'predict'; the entry points are train_step, init");
  EXPECT_EQ(error_of([&] { training.compiled({{"init", 1}, {"init", 2}}); }),
            "error: --memory-limit: the entry point 'init' has two limits; give one");
  EXPECT_EQ(limit_of({{"", 1}, {"init", 2}}, "init"), 2);
  EXPECT_EQ(limit_of({{"init", 2}, {"", 1}}, "train_step"), 1);
  EXPECT_EQ(limit_of({{"init", 2}}, "train_step"), std::nullopt);
}

}  // namespace
}  // namespace ingot
