// stablehlo.reduce: combines the elements along some dimensions by a region.
#include <algorithm>

#include "aot/base/contains.h"
#include "aot/ops/support/axes.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/complex/split.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/product.h"
#include "aot/ops/support/region.h"
#include "aot/ops/support/samples.h"

namespace ingot::reduce_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  const size_t count = ops::check_reduction_operands(args);
  const TensorType& x = args.operands[0];
  const std::vector<int64_t> dims = args.attrs().ints("dimensions");
  ops::check_dims(args, "dimensions", dims, x.rank());
  return ops::combined(args, count, ops::extents(x.shape, ops::other_dims(x.rank(), dims)));
}

// From the start value, each element in ascending order.
std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const size_t count = args.inputs.size() / 2;
  const Shape& x = args.inputs[0].type.shape;
  const std::vector<int64_t> dims = args.attrs().ints("dimensions");
  const std::vector<int64_t> kept = ops::other_dims(static_cast<int>(x.size()), dims);
  const std::vector<int64_t> kept_offsets = ops::offsets(x, kept);
  std::vector<int64_t> ascending = dims;
  std::sort(ascending.begin(), ascending.end());
  const std::vector<int64_t> dim_offsets = ops::offsets(x, ascending);
  std::vector<RefTensor> results;
  for (size_t k = 0; k < count; ++k) {
    results.push_back(
        ops::strided_copy(args.result_type(static_cast<int>(k)), args.inputs[count + k], 0, Shape(kept.size(), 0)));
  }
  const ops::RegionRunner region(args, args.op.region());
  for (size_t r = 0; r < kept_offsets.size(); ++r) {
    for (int64_t offset : dim_offsets) {
      region.combine(results, static_cast<int64_t>(r), args.inputs.first(count), kept_offsets[r] + offset);
    }
  }
  return results;
}

// add: dx = dy, repeated along the reduced dimensions. The start value, added once to each result, gets sum(dy).
// maximum, minimum: dy in equal parts to what is equal to the result, as JAX splits it:
//   dx = [x = y] * dy / (count of such elements)
// multiply: dx = dy * start * (product of the other elements), and the start value gets sum(dy * product(x)).
Values gradient(GradientArgs& args) {
  GraphBuilder& b = args.b;
  if (args.op.operands.size() != 2) {
    throw_limit(args.op.location,
                "stablehlo.reduce of several inputs at once has no gradient; one of one input by add, multiply, "
                "maximum or minimum has");
  }
  const OpDef* op = ops::binary_region_op(args.op.region());
  Value* x = args.operand(0);
  Value* start = args.operand(1);
  const std::vector<int64_t> dims = args.op.attrs().ints("dimensions");
  const std::vector<int64_t> kept = ops::other_dims(x->type.rank(), dims);
  const auto repeated = [&](Value* value) { return ops::broadcast_in_dim(b, value, x->type.shape, kept); };
  const auto total = [&](Value* value) { return ops::reduce(b, kAdd, value, ops::iota_dims(value->type.rank())); };
  if (op == &kAdd) return {repeated(args.dy()), args.needed[1] ? total(args.dy()) : nullptr};
  const Shape& shape = args.result()->type.shape;
  if (op == &kMultiply) {
    Value* dx = ops::multiply(b, args.dy(), ops::broadcast_scalar(b, start, shape));
    dx = ops::multiply(b, repeated(dx), ops::product_of_others(b, x, dims));
    if (!args.needed[1]) return {dx, nullptr};
    return {dx, total(ops::multiply(b, args.dy(), ops::reduce(b, kMultiply, x, dims)))};
  }
  if (op == &kMaximum || op == &kMinimum) {
    const auto ones_where_equal = [&](Value* value, Value* result) {
      return ops::convert(b, ops::compare(b, "EQ", value, result), args.dy()->type.dtype);
    };
    Value* ones = ones_where_equal(x, repeated(args.result()));
    Value* count = ops::reduce(b, kAdd, ones, dims);
    Value* start_ones = nullptr;
    if (args.needed[1]) {
      start_ones = ones_where_equal(ops::broadcast_scalar(b, start, shape), args.result());
      count = ops::add(b, count, start_ones);
    }
    Value* share = ops::divide(b, args.dy(), count);
    return {ops::multiply(b, ones, repeated(share)), start_ones ? total(ops::multiply(b, start_ones, share)) : nullptr};
  }
  throw_limit(args.op.location,
              "stablehlo.reduce has a gradient when its region adds, multiplies, or takes the maximum or minimum");
}

Sample reduce(const std::string& op, const std::string& dims, const std::string& x, const std::string& start,
              const std::string& y) {
  return {.text = ops::single_op("%x: " + x + ", %start: " + start,
                                 "stablehlo.reduce(%x init: %start) applies stablehlo." + op +
                                     " across dimensions = " + dims + " : (" + x + ", " + start + ") -> " + y,
                                 y)};
}

// The region combines numbers of a wider type.
Sample widening(const std::string& from, const std::string& to, const std::string& op) {
  const std::string x = "tensor<4x33x" + from + ">", start = "tensor<" + to + ">", y = "tensor<4x" + to + ">";
  return {.text = ops::single_op("%x: " + x + ", %start: " + start,
                                 "\"stablehlo.reduce\"(%x, %start) <{dimensions = array<i64: 1>}> " +
                                     ops::scalar_region(op, to) + " : (" + x + ", " + start + ") -> " + y,
                                 y),
          .differentiable = false};
}

