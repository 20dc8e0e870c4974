// stablehlo.gather: windows of a tensor, at places that an index tensor gives.
#include <fmt/format.h>

#include "aot/loops/element.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/clamped_start.h"
#include "aot/ops/support/complex/split.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/samples.h"

namespace ingot::gather_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 2);
  const TensorType& x = args.operands[0];
  const TensorType& indices = args.operands[1];
  if (!is_integer(indices.dtype)) args.fail(fmt::format("the indices {} must be integers", to_string(indices)));
  const ops::IndexedDims dims = ops::read_gather_dims(args.attrs());
  const std::vector<int64_t> sizes = args.attrs().ints("slice_sizes");
  ops::check_one_each(args, "slice_sizes", sizes, x.rank());
  for (int d = 0; d < x.rank(); ++d) {
    if (sizes[d] < 0 || sizes[d] > x.shape[d]) {
      args.fail(fmt::format("slice_sizes = {} must be within {}", ops::to_string(sizes), to_string(x)));
    }
  }
  const int vectors_rank = indices.rank() - (dims.index_vector_dim < indices.rank() ? 1 : 0);
  const int rank = vectors_rank + static_cast<int>(dims.window_dims.size());
  ops::check_indexed_dims(args, dims, x.shape, indices.shape, rank);
  for (const auto* gone : {&dims.dropped_dims, &dims.operand_batch}) {
    for (int64_t dim : *gone) {
      if (sizes[dim] > 1)
        args.fail(
            fmt::format("slice_sizes = {}: dimension {} is left out, so it must be 1", ops::to_string(sizes), dim));
    }
  }
  TensorType result{x.dtype, Shape(rank)};
  const std::vector<int64_t> kept = dims.kept_dims(x.rank());
  for (size_t k = 0; k < kept.size(); ++k) result.shape[dims.window_dims[k]] = sizes[kept[k]];
  const Shape vectors = ops::batch_shape(dims, indices.shape);
  const std::vector<int64_t> batch = dims.batch_dims(rank);
  for (size_t k = 0; k < batch.size(); ++k) result.shape[batch[k]] = vectors[k];
  return {result};
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const RefTensor& x = args.inputs[0];
  const RefTensor& indices = args.inputs[1];
  const ops::IndexedDims dims = ops::read_gather_dims(args.attrs());
  const std::vector<int64_t> sizes = args.attrs().ints("slice_sizes");
  const Shape x_strides = row_major_strides(x.type.shape), indices_strides = row_major_strides(indices.type.shape);
  RefTensor result(args.result_type());
  ops::for_each_index(result.type.shape, [&](const Shape& at, int64_t k) {
    Shape from = dims.operand_at(at, x.type.rank());
    for (size_t c = 0; c < dims.index_map.size(); ++c) {
      const int64_t dim = dims.index_map[c];
      const Shape where = dims.indices_at(at, indices.type.rank(), static_cast<int64_t>(c));
      from[dim] += ops::clamped_start(indices, linear_index(where, indices_strides), x.type.shape[dim] - sizes[dim]);
    }
    result.copy_element(k, x, linear_index(from, x_strides));
  });
  return {result};
}

loops::Expr element(loops::ElementArgs& args) {
  const TensorType& x = args.op.operand(0)->type;
  const ops::IndexedDims dims = ops::read_gather_dims(args.op.attrs());
  const std::vector<int64_t> sizes = args.op.attrs().ints("slice_sizes");
  std::vector<loops::Index> from = dims.operand_at(args.index, x.rank());
  for (size_t c = 0; c < dims.index_map.size(); ++c) {
    const int64_t dim = dims.index_map[c];
    const int64_t high = x.shape[dim] - sizes[dim];
    if (high == 0) continue;
    const auto where = dims.indices_at(args.index, args.op.operand(1)->type.rank(), static_cast<int64_t>(c));
    from[dim] = from[dim] + ops::clamped_start(args.b, args.operand_at(1, where), high);
  }
  return args.operand_at(0, from);
}

