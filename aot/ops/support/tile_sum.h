// Sums of a tile's elements, or of its values at points, by coefficients: what split_tiles and join_tiles share.
#pragma once

#include <functional>
#include <vector>

#include "aot/loops/builder.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/tiles.h"

namespace ingot::ops {

// Fails unless the operand is one of f32 or f64, and there is such a matrix, which is returned.
const TileMatrix& check_tiles(const InferArgs& args);

// What is multiplied by coefficient k: element k of a tile, or its value at point k.
using TileElement = std::function<loops::Expr(int64_t k)>;

// What an op makes of a tile's matrix: the sum of coefficients times elements, without coefficients that are 0. Where the
// index is known it is put together in the same way for all whose coefficients are alike but for signs, so that what these
// share is computed once.
enum class TileSum : uint8_t {
  kValue,    // at point `at`, of the elements of a tile, even and odd: values at x and -x are their sum and difference
  kElement,  // the tile's, at `at`, of its values at points, pair by pair: their sums or differences make every element
};
loops::Expr tile_sum(loops::KernelBuilder& b, DType dtype, const TileMatrix& matrix, TileSum sum,
                     const loops::Index& at, const TileElement& element);

}  // namespace ingot::ops
