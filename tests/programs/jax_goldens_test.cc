// Whole training steps as JAX prints them: compiled, run by the engine, compared with what JAX computes.
#include "aot/pipeline/compile.h"
#include "aot/plan/parse_plan.h"
#include "apps/ingot/sources.h"
#include "tests/support/device_run.h"
#include "tests/support/jax_reference.h"

namespace ingot {
namespace {

class JaxGolden : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!reference_.exists()) GTEST_SKIP() << "no goldens of " << GetParam();
  }

  // The golden compiled into a file, once for all tests; its plans are what their text says.
  std::string bundle_path() const {
    const std::string path = (std::filesystem::path(testing::TempDir()) / GetParam()).string() + ".ingot";
    static std::set<std::string> written;
    if (written.insert(path).second) {
      std::vector<std::unique_ptr<Module>> modules;
      modules.push_back(load_program(reference_.program_path()));
      const Compiled compiled = compile(std::move(modules), {});
      compiled.write(path);
      for (const plan::Plan& plan : compiled.plans[0]) EXPECT_EQ(plan::parse_plan(plan::print(plan)), plan);
    }
    return path;
  }

  DeviceRun train(int steps, uint32_t threads) const {
    return train_on_device(bundle_path(), reference_.data_path(), steps, threads);
  }

  const JaxReference reference_{GetParam()};
};

TEST_P(JaxGolden, LossesAndFinalStateAgree) {
  const DeviceRun run = train(reference_.steps(), 2);
  for (const std::string& name : reference_.scalar_outputs()) {
    for (int step = 0; step < reference_.steps(); ++step) {
      reference_.expect_output(name, step, run.scalars[step].at(name));
    }
  }
  const SafeTensors state = SafeTensors::read(bundle_path() + ".safetensors");
  reference_.expect_final_state([&](const std::string& name) {
    const SafeTensor* saved = state.find("state." + name);
    EXPECT_NE(saved, nullptr) << name << " is not in the saved state";
    return saved ? tensor_at(*saved) : RefTensor();
  });
}

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

}  // namespace
}  // namespace ingot
