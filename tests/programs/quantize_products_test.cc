// Products and convolutions of floats made of 8-bit integers: how far they may be from what they stand for, and which.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "aot/graph/evaluate.h"
#include "aot/ops/support/build.h"
#include "aot/pipeline/passes.h"
#include "tests/support/compiled_program.h"
#include "tests/support/parsed_text.h"
#include "tests/support/random_tensor.h"

namespace ingot {
namespace {

constexpr int kSeeds = 16;

// A product or a convolution of x by constant weights of random sizes.
struct Problem {
  std::unique_ptr<Module> module = std::make_unique<Module>();
  TensorType input;
  int64_t depth = 0;          // products in a sum
  double largest_weight = 0;  // its magnitude

  explicit Problem(uint64_t seed) {
    Random random(seed);
    const auto size = [&](int64_t low, int64_t high) { return low + random.below(high - low + 1); };
    const int64_t rows = size(1, 9), features = size(1, 40);
    if (random.chance(0.5)) {
      make_product(seed, rows, size(3, 70), features, random.chance(0.5));
    } else {
      make_convolution(seed, size(3, 20), features, size(1, 3), random.chance(0.3) ? 2 : 1);
    }
  }

 private:
  Value* begin(GraphBuilder& b, TensorType type) {
    input = std::move(type);
    Function& function = *module->add_function("main");
    function.argument_attrs.push_back({{attributes::kName, std::string("x")}});
    Value* const x = function.body.add_argument(input, "x");
    b.at_end(function.body);
    return x;
  }

  // Whose channels differ in size by powers of two, in an order of their own.
  Value* weights(GraphBuilder& b, uint64_t seed, const Shape& shape) {
    const RefTensor values = random_tensor({DType::kF32, shape}, seed + 100);
    for (const double value : values.f) largest_weight = std::max(largest_weight, std::abs(value));
    return ops::constant(b, to_literal(values));
  }

  void end(GraphBuilder& b, Value* y) {
    Function& function = *module->functions[0];
    function.results.push_back({y->type, {{attributes::kName, std::string("y")}}});
    b.create(kFuncReturn, {y});
  }

  void make_product(uint64_t seed, int64_t rows, int64_t along, int64_t columns, bool is_turned) {
    GraphBuilder b;
    Value* const x = begin(b, {DType::kF32, {rows, along}});
    const Shape shape = is_turned ? Shape{columns, along} : Shape{along, columns};
    Value* const w = weights(b, seed, shape);
    depth = along;
    end(b, ops::dot_general(b, x, w, {{}, {}, {1}, {is_turned ? 1 : 0}}));
  }

  void make_convolution(uint64_t seed, int64_t channels, int64_t features, int64_t extent, int64_t groups) {
    const int64_t of_group = (channels + 3) / 4 * 4, all = groups * (groups > 1 ? of_group : channels);
    const std::string text = fmt::format(
        "func.func @main(%x: tensor<2x{0}x7x6xf32> {{ingot.name = \"x\"}}, %w: tensor<{1}x{2}x{3}x{3}xf32>) -> "
        "(tensor<2x{1}x7x6xf32> {{ingot.name = \"y\"}}) {{\n"
        "  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {{pad = "
        "[[{4}, {5}], [{4}, {5}]]}} {{batch_group_count = 1 : i64, feature_group_count = {6} : i64}} : "
        "(tensor<2x{0}x7x6xf32>, tensor<{1}x{2}x{3}x{3}xf32>) -> tensor<2x{1}x7x6xf32>\n"
        "  return %0 : tensor<2x{1}x7x6xf32>\n}}\n",
        all, features * groups, all / groups, extent, (extent - 1) / 2, extent / 2, groups);
    module = parse(text);
    Function& function = *module->functions[0];
    input = function.body.argument(0)->type;
    GraphBuilder b;
    b.before(*function.body.ops.front());
    Value* const w = function.body.argument(1);
    replace_all_uses(w, weights(b, seed, w->type.shape));
    function.body.arguments.pop_back();
    function.argument_attrs.pop_back();
    depth = all / groups * extent * extent;
  }
};

std::string quantized_text(Module& module, const ProductQuantization& quantization,
                           std::vector<ProductNote>* notes = nullptr) {
  PassContext context;
  context.quantization = &quantization;
  run_passes(compile_passes(), module, context, {.stop_after = "multiply_bytes"});
  if (notes) *notes = context.product_notes;
  return print(module);
}

// |x w - x' w'| <= |x - x'| |w| + |x'| |w - w'|, where each is at most half a step away.
double largest_error(const Problem& problem, SeenRange range) {
  const double x_step = (range.high - range.low) / 255, w_step = problem.largest_weight / 127;
  const double x_most = std::max(range.high, -range.low) + x_step;
  return static_cast<double>(problem.depth) * (x_step * problem.largest_weight + x_most * w_step) / 2 * 1.001;
}

TEST(QuantizeProducts, AreWithinHalfAStepOfEachFactor) {
  for (uint64_t seed = 0; seed < kSeeds && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Problem problem(seed);
    const SeenRange range{seed % 3 == 0 ? 0.0 : -1.0, seed % 3 == 1 ? 3.0 : 1.0};
    const RefTensor x = random_tensor(problem.input, seed, range.low, range.high);
    const ProductQuantization quantization{.ranges = {range}};
    const std::vector<RefTensor> expected = evaluate(*problem.module->functions[0], {x});
    const auto module = copy_module(*problem.module);
    const std::string text = quantized_text(*module, quantization);
    EXPECT_NE(text.find("ingot.unsigned_bytes"), text.npos) << text;
    const std::vector<RefTensor> integers = evaluate(*module->functions[0], {x});
    expect_equal(integers, expected, {.absolute = largest_error(problem, range)});
    NamedTensors state;
    CompileOptions options;
    options.quantization = quantization;
    CompiledProgram compiled(*problem.module, options);
    expect_equal({compiled.run("main", 1, state, {{"x", x}}).at("y")}, integers, {.ulp = 8, .absolute = 1e-5});
  }
}

// What lies outside is the nearest that lies inside; zeros of the border are zeros.
TEST(QuantizeProducts, ClipWhatIsOutsideOfTheRange) {
  const std::string text = R"(
func.func @main(%x: tensor<1x4xf32>) -> tensor<1x2xf32> {
  %w = stablehlo.constant dense<[[127.0, 1.0], [127.0, 1.0], [127.0, 1.0], [127.0, 1.0]]> : tensor<4x2xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1x4xf32>, tensor<4x2xf32>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
})";
  const auto module = parse(text);
  quantized_text(*module, {.ranges = {{-55, 200}}});
  RefTensor x({DType::kF32, {1, 4}});
  x.f = {1000, -1000, 3.4, 0};
  const std::vector<RefTensor> y = evaluate(*module->functions[0], {x});
  EXPECT_EQ(y[0].f, (std::vector<double>{127 * (200 - 55 + 3), 200 - 55 + 3}));
}

constexpr const char* kSeveral = R"(
func.func @main(%x: tensor<4x8xf32>, %z: tensor<8x4xf32>, %i: tensor<1x4x5xf32>, %d: tensor<4x8xf64>) ->
    (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x4xf32>, tensor<1x4x5xf32>, tensor<4x3xf64>, tensor<4x6xf32>) {
  %w = stablehlo.constant dense<0.5> : tensor<8x6xf32>
  %v = stablehlo.constant dense<0.25> : tensor<8x6xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %1 = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %2 = stablehlo.dot_general %x, %z, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %k = stablehlo.constant dense<0.5> : tensor<4x1x1xf32>
  %3 = stablehlo.convolution(%i, %k) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<1x4x5xf32>, tensor<4x1x1xf32>) -> tensor<1x4x5xf32>
  %e = stablehlo.constant dense<0.5> : tensor<8x3xf64>
  %4 = stablehlo.dot_general %d, %e, contracting_dims = [1] x [0] : (tensor<4x8xf64>, tensor<8x3xf64>) -> tensor<4x3xf64>
  %u = stablehlo.constant dense<0.5> : tensor<6x6xf32>
  %5 = stablehlo.dot_general %0, %u, contracting_dims = [1] x [0] : (tensor<4x6xf32>, tensor<6x6xf32>) -> tensor<4x6xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x4xf32>, tensor<1x4x5xf32>, tensor<4x3xf64>, tensor<4x6xf32>
})";

