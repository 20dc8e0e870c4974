// The goldens' models written in C++ give the goldens' losses: differentiation and optimizers, checked by another
// framework.
#include "tests/jax_models.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "aot/base/safetensors.h"
#include "tests/program_runner.h"

namespace ingot {
namespace {

// Row `row` of a stored array of f32 or i32, or all of it.
RefTensor tensor_at(const SafeTensor& stored, int64_t row = -1) {
  TensorType type{stored.dtype == "F32"   ? DType::kF32
                  : stored.dtype == "F64" ? DType::kF64
                                          : DType::kI32,
                  stored.shape};
  const std::byte* from = stored.data.data();
  if (row >= 0) {
    type.shape.erase(type.shape.begin());
    from += row * type.bytes();
  }
  RefTensor tensor(type);
  for (int64_t k = 0; k < tensor.elements(); ++k, from += info(type.dtype).bytes) {
    if (tensor.is_float()) {
      tensor.f[k] = load_float(type.dtype, from);
    } else {
      tensor.i[k] = load_int(type.dtype, from);
    }
  }
  return tensor;
}

TEST(JaxModels, MlpStartsWithTheGoldensLosses) {
  const auto path = std::filesystem::path(INGOT_SHARED_DIR) / "goldens/jax/mlp_adamw/data.safetensors";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no goldens at " << path;
  const SafeTensors golden = SafeTensors::read(path.string());
  GoldenModel model = GoldenModel::mlp_adamw();
  NamedTensors state;
  for (const Spec& variable : model.program().state()) {
    const SafeTensor* start = golden.find("state." + GoldenModel::golden_name(variable.name));
    ASSERT_NE(start, nullptr) << variable.name;
    state[variable.name] = RefTensor(variable.type);
    if (is_float(variable.type.dtype)) state[variable.name] = tensor_at(*start);
  }
  const RefTensor expected = tensor_at(*golden.find("expect.f64.loss"));
  ReferenceExecutor executor;
  for (int64_t step = 0; step < 2; ++step) {
    const NamedTensors batch{{"x", tensor_at(*golden.find("batch.x"), step)},
                             {"y", tensor_at(*golden.find("batch.y"), step)}};
    const double loss = executor.run(model.program().module(), "train_step", state, batch).at("loss").f[0];
    EXPECT_NEAR(loss, expected.f[step], 2e-6 * expected.f[step]) << "step " << step;
  }
}

}  // namespace
}  // namespace ingot
