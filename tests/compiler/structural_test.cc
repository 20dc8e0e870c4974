// Structural ops (movement, contraction, reduction, indexing): results worked out by hand, gradients, and messages for
// what does not fit together. StableHLO's own programs (conformance_evaluate_test) pin the rest of the forward meaning.
#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "aot/graph/check.h"
#include "aot/graph/evaluate.h"
#include "aot/graph/text/parse.h"
#include "aot/graph/verify.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/region.h"
#include "aot/ops/support/samples.h"
#include "tests/support/error_of.h"

namespace ingot {
namespace {

constexpr const char* kStructural[] = {
    "broadcast_in_dim",
    "reshape",
    "transpose",
    "reverse",
    "slice",
    "pad",
    "concatenate",
    "dynamic_slice",
    "dynamic_update_slice",
    "dot_general",
    "convolution",
    "reduce",
    "reduce_window",
    "select_and_scatter",
    "gather",
    "scatter",
    "constant",
    "iota",
};

const OpDef& row(const std::string& name) { return *all_ops().find("stablehlo." + name); }

// The op of a sample's function.
Op& op_under_test(Function& function, const OpDef& def) {
  for (const auto& op : function.body.ops) {
    if (op->def == &def) return *op;
  }
  throw_bug("the sample has no such op");
}

// --- evaluation ---

void expect_checks_hold(const std::string& body) {
  const auto module = parse_module("func.func @main() {\n" + body + "\n  return\n}\n", "test.mlir", all_ops());
  Function& function = *module->functions[0];
  const std::vector<Check> checks = take_checks(function);
  ASSERT_FALSE(checks.empty());
  verify(*module);
  const std::vector<RefTensor> results = evaluate(function, {});
  for (const Check& check : checks) EXPECT_EQ(judge(check, results), "") << body;
}

TEST(Structural, PadCutsInsertsAndSurrounds) {
  expect_checks_hold(R"(
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  %v = stablehlo.constant dense<0> : tensor<i64>
  %y = stablehlo.pad %x, %v, low = [0, 1], high = [2, 1], interior = [1, 2] : (tensor<2x3xi64>, tensor<i64>) -> tensor<5x9xi64>
  check.expect_eq_const %y, dense<[[0, 1, 0, 0, 2, 0, 0, 3, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 4, 0, 0, 5, 0, 0, 6, 0],
                                   [0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<5x9xi64>
  %z = stablehlo.pad %x, %v, low = [-1, -2], high = [0, 1], interior = [0, 1] : (tensor<2x3xi64>, tensor<i64>) -> tensor<1x4xi64>
  check.expect_eq_const %z, dense<[[5, 0, 6, 0]]> : tensor<1x4xi64>)");
}

TEST(Structural, BroadcastTransposesAndRepeats) {
  expect_checks_hold(R"(
  %x = stablehlo.constant dense<[[1, 2, 3]]> : tensor<1x3xi32>
  %y = stablehlo.broadcast_in_dim %x, dims = [2, 1] : (tensor<1x3xi32>) -> tensor<2x3x2xi32>
  check.expect_eq_const %y, dense<[[[1, 1], [2, 2], [3, 3]], [[1, 1], [2, 2], [3, 3]]]> : tensor<2x3x2xi32>)");
}

TEST(Structural, DynamicStartsClamp) {
  expect_checks_hold(R"(
  %x = stablehlo.constant dense<[0, 1, 2, 3, 4]> : tensor<5xi32>
  %u = stablehlo.constant dense<[8, 9]> : tensor<2xi32>
  %far = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
  %low = stablehlo.constant dense<-3> : tensor<i64>
  %a = stablehlo.dynamic_slice %x, %far, sizes = [2] : (tensor<5xi32>, tensor<ui64>) -> tensor<2xi32>
  check.expect_eq_const %a, dense<[3, 4]> : tensor<2xi32>
  %b = stablehlo.dynamic_slice %x, %low, sizes = [2] : (tensor<5xi32>, tensor<i64>) -> tensor<2xi32>
  check.expect_eq_const %b, dense<[0, 1]> : tensor<2xi32>
  %c = stablehlo.dynamic_update_slice %x, %u, %far : (tensor<5xi32>, tensor<2xi32>, tensor<ui64>) -> tensor<5xi32>
  check.expect_eq_const %c, dense<[0, 1, 2, 8, 9]> : tensor<5xi32>)");
}

TEST(Structural, ScatterDropsElementsOutsideAndKeepsTheLast) {
  expect_checks_hold(R"(
  %x = stablehlo.constant dense<[0, 0, 0, 0]> : tensor<4xi32>
  %i = stablehlo.constant dense<[[-1], [3], [1], [1], [9]]> : tensor<5x1xi32>
  %u = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8], [9, 9]]> : tensor<5x2xi32>
  %y = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %b : tensor<i32>
  }) : (tensor<4xi32>, tensor<5x1xi32>, tensor<5x2xi32>) -> tensor<4xi32>
  check.expect_eq_const %y, dense<[2, 7, 8, 3]> : tensor<4xi32>)");
}

