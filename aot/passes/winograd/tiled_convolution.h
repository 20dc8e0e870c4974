// A convolution's kernel by tiles (aot/ops/support/tiles.h): which can be, how, and how long that takes.
#pragma once

#include <array>
#include <optional>

#include "aot/analysis/block_region.h"
#include "aot/graph/op.h"
#include "aot/loops/target.h"
#include "aot/passes/pass.h"

namespace ingot::winograd {

// A kernel whose only root is a convolution by a window of 3 along each of two dimensions, a step apart, or the gradient of
// such a window; the other tensors have the batch as their first dimension and channels as their last.
struct TiledConvolution {
  const Op* kernel;
  const Op* convolution;
  bool is_kernel_gradient;
  int64_t outputs;                    // of a tile, along each dimension
  std::array<int64_t, 2> low;         // padding of the input before its first element
  std::array<int64_t, 2> tiles;       // along each dimension
  int64_t batch, channels, features;  // channels are the input's, features the result's
  int64_t images = 0;                 // of the batch, that are made at a time; 0: all, step by step
  bool has_constant_weights = false;

  int64_t points() const { return (outputs + 2) * (outputs + 2); }
  int64_t tiles_of_image() const { return tiles[0] * tiles[1]; }
};

// As tiles of the size, and by as many images at a time, that are predicted to be fastest; nullopt where the convolution as
// it is is faster, or no such convolution.
std::optional<TiledConvolution> tiled_convolution(const Op& kernel, const loops::Target& target, Math math);

// Puts kernels that work by tiles in the convolution's place. False where blocks of images cannot be made apart: it stays.
bool replace_by_tiles(const TiledConvolution& tiled);

}  // namespace ingot::winograd
