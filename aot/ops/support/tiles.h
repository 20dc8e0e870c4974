// Tiles of signals and their values at points: convolutions with fewer multiplications.
//
// A tile of m outputs of a correlation with 3 kernel elements is A^T ((G g) * (B^T d)), with an elementwise product at m + 2
// points, of an input tile d of m + 2 elements; tiles of inputs overlap (Lavin and Gray 2015, "Fast algorithms for
// convolutional neural networks", arXiv:1509.09308). In several dimensions the matrices are applied along each. Transposed,
// the same sums give the gradient of the kernel: G^T ((B^T d) * (A dy)).
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "aot/graph/op.h"

namespace ingot::ops {

inline constexpr int64_t kTileTaps = 3;  // of a kernel

// A matrix for each signal: from the elements of a tile to its values at points.
struct TileMatrix {
  int64_t points, tile;
  int64_t step;                // from one tile's first element to that of the next
  const double* coefficients;  // points x tile
  double at(int64_t point, int64_t element) const { return coefficients[point * tile + element]; }
  std::vector<double> row(int64_t point) const {
    return {coefficients + point * tile, coefficients + (point + 1) * tile};
  }
  std::vector<double> column(int64_t element) const;
};

// `of`: "input" (B^T), "kernel" (G) or "result" (A), of tiles with so many outputs. Null where there is none.
const TileMatrix* find_tile_matrix(std::string_view of, int64_t outputs);
// As the attributes `of` and `outputs` say.
const TileMatrix& tile_matrix(const Attrs& attrs);

// What an op does that makes several elements of the same elements of its operand.
struct Tiles {
  std::map<int, int64_t> together;  // dimensions of the result, and how many neighbours along them are made of the same
  std::vector<int> same_index;      // for each dimension of the operand that of the result with its index; -1: none
};
std::optional<Tiles> tiles_of(const Op& op);

Value* split_tiles(GraphBuilder& b, Value* x, int64_t dimension, std::string_view of, int64_t outputs);
// `extent`: of the result, which may end within a tile.
Value* join_tiles(GraphBuilder& b, Value* x, int64_t dimension, std::string_view of, int64_t outputs, int64_t extent);

}  // namespace ingot::ops
