// stablehlo.scatter: combines updates into windows of tensors, at places that an index tensor gives.
#include <fmt/format.h>

#include "aot/ops/support/algebra.h"
#include "aot/ops/support/clamped_start.h"
#include "aot/ops/support/complex/split.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/region.h"
#include "aot/ops/support/samples.h"

namespace ingot::scatter_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  if (args.operands.size() < 3 || args.operands.size() % 2 == 0) {
    args.fail(fmt::format("takes n inputs, the indices and n updates, not {} operands", args.operands.size()));
  }
  const size_t count = args.operands.size() / 2;
  const TensorType& x = args.operands[0];
  const TensorType& indices = args.operands[count];
  const TensorType& updates = args.operands[count + 1];
  if (!is_integer(indices.dtype)) args.fail(fmt::format("the indices {} must be integers", to_string(indices)));
  const ops::IndexedDims dims = ops::read_scatter_dims(args.attrs());
  ops::check_indexed_dims(args, dims, x.shape, indices.shape, updates.rank());

  const std::vector<int64_t> batch = dims.batch_dims(updates.rank());
  if (ops::extents(updates.shape, batch) != ops::batch_shape(dims, indices.shape)) {
    args.fail(fmt::format("dimensions {} of the updates {} must be those of the indices {} without dimension {}",
                          ops::to_string(batch), to_string(updates), to_string(indices), dims.index_vector_dim));
  }
  const std::vector<int64_t> kept = dims.kept_dims(x.rank());
  for (size_t k = 0; k < kept.size(); ++k) {
    if (updates.shape[dims.window_dims[k]] <= x.shape[kept[k]]) continue;
    args.fail(fmt::format("a window of the updates {} does not fit into the input {}: dimension {}", to_string(updates),
                          to_string(x), kept[k]));
  }
  for (size_t k = 0; k < count; ++k) {
    if (args.operands[k].shape != x.shape) args.fail("the inputs must have one shape");
    if (args.operands[count + 1 + k].shape != updates.shape) args.fail("the updates must have one shape");
  }
  return ops::combined(args, count, x.shape);
}

// Updates in ascending order; an element that falls outside is dropped.
std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const size_t count = args.inputs.size() / 2;
  const RefTensor& indices = args.inputs[count];
  const std::span<const RefTensor> updates = args.inputs.subspan(count + 1);
  const ops::IndexedDims dims = ops::read_scatter_dims(args.attrs());
  std::vector<RefTensor> results(args.inputs.begin(), args.inputs.begin() + static_cast<int64_t>(count));
  for (size_t k = 0; k < count; ++k) results[k].type = args.result_type(static_cast<int>(k));
  const Shape& shape = results[0].type.shape;
  const Shape strides = row_major_strides(shape), indices_strides = row_major_strides(indices.type.shape);
  const ops::RegionRunner region(args, args.op.region());
  ops::for_each_index(updates[0].type.shape, [&](const Shape& at, int64_t k) {
    Shape to = dims.operand_at(at, static_cast<int>(shape.size()));
    for (size_t c = 0; c < dims.index_map.size(); ++c) {
      const int64_t dim = dims.index_map[c];
      const Shape where = dims.indices_at(at, indices.type.rank(), static_cast<int64_t>(c));
      const int64_t start = indices.i[linear_index(where, indices_strides)];
      if (start <= -shape[dim] || start >= shape[dim]) return;  // also a ui64 beyond i64, which is kept as bits
      to[dim] += start;
      if (to[dim] < 0 || to[dim] >= shape[dim]) return;
    }
    region.combine(results, linear_index(to, strides), updates, k);
  });
  return results;
}

// The places where a scatter's updates go.
class Places {
 public:
  explicit Places(GradientArgs& args) : args_(args), dims_(ops::read_scatter_dims(args.op.attrs())) {}

  // `updates` combined into `x`.
  Term scatter(const OpDef* op, Value* x, Value* updates) const {
    return {args_.b, ops::scatter(args_.b, op, x, args_.operand(1), updates, dims_)};
  }

