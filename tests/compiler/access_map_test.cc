// Access maps: what they say is what evaluation does; and an op that is nothing else is fused like those of the table.
#include "aot/graph/access_map.h"

#include <gtest/gtest.h>

#include "aot/ops/support/index.h"
#include "aot/pipeline/passes.h"
#include "tests/support/compiled_program.h"
#include "tests/support/op_case.h"
#include "tests/support/parsed_text.h"
#include "tests/support/random_tensor.h"
#include "tests/support/schedule_fixture.h"

namespace ingot {
namespace {

// --- an op of this test alone: the elements moved along a dimension, those that leave at its end back at its start ---

int64_t roll_dim(const Attrs& attrs) { return attrs.integer("dimension"); }
int64_t roll_shift(const Attrs& attrs) { return attrs.integer("shift"); }

std::vector<RefTensor> evaluate_roll(const EvaluateArgs& args) {
  const RefTensor& x = args.inputs[0];
  RefTensor result(x.type);
  const int64_t dim = roll_dim(args.attrs()), extent = x.type.shape[dim];
  ops::for_each_index(x.type.shape, [&](const Shape& from, int64_t k) {
    Shape to = from;
    to[dim] = (from[dim] + roll_shift(args.attrs())) % extent;
    result.copy_element(linear_index(to, row_major_strides(x.type.shape)), x, k);
  });
  return {result};
}

// Elements from the operand's start, behind those from its end.
AccessMap access_roll(const Op& op) {
  const Shape& shape = op.result()->type.shape;
  const int64_t dim = roll_dim(op.attrs()), shift = roll_shift(op.attrs());
  std::vector<AxisMap> axes;
  for (int64_t d = 0; d < std::ssize(shape); ++d) axes.push_back(along(d));
  AccessMap map{{{0, axes}, {0, axes}}};
  map.pieces[0].axes[dim].constant = -shift;
  map.pieces[1].axes[dim].constant = shape[dim] - shift;
  return map;
}

const OpDef kRoll = {
    .name = "test.roll",
    .infer = [](const InferArgs& args) { return std::vector<TensorType>{args.operands[0]}; },
    .evaluate = evaluate_roll,
    .access = access_roll,
    .flops = 0,
};

std::unique_ptr<Module> parse_with_roll(std::string_view text) {
  std::vector<const OpDef*> ops(all_ops().all().begin(), all_ops().all().end());
  ops.push_back(&kRoll);
  return parse_module(text, "test.mlir", OpTable(ops));
}

// --- maps against evaluation ---

// Where a piece has a point's element; nullopt where it has none.
std::optional<Shape> place_of(const OpCase& it, const AccessPiece& piece, const Shape& point) {
  const Shape& shape = it.op().operand(piece.operand)->type.shape;
  Shape place;
  for (size_t d = 0; d < shape.size(); ++d) {
    const AxisMap& axis = piece.axes[d];
    int64_t at = axis.constant;
    for (size_t i = 0; i < point.size(); ++i) at += axis.coefficients[i] * point[i];
    if (axis.start >= 0) {
      const int64_t room = shape[d] - it.op().result()->type.shape[d];
      at += std::clamp<int64_t>(it.inputs[axis.start].i[0], 0, room);
    }
    const bool exists = at % axis.divisor == 0 && at >= 0 && at / axis.divisor < shape[d];
    EXPECT_TRUE(exists || !axis.always);
    if (!exists) return std::nullopt;
    place.push_back(at / axis.divisor);
  }
  return place;
}

RefTensor moved(const OpCase& it) {
  const AccessMap map = access_map(it.op());
  if (map.is_flat) {
    RefTensor result = it.inputs[0];
    result.type = it.op().result()->type;
    return result;
  }
  RefTensor result(it.op().result()->type);
  ops::for_each_index(result.type.shape, [&](const Shape& point, int64_t k) {
    bool is_found = false;
    for (const AccessPiece& piece : map.pieces) {
      const std::optional<Shape> place = place_of(it, piece, point);
      if (!place) continue;
      is_found = true;
      const RefTensor& from = it.inputs[piece.operand];
      result.copy_element(k, from, linear_index(*place, row_major_strides(from.type.shape)));
    }
    EXPECT_TRUE(is_found) << it.sample.text;
  });
  return result;
}

TEST(AccessMap, SaysWhatEvaluationDoes) {
  int count = 0;
  for (const OpDef* def : all_ops().all()) {
    if (!def->access) continue;
    for (const Sample& sample : def->samples()) {
      const OpCase it = make_case(*def, sample);
      const RefTensor actual = moved(it);
      EXPECT_EQ(actual.f, it.expected[0].f) << sample.text;
      EXPECT_EQ(actual.i, it.expected[0].i) << sample.text;
      ++count;
    }
  }
  EXPECT_GT(count, 80);
}

// --- questions ---

// The op that makes @main's result.
struct Asked {
  std::unique_ptr<Module> module;
  const Op& op;

