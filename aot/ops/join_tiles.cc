// ingot.join_tiles: tiles along a dimension from their values at points, for convolutions with fewer multiplications.
#include <fmt/format.h>

#include "aot/base/divide.h"
#include "aot/loops/element.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/samples.h"
#include "aot/ops/support/tile_sum.h"

namespace ingot::join_tiles_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  const ops::TileMatrix& matrix = ops::check_tiles(args);
  const TensorType& x = args.operands[0];
  const int64_t dimension = args.attrs().integer("dimension"), extent = args.attrs().integer("extent");
  if (matrix.tile > matrix.step) args.fail("the tiles of an input overlap and cannot be joined");
  ops::check_dims(args, "dimension", {dimension}, x.rank() - 1);
  if (x.shape[0] != matrix.points)
    args.fail(fmt::format("dimension 0 of {} has not the {} points of a tile", to_string(x), matrix.points));
  const int64_t tiles = x.shape[dimension + 1];
  if (extent < 1 || divide_up(extent, matrix.tile) != tiles) {
    args.fail(fmt::format("{} tiles of {} are not as many as the extent {} takes, in dimension {} of {}", tiles,
                          matrix.tile, extent, dimension + 1, to_string(x)));
  }
  TensorType result{x.dtype, Shape(x.shape.begin() + 1, x.shape.end())};
  result.shape[dimension] = extent;
  return {result};
}

// y[..., t * tile + k, ...] = sum over p of matrix[p, k] * x[p, ..., t, ...]
std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const ops::TileMatrix& matrix = ops::tile_matrix(args.attrs());
  const int64_t dimension = args.attrs().integer("dimension");
  const RefTensor& x = args.inputs[0];
  const Shape strides = row_major_strides(x.type.shape);
  RefTensor y(args.result_type());
  ops::for_each_index(y.type.shape, [&](const Shape& at, int64_t k) {
    Shape from = at;
    from[dimension] /= matrix.tile;
    from.insert(from.begin(), 0);
    const int64_t first = linear_index(from, strides);
    for (int64_t point = 0; point < matrix.points; ++point) {
      const double coefficient = matrix.at(point, at[dimension] % matrix.tile);
      if (coefficient != 0) y.f[k] += coefficient * x.f[first + point * strides[0]];
    }
  });
  return {y};
}

loops::Expr element(loops::ElementArgs& args) {
  const ops::TileMatrix& matrix = ops::tile_matrix(args.op.attrs());
  const int64_t dimension = args.op.attrs().integer("dimension");
  const loops::Index place = args.b.modulo(args.index[dimension], matrix.tile);
  std::vector<loops::Index> at = args.index;
  at[dimension] = args.b.divide(at[dimension], matrix.tile);
  at.insert(at.begin(), 0);
  const auto value_at_point = [&](int64_t point) {
    at[0] = point;
    return args.operand_at(0, at);
  };
  return ops::tile_sum(args.b, args.dtype(), matrix, ops::TileSum::kElement, place, value_at_point);
}

std::vector<Sample> samples() {
  const auto sample = [](const std::string& from, int dimension, const std::string& of, int outputs, int extent,
                         const std::string& to) {
    return Sample{.text = ops::single_op("%x: " + from,
                                         fmt::format("ingot.join_tiles %x, dim = {} {{extent = {} : i64, of = \"{}\", "
                                                     "outputs = {} : i64}} : ({}) -> {}",
                                                     dimension, extent, of, outputs, from, to),
                                         to),
                  .differentiable = false};
  };
  return {
      sample("tensor<6x2xf32>", 0, "result", 4, 8, "tensor<8xf32>"),
      sample("tensor<6x2x3x19xf32>", 1, "result", 4, 10, "tensor<2x10x19xf32>"),
      sample("tensor<4x2x2x3xf32>", 2, "result", 2, 5, "tensor<2x2x5xf32>"),
      sample("tensor<6x1x17xf32>", 0, "kernel", 4, 3, "tensor<3x17xf32>"),
      sample("tensor<4x3x1xf64>", 1, "kernel", 2, 3, "tensor<3x3xf64>"),
      sample("tensor<6x0x1xf32>", 1, "result", 4, 4, "tensor<0x4xf32>"),
  };
}

}  // namespace

extern const OpDef kJoinTiles = {
    .name = "ingot.join_tiles",
    .doc =
        "Tiles along a dimension from their values at points, the first dimension of the operand: of a convolution's "
        "result, or of its kernel's gradient; `extent` elements of them.",
    .assembly = "operands `,` `dim` `=` int(dimension) attr-dict :functional",
    .infer = infer,
    .evaluate = evaluate,
    .samples = samples,
    .element = element,
    .ulp = {.f32 = 4, .f64 = 4},
    .flops = 6,
};

}  // namespace ingot::join_tiles_op