TEST(Structural, WindowsSeeTheStartValueInPadding) {
  expect_checks_hold(R"(
  %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %y = "stablehlo.reduce_window"(%x, %one) <{window_dimensions = array<i64: 2>, padding = dense<[[1, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %r = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %r : tensor<i32>
  }) : (tensor<3xi32>, tensor<i32>) -> tensor<4xi32>
  check.expect_eq_const %y, dense<[3, 4, 6, 5]> : tensor<4xi32>)");
}

TEST(Structural, MaximumOfNaNIsNaNAndSumsOfNothingAreTheStart) {
  expect_checks_hold(R"(
  %x = stablehlo.constant dense<[[1.0, 0x7FC00000], [3.0, 2.0]]> : tensor<2x2xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %y = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
  check.expect_eq_const %y, dense<[0x7FC00000, 3.0]> : tensor<2xf32>
  %e = stablehlo.constant dense<> : tensor<0x2xf32>
  %s = stablehlo.constant dense<7.0> : tensor<f32>
  %z = stablehlo.reduce(%e init: %s) applies stablehlo.add across dimensions = [0] : (tensor<0x2xf32>, tensor<f32>) -> tensor<2xf32>
  check.expect_eq_const %z, dense<7.0> : tensor<2xf32>)");
}

// --- messages ---

TEST(Structural, MistakesNameDimensionsAndExtents) {
  const std::pair<const char*, const char*> cases[] = {
      {"stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<5xf32>",
       "tensor<2x3xf32> has 6 elements, tensor<5xf32> has 5"},
      {"stablehlo.transpose %x, dims = [0, 0] : (tensor<2x3xf32>) -> tensor<2x2xf32>", "dimension 0 appears twice"},
      {"stablehlo.transpose %x, dims = [0, 2] : (tensor<2x3xf32>) -> tensor<2x2xf32>", "there is no dimension 2"},
      {"stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x4xf32>",
       "3 elements are neither 1 nor 4"},
      {"stablehlo.slice %x [0:3, 0:3] : (tensor<2x3xf32>) -> tensor<3x3xf32>", "limit <= 2"},
      {"stablehlo.concatenate %x, %x, dim = 2 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>",
       "no such dimension"},
      {"stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
       "tensor<2x3xf32>",
       "contracting dimensions 1 of tensor<2x3xf32> and 0 of tensor<2x3xf32> have 3 and 2 elements"},
      {"stablehlo.convolution(%x, %x) dim_numbers = [b, f]x[o, i]->[b, f], window = {} {feature_group_count = 2 : i64} "
       ": "
       "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>",
       "feature_group_count = 2 does not divide the 3 input features"},
      {"stablehlo.iota dim = 3 : tensor<2x3xf32>", "iota_dimension = 3"},
  };
  for (const auto& [op, message] : cases) {
    const std::string text = std::string("func.func @main(%x: tensor<2x3xf32>) {\n  %0 = ") + op + "\n  return\n}\n";
    const std::string error = error_of([&] { parse_module(text, "test.mlir", all_ops()); });
    EXPECT_NE(error.find(": error: "), std::string::npos) << op << "\n  says: " << error;
    EXPECT_NE(error.find(message), std::string::npos) << op << "\n  says: " << error;
  }
}

// --- samples ---

TEST(Structural, SamplesAreWellFormed) {
  for (const char* name : kStructural) {
    for (const Sample& sample : row(name).samples()) {
      SCOPED_TRACE(sample.text);
      const auto module = parse_module(sample.text, "sample.mlir", all_ops());
      const Op& op = op_under_test(*module->functions[0], row(name));
      EXPECT_EQ(op.results.size(), module->functions[0]->results.size());
    }
  }
}

// --- gradients ---

class Random {
 public:
  RefTensor tensor(const TensorType& type, int64_t low, int64_t high) {
    RefTensor result(type);
    for (double& value : result.f) value = static_cast<double>(between(-6, 6));
    for (int64_t& value : result.i) value = between(is_unsigned(type.dtype) ? 0 : low, high);
    return result;
  }

 private:
  int64_t between(int64_t low, int64_t high) { return low + static_cast<int64_t>(engine_() % (high - low + 1)); }
  std::mt19937 engine_{7};
};

double inner_product(const RefTensor& a, const RefTensor& b) {
  double sum = 0;
  for (size_t k = 0; k < a.f.size(); ++k) sum += a.f[k] * b.f[k];
  return sum;
}

// Appends the gradients of the function's only interesting op to the function: dy becomes its last argument, the
// gradients of its float operands (where there is one) its results. Gives the operands' numbers.
std::vector<int> differentiate(Function& function, Op& op) {
  Value* dy = function.body.add_argument(op.result()->type);
  function.argument_attrs.push_back({});
  const auto needed = std::make_unique<bool[]>(op.operands.size());
  for (size_t k = 0; k < op.operands.size(); ++k) {
    const Value* operand = op.operand(static_cast<int>(k));
    needed[k] = operand->block && is_float(operand->type.dtype);  // not what the function makes itself
  }
  Values result_gradients(op.results.size(), nullptr);
  result_gradients[0] = dy;
  GraphBuilder b;
  b.before(*function.body.terminator());
  GradientArgs args{b, op, result_gradients, {needed.get(), op.operands.size()}};
  const Values gradients = op.def->gradient(args);
  EXPECT_EQ(gradients.size(), op.operands.size());
  std::vector<int> operands;
  for (size_t k = 0; k < gradients.size(); ++k) {
    if (!needed[k] || !gradients[k]) continue;
    EXPECT_EQ(gradients[k]->type, op.operand(static_cast<int>(k))->type) << "gradient of operand " << k;
    operands.push_back(static_cast<int>(k));
    function.body.terminator()->add_operand(gradients[k]);
    function.results.push_back({gradients[k]->type, {}});
  }
  verify(*function.module);
  return operands;
}

// Structural ops are linear in their float operands together, or in each of two (dot_general, convolution): homogeneous
// of degree n. Euler: the sum over operands of <gradient, operand> is n * <dy, y>. Small integers make it exact but for
// ties that share dy.
void expect_gradient_is_adjoint(const OpDef& def, const Sample& sample, int degree, Random& random) {
  SCOPED_TRACE(sample.text);
  const auto module = parse_module(sample.text, "sample.mlir", all_ops());
  Function& function = *module->functions[0];
  Op& op = op_under_test(function, def);
  if (!is_float(op.result()->type.dtype)) return;
  if (!op.regions.empty() && ops::binary_region_op(op.region()) == &kMultiply) return;  // as many degrees as factors
  const std::vector<int> operands = differentiate(function, op);
  std::vector<RefTensor> arguments;
  for (const auto& argument : function.body.arguments) {
    arguments.push_back(random.tensor(argument->type, sample.integer_low, sample.integer_high));
  }
  const std::vector<RefTensor> results = evaluate(function, arguments, {.round = false});
  double sum = 0;
  for (size_t k = 0; k < operands.size(); ++k) {
    sum += inner_product(results[1 + k], arguments[op.operand(operands[k])->index]);
  }
  EXPECT_NEAR(sum, degree * inner_product(arguments.back(), results[0]), 1e-9);
}

TEST(Structural, GradientsAreAdjoint) {
  Random random;
  for (const char* name : kStructural) {
    const OpDef& def = row(name);
    if (!def.gradient) continue;
    const int degree = def.root == KernelRoot::kContraction ? 2 : 1;
    for (const Sample& sample : def.samples()) {
      for (int round = 0; sample.differentiable && round < 3; ++round)
        expect_gradient_is_adjoint(def, sample, degree, random);
    }
  }
}

// Worked out by hand, where finite differences say nothing: equal elements, several updates to a place, zero factors.
TEST(Structural, GradientsAtTiesAndZeros) {
  struct Case {
    std::string arguments, op, result;
    std::vector<std::vector<double>> inputs, gradients;  // inputs: the arguments, dy
  };
  const auto reduce = [](const std::string& region) {
    return "stablehlo.reduce(%x init: %v) applies stablehlo." + region +
           " across dimensions = [1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<2xf64>";
  };
  const auto window = [](const std::string& attrs, const std::string& from, const std::string& to) {
    return "\"stablehlo.reduce_window\"(%x, %v) <{window_dimensions = array<i64: 2>" + attrs + "}> " +
           ops::scalar_region("maximum", "f64") + " : (" + from + ", tensor<f64>) -> " + to;
  };
  const auto scatter = [](const std::string& region) {
    return "\"stablehlo.scatter\"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = "
           "[0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> " +
           region + " : (tensor<3xf64>, tensor<5x1xi32>, tensor<5xf64>) -> tensor<3xf64>";
  };
  const std::string selects =
      "({\n  ^bb0(%a: tensor<f64>, %b: tensor<f64>):\n    %r = stablehlo.compare GE, %a, %b : "
      "(tensor<f64>, tensor<f64>) -> tensor<i1>\n    stablehlo.return %r : tensor<i1>\n  }, ";
  const std::string rows = "%x: tensor<2x3xf64>, %v: tensor<f64>", one = "%x: tensor<4xf64>, %v: tensor<f64>",
                    updates = "%x: tensor<3xf64>, %i: tensor<5x1xi32>, %u: tensor<5xf64>";
  const std::string two = "tensor<2xf64>", three = "tensor<3xf64>", four = "tensor<4xf64>";
  const Case cases[] = {
      {rows, reduce("multiply"), two, {{2, 0, 3, 0, 4, 0}, {5}, {1, 10}}, {{0, 30, 0, 0, 0, 0}, {0}}},
      {rows, reduce("maximum"), two, {{2, 7, 7, 5, 1, 5}, {5}, {4, 9}}, {{0, 2, 2, 3, 0, 3}, {3}}},
      {one, window("", four, three), three, {{1, 1, 0, 0}, {0}, {1, 10, 100}}, {{1, 10, 0, 0}, {100}}},
      {one,
       window(", window_dilations = array<i64: 2>", four, two),
       two,
       {{1, 5, 1, 5}, {0}, {1, 10}},
       {{1, 10, 0, 0}, {0}}},
      {updates,
       scatter(ops::second_region("f64")),
       three,
       {{1, 2, 3}, {1, 1, 7, -1, 0}, {4, 5, 6, 7, 8}, {1, 10, 100}},
       {{0, 0, 100}, {0, 10, 0, 0, 1}}},
      {updates,
       scatter(ops::scalar_region("maximum", "f64")),
       three,
       {{4, 2, 3}, {0, 0, 1, 1, 3}, {4, 4, 9, 8, 9}, {3, 10, 100}},
       {{1, 0, 100}, {1, 1, 10, 0, 0}}},
      {updates,
       scatter(ops::scalar_region("multiply", "f64")),
       three,
       {{2, 0, 3}, {0, 0, 1, 1, 2}, {0, 5, 7, 4, 6}, {1, 10, 100}},
       {{0, 280, 600}, {10, 0, 0, 0, 300}}},
      {"%x: tensor<3xf64>, %s: tensor<2xf64>, %v: tensor<f64>",
       "\"stablehlo.select_and_scatter\"(%x, %s, %v) <{window_dimensions = array<i64: 2>}> " + selects +
           ops::scalar_region("add", "f64").substr(1) + " : (tensor<3xf64>, tensor<2xf64>, tensor<f64>) -> " + three,
       three,
       {{-INFINITY, -INFINITY, 1}, {5, 6}, {0}, {1, 10, 100}},
       {{1, 100}, {111}}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.op);
    const auto module = parse_module(ops::single_op(c.arguments, c.op, c.result), "case.mlir", all_ops());
    Function& function = *module->functions[0];
    differentiate(function, *function.body.ops.front());
    std::vector<RefTensor> arguments;
    for (const std::vector<double>& values : c.inputs) {
      RefTensor& argument = arguments.emplace_back(function.body.argument(static_cast<int>(arguments.size()))->type);
      if (argument.is_float()) {
        argument.f = values;
      } else {
        argument.i.assign(values.begin(), values.end());
      }
    }
    const std::vector<RefTensor> results = evaluate(function, arguments);
    ASSERT_EQ(results.size(), 1 + c.gradients.size());
    for (size_t k = 0; k < c.gradients.size(); ++k) EXPECT_EQ(results[1 + k].f, c.gradients[k]) << "gradient " << k;
  }
}

}  // namespace
}  // namespace ingot