  explicit Asked(const std::string& argument, const std::string& body, const std::string& result)
      : module(parse_with_roll("func.func @main(%x: tensor<" + argument + ">, %s: tensor<i32>) -> tensor<" + result +
                               "> {\n  %y = " + body + "\n  return %y : tensor<" + result + ">\n}\n")),
        op(*module->find("main")->body.ops.front()) {}
};

Asked asked(const std::string& argument, const std::string& body, const std::string& result) {
  return Asked(argument, body + " : (tensor<" + argument + ">) -> tensor<" + result + ">", result);
}

TEST(AccessMap, DimensionsAreRenamedOrNot) {
  using Dims = std::vector<int>;
  const auto dims = [](const std::string& from, const std::string& body, const std::string& to) {
    return renamed_dims(asked(from, body, to).op);
  };
  EXPECT_EQ(dims("2x3x4xf32", "stablehlo.transpose %x, dims = [2, 0, 1]", "4x2x3xf32"), (Dims{1, 2, 0}));
  EXPECT_EQ(dims("3x1xf32", "stablehlo.broadcast_in_dim %x, dims = [1, 0]", "5x3xf32"), (Dims{1, -1}));
  EXPECT_EQ(dims("2x3xf32", "stablehlo.reshape %x", "2x1x3x1xf32"), (Dims{0, 2}));
  EXPECT_EQ(dims("2x6xf32", "stablehlo.reshape %x", "2x2x3xf32"), std::nullopt);
  EXPECT_EQ(dims("4x4xf32", "stablehlo.slice %x [0:4, 0:3]", "4x3xf32"), std::nullopt);
  EXPECT_EQ(renamed_dims(Asked("4xf32", "stablehlo.reverse %x, dims = [0] : tensor<4xf32>", "4xf32").op), std::nullopt);
}

TEST(AccessMap, OrderIsKeptOrNot) {
  const Asked merged = asked("2x3xf32", "stablehlo.reshape %x", "6xf32");
  EXPECT_TRUE(reads_in_order(merged.op) && !changes_unit_dims_only(merged.op));
  const Asked with_unit = asked("2x3xf32", "stablehlo.broadcast_in_dim %x, dims = [0, 2]", "2x1x3xf32");
  EXPECT_TRUE(reads_in_order(with_unit.op) && changes_unit_dims_only(with_unit.op));
  const Asked repeated = asked("2xf32", "stablehlo.broadcast_in_dim %x, dims = [0]", "2x3xf32");
  EXPECT_TRUE(reads_in_order(repeated.op) && !changes_unit_dims_only(repeated.op));
  const Asked turned = asked("2x3xf32", "stablehlo.transpose %x, dims = [1, 0]", "3x2xf32");
  EXPECT_FALSE(reads_in_order(turned.op) || changes_unit_dims_only(turned.op));
}

TEST(AccessMap, JointsAndBoxes) {
  const std::string two =
      "stablehlo.concatenate %x, %x, dim = 1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>";
  const Asked joined("2x3xf32", two, "2x6xf32");
  ASSERT_TRUE(joint_of(joined.op));
  EXPECT_EQ(joint_of(joined.op)->dim, 1);
  EXPECT_EQ(joint_of(joined.op)->starts, (std::vector<int64_t>{0, 3}));
  EXPECT_FALSE(access_map(joined.op).is_view());
  const Asked rolled = asked("5x4xf32", "\"test.roll\"(%x) {dimension = 0 : i64, shift = 2 : i64}", "5x4xf32");
  ASSERT_TRUE(joint_of(rolled.op));
  EXPECT_EQ(joint_of(rolled.op)->starts, (std::vector<int64_t>{2, 0}));
  EXPECT_TRUE(access_map(rolled.op).is_view());
  const Asked sliced = asked("9xf32", "stablehlo.slice %x [1:9:3]", "3xf32");
  EXPECT_TRUE(is_box(sliced.op) && !joint_of(sliced.op));
  const Asked turned("9xf32", "stablehlo.reverse %x, dims = [0] : tensor<9xf32>", "9xf32");
  EXPECT_FALSE(is_box(turned.op));
}

// --- one column is all that an op needs ---

// A product of what is rolled along its depth, and of what is rolled across it, more elements than a vector has.
constexpr const char* kProduct = R"(
func.func @main(%x: tensor<12x40xf32>, %w: tensor<40x56xf32>) -> tensor<12x56xf32> {
  %a = "test.roll"(%x) {dimension = 1 : i64, shift = 13 : i64} : (tensor<12x40xf32>) -> tensor<12x40xf32>
  %b = "test.roll"(%w) {dimension = 1 : i64, shift = 5 : i64} : (tensor<40x56xf32>) -> tensor<40x56xf32>
  %y = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<12x40xf32>, tensor<40x56xf32>) -> tensor<12x56xf32>
  return %y : tensor<12x56xf32>
}
)";

