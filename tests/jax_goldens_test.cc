// Whole training steps as JAX prints them: compiled, run by the engine, compared with what JAX computes.
//
// A run agrees when every scalar float output is within 3 * noise + 1e-6 of the reference at every step (relative), and
// every float tensor of the last state within 3 * noise + 1e-5 (relative L2); integer state is exact. The reference is the
// f64 run, or the f32 one where there is none; the noise is what rounding alone does to JAX's own run.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "aot/base/safetensors.h"
#include "aot/graph/literal.h"
#include "aot/pipeline/compile.h"
#include "apps/ingot/device.h"
#include "apps/ingot/sources.h"
#include "apps/ingot/tensor_files.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path kGoldens = fs::path(INGOT_SHARED_DIR) / "goldens" / "jax";

std::vector<double> floats(const SafeTensor& tensor) {
  const DType dtype = tensor.dtype == "F64" ? DType::kF64 : tensor.dtype == "BF16" ? DType::kBF16 : DType::kF32;
  std::vector<double> values(tensor.data.size() / info(dtype).bytes);
  for (size_t i = 0; i < values.size(); ++i) values[i] = load_float(dtype, tensor.data.data() + i * info(dtype).bytes);
  return values;
}

bool is_float_tensor(const SafeTensor& tensor) { return tensor.dtype[0] == 'F' || tensor.dtype[0] == 'B'; }

double distance(const std::vector<double>& a, const std::vector<double>& reference) {
  double square = 0;
  double norm = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    square += (a[i] - reference[i]) * (a[i] - reference[i]);
    norm += reference[i] * reference[i];
  }
  return std::sqrt(square / (norm > 0 ? norm : 1));
}

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
  const fs::path folder = kGoldens / GetParam();
  if (!fs::exists(folder)) GTEST_SKIP() << folder << " is not here";
  const json manifest = json::parse(read_text((folder / "manifest.json").string()));
  const std::string data_path = (folder / "data.safetensors").string();
  const SafeTensors data = SafeTensors::read(data_path);

  std::vector<std::unique_ptr<Module>> modules;
  modules.push_back(load_program((folder / "step.mlir").string()));
  const fs::path work = fs::path(testing::TempDir()) / GetParam();
  bundle::write_bundle_file(compile(std::move(modules), {}).spec, work.string() + ".ingot");
  Device device(work.string() + ".ingot", 2);
  const int steps = manifest.at("steps");
  const auto log = train(device, data_path, steps);

  for (const json& result : manifest.at("results")) {
    const std::string name = result.at("name");
    if (result.at("kind") != "output" || !result.at("shape").empty()) continue;
    if (!result.at("dtype").get<std::string>().starts_with("float")) continue;
    const SafeTensor* f64 = data.find("expect.f64." + name);
    const std::vector<double> expected = floats(f64 ? *f64 : *data.find("expect.f32." + name));
    const double limit = 3 * manifest["f32_noise"]["output"][name].get<double>() + 1e-6;
    for (int step = 0; step < steps; ++step) {
      const double far = std::abs(log[step].at(name) - expected[step]) / std::max(std::abs(expected[step]), 1e-30);
      EXPECT_LE(far, limit) << name << " at step " << step;
    }
  }
  device.save_state(work.string() + ".safetensors");
  const SafeTensors state = SafeTensors::read(work.string() + ".safetensors");
  for (const auto& [key, expected] : data.tensors()) {
    if (!key.starts_with("final.")) continue;
    const std::string name = key.substr(key.find('.', 6) + 1);
    const SafeTensor* got = state.find("state." + name);
    ASSERT_NE(got, nullptr) << name << " is not in the saved state";
    if (!is_float_tensor(expected)) {
      EXPECT_TRUE(std::equal(got->data.begin(), got->data.end(), expected.data.begin(), expected.data.end())) << name;
      continue;
    }
    const double limit = 3 * manifest["f32_noise"]["state"][name].get<double>() + 1e-5;
    EXPECT_LE(distance(floats(*got), floats(expected)), limit) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, JaxGolden,
                         testing::Values("softmax_regression", "mlp_adamw", "cnn_adamw", "resnet8_batchnorm_nesterov",
                                         "chargpt_adamw_clip"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace ingot
