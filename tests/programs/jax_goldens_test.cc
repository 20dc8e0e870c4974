// Whole training steps as JAX prints them: compiled, run by the engine, compared with what JAX computes.
#include "aot/pipeline/compile.h"
#include "aot/plan/parse_plan.h"
#include "apps/ingot/files/sources.h"
#include "tests/support/device_run.h"
#include "tests/support/error_of.h"
#include "tests/support/jax_reference.h"
#include "tests/support/walked_program.h"

namespace ingot {
namespace {

class JaxGolden : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!reference_.exists()) GTEST_SKIP() << "no goldens of " << GetParam();
  }

  // The golden compiled for every target, once for all tests, and in a file; its plans are what their text says.
  const bundle::BundleSpec& spec() const {
    static std::map<std::string, Compiled> made;
    const auto [place, is_new] = made.try_emplace(GetParam());
    Compiled& compiled = place->second;
    if (!is_new) return compiled.spec;
    std::vector<std::unique_ptr<Module>> modules;
    CompileOptions options;
    modules.push_back(load_program(reference_.program_path(), options.shapes).module);
    options.targets = every_target();
    compiled = compile(std::move(modules), options);
    compiled.write(bundle_path());
    for (const std::vector<plan::Plan>& plans : compiled.plans) {
      for (const plan::Plan& plan : plans) EXPECT_EQ(plan::parse_plan(plan::print(plan)), plan);
    }
    return compiled.spec;
  }

  std::string bundle_path() const {
    return (std::filesystem::path(testing::TempDir()) / GetParam()).string() + ".ingot";
  }

  DeviceRun train(int steps, uint32_t threads) const {
    spec();
    return train_on_device(bundle_path(), reference_.data_path(), steps, threads);
  }

  // A run that left its state beside the bundle.
  void expect_agreement(const DeviceRun& run, const std::string& bundle) const {
    for (const std::string& name : reference_.scalar_outputs()) {
      for (int step = 0; step < reference_.steps(); ++step)
        reference_.expect_output(name, step, run.scalars[step].at(name));
    }
    const SafeTensors state = SafeTensors::read(bundle + ".safetensors");
    reference_.expect_final_state([&](const std::string& name) {
      const SafeTensor* saved = state.find("state." + name);
      EXPECT_NE(saved, nullptr) << name << " is not in the saved state";
      return saved ? tensor_at(*saved) : RefTensor();
    });
  }

  const JaxReference reference_{GetParam()};
};

TEST_P(JaxGolden, LossesAndFinalStateAgree) { expect_agreement(train(reference_.steps(), 2), bundle_path()); }

TEST_P(JaxGolden, AnyNumberOfThreadsGivesTheSameBits) {
  const DeviceRun first = train(3, 1);
  for (const uint32_t threads : {1, 2, 3}) EXPECT_TRUE(train(3, threads) == first) << threads << " threads";
}

INSTANTIATE_TEST_SUITE_P(All, JaxGolden,
                         testing::Values("softmax_regression", "mlp_adamw", "mlp_bf16_mixed", "cnn_adamw",
                                         "resnet8_batchnorm_nesterov", "chargpt_adamw_clip", "depthwise_groupnorm_lion",
                                         "dlrm_sgd", "dropout_momentum", "lora_frozen_base", "lstm_scan_adam",
                                         "moe_topk_adagrad", "unet_rmsprop", "vae_threefry_adam", "vit_adamw_schedule",
                                         "accumulate_fori_adamw"),
                         [](const auto& info) { return std::string(info.param); });

// The first target of those above is too small for convolutions by tiles; a PC's are not.
class ConvolutionalJaxGolden : public JaxGolden {};

TEST_P(ConvolutionalJaxGolden, TilesAgree) {
  std::vector<std::unique_ptr<Module>> modules;
  CompileOptions options;
  modules.push_back(load_program(reference_.program_path(), options.shapes).module);
  options.targets = {"x86-64-v4", "x86-64-v3"};
  const std::string path = bundle_path() + ".tiles";
  if (!can_run(loops::find_target("x86-64-v3"))) GTEST_SKIP() << "another processor's code";
  compile(std::move(modules), options).write(path);
  expect_agreement(train_on_device(path, reference_.data_path(), reference_.steps(), 2), path);
}