TEST(QuantizeProducts, SayWhyTheyStay) {
  const auto module = parse(kSeveral);
  std::vector<ProductNote> notes;
  quantized_text(*module, {.kept = {"test.mlir:14:*"}}, &notes);
  std::vector<std::string> why;
  for (const ProductNote& note : notes) why.push_back(note.why_float);
  EXPECT_EQ(why, (std::vector<std::string>{"", "", "neither factor is known before it runs, or both are",
                                           "few channels are convolved together", "its elements are f64",
                                           "it is asked to stay"}));
  EXPECT_EQ(notes[0].name, "test.mlir:6:8");
}

int count(const std::string& text, const std::string& what) {
  int found = 0;
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST(QuantizeProducts, WhatSeveralReadIsQuantizedOnce) {
  const auto module = parse(kSeveral);
  const std::string text = quantized_text(*module, {.ranges = std::vector<SeenRange>(6, {-1, 1})});
  EXPECT_EQ(count(text, "ingot.unsigned_bytes"), 3) << text;
  EXPECT_EQ(count(text, "stablehlo.round_nearest_even"), 2) << text;
}

TEST(QuantizeProducts, StandBesideThoseOfFloats) {
  const auto module = parse(kSeveral), before = copy_module(*module);
  quantized_text(*module, {.ranges = std::vector<SeenRange>(6, {-2, 2}), .is_beside = true, .are_observed = true});
  const std::vector<RefTensor> arguments = random_arguments(*before->functions[0], 3);
  std::vector<RefTensor> results = evaluate(*module->functions[0], arguments);
  ASSERT_EQ(results.size(), 6u + 3 * 3);
  const std::vector<RefTensor> further(results.begin() + 6, results.end());
  results.resize(6);
  expect_equal(results, evaluate(*before->functions[0], arguments), {.ulp = 4});
  for (int product = 0; product < 3; ++product) {
    const RefTensor &read = further[3 * product], &floats = further[3 * product + 1],
                    &integers = further[3 * product + 2];
    expect_equal({read}, {product < 2 ? arguments[0] : results[0]});
    expect_equal({floats}, {results[product < 2 ? product : 5]});
    if (product < 2) expect_equal({integers}, {floats}, {.absolute = 8 * 0.5 * 4 / 255 / 2 * 1.01});
  }
  EXPECT_EQ(module->functions[0]->results[8].attrs.at(attributes::kName).value,
            Attr(std::string("product 0 gives in integers")).value);
}

// Models that come in integers, and a second run of the pass.
TEST(QuantizeProducts, IntegersStay) {
  const auto module = parse(kSeveral);
  const ProductQuantization quantization{.ranges = std::vector<SeenRange>(6, {-1, 1})};
  PassContext context;
  context.quantization = &quantization;
  EXPECT_TRUE(quantize_products(*module, context));
  const std::string once = print(*module);
  EXPECT_FALSE(quantize_products(*module, context));
  EXPECT_EQ(print(*module), once);
  EXPECT_EQ(context.product_notes[6].why_float, "the program has it in integers already");
}

}  // namespace
}  // namespace ingot
