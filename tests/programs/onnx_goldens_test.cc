// Models that PyTorch exported, compiled and run, against what PyTorch computes for them in f64: the shared goldens, or
// the folder that INGOT_ONNX_GOLDENS names.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "aot/base/safetensors.h"
#include "tests/support/compiled_program.h"
#include "tests/support/onnx_run.h"

namespace ingot {
namespace {

std::filesystem::path onnx_goldens() {
  const char* folder = std::getenv("INGOT_ONNX_GOLDENS");
  return folder ? folder : std::filesystem::path(INGOT_SHARED_DIR) / "goldens/onnx";
}

RefTensor tensor_of(const SafeTensor& stored) {
  const DType dtype = stored.dtype == "F32" ? DType::kF32 : stored.dtype == "F64" ? DType::kF64 : DType::kI64;
  return from_literal(*dense({dtype, stored.shape}, {stored.data.begin(), stored.data.end()}));
}

// The largest distance, in parts of the largest expected element.
double distance(const RefTensor& actual, const RefTensor& expected) {
  EXPECT_EQ(actual.type.shape, expected.type.shape);
  double most = 0, largest = 1e-30;
  for (int64_t k = 0; k < expected.elements(); ++k) {
    most = std::max(most, std::abs(actual.f[k] - expected.f[k]));
    largest = std::max(largest, std::abs(expected.f[k]));
  }
  return most / largest;
}

// With the weights as constants, of which no state is left.
NamedTensors run_frozen(const onnx::Imported& imported, const NamedTensors& inputs) {
  CompileOptions options;
  options.values = imported.weights;
  CompiledProgram program(*imported.module, options);
  EXPECT_TRUE(program.spec().states.empty());
  NamedTensors state;
  return program.run(imported.module->functions.front()->name, 2, state, inputs);
}

TEST(OnnxGoldens, EveryModelAgrees) {
  if (!std::filesystem::exists(onnx_goldens())) GTEST_SKIP() << "no goldens at " << onnx_goldens();
  int models = 0;
  for (const auto& folder : std::filesystem::directory_iterator(onnx_goldens())) {
    if (!std::filesystem::exists(folder.path() / "model.onnx")) continue;
    const std::string name = folder.path().filename().string();
    SCOPED_TRACE(name);
    const onnx::Imported imported = onnx::import_model((folder.path() / "model.onnx").string());
    const SafeTensors data = SafeTensors::read((folder.path() / "io.safetensors").string());
    NamedTensors inputs;
    for (const auto& [key, tensor] : data.tensors()) {
      if (key.starts_with("input.")) inputs.emplace(key.substr(6), tensor_of(tensor));
    }
    CompiledExecutor executor;
    const NamedTensors of_state = run_imported(imported, executor, inputs), frozen = run_frozen(imported, inputs);
    for (const auto& [key, tensor] : data.tensors()) {
      if (!key.starts_with("output.")) continue;
      const std::string output = key.substr(7);
      const double error = distance(frozen.at(output), tensor_of(tensor));
      std::cout << name << " " << output << ": " << error << "\n";
      EXPECT_LT(error, 1e-5) << key;
      EXPECT_LT(distance(of_state.at(output), tensor_of(tensor)), 1e-5) << key;
    }
    ++models;
  }
  EXPECT_EQ(models, 16);
}

}  // namespace
}  // namespace ingot