INSTANTIATE_TEST_SUITE_P(All, ConvolutionalJaxGolden,
                         testing::Values("cnn_adamw", "resnet8_batchnorm_nesterov", "unet_rmsprop"),
                         [](const auto& info) { return std::string(info.param); });

// The batch in two parts. INGOT_EVERY_GOLDEN=1: also the larger goldens.
class SplitJaxGolden : public JaxGolden {
 protected:
  std::string write_in_parts(const std::string& path) const {
    std::vector<std::unique_ptr<Module>> modules;
    CompileOptions options;
    modules.push_back(load_program(reference_.program_path(), options.shapes).module);
    options.micro_batches = {{"", 2}};
    return error_of([&] {
      const Compiled compiled = compile(std::move(modules), options);
      EXPECT_EQ(compiled.micro_batch_notes.size(), 1u);
      compiled.write(path);
    });
  }
};

TEST_P(SplitJaxGolden, PartsOfTheBatchAgree) {
  constexpr std::string_view kSmall[] = {"dlrm_sgd", "dropout_momentum", "mlp_bf16_mixed", "vae_threefry_adam"};
  const bool is_every = std::getenv("INGOT_EVERY_GOLDEN") != nullptr;
  if (!is_every && std::ranges::find(kSmall, GetParam()) == std::end(kSmall)) GTEST_SKIP() << "INGOT_EVERY_GOLDEN=1";
  const std::string path = bundle_path() + ".parts";
  ASSERT_EQ(write_in_parts(path), "");
  const auto train = [&](int steps, uint32_t threads) {
    return train_on_device(path, reference_.data_path(), steps, threads);
  };
  const DeviceRun first = train(3, 1);
  for (const uint32_t threads : {2, 3}) EXPECT_TRUE(train(3, threads) == first) << threads << " threads";
  expect_agreement(train(reference_.steps(), 2), path);
}

INSTANTIATE_TEST_SUITE_P(All, SplitJaxGolden,
                         testing::Values("softmax_regression", "mlp_adamw", "mlp_bf16_mixed", "cnn_adamw",
                                         "chargpt_adamw_clip", "depthwise_groupnorm_lion", "dlrm_sgd",
                                         "dropout_momentum", "lora_frozen_base", "unet_rmsprop", "vae_threefry_adam",
                                         "vit_adamw_schedule"),
                         [](const auto& info) { return std::string(info.param); });

class WholeJaxGolden : public SplitJaxGolden {};

// Each row is normalized by all of the batch.
TEST_P(WholeJaxGolden, BatchesWhoseRowsDependOnEachOtherAreRefused) {
  const std::string error = write_in_parts(bundle_path() + ".parts");
  EXPECT_NE(error.find("--micro-batches: the batch of @step cannot be computed in parts: rows depend on each other: "),
            std::string::npos)
      << error;
}

INSTANTIATE_TEST_SUITE_P(All, WholeJaxGolden, testing::Values("resnet8_batchnorm_nesterov"),
                         [](const auto& info) { return std::string(info.param); });

// "state.w" and "batch.x" without what they are.
std::string without_kind(const std::string& name) { return name.substr(name.find('.') + 1); }

// Also on processors that only an emulator has: one thread, without the engine.
class SmallJaxGolden : public JaxGolden {};

TEST_P(SmallJaxGolden, EveryTargetAgrees) {
  for (const loops::Target& target : loops::all_targets()) {
    if (!can_run(target)) continue;
    SCOPED_TRACE(target.name);
    WalkedProgram program(spec(), target);
    const bundle::Entry& entry = spec().entries.at(0);
    NamedTensors state;
    for (const bundle::State& it : spec().states)
      state[it.tensor.name] = reference_.start(without_kind(it.tensor.name));
    for (int step = 0; step < reference_.steps(); ++step) {
      NamedTensors batch;
      for (const bundle::Tensor& input : entry.inputs)
        batch[input.name] = reference_.batch(without_kind(input.name), step);
      const NamedTensors outputs = program.run(entry.name, state, batch);
      for (const std::string& name : reference_.scalar_outputs())
        reference_.expect_output(name, step, outputs.at(name).f[0]);
    }
    reference_.expect_final_state([&](const std::string& name) { return state.at("state." + name); });
  }
}

INSTANTIATE_TEST_SUITE_P(All, SmallJaxGolden,
                         testing::Values("softmax_regression", "mlp_bf16_mixed", "depthwise_groupnorm_lion",
                                         "accumulate_fori_adamw", "dlrm_sgd"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace ingot