constexpr const char* kArgmax = R"(
func.func @main(%x: tensor<5x9xf32>, %i: tensor<5x9xi32>, %x0: tensor<f32>, %i0: tensor<i32>)
    -> (tensor<5xf32>, tensor<5xi32>) {
  %0:2 = "stablehlo.reduce"(%x, %i, %x0, %i0) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %ai: tensor<i32>, %b: tensor<f32>, %bi: tensor<i32>):
    %keep = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %v = stablehlo.select %keep, %a, %b : tensor<i1>, tensor<f32>
    %vi = stablehlo.select %keep, %ai, %bi : tensor<i1>, tensor<i32>
    stablehlo.return %v, %vi : tensor<f32>, tensor<i32>
  }) : (tensor<5x9xf32>, tensor<5x9xi32>, tensor<f32>, tensor<i32>) -> (tensor<5xf32>, tensor<5xi32>)
  return %0#0, %0#1 : tensor<5xf32>, tensor<5xi32>
}
)";

constexpr const char* kHalvedSum = R"(
func.func @main(%x: tensor<4x6xf32>, %start: tensor<f32>) -> tensor<4xf32> {
  %0 = "stablehlo.reduce"(%x, %start) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %half = stablehlo.constant dense<0.5> : tensor<f32>
    %s = stablehlo.multiply %b, %half : tensor<f32>
    %r = stablehlo.add %a, %s : tensor<f32>
    stablehlo.return %r : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
)";

std::vector<Sample> samples() {
  return {
      reduce("add", "[1]", "tensor<4x33xcomplex<f32>>", "tensor<complex<f32>>", "tensor<4xcomplex<f32>>"),
      reduce("multiply", "[0]", "tensor<5x4xcomplex<f64>>", "tensor<complex<f64>>", "tensor<4xcomplex<f64>>"),
      reduce("add", "[1]", "tensor<4x33xf32>", "tensor<f32>", "tensor<4xf32>"),
      reduce("add", "[0]", "tensor<33x4xf32>", "tensor<f32>", "tensor<4xf32>"),
      reduce("add", "[0, 1]", "tensor<7x9xf32>", "tensor<f32>", "tensor<f32>"),
      reduce("add", "[0, 2]", "tensor<3x4x5xf64>", "tensor<f64>", "tensor<4xf64>"),
      reduce("add", "[2, 1]", "tensor<3x4x5xf32>", "tensor<f32>", "tensor<3xf32>"),
      reduce("add", "[0, 2, 3]", "tensor<2x3x4x5xf32>", "tensor<f32>", "tensor<3xf32>"),
      reduce("add", "[]", "tensor<3x4xf32>", "tensor<f32>", "tensor<3x4xf32>"),
      reduce("add", "[0]", "tensor<0x4xf32>", "tensor<f32>", "tensor<4xf32>"),
      reduce("add", "[1]", "tensor<0x4xf32>", "tensor<f32>", "tensor<0xf32>"),
      reduce("add", "[0]", "tensor<5xbf16>", "tensor<bf16>", "tensor<bf16>"),
      reduce("add", "[0]", "tensor<5xi32>", "tensor<i32>", "tensor<i32>"),
      widening("i16", "i32", "maximum"),
      widening("bf16", "f32", "add"),
      widening("f16", "f64", "add"),
      reduce("maximum", "[1]", "tensor<4x9xf32>", "tensor<f32>", "tensor<4xf32>"),
      reduce("minimum", "[0]", "tensor<9x4xf32>", "tensor<f32>", "tensor<4xf32>"),
      reduce("maximum", "[0]", "tensor<9xi32>", "tensor<i32>", "tensor<i32>"),
      reduce("multiply", "[1]", "tensor<3x4xf32>", "tensor<f32>", "tensor<3xf32>"),
      reduce("multiply", "[2, 0]", "tensor<3x2x2xf64>", "tensor<f64>", "tensor<2xf64>"),
      reduce("multiply", "[]", "tensor<3xf32>", "tensor<f32>", "tensor<3xf32>"),
      reduce("multiply", "[0]", "tensor<0x2xf32>", "tensor<f32>", "tensor<2xf32>"),
      reduce("and", "[0]", "tensor<5x2xi1>", "tensor<i1>", "tensor<2xi1>"),
      reduce("or", "[0]", "tensor<5x2xi1>", "tensor<i1>", "tensor<2xi1>"),
      {.text = kArgmax, .differentiable = false},
      {.text = kHalvedSum, .differentiable = false},
  };
}

// The result has those of the operand's dimensions that are not reduced.
std::optional<layouts::Axes> axes(const Op& op) {
  const std::vector<int64_t> dims = op.attrs().ints("dimensions");
  layouts::Axes axes{op.operand(0)->type.shape, {}, {}};
  for (const Value* operand : op.operands) axes.operands.push_back(ops::each_its_own(operand->type.rank()));
  for (const int dim : axes.operands[0]) {
    if (!contains(dims, dim)) axes.result.push_back(dim);
  }
  return axes;
}

constexpr layouts::AxisRule kAxes = {axes, ops::with_numbers};

}  // namespace

extern const OpDef kReduce = {
    .name = "stablehlo.reduce",
    .doc = "The elements along `dimensions`, combined by the region from the start values; several inputs go together.",
    .assembly = "custom(reduce)",
    .infer = infer,
    .evaluate = evaluate,
    .gradient = gradient,
    .expand = ops::converted_for_region,
    .split = ops::split_combining,
    .samples = samples,
    .root = KernelRoot::kReduce,
    .axes = &kAxes,
    .ulp = {.f32 = 2, .f64 = 1},
};

}  // namespace ingot::reduce_op
