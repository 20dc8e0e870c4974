// Whole training steps as JAX prints them: compiled, run by the engine, compared with what JAX computes.
#include "aot/pipeline/compile.h"
#include "apps/ingot/device.h"
#include "apps/ingot/sources.h"
#include "apps/ingot/tensor_files.h"
#include "tests/jax_reference.h"

namespace ingot {
namespace {

class JaxGolden : public testing::TestWithParam<const char*> {
 protected:
  // Trains `steps` steps; the scalar outputs of each.
  std::vector<std::map<std::string, double>> train(Device& device, const std::string& data_path, int steps) {
    device.start_state(data_path);
    const uint32_t entry = device.find_entry("");
    const auto inputs = device.inputs(entry);
    const auto outputs = device.outputs(entry);
    const Device::Bound bound = device.bind(entry);
    const Batches batches(data_path, inputs, {});
    std::vector<std::map<std::string, double>> log(steps);
    for (int step = 0; step < steps; ++step) {
      batches.fill(step, bound.inputs);
      device.run(entry);
      for (size_t i = 0; i < outputs.size(); ++i) {
        if (outputs[i].rank == 0) log[step][outputs[i].name] = scalar_value(outputs[i], bound.outputs[i]);
      }
    }
    return log;
  }
};

TEST_P(JaxGolden, LossesAndFinalStateAgree) {
  const JaxReference reference(GetParam());
  if (!reference.exists()) GTEST_SKIP() << "no goldens of " << GetParam();

  std::vector<std::unique_ptr<Module>> modules;
  modules.push_back(load_program(reference.program_path()));
  const std::string work = (std::filesystem::path(testing::TempDir()) / GetParam()).string();
  bundle::write_bundle_file(compile(std::move(modules), {}).spec, work + ".ingot");
  Device device(work + ".ingot", 2);
  const auto log = train(device, reference.data_path(), reference.steps());

  for (const std::string& name : reference.scalar_outputs()) {
    for (int step = 0; step < reference.steps(); ++step) reference.expect_output(name, step, log[step].at(name));
  }
  device.save_state(work + ".safetensors");
  const SafeTensors state = SafeTensors::read(work + ".safetensors");
  reference.expect_final_state([&](const std::string& name) {
    const SafeTensor* saved = state.find("state." + name);
    EXPECT_NE(saved, nullptr) << name << " is not in the saved state";
    return saved ? tensor_at(*saved) : RefTensor();
  });
}

INSTANTIATE_TEST_SUITE_P(All, JaxGolden,
                         testing::Values("softmax_regression", "mlp_adamw", "cnn_adamw", "resnet8_batchnorm_nesterov",
                                         "chargpt_adamw_clip"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace ingot