TEST(NewOp, IsFusedIntoAProductsOperand) {
  const auto module = parse_with_roll(kProduct);
  PassContext context;
  run_passes(compile_passes(), *module, context);
  const Block& body = module->find("main")->body;
  ASSERT_EQ(body.ops.size(), 2u) << print(*module);
  ASSERT_TRUE(body.ops.front()->is(kKernel));
  for (const loops::Target& target : loops::all_targets()) {
    EXPECT_EQ(lower(*body.ops.front(), target).steps.size(), 1u) << target.name;
  }
}

Value* roll(GraphBuilder& b, Value* x, int64_t dim, int64_t shift) {
  return b.make(kRoll, {x}, {{"dimension", IntAttr{dim}}, {"shift", IntAttr{shift}}});
}

TEST(NewOp, IsWalkedPieceByPiece) {
  const KernelFunction f = kernel_function({{DType::kF32, {9, 70}}}, [](GraphBuilder& b, const Values& x) {
    return Values{ops::add(b, x[0], roll(b, x[0], 0, 4))};
  });
  const std::string text = print(lower(*f.kernel, loops::find_target("x86-64-v3")).steps[0].kernel);
  EXPECT_EQ(text.find("select"), std::string::npos) << text;
}

TEST(NewOp, IsRightInEveryKernel) {
  for (const int64_t dim : {0, 1}) {
    check_kernel(
        kernel_function({{DType::kF32, {48, 40}}, {DType::kF32, {40, 56}}}, [&](GraphBuilder& b, const Values& x) {
          return Values{ops::dot_general(b, roll(b, x[0], dim, 13), roll(b, x[1], 1 - dim, 5), {{}, {}, {1}, {0}})};
        }));
    check_kernel(kernel_function({{DType::kF32, {9, 70}}}, [&](GraphBuilder& b, const Values& x) {
      return Values{ops::add(b, x[0], roll(b, x[0], dim, 4)), ops::negate(b, roll(b, x[0], dim, 0))};
    }));
  }
}

TEST(NewOp, IsOneStepOfTheEngine) {
  const auto module = parse_with_roll(kProduct);
  const Function& main = *module->find("main");
  CompiledProgram program(*module);
  for (const bundle::Target& target : program.spec().targets) EXPECT_EQ(target.plans[0].steps.size(), 1u);
  const std::vector<RefTensor> arguments = random_arguments(main, /*seed=*/1);
  NamedTensors state;
  const NamedTensors results = program.run("main", 2, state, {{"arg0", arguments[0]}, {"arg1", arguments[1]}});
  ASSERT_EQ(results.size(), 1u);
  expect_equal({results.begin()->second}, evaluate(main, arguments), {.ulp = 64, .absolute = 1e-5});
}

}  // namespace
}  // namespace ingot
