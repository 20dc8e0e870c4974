// Convolutions by transformed tiles: what the pass makes means the same, and compiled code errs about as much as that of the
// convolution as it is written.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "aot/analysis/decisions.h"
#include "aot/graph/text/parse.h"
#include "aot/graph/text/print.h"
#include "aot/ops/ops.h"
#include "aot/ops/support/build.h"
#include "aot/passes/pass.h"
#include "aot/pipeline/passes.h"
#include "tests/support/compiled_program.h"
#include "tests/support/random_tensor.h"

namespace ingot {
namespace {

// Images of batch x size x size, a convolution by 3x3 with so much padding, and its result's sum or its gradients.
struct Case {
  int64_t batch, size, channels, features, padding;
  std::string kernel_order = "0, 1, i, o";

  int64_t result_size() const { return size + 2 * padding - 2; }
  std::string x() const { return fmt::format("tensor<{}x{}x{}x{}xf32>", batch, size, size, channels); }
  std::string w() const {
    return kernel_order == "o, i, 0, 1" ? fmt::format("tensor<{}x{}x3x3xf32>", features, channels)
                                        : fmt::format("tensor<3x3x{}x{}xf32>", channels, features);
  }
  std::string y() const { return fmt::format("tensor<{0}x{1}x{1}x{2}xf32>", batch, result_size(), features); }
};

std::string convolution(const std::string& operands, const std::string& numbers, int64_t padding,
                        const std::string& reversed, const std::string& types) {
  return fmt::format(
      "stablehlo.convolution({}) dim_numbers = {}, window = {{pad = [[{}, {}], [{}, {}]]{}}} {{batch_group_count = 1 : "
      "i64, feature_group_count = 1 : i64}} : {}",
      operands, numbers, padding, padding, padding, padding, reversed, types);
}

// The convolution, plus what is given in its result's shape.
std::unique_ptr<Module> forward(const Case& c) {
  const std::string made = convolution("%x, %w", "[b, 0, 1, f]x[" + c.kernel_order + "]->[b, 0, 1, f]", c.padding, "",
                                       fmt::format("({}, {}) -> {}", c.x(), c.w(), c.y()));
  return parse_module(fmt::format("func.func @main(%x: {0}, %w: {1}, %r: {2}) -> {2} {{\n  %0 = {3}\n  %1 = "
                                  "stablehlo.add %0, %r : {2}\n  return %1 : {2}\n}}",
                                  c.x(), c.w(), c.y(), made),
                      "forward", all_ops());
}

// Both gradients of the convolution, for that of its result.
std::unique_ptr<Module> gradients(const Case& c) {
  const std::string dx = convolution("%r, %w", "[b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f]", 2 - c.padding,
                                     ", reverse = [true, true]", fmt::format("({}, {}) -> {}", c.y(), c.w(), c.x()));
  const std::string dw = convolution("%x, %r", "[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]", c.padding, "",
                                     fmt::format("({}, {}) -> {}", c.x(), c.y(), c.w()));
  return parse_module(fmt::format("func.func @main(%x: {0}, %w: {1}, %r: {2}) -> ({0}, {1}) {{\n  %0 = {3}\n  %1 = "
                                  "{4}\n  return %0, %1 : {0}, {1}\n}}",
                                  c.x(), c.w(), c.y(), dx, dw),
                      "gradients", all_ops());
}

// In which the next op compares the result, as relu's gradient does.
std::unique_ptr<Module> compared(const Case& c) {
  const std::string made = convolution("%x, %w", "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", c.padding, "",
                                       fmt::format("({}, {}) -> {}", c.x(), c.w(), c.y()));
  std::string bits = c.y();
  bits.replace(bits.rfind("f32"), 3, "i1");
  return parse_module(
      fmt::format(
          "func.func @main(%x: {0}, %w: {1}, %r: {2}) -> {2} {{\n  %0 = {3}\n  %1 = stablehlo.compare GT, %0, %r "
          ": ({2}, {2}) -> {4}\n  %2 = stablehlo.select %1, %0, %r : {4}, {2}\n  return %2 : {2}\n}}",
          c.x(), c.w(), c.y(), made, bits),
      "compared", all_ops());
}

const Case kCases[] = {{16, 12, 32, 32, 1}, {8, 21, 32, 48, 1}, {1, 24, 64, 64, 1}};
// With channels enough for tiles of 2x2, too.
const Case kDeepCases[] = {{16, 12, 64, 64, 1}, {16, 14, 64, 64, 1}};
const Case kTransposedKernel = {16, 12, 32, 32, 1, "o, i, 0, 1"};

// After fuse and use_winograd.
std::string transformed_text(Module& module, Math math) {
  PassContext context;
  context.math = math;
  context.target = &loops::find_target("x86-64-v4");
  run_passes(std::vector<PassRow>{pass_named("fuse", ""), pass_named("use_winograd", "")}, module, context);
  return print(module);
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

double largest(const RefTensor& tensor) {
  double most = 0;
  for (const double value : tensor.f) most = std::max(most, std::abs(value));
  return most;
}

double largest_difference(const RefTensor& a, const RefTensor& b) {
  double most = 0;
  for (size_t k = 0; k < a.f.size(); ++k) most = std::max(most, std::abs(a.f[k] - b.f[k]));
  return most;
}

// In exact arithmetic the transformed program gives what the convolution does.
void expect_same_meaning(Module& module, Math math, int convolutions) {
  const std::vector<RefTensor> arguments = random_arguments(*module.functions[0], /*seed=*/1);
  const std::vector<RefTensor> expected = evaluate(*module.functions[0], arguments, {.round = false});
  const std::string text = transformed_text(module, math);
  EXPECT_EQ(count(text, "stablehlo.convolution"), 0);
  EXPECT_EQ(count(text, "stablehlo.dot_general"), convolutions)
      << to_string(module.functions[0]->body.argument(0)->type);
  const std::vector<RefTensor> actual = evaluate(*module.functions[0], arguments, {.round = false});
  for (size_t r = 0; r < expected.size(); ++r)
    EXPECT_LE(largest_difference(actual[r], expected[r]), 1e-12 * largest(expected[r])) << text;
}

TEST(Winograd, MeansTheSame) {
  for (const Case& c : kCases) expect_same_meaning(*forward(c), Math::kFast, 1);
  expect_same_meaning(*forward(kTransposedKernel), Math::kFast, 1);
  for (const Case& c : {kDeepCases[1]}) {
    expect_same_meaning(*compared(c), Math::kStandard, 1);
    expect_same_meaning(*gradients(c), Math::kStandard, 2);
  }
}

TEST(Winograd, ConstantWeightsAreTransformedByTheCompiler) {
  for (const Case& c : {kCases[2], kTransposedKernel}) {
    const std::unique_ptr<Module> module = forward(c);
    Function& function = *module->functions[0];
    const std::vector<RefTensor> arguments = random_arguments(function, /*seed=*/3);
    GraphBuilder b;
    b.before(*function.body.ops.front());
    replace_all_uses(function.body.argument(1), ops::constant(b, to_literal(arguments[1])));
    const RefTensor expected = evaluate(function, arguments)[0];
    const std::string text = transformed_text(*module, Math::kStandard);
    EXPECT_EQ(count(text, "winograd_4x4_f32"), 1) << text;
    EXPECT_EQ(count(text, "weights_") + count(text, "points_"), 0) << text;
    EXPECT_LE(largest_difference(evaluate(function, arguments)[0], expected), 1e-5 * largest(expected));
  }
}

TEST(Winograd, TilesOfFourOnlyWhereNothingIsCompared) {
  const Case c = kDeepCases[0];
  EXPECT_EQ(count(transformed_text(*forward(c), Math::kStandard), "winograd_4x4_f32"), 1);
  EXPECT_EQ(count(transformed_text(*compared(c), Math::kStandard), "winograd_2x2_f32"), 1);
  EXPECT_EQ(count(transformed_text(*compared(c), Math::kFast), "winograd_4x4_f32"), 1);
  EXPECT_EQ(count(transformed_text(*forward(c), Math::kExact), "winograd"), 0);
}

TEST(Winograd, StaysWhereItIsSlower) {
  EXPECT_EQ(count(transformed_text(*forward({8, 8, 3, 32, 1}), Math::kFast), "winograd"), 0) << "few channels";
  EXPECT_EQ(count(transformed_text(*forward({1, 7, 512, 512, 1}), Math::kFast), "winograd"), 0) << "mostly weights";
  EXPECT_EQ(count(transformed_text(*gradients({1, 18, 64, 64, 1}), Math::kFast), "blocks_"), 0) << "one image";
}

// Errors of compiled code, of the largest element: of each `math`, for the same arguments.
std::map<Math, double> compiled_errors(const Module& module, std::string_view result) {
  name_ports(*module.functions[0]);
  NamedTensors inputs, state;
  const std::vector<RefTensor> arguments = random_arguments(*module.functions[0], /*seed=*/2);
  for (size_t i = 0; i < arguments.size(); ++i) inputs["arg" + std::to_string(i)] = arguments[i];
  const RefTensor exact = ReferenceExecutor(/*round=*/false).run(module, "main", state, inputs).at(std::string(result));
  std::map<Math, double> errors;
  for (const Math math : {Math::kExact, Math::kFast}) {
    CompileOptions options;
    options.math = math;
    CompiledProgram program(module, options);
    const NamedTensors alone = program.run("main", 1, state, inputs);
    for (const uint32_t threads : {2, 3}) {
      for (const auto& [name, tensor] : program.run("main", threads, state, inputs))
        EXPECT_EQ(alone.at(name).f, tensor.f) << name << ", " << threads << " threads";
    }
    errors[math] = largest_difference(alone.at(std::string(result)), exact) / largest(exact);
  }
  return errors;
}

TEST(Winograd, CompiledErrsLittleMoreThanTheConvolution) {
  for (const Case& c : kCases) {
    const auto errors = compiled_errors(*forward(c), "result0");
    EXPECT_LE(errors.at(Math::kFast), 3e-6);
    EXPECT_LE(errors.at(Math::kFast), 5 * errors.at(Math::kExact));
  }
  for (const Case& c : {kDeepCases[1]}) {
    for (const char* result : {"result0", "result1"}) {
      const auto errors = compiled_errors(*gradients(c), result);
      EXPECT_LE(errors.at(Math::kFast), 3e-6) << result;
      EXPECT_LE(errors.at(Math::kFast), 6 * errors.at(Math::kExact)) << result;
    }
  }
}

TEST(Winograd, ComparedResultsAreZeroWhereAllProductsAre) {
  const Case c = kDeepCases[0];
  const auto module = compared(c);
  name_ports(*module->functions[0]);
  std::vector<RefTensor> arguments = random_arguments(*module->functions[0], /*seed=*/3);
  // Nothing but one pixel of each image.
  for (int64_t k = 0; k < arguments[0].elements(); ++k) {
    const int64_t pixel = k / c.channels % (c.size * c.size);
    if (pixel != 3 * c.size + 3) arguments[0].f[k] = 0;
  }
  std::ranges::fill(arguments[2].f, 0);
  NamedTensors inputs, state;
  for (size_t i = 0; i < arguments.size(); ++i) inputs["arg" + std::to_string(i)] = arguments[i];
  const RefTensor expected = ReferenceExecutor().run(*module, "main", state, inputs).at("result0");
  const RefTensor actual = CompiledProgram(*module).run("main", 1, state, inputs).at("result0");
  int64_t zeros = 0;
  for (int64_t k = 0; k < expected.elements(); ++k) {
    EXPECT_EQ(actual.f[k] == 0, expected.f[k] == 0) << k;
    zeros += expected.f[k] == 0;
  }
  EXPECT_GT(zeros, expected.elements() / 2);
}

TEST(Winograd, StrictProgramsAreExact) {
  const auto module = forward(kDeepCases[0]);
  name_ports(*module->functions[0]);
  CompileOptions strict;
  strict.is_strict = true;
  strict.math = Math::kFast;
  CompileOptions exact;
  exact.math = Math::kExact;
  const auto steps = [&](const CompileOptions& options) {
    return CompiledProgram(*module, options).spec().targets[0].plans[0].steps.size();
  };
  EXPECT_EQ(steps(strict), steps(exact));
  EXPECT_LT(steps(exact), steps({}));
}

TEST(Decisions, ComparisonsAndWhatGivesIntegers) {
  const auto decides_of = [](const std::string& body) {
    const auto module =
        parse_module("func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {\n" + body + "\n}",
                     "decisions", all_ops());
    const bool written = decides(*module->functions[0]->body.argument(0));
    PassContext context;
    fuse(*module, context);
    EXPECT_EQ(decides(*module->functions[0]->body.argument(0)), written) << "in kernels";
    return written;
  };
  EXPECT_FALSE(decides_of("%0 = stablehlo.maximum %x, %y : tensor<4xf32>\nreturn %0 : tensor<4xf32>"));
  for (const char* const jump : {"sign", "floor", "round_nearest_even"}) {
    EXPECT_TRUE(decides_of(fmt::format("%0 = stablehlo.{} %x : tensor<4xf32>\nreturn %0 : tensor<4xf32>", jump)))
        << jump;
  }
  EXPECT_TRUE(decides_of(
      "%0 = stablehlo.exponential %x : tensor<4xf32>\n%1 = stablehlo.compare GT, %y, %0 : (tensor<4xf32>, "
      "tensor<4xf32>) -> tensor<4xi1>\n%2 = stablehlo.select %1, %y, %y : tensor<4xi1>, tensor<4xf32>\nreturn "
      "%2 : tensor<4xf32>"));
  EXPECT_FALSE(
      decides_of("%1 = stablehlo.compare GT, %y, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>\n%2 = "
                 "stablehlo.select %1, %x, %y : tensor<4xi1>, tensor<4xf32>\nreturn %2 : tensor<4xf32>"));
  EXPECT_TRUE(
      decides_of("%0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi32>\n%1 = stablehlo.convert %0 : "
                 "(tensor<4xi32>) -> tensor<4xf32>\nreturn %1 : tensor<4xf32>"));
}

}  // namespace
}  // namespace ingot
