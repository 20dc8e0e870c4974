// Weights that are kept as integers of 8 and of 4 bits: how far they are from what they stand for, and which.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "aot/graph/evaluate.h"
#include "aot/graph/text/print.h"
#include "aot/ops/support/build.h"
#include "aot/pipeline/passes.h"
#include "tests/support/compiled_program.h"
#include "tests/support/parsed_text.h"
#include "tests/support/random_tensor.h"

namespace ingot {
namespace {

constexpr int kWeightSeeds = 10;

// x by constant weights, from either side, and a bias, of random sizes.
struct WeightProblem {
  std::unique_ptr<Module> module = std::make_unique<Module>();
  TensorType input;
  int64_t depth = 0, channels = 0;
  double largest_weight = 0;  // its magnitude

  explicit WeightProblem(uint64_t seed) {
    Random random(seed);
    const auto size = [&](int64_t low, int64_t high) { return low + random.below(high - low + 1); };
    const bool is_left = random.chance(0.3), is_turned = random.chance(0.5), is_transposed = random.chance(0.3);
    depth = random.chance(0.7) ? 32 * size(1, 12) : size(40, 300);
    channels = size(4096 / depth + 1, 4096 / depth + 40);
    Function& function = *module->add_function("main");
    function.argument_attrs.push_back({{attributes::kName, std::string("x")}});
    input = {DType::kF32, {random.chance(0.5) ? 1 : size(2, 20), depth}};
    Value* const x = function.body.add_argument(input, "x");
    GraphBuilder b;
    b.at_end(function.body);
    const RefTensor values =
        random_tensor({DType::kF32, is_turned ? Shape{channels, depth} : Shape{depth, channels}}, seed + 100);
    for (const double value : values.f) largest_weight = std::max(largest_weight, std::abs(value));
    Value* w = ops::constant(b, to_literal(values));
    int64_t along = is_turned ? 1 : 0;
    if (is_transposed) {
      w = ops::transpose(b, w, {1, 0});
      along = 1 - along;
    }
    Value* const y =
        is_left ? ops::dot_general(b, w, x, {{}, {}, {along}, {1}}) : ops::dot_general(b, x, w, {{}, {}, {1}, {along}});
    Value* const sum = ops::add(b, y, ops::constant(b, to_literal(random_tensor(y->type, seed + 200))));
    function.results.push_back({sum->type, {{attributes::kName, std::string("y")}}});
    b.create(kFuncReturn, {sum});
  }
};

std::vector<WeightNote> quantized(Module& module, int bits) {
  PassContext context;
  context.weight_bits = bits;
  run_passes(compile_passes(), module, context, {.stop_after = "quantize_weights"});
  return context.weight_notes;
}

// Half a step for each weight: of 127 the largest is, or of 8; a step where the extreme's sign has 7 only.
double largest_error(const WeightProblem& problem, int bits) {
  const double off = bits == 8 ? problem.largest_weight / 127 / 2 : problem.largest_weight / 8;
  return static_cast<double>(problem.depth) * off * 1.001;
}

class QuantizeWeights : public testing::TestWithParam<int> {};

TEST_P(QuantizeWeights, AreWithinAStepAndComputedAsTheyStand) {
  for (uint64_t seed = 0; seed < kWeightSeeds && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const WeightProblem problem(seed);
    const RefTensor x = random_tensor(problem.input, seed, -1, 1);
    const std::vector<RefTensor> expected = evaluate(*problem.module->functions[0], {x});
    const auto module = copy_module(*problem.module);
    const std::vector<WeightNote> notes = quantized(*module, GetParam());
    ASSERT_EQ(notes.size(), 1u);
    const int bits = problem.depth % 32 == 0 ? GetParam() : 8;
    EXPECT_EQ(notes[0].why_float, "");
    EXPECT_EQ(notes[0].bits, bits);
    EXPECT_EQ(notes[0].elements, problem.depth * problem.channels);
    const int64_t columns = bits == 8 ? problem.channels : (problem.channels + 15) / 16 * 16;  // of whole panels
    const int64_t scales = bits == 8 ? columns : columns * problem.depth / 32;
    EXPECT_EQ(notes[0].bytes, columns * problem.depth * bits / 8 + 4 * scales);
    const std::vector<RefTensor> kept = evaluate(*module->functions[0], {x});
    expect_equal(kept, expected, {.absolute = largest_error(problem, bits)});
    NamedTensors state;
    CompileOptions options;
    options.weight_bits = GetParam();
    CompiledProgram compiled(*problem.module, options);
    expect_equal({compiled.run("main", 1, state, {{"x", x}}).at("y")}, kept,
                 {.ulp = 8, .absolute = 2e-6 * static_cast<double>(problem.depth)});
  }
}

INSTANTIATE_TEST_SUITE_P(Bits, QuantizeWeights, testing::Values(4, 8));

constexpr const char* kSeveralProducts = R"(
func.func @main(%x: tensor<4x64xf32>, %z: tensor<64x64xf32>, %d: tensor<4x64xf64>) ->
    (tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x6xf32>, tensor<4x64xf64>) {
  %w = stablehlo.constant dense<0.5> : tensor<64x64xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
  %1 = stablehlo.dot_general %x, %z, contracting_dims = [1] x [0] : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
  %u = stablehlo.constant dense<0.5> : tensor<64x6xf32>
  %2 = stablehlo.dot_general %x, %u, contracting_dims = [1] x [0] : (tensor<4x64xf32>, tensor<64x6xf32>) -> tensor<4x6xf32>
  %e = stablehlo.constant dense<0.5> : tensor<64x64xf64>
  %3 = stablehlo.dot_general %d, %e, contracting_dims = [1] x [0] : (tensor<4x64xf64>, tensor<64x64xf64>) -> tensor<4x64xf64>
  return %0, %1, %2, %3 : tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x6xf32>, tensor<4x64xf64>
})";

TEST(QuantizeWeights, SayWhyTheyStay) {
  const auto module = parse(kSeveralProducts);
  std::vector<std::string> why;
  for (const WeightNote& note : quantized(*module, 4)) why.push_back(note.why_float);
  EXPECT_EQ(why, (std::vector<std::string>{"", "neither factor is known before it runs, or both are",
                                           "its weights are 384 numbers only", "its elements are f64"}));
}

TEST(QuantizeWeights, StayWhereNobodyAsks) {
  const auto module = parse(kSeveralProducts);
  EXPECT_EQ(quantized(*module, 0).size(), 0u);
  EXPECT_EQ(print(*module).find("i8"), std::string::npos);
}

}  // namespace
}  // namespace ingot