  // What `x` has where each update goes, 0 for those that are dropped. gather clamps where scatter drops, so x gets a
  // border of zeros as wide as the window on each side, and the indices, clamped to it, are counted from there.
  Term gather(Value* x) const {
    GraphBuilder& b = args_.b;
    const Shape& shape = x->type.shape;
    Value* indices = args_.operand(1);
    const DType dtype = indices->type.dtype;
    Shape sizes(shape.size(), 1), border(shape.size(), 0);
    const std::vector<int64_t> kept = dims_.kept_dims(x->type.rank());
    for (size_t k = 0; k < kept.size(); ++k) sizes[kept[k]] = args_.operand(2)->type.shape[dims_.window_dims[k]];

    std::vector<int64_t> low, high, shift;
    for (int64_t dim : dims_.index_map) {
      border[dim] = sizes[dim];
      low.push_back(is_unsigned(dtype) ? 0 : std::max(-sizes[dim], -greatest_integer(dtype) - 1));
      high.push_back(std::min(shape[dim], greatest_integer(dtype)));
      shift.push_back(sizes[dim]);
    }
    Value* clamped = ops::binary(b, kMaximum, indices, ops::along_index_vectors(b, dims_, indices, low));
    clamped = ops::binary(b, kMinimum, clamped, ops::along_index_vectors(b, dims_, indices, high));
    clamped = ops::convert(b, clamped, info(dtype).bits < 32 ? DType::kI32 : dtype);  // holds the shifted indices
    Value* shifted = ops::add(b, clamped, ops::along_index_vectors(b, dims_, clamped, shift));
    Value* zero = ops::constant(b, {x->type.dtype, {}}, 0);
    Value* padded = ops::pad(b, x, zero, border, border, Shape(shape.size(), 0));
    return {b, ops::gather(b, padded, shifted, dims_, sizes)};
  }

 private:
  GradientArgs& args_;
  ops::IndexedDims dims_;
};

// v' is what v has where the updates go; [c] is 1 where c holds, else 0. As in JAX, where it has a gradient:
//   add        dx = dy, du = dy'
//   subtract   dx = dy, du = -dy'
//   overwrite  dx = dy with 0 where an update went; du = dy' for the update that stays, the last. Unless indices are
//              unique, that is the one whose number a scatter of their numbers leaves.
//   maximum, minimum  dy in equal parts to what is equal to the result: share = dy / ([x = y] + the sum of [u = y']),
//              dx = [x = y] share, du = [u = y'] share'
//   multiply   dx = dy * (the product of the u there); du = dy' * (the product of x and the other u there). With unique
//              indices that is x'. Otherwise it is the product over u, of what is not 0, and 0 where another factor is.
Values gradient(GradientArgs& args) {
  GraphBuilder& b = args.b;
  const Block& region = args.op.region();
  const bool is_single = args.op.operands.size() == 3;
  const OpDef* op = is_single ? ops::binary_region_op(region) : nullptr;
  const bool is_unique = args.op.attrs().boolean("unique_indices", false);
  const Places places(args);
  const Term x(b, args.operand(0)), u(b, args.operand(2)), y(b, args.result()), dy(b, args.dy());
  const auto as_number = [&](Term condition) { return Term(b, ops::convert(b, condition, args.dy()->type.dtype)); };
  if (op == &kAdd || op == &kSubtract) {
    if (!args.needed[2]) return {dy, nullptr, nullptr};
    return {dy, nullptr, op == &kAdd ? places.gather(dy) : -places.gather(dy)};
  }
  if (is_single && ops::returned_argument(region) == 1) {
    Term du = places.gather(dy);
    if (!is_unique) {
      const int64_t count = args.operand(2)->type.elements();
      Value* number = ops::reshape(b, ops::iota(b, {DType::kI64, {count}}, 0), u.shape());
      const Term none(b, ops::constant(b, {DType::kI64, x.shape()}, 0));
      du = where(equal(places.gather(places.scatter(nullptr, none, number)), {b, number}), du, 0.0);
    }
    return {places.scatter(nullptr, dy, u.like(0)), nullptr, du};
  }
  if (op == &kMaximum || op == &kMinimum) {
    const Term x_stays = equal(x, y), u_stays = equal(u, places.gather(y));
    const Term share = dy / places.scatter(&kAdd, as_number(x_stays), as_number(u_stays));
    return {where(x_stays, share, 0.0), nullptr, where(u_stays, places.gather(share), 0.0)};
  }
  if (op == &kMultiply) {
    const Term dx = dy * places.scatter(&kMultiply, x.like(1), u);
    if (is_unique) return {dx, nullptr, places.gather(dy * x)};
    const Term x_is_zero = equal(x, x.like(0)), u_is_zero = equal(u, u.like(0));
    const Term factor = where(u_is_zero, 1.0, u);
    const Term product = places.scatter(&kMultiply, where(x_is_zero, 1.0, x), factor);
    const Term zeros = places.scatter(&kAdd, as_number(x_is_zero), as_number(u_is_zero));
    const Term no_other_zero = equal(places.gather(zeros), as_number(u_is_zero));
    return {dx, nullptr, where(no_other_zero, places.gather(dy * product) / factor, 0.0)};
  }
  throw_limit(args.op.location,
              "stablehlo.scatter has a gradient when it has one input and its region adds, subtracts, multiplies, "
              "overwrites, or takes the maximum or minimum");
}

