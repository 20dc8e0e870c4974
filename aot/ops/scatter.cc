// stablehlo.scatter: combines updates into windows of tensors, at places that an index tensor gives.
#include <fmt/format.h>

#include "aot/ops/build.h"
#include "aot/ops/clamped_start.h"
#include "aot/ops/index.h"
#include "aot/ops/infer.h"
#include "aot/ops/region.h"
#include "aot/ops/samples.h"

namespace ingot {
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
  const Block& region = ops::check_scalar_region(args, 0, 2 * count);
  if (region.terminator()->operands.size() != count) args.fail(fmt::format("the region must give {} results", count));
  std::vector<TensorType> results;
  for (size_t k = 0; k < count; ++k) {
    if (args.operands[k].shape != x.shape) args.fail("the inputs must have one shape");
    if (args.operands[count + 1 + k].shape != updates.shape) args.fail("the updates must have one shape");
    results.push_back({region.terminator()->operand(static_cast<int>(k))->type.dtype, x.shape});
  }
  return results;
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

// dy at the places where the updates went, 0 for those that were dropped. gather clamps where scatter drops, so dy gets
// a border of zeros as wide as the window on each side, and the indices, clamped to it, are counted from there.
Value* updates_gradient(GradientArgs& args, const ops::IndexedDims& dims) {
  GraphBuilder& b = args.b;
  const TensorType& x = args.operand(0)->type;
  Value* indices = args.operand(1);
  const DType dtype = indices->type.dtype;
  Shape sizes(x.rank(), 1), border(x.rank(), 0);
  const std::vector<int64_t> kept = dims.kept_dims(x.rank());
  for (size_t k = 0; k < kept.size(); ++k) sizes[kept[k]] = args.operand(2)->type.shape[dims.window_dims[k]];

  std::vector<int64_t> low, high, shift;
  for (int64_t dim : dims.index_map) {
    border[dim] = sizes[dim];
    low.push_back(is_unsigned(dtype) ? 0 : std::max(-sizes[dim], -ops::greatest(dtype)));
    high.push_back(std::min(x.shape[dim], ops::greatest(dtype)));
    shift.push_back(sizes[dim]);
  }
  // One value for each component, along the index vectors.
  const auto along_vectors = [&](const std::vector<int64_t>& values, DType of) {
    Value* vector = ops::constant(b, dense_ints(values, of));
    if (dims.index_vector_dim < indices->type.rank()) {
      return ops::broadcast_in_dim(b, vector, indices->type.shape, {dims.index_vector_dim});
    }
    return ops::broadcast_scalar(b, ops::reshape(b, vector, {}), indices->type.shape);
  };
  Value* clamped = ops::binary(b, "maximum", indices, along_vectors(low, dtype));
  clamped = ops::binary(b, "minimum", clamped, along_vectors(high, dtype));
  const DType wide = info(dtype).bits < 32 ? DType::kI32 : dtype;  // holds the shifted indices
  Value* shifted = ops::add(b, ops::convert(b, clamped, wide), along_vectors(shift, wide));
  Value* zero = ops::constant(b, {x.dtype, {}}, 0);
  Value* padded = ops::pad(b, args.dy(), zero, border, border, Shape(x.rank(), 0));
  return ops::gather(b, padded, shifted, dims, sizes);
}

// add: dx = dy, and the updates get dy where they went. Overwriting unique places: dx = dy with zeros there.
Values gradient(GradientArgs& args) {
  const Block& region = args.op.region();
  const Attrs attrs = args.op.attrs();
  const bool is_add = args.op.operands.size() == 3 && ops::binary_region_op(region) == "add";
  const bool is_overwrite = args.op.operands.size() == 3 && ops::returned_argument(region) == 1;
  if (!is_add && !(is_overwrite && attrs.boolean("unique_indices", false))) {
    throw_limit(
        args.op.location,
        "stablehlo.scatter has a gradient when its region adds, or when it overwrites and unique_indices = true");
  }
  const ops::IndexedDims dims = ops::read_scatter_dims(attrs);
  Value* dx = args.dy();
  if (is_overwrite && args.needed[0]) {
    dx = ops::scatter(args.b, "", args.dy(), args.operand(1), ops::zeros_like(args.b, args.operand(2)), dims);
  }
  return {dx, nullptr, args.needed[2] ? updates_gradient(args, dims) : nullptr};
}

std::vector<Sample> samples() {
  const auto scatter = [](const std::string& region, const std::string& element, const std::string& x,
                          const std::string& indices, const std::string& updates, const std::string& numbers,
                          bool differentiable) {
    const std::string type = "tensor<" + x + ">", indices_type = "tensor<" + indices + ">",
                      updates_type = "tensor<" + updates + ">";
    return Sample{.text = ops::single_op(
                      "%x: " + type + ", %i: " + indices_type + ", %u: " + updates_type,
                      "\"stablehlo.scatter\"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<" + numbers +
                          ">, indices_are_sorted = false, unique_indices = false}> " +
                          (region.empty() ? ops::second_region(element) : ops::scalar_region(region, element)) +
                          " : (" + type + ", " + indices_type + ", " + updates_type + ") -> " + type,
                      type),
                  .integer_low = -2,
                  .integer_high = 8,
                  .differentiable = differentiable};
  };
  const std::string rows =
      "update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
      "index_vector_dim = 1";
  const std::string elements = "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1";
  return {
      scatter("add", "f32", "7x9xf32", "4x1xi32", "4x9xf32", rows, true),
      scatter("add", "f64", "6xf64", "9x1xi32", "9xf64", elements, true),
      scatter("add", "f32", "6xf32", "9xi64", "9xf32", elements, true),
      // windows that may stick out
      scatter("add", "f32", "6x5xf32", "4x2xi32", "4x3x2xf32",
              "update_window_dims = [1, 2], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 1", true),
      // one element of each row
      scatter("add", "f32", "4x6xf32", "4x1x1xi32", "4x1xf32",
              "inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], "
              "scatter_dims_to_operand_dims = [1], index_vector_dim = 2",
              true),
      scatter("", "f32", "7x3xf32", "4x1xi32", "4x3xf32", rows, false),
      scatter("maximum", "f32", "7x3xf32", "4x1xi32", "4x3xf32", rows, false),
      scatter("minimum", "f32", "7x3xf32", "4x1xi32", "4x3xf32", rows, false),
      scatter("multiply", "f32", "7x3xf32", "4x1xi64", "4x3xf32", rows, false),
      scatter("add", "bf16", "7x3xbf16", "4x1xi32", "4x3xbf16", rows, true),
      scatter("add", "i32", "7x3xi32", "4x1xi32", "4x3xi32", rows, false),
      scatter("or", "i1", "7xi1", "4x1xi32", "4xi1", elements, false),
      scatter("add", "f32", "7x3xf32", "0x1xi32", "0x3xf32", rows, true),
  };
}

}  // namespace

extern const OpDef kScatter = {
    .name = "stablehlo.scatter",
    .doc = "The inputs with each update element combined, by the region, into the element where its index vector says.",
    .infer = infer,
    .evaluate = evaluate,
    .gradient = gradient,
    .samples = samples,
    .root = KernelRoot::kScatter,
    .ulp = {.f32 = 4, .f64 = 4, .half = 4},
};

}  // namespace ingot
