#include "aot/ops/support/tiles.h"

#include <algorithm>
#include <numbers>
#include <string>

#include "aot/graph/builder.h"
#include "aot/ops/ops.h"

namespace ingot::ops {
namespace {

constexpr double kRoot = std::numbers::sqrt2;

// Two outputs: the points 0, 1, -1 and infinity.
constexpr double kInput2[] = {1, 0, -1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 0, 1, 0, -1};
constexpr double kKernel2[] = {1, 0, 0, 0.5, 0.5, 0.5, 0.5, -0.5, 0.5, 0, 0, 1};
constexpr double kResult2[] = {1, 0, 1, 1, 1, -1, 0, -1};

// Four outputs: the points 0, sqrt(1/2), -sqrt(1/2), sqrt(2), -sqrt(2) and infinity. Powers of them are nearer to each
// other than those of 1 and 2: errors are a third.
constexpr double kInput4[] = {
    1, 0,          -2.5, 0,          1, 0,  //
    0, -kRoot,     -2,   kRoot / 2,  1, 0,  //
    0, kRoot,      -2,   -kRoot / 2, 1, 0,  //
    0, -kRoot / 2, -0.5, kRoot,      1, 0,  //
    0, kRoot / 2,  -0.5, -kRoot,     1, 0,  //
    0, 1,          0,    -2.5,       0, 1,
};
constexpr double kKernel4[] = {
    1,        0,          0,         //
    -2.0 / 3, -kRoot / 3, -1.0 / 3,  //
    -2.0 / 3, kRoot / 3,  -1.0 / 3,  //
    1.0 / 6,  kRoot / 6,  1.0 / 3,   //
    1.0 / 6,  -kRoot / 6, 1.0 / 3,   //
    0,        0,          1,
};
constexpr double kResult4[] = {
    1, 0,          0,   0,           //
    1, kRoot / 2,  0.5, kRoot / 4,   //
    1, -kRoot / 2, 0.5, -kRoot / 4,  //
    1, kRoot,      2,   2 * kRoot,   //
    1, -kRoot,     2,   -2 * kRoot,  //
    0, 0,          0,   1,
};

struct Row {
  std::string_view of;
  int64_t outputs;
  TileMatrix matrix;
};
constexpr Row kMatrices[] = {
    {"input", 2, {4, 4, 2, kInput2}},
    {"kernel", 2, {4, kTileTaps, kTileTaps, kKernel2}},
    {"result", 2, {4, 2, 2, kResult2}},
    {"input", 4, {6, 6, 4, kInput4}},
    {"kernel", 4, {6, kTileTaps, kTileTaps, kKernel4}},
    {"result", 4, {6, 4, 4, kResult4}},
};

AttrMap tile_attrs(int64_t dimension, std::string_view of, int64_t outputs) {
  return {{"dimension", Attr(IntAttr{dimension})}, {"of", Attr(std::string(of))}, {"outputs", Attr(IntAttr{outputs})}};
}

}  // namespace

std::vector<double> TileMatrix::column(int64_t element) const {
  std::vector<double> column;
  for (int64_t point = 0; point < points; ++point) column.push_back(at(point, element));
  return column;
}

const TileMatrix* find_tile_matrix(std::string_view of, int64_t outputs) {
  const auto found =
      std::ranges::find_if(kMatrices, [&](const Row& row) { return row.of == of && row.outputs == outputs; });
  return found == std::end(kMatrices) ? nullptr : &found->matrix;
}

const TileMatrix& tile_matrix(const Attrs& attrs) {
  const TileMatrix* found = find_tile_matrix(attrs.string("of"), attrs.integer("outputs"));
  INGOT_CHECK(found);
  return *found;
}

std::optional<Tiles> tiles_of(const Op& op) {
  const bool is_split = op.is(kSplitTiles);
  if (!is_split && !op.is(kJoinTiles)) return std::nullopt;
  const auto dimension = static_cast<int>(op.attrs().integer("dimension"));
  const TileMatrix& matrix = tile_matrix(op.attrs());
  Tiles tiles;
  if (is_split) {
    tiles.together[0] = matrix.points;
  } else {
    tiles.together[dimension] = matrix.tile;
  }
  const int tiled = is_split ? dimension : dimension + 1;  // of the operand
  for (int d = 0; d < op.operand(0)->type.rank(); ++d) {
    const bool is_own = d != tiled && (is_split || d != 0);
    tiles.same_index.push_back(!is_own ? -1 : is_split ? d + 1 : d - 1);
  }
  return tiles;
}

Value* split_tiles(GraphBuilder& b, Value* x, int64_t dimension, std::string_view of, int64_t outputs) {
  return b.make(kSplitTiles, {x}, tile_attrs(dimension, of, outputs));
}

Value* join_tiles(GraphBuilder& b, Value* x, int64_t dimension, std::string_view of, int64_t outputs, int64_t extent) {
  AttrMap attrs = tile_attrs(dimension, of, outputs);
  attrs["extent"] = Attr(IntAttr{extent});
  return b.make(kJoinTiles, {x}, std::move(attrs));
}

}  // namespace ingot::ops