Sample scatter(const std::string& region, const std::string& element, const std::string& x, const std::string& indices,
               const std::string& updates, const std::string& numbers, bool is_unique = false) {
  const std::string type = "tensor<" + x + ">", indices_type = "tensor<" + indices + ">",
                    updates_type = "tensor<" + updates + ">";
  return {.text = ops::single_op(
              "%x: " + type + ", %i: " + indices_type + ", %u: " + updates_type,
              "\"stablehlo.scatter\"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<" + numbers +
                  ">, indices_are_sorted = false, unique_indices = " + (is_unique ? "true" : "false") + "}> " +
                  (region.empty() ? ops::second_region(element) : ops::scalar_region(region, element)) + " : (" + type +
                  ", " + indices_type + ", " + updates_type + ") -> " + type,
              type),
          .integer_low = -2,
          .integer_high = 8};
}

std::vector<Sample> samples() {
  const Sample widening{
      .text = ops::single_op(
          "%x: tensor<6xi16>, %i: tensor<9xi64>, %u: tensor<9xi16>",
          "\"stablehlo.scatter\"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<"
          "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> " +
              ops::scalar_region("add", "i32") + " : (tensor<6xi16>, tensor<9xi64>, tensor<9xi16>) -> tensor<6xi32>",
          "tensor<6xi32>"),
      .integer_low = -2,
      .integer_high = 8};
  const std::string rows =
      "update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
      "index_vector_dim = 1";
  const std::string elements = "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1";
  // A window that starts at the least index, and ends within.
  Sample long_windows = scatter("add", "f64", "150xf64", "1x1xi8", "1x143xf64",
                                "update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1");
  long_windows.integer_low = long_windows.integer_high = -128;
  return {
      long_windows,
      scatter("add", "f32", "7x9xf32", "4x1xi32", "4x9xf32", rows),
      scatter("add", "f64", "6xf64", "9x1xi32", "9xf64", elements),
      scatter("add", "complex<f32>", "6xcomplex<f32>", "9xi64", "9xcomplex<f32>", elements),
      scatter("multiply", "complex<f64>", "6xcomplex<f64>", "9xi64", "9xcomplex<f64>", elements),
      scatter("add", "f32", "6xf32", "9xi64", "9xf32", elements),
      // windows that may stick out
      scatter("add", "f32", "6x5xf32", "4x2xi32", "4x3x2xf32",
              "update_window_dims = [1, 2], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 1"),
      // one element of each row
      scatter("add", "f32", "4x6xf32", "4x1x1xi32", "4x1xf32",
              "inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], "
              "scatter_dims_to_operand_dims = [1], index_vector_dim = 2"),
      widening,
      scatter("", "f32", "7x3xf32", "4x1xi32", "4x3xf32", rows),
      scatter("maximum", "f32", "7x3xf32", "4x1xi32", "4x3xf32", rows),
      scatter("minimum", "f32", "7x3xf32", "4x1xi32", "4x3xf32", rows),
      scatter("multiply", "f32", "7x3xf32", "4x1xi64", "4x3xf32", rows),
      // several updates to an element
      scatter("", "f64", "4xf64", "9x1xi32", "9xf64", elements),
      scatter("maximum", "f64", "4xf64", "9x1xi32", "9xf64", elements),
      scatter("multiply", "f64", "4xf64", "9x1xi32", "9xf64", elements),
      scatter("subtract", "f64", "4xf64", "9x1xi32", "9xf64", elements),
      // one at most
      scatter("", "f64", "9x2xf64", "1x1xi32", "1x2xf64", rows, true),
      scatter("multiply", "f64", "9x2xf64", "1x1xi32", "1x2xf64", rows, true),
      scatter("add", "bf16", "7x3xbf16", "4x1xi32", "4x3xbf16", rows),
      scatter("add", "i32", "7x3xi32", "4x1xi32", "4x3xi32", rows),
      scatter("or", "i1", "7xi1", "4x1xi32", "4xi1", elements),
      scatter("add", "f32", "7x3xf32", "0x1xi32", "0x3xf32", rows),
  };
}

}  // namespace

extern const OpDef kScatter = {
    .name = "stablehlo.scatter",
    .doc = "The inputs with each update element combined, by the region, into the element where its index vector says.",
    .infer = infer,
    .evaluate = evaluate,
    .gradient = gradient,
    .expand = ops::converted_for_region,
    .split = ops::split_combining,
    .samples = samples,
    .root = KernelRoot::kScatter,
    .ulp = {.f32 = 1, .f64 = 1, .half = 1},
};

}  // namespace ingot::scatter_op
