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

// What is multiplied by coefficient k.
using TileElement = std::function<loops::Expr(int64_t k)>;

// The sum of coefficients[k] * element(k), without those that are 0. What `parts` put together is summed up in the same way
// for all coefficients that are alike but for signs, so that it is computed once.
enum class TileParts : uint8_t {
  kEvenAndOdd,  // elements of a tile: values at x and -x are their sum and difference
  kPairs,       // points x and -x: every element is made of their sums or differences
};
loops::Expr tile_sum(loops::KernelBuilder& b, DType dtype, const std::vector<double>& coefficients, TileParts parts,
                     const TileElement& element);

// coefficients[at] for an index that is known at run time only.
loops::Expr tile_coefficient(loops::KernelBuilder& b, DType dtype, const std::vector<double>& coefficients,
                             const loops::Index& at);

}  // namespace ingot::ops
