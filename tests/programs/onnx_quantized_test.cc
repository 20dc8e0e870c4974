// QDQ models, as quantizers write them: products of dequantized tensors, beside sums of the integers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "aot/base/file.h"
#include "aot/graph/text/print.h"
#include "aot/pipeline/freeze_state.h"
#include "aot/pipeline/passes.h"
#include "tests/support/compiled_program.h"
#include "tests/support/onnx_run.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/temporary_folder.h"

namespace ingot {
namespace {

constexpr int64_t kU8 = 2, kI8 = 3;                   // TensorProto.DataType
constexpr int kRows = 3, kDepth = 60, kColumns = 24;  // weights enough that they are not constants of f32
constexpr double kScale = 0.0625;                     // of x
constexpr uint8_t kZeroPoint = 131;

float weight_scale(int column) { return std::ldexp(1.0F, column % 5 - 3); }

int weight(int k, int column) { return (k * 37 + column * 91) % 255 - 127; }

// x, which is quantized, times weights with a scale for each column: as MatMul, or as a Conv of images of one pixel.
OnnxGraph model(bool is_convolution) {
  OnnxGraph graph;
  const std::vector<int64_t> image = {kRows, kDepth, 1, 1}, matrix = {kRows, kDepth};
  graph.input("x", kF32, is_convolution ? image : matrix);
  graph.floats("scale", {}, {static_cast<float>(kScale)});
  graph.tensor(onnx_tensor("zero", kU8, {}, std::string(1, static_cast<char>(kZeroPoint))));
  std::vector<float> scales;
  for (int column = 0; column < kColumns; ++column) scales.push_back(weight_scale(column));
  graph.floats("scales", {kColumns}, scales);
  graph.tensor(onnx_tensor("zeros", kI8, {kColumns}, std::string(kColumns, '\0')));
  std::string weights;
  for (int k = 0; k < kDepth * kColumns; ++k) {
    const int row = is_convolution ? k % kDepth : k / kColumns, column = is_convolution ? k / kDepth : k % kColumns;
    weights += static_cast<char>(weight(row, column));
  }
  const std::vector<int64_t> kernel = {kColumns, kDepth, 1, 1}, right = {kDepth, kColumns};
  graph.tensor(onnx_tensor("w", kI8, is_convolution ? kernel : right, weights));
  graph.node("QuantizeLinear", {"x", "scale", "zero"}, {"xq"});
  graph.node("DequantizeLinear", {"xq", "scale", "zero"}, {"xf"});
  graph.node("DequantizeLinear", {"w", "scales", "zeros"}, {"wf"}, {onnx_integer("axis", is_convolution ? 0 : 1)});
  graph.node(is_convolution ? "Conv" : "MatMul", {"xf", "wf"}, {"y"});
  graph.output("y", kF32, {});
  return graph;
}

// The model with constant weights, as `ingot compile` takes it.
onnx::Imported frozen(const std::string& path, const OnnxGraph& graph) {
  write_file(path, onnx_model(graph, 18));
  onnx::Imported imported = onnx::import_model(path, {});
  std::vector<std::unique_ptr<Module>> modules;
  modules.push_back(std::move(imported.module));
  freeze_state(modules, imported.weights);
  imported.module = std::move(modules[0]);
  imported.weights.clear();
  return imported;
}

double quantized(double x) { return std::clamp(std::nearbyint(x / kScale) + kZeroPoint, 0.0, 255.0) - kZeroPoint; }

// All scales are powers of two and the sums are exact in f32: so is every result.
TEST(OnnxQuantized, ProductsOfDequantizedTensorsAreSumsOfIntegers) {
  const TemporaryFolder folder;
  for (const bool is_convolution : {false, true}) {
    SCOPED_TRACE(is_convolution ? "Conv" : "MatMul");
    const onnx::Imported imported = frozen(folder.file("model.onnx"), model(is_convolution));
    std::vector<double> x, expected;
    for (int k = 0; k < kRows * kDepth; ++k) x.push_back((k * 29 % 101 - 50) * 0.171);
    for (int row = 0; row < kRows; ++row) {
      for (int column = 0; column < kColumns; ++column) {
        double sum = 0;
        for (int k = 0; k < kDepth; ++k) sum += quantized(x[row * kDepth + k]) * weight(k, column);
        expected.push_back(sum * kScale * weight_scale(column));
      }
    }
    const Shape shape = is_convolution ? Shape{kRows, kDepth, 1, 1} : Shape{kRows, kDepth};
    const NamedTensors inputs{{"x", tensor_of_values({DType::kF32, shape}, x)}};
    ReferenceExecutor reference;
    CompiledExecutor compiled;
    EXPECT_EQ(run_imported(imported, reference, inputs).at("y").f, expected);
    EXPECT_EQ(run_imported(imported, compiled, inputs).at("y").f, expected);
    PassContext context;
    run_passes(compile_passes(), *imported.module, context);
    EXPECT_NE(print(*imported.module).find("ingot.unsigned_bytes"), std::string::npos) << print(*imported.module);
  }
}

}  // namespace
}  // namespace ingot
