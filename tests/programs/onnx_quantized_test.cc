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
onnx::Imported frozen(const std::string& path, const OnnxGraph& graph, int64_t opset = 18) {
  write_file(path, onnx_model(graph, opset));
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

// --- weights only ----------------------------------------------------------------------------------------------------

// Integers of `bits` bits in bytes, those of a row one after the other, the lower bits first.
std::string packed(const std::vector<int>& integers, size_t row, int bits) {
  if (bits == 8) return {integers.begin(), integers.end()};
  std::string bytes;
  for (size_t k = 0; k < integers.size(); k += 2) {
    const bool is_pair = k % row + 1 < row;
    bytes += static_cast<char>(integers[k] | (is_pair ? integers[k + 1] << 4 : 0));
    if (!is_pair) --k;
  }
  return bytes;
}

struct WeightsOfBits {
  int bits, depth, block;
  bool has_zeros;
};

constexpr int kChannels = 12;

// x by random integers less their zeros, times scales that are powers of two; and what it gives.
struct BlockedProblem {
  OnnxGraph graph;
  NamedTensors inputs;
  std::vector<double> expected;

  explicit BlockedProblem(const WeightsOfBits& w) {
    const int blocks = (w.depth + w.block - 1) / w.block, levels = 1 << w.bits;
    std::vector<int> integers, zeros;
    std::vector<float> scales;
    for (int k = 0; k < kChannels * blocks * w.block; ++k) integers.push_back((k * 37 + k / 7 * 11) % levels);
    for (int k = 0; k < kChannels * blocks; ++k) {
      zeros.push_back(w.has_zeros ? (k * 5 + 3) % levels : levels / 2);
      scales.push_back(std::ldexp(1.0F, k % 5 - 3));
    }
    graph.input("x", kF32, {kRows, w.depth});
    graph.tensor(onnx_tensor("w", kU8, {kChannels, blocks, w.block * w.bits / 8}, packed(integers, w.block, w.bits)));
    graph.floats("scales", {kChannels * blocks}, scales);
    OnnxNames names{"x", "w", "scales"};
    if (w.has_zeros) {
      const std::string bytes = packed(zeros, blocks, w.bits);
      graph.tensor(onnx_tensor("zeros", kU8, {static_cast<int64_t>(bytes.size())}, bytes));
      names.push_back("zeros");
    }
    graph.node("MatMulNBits", names, {"y"},
               {onnx_integer("K", w.depth), onnx_integer("N", kChannels), onnx_integer("bits", w.bits),
                onnx_integer("block_size", w.block)},
               "com.microsoft");
    graph.output("y", kF32, {});
    std::vector<double> x;
    for (int k = 0; k < kRows * w.depth; ++k) x.push_back((k * 29 % 101 - 50) * 0.125);
    for (int row = 0; row < kRows; ++row) {
      for (int channel = 0; channel < kChannels; ++channel) {
        double sum = 0;
        for (int k = 0; k < w.depth; ++k) {
          const int block = channel * blocks + k / w.block;
          sum += x[row * w.depth + k] * (integers[channel * blocks * w.block + k] - zeros[block]) * scales[block];
        }
        expected.push_back(sum);
      }
    }
    inputs = {{"x", tensor_of_values({DType::kF32, {kRows, w.depth}}, x)}};
  }
};

// All is exact in f32, whatever the order of sums.
TEST(OnnxQuantized, WeightsOfFewBitsAreKeptAsTheyAre) {
  const TemporaryFolder folder;
  for (const WeightsOfBits& w :
       {WeightsOfBits{4, 64, 32, false}, WeightsOfBits{4, 96, 32, true}, WeightsOfBits{4, 128, 128, true},
        WeightsOfBits{4, 80, 16, true}, WeightsOfBits{8, 64, 32, true}, WeightsOfBits{8, 80, 32, false}}) {
    SCOPED_TRACE(testing::Message() << w.bits << " bits, depth " << w.depth << ", block " << w.block);
    const BlockedProblem problem(w);
    const onnx::Imported imported = frozen(folder.file("model.onnx"), problem.graph);
    ReferenceExecutor reference;
    CompiledExecutor compiled;
    EXPECT_EQ(run_imported(imported, reference, problem.inputs).at("y").f, problem.expected);
    EXPECT_EQ(run_imported(imported, compiled, problem.inputs).at("y").f, problem.expected);
    PassContext context;
    run_passes(compile_passes(), *imported.module, context);
    EXPECT_EQ(context.weight_notes.at(0).bits, w.bits);
  }
}

TEST(OnnxQuantized, DequantizedWeightsAreKeptAsTheyAre) {
  const TemporaryFolder folder;
  OnnxGraph graph;
  graph.input("x", kF32, {kRows, 64});
  std::string weights;
  for (int k = 0; k < 64 * kColumns; ++k) weights += static_cast<char>(weight(k / kColumns, k % kColumns));
  graph.tensor(onnx_tensor("w", kI8, {64, kColumns}, weights));
  std::vector<float> scales;
  for (int k = 0; k < 2 * kColumns; ++k) scales.push_back(weight_scale(k));
  graph.floats("scales", {2, kColumns}, scales);
  graph.node("DequantizeLinear", {"w", "scales"}, {"wf"}, {onnx_integer("axis", 0), onnx_integer("block_size", 32)});
  graph.node("MatMul", {"x", "wf"}, {"y"});
  graph.output("y", kF32, {});
  const onnx::Imported imported = frozen(folder.file("model.onnx"), graph, 21);
  std::vector<double> x;
  for (int k = 0; k < kRows * 64; ++k) x.push_back((k * 29 % 101 - 50) * 0.125);
  const NamedTensors inputs{{"x", tensor_of_values({DType::kF32, {kRows, 64}}, x)}};
  ReferenceExecutor reference;
  CompiledExecutor compiled;
  EXPECT_EQ(run_imported(imported, compiled, inputs).at("y").f, run_imported(imported, reference, inputs).at("y").f);
  PassContext context;
  run_passes(compile_passes(), *imported.module, context);
  ASSERT_EQ(context.weight_notes.size(), 1u);
  EXPECT_EQ(context.weight_notes[0].bytes, 64 * kColumns + 4 * 2 * kColumns);
}

}  // namespace
}  // namespace ingot
