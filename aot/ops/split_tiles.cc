// ingot.split_tiles: tiles along a dimension as their values at points, for convolutions with fewer multiplications.
#include <fmt/format.h>

#include "aot/loops/element.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/samples.h"
#include "aot/ops/support/tile_sum.h"

namespace ingot::split_tiles_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  const ops::TileMatrix& matrix = ops::check_tiles(args);
  const TensorType& x = args.operands[0];
  const int64_t dimension = args.attrs().integer("dimension");
  ops::check_dims(args, "dimension", {dimension}, x.rank());
  const int64_t extent = x.shape[dimension], rest = extent - matrix.tile;
  if (rest < 0 || rest % matrix.step != 0) {
    args.fail(fmt::format("dimension {} of {} has not whole tiles of {}, {} apart", dimension, to_string(x),
                          matrix.tile, matrix.step));
  }
  TensorType result{x.dtype, x.shape};
  result.shape[dimension] = rest / matrix.step + 1;
  result.shape.insert(result.shape.begin(), matrix.points);
  return {result};
}

// y[p, ..., t, ...] = sum over k of matrix[p, k] * x[..., t * step + k, ...]
std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const ops::TileMatrix& matrix = ops::tile_matrix(args.attrs());
  const int64_t dimension = args.attrs().integer("dimension");
  const RefTensor& x = args.inputs[0];
  const Shape strides = row_major_strides(x.type.shape);
  RefTensor y(args.result_type());
  ops::for_each_index(y.type.shape, [&](const Shape& at, int64_t k) {
    Shape from(at.begin() + 1, at.end());
    from[dimension] *= matrix.step;
    const int64_t first = linear_index(from, strides);
    for (int64_t element = 0; element < matrix.tile; ++element) {
      const double coefficient = matrix.at(at[0], element);
      if (coefficient != 0) y.f[k] += coefficient * x.f[first + element * strides[dimension]];
    }
  });
  return {y};
}

loops::Expr element(loops::ElementArgs& args) {
  const ops::TileMatrix& matrix = ops::tile_matrix(args.op.attrs());
  const int64_t dimension = args.op.attrs().integer("dimension");
  const auto tile_element = [&](int64_t k) {
    std::vector<loops::Index> at(args.index.begin() + 1, args.index.end());
    at[dimension] = at[dimension] * matrix.step + k;
    return args.operand_at(0, at);
  };
  return ops::tile_sum(args.b, args.dtype(), matrix, ops::TileSum::kValue, args.index[0], tile_element);
}

std::vector<Sample> samples() {
  const auto sample = [](const std::string& from, int dimension, const std::string& of, int outputs,
                         const std::string& to) {
    return Sample{.text = ops::single_op("%x: " + from,
                                         fmt::format("ingot.split_tiles %x, dim = {} {{of = \"{}\", outputs = {} : "
                                                     "i64}} : ({}) -> {}",
                                                     dimension, of, outputs, from, to),
                                         to),
                  .differentiable = false};
  };
  return {
      sample("tensor<10xf32>", 0, "input", 4, "tensor<6x2xf32>"),
      sample("tensor<2x6x19xf32>", 1, "input", 2, "tensor<4x2x2x19xf32>"),
      sample("tensor<3x17xf32>", 0, "kernel", 4, "tensor<6x1x17xf32>"),
      sample("tensor<2x3xf32>", 1, "kernel", 2, "tensor<4x2x1xf32>"),
      sample("tensor<2x12x16xf32>", 1, "result", 4, "tensor<6x2x3x16xf32>"),
      sample("tensor<8x3xf64>", 0, "result", 2, "tensor<4x4x3xf64>"),
      sample("tensor<0x6xf32>", 1, "input", 4, "tensor<6x0x1xf32>"),
  };
}

}  // namespace

extern const OpDef kSplitTiles = {
    .name = "ingot.split_tiles",
    .doc =
        "Tiles along a dimension as their values at points, which are the first dimension of the result: of a "
        "convolution's input, kernel (of 3 elements) or result (as its gradient is), whose tiles have 2 or 4 outputs.",
    .assembly = "operands `,` `dim` `=` int(dimension) attr-dict :functional",
    .infer = infer,
    .evaluate = evaluate,
    .samples = samples,
    .element = element,
    .ulp = {.f32 = 4, .f64 = 4},
    .flops = 5,
};

}  // namespace ingot::split_tiles_op