// Every element read gets dy added: dx = scatter-add of dy into zeros, with the same dimension numbers. Scatter drops
// what is out of range where gather clamps, so the indices are clamped first.
Values gradient(GradientArgs& args) {
  GraphBuilder& b = args.b;
  Value* indices = args.operand(1);
  const Shape& x = args.operand(0)->type.shape;
  const ops::IndexedDims dims = ops::read_gather_dims(args.op.attrs());
  const std::vector<int64_t> sizes = args.op.attrs().ints("slice_sizes");
  std::vector<int64_t> highs;
  for (int64_t dim : dims.index_map)
    highs.push_back(std::min(x[dim] - sizes[dim], greatest_integer(indices->type.dtype)));
  Value* high = ops::along_index_vectors(b, dims, indices, highs);
  Value* low = ops::zeros_like(b, indices);
  Value* clamped = ops::binary(b, kMinimum, ops::binary(b, kMaximum, indices, low), high);
  Value* zeros = ops::zeros_like(b, args.operand(0));
  return {ops::scatter(b, &kAdd, zeros, clamped, args.dy(), dims), nullptr};
}

std::vector<Sample> samples() {
  const auto gather = [](const std::string& x, const std::string& indices, const std::string& numbers,
                         const std::string& sizes, const std::string& to) {
    return Sample{.text = ops::single_op("%x: " + x + ", %i: " + indices,
                                         "\"stablehlo.gather\"(%x, %i) <{dimension_numbers = #stablehlo.gather<" +
                                             numbers + ">, indices_are_sorted = false, slice_sizes = array<i64: " +
                                             sizes + ">}> : (" + x + ", " + indices + ") -> " + to,
                                         to),
                  .integer_low = -2,
                  .integer_high = 9};
  };
  return {
      // rows of a table
      gather("tensor<7x9xcomplex<f32>>", "tensor<4x1xi32>",
             "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1", "1, 9",
             "tensor<4x9xcomplex<f32>>"),
      gather("tensor<7x9xf32>", "tensor<4x1xi32>",
             "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1", "1, 9",
             "tensor<4x9xf32>"),
      gather("tensor<7x3xf32>", "tensor<2x3x1xi64>",
             "offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2", "1, 3",
             "tensor<2x3x3xf32>"),
      // the index vector is implicit
      gather("tensor<7xf64>", "tensor<5xi32>",
             "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1", "1", "tensor<5xf64>"),
      // one element of each row
      gather("tensor<4x6xf32>", "tensor<4x1x1xi32>",
             "collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], "
             "start_index_map = "
             "[1], index_vector_dim = 2",
             "1, 1", "tensor<4x1xf32>"),
      // index vectors first, windows that start at two data dimensions in the other order
      gather("tensor<5x4x3xf32>", "tensor<2x6xi32>",
             "offset_dims = [0, 2], collapsed_slice_dims = [1], start_index_map = [2, 0], index_vector_dim = 0",
             "2, 1, 2", "tensor<2x6x2xf32>"),
      // batching dims that are not first
      gather("tensor<3x2x4x2xf32>", "tensor<2x3x2x2xi64>",
             "offset_dims = [3, 4], collapsed_slice_dims = [0], operand_batching_dims = [1], "
             "start_indices_batching_dims = [0], "
             "start_index_map = [2, 0], index_vector_dim = 3",
             "1, 1, 2, 1", "tensor<2x3x2x2x1xf32>"),
      gather("tensor<5x2xbf16>", "tensor<3x1xui8>",
             "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1", "1, 2",
             "tensor<3x2xbf16>"),
      gather("tensor<5xi32>", "tensor<3x1xi32>",
             "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1", "1", "tensor<3xi32>"),
      gather("tensor<5xi1>", "tensor<3x1xi32>", "offset_dims = [1], start_index_map = [0], index_vector_dim = 1", "2",
             "tensor<3x2xi1>"),
      gather("tensor<5x2xf32>", "tensor<0x1xi32>",
             "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1", "1, 2",
             "tensor<0x2xf32>"),
  };
}

}  // namespace

extern const OpDef kGather = {
    .name = "stablehlo.gather",
    .doc = "Windows of slice_sizes of the operand that start where index vectors say, clamped so that they fit.",
    .infer = infer,
    .evaluate = evaluate,
    .gradient = gradient,
    .split = ops::split_each,
    .samples = samples,
    .element = element,
    .flops = 0,
    .moves_by_data = true,
};

}  // namespace ingot::gather_op
