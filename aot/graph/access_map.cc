#include "aot/graph/access_map.h"

#include <algorithm>
#include <utility>

#include "aot/base/error.h"
#include "aot/graph/op.h"

namespace ingot {
namespace {

// The least and the greatest value over the whole space, without the start.
struct Range {
  int64_t low, high;
};

Range range_of(const AxisMap& axis, const Shape& space) {
  Range range{axis.constant, axis.constant};
  for (size_t d = 0; d < space.size(); ++d) {
    const int64_t reach = axis.coefficients[d] * (space[d] - 1);
    (reach < 0 ? range.low : range.high) += reach;
  }
  return range;
}

// The one dimension that the map follows; -1 where it follows none or several.
int followed_dim(const AxisMap& axis) {
  int followed = -1;
  for (size_t d = 0; d < axis.coefficients.size(); ++d) {
    if (axis.coefficients[d] == 0) continue;
    if (followed >= 0) return -1;
    followed = static_cast<int>(d);
  }
  return followed;
}

// The dimension of `to` that a row-major renumbering leaves as it is, -1 where there is none.
int kept_dim(const Shape& from, int dim, const Shape& to) {
  const int64_t stride = row_major_strides(from)[dim];
  const Shape strides = row_major_strides(to);
  for (size_t d = 0; d < to.size(); ++d) {
    if (to[d] == from[dim] && strides[d] == stride) return static_cast<int>(d);
  }
  return -1;
}

// The same of any view: -1 where the operand's dimension is no dimension of the result.
int renamed_dim(const AccessMap& map, const Shape& from, int dim, const Shape& to) {
  if (map.is_flat) return kept_dim(from, dim, to);
  const AxisMap& axis = map.pieces[0].axes[dim];
  const int followed = followed_dim(axis);
  const bool is_same = follows(axis, followed) && axis.constant == 0 && axis.start < 0 && to[followed] == from[dim];
  return is_same ? followed : -1;
}

// The one dimension along which a piece is no whole but a part of the result, as it lies.
std::optional<int> shifted_dim(const AccessPiece& piece, const Shape& part, const Shape& whole) {
  if (piece.axes.size() != whole.size()) return std::nullopt;
  std::optional<int> dim;
  for (int d = 0; d < std::ssize(whole); ++d) {
    const AxisMap& axis = piece.axes[d];
    if (!follows(axis, d) || axis.start >= 0) return std::nullopt;
    if (axis.constant == 0 && part[d] == whole[d]) continue;
    if (dim) return std::nullopt;
    dim = d;
  }
  return dim;
}

}  // namespace

AxisMap along(int64_t dim, int64_t constant, int64_t coefficient) {
  AxisMap axis{.constant = constant, .coefficients = std::vector<int64_t>(dim + 1)};
  axis.coefficients[dim] = coefficient;
  return axis;
}

bool follows(const AxisMap& axis, int dim) {
  return dim >= 0 && followed_dim(axis) == dim && axis.coefficients[dim] == 1 && axis.divisor == 1;
}

void settle(std::vector<AxisMap>& axes, const Shape& space, const Shape& operand) {
  for (size_t d = 0; d < axes.size(); ++d) {
    AxisMap& axis = axes[d];
    axis.coefficients.resize(space.size());
    const Range range = range_of(axis, space);
    axis.always = axis.start >= 0 || (axis.divisor == 1 && range.low >= 0 && range.high < operand[d]);
  }
}

std::vector<AxisMap> compose(const std::vector<AxisMap>& axes, const std::vector<AxisMap>& inner) {
  std::vector<AxisMap> composed = inner;
  for (AxisMap& axis : composed) {
    const std::vector<int64_t> through = std::move(axis.coefficients);
    axis.coefficients.assign(axes.empty() ? 0 : axes[0].coefficients.size(), 0);
    axis.always = true;
    for (size_t d = 0; d < through.size(); ++d) {
      if (through[d] == 0) continue;
      INGOT_CHECK(axes[d].divisor == 1 && axes[d].start < 0);
      axis.constant += through[d] * axes[d].constant;
      axis.always = axis.always && axes[d].always;
      for (size_t i = 0; i < axis.coefficients.size(); ++i)
        axis.coefficients[i] += through[d] * axes[d].coefficients[i];
    }
  }
  return composed;
}

bool AccessMap::is_view() const {
  return !is_empty() && std::ranges::all_of(pieces, [](const AccessPiece& piece) { return piece.operand == 0; });
}

AccessMap access_map(const Op& op) {
  if (!op.def->access) return {};
  AccessMap map = op.def->access(op);
  for (AccessPiece& piece : map.pieces)
    settle(piece.axes, op.result()->type.shape, op.operand(piece.operand)->type.shape);
  return map;
}

int renamed_dim(const Op& op, int dim) {
  const AccessMap map = access_map(op);
  return map.pieces.size() == 1 ? renamed_dim(map, op.operand(0)->type.shape, dim, op.result()->type.shape) : -1;
}

std::optional<std::vector<int>> renamed_dims(const Op& op) {
  const AccessMap map = access_map(op);
  if (map.pieces.size() != 1) return std::nullopt;
  const Shape& from = op.operand(0)->type.shape;
  std::vector<int> dims;
  for (int d = 0; d < std::ssize(from); ++d) {
    dims.push_back(from[d] == 1 ? -1 : renamed_dim(map, from, d, op.result()->type.shape));
    if (from[d] != 1 && dims.back() < 0) return std::nullopt;
  }
  return dims;
}

bool changes_unit_dims_only(const Op& op) {
  std::optional<std::vector<int>> dims = renamed_dims(op);
  if (!dims) return false;
  std::erase(*dims, -1);
  return *dims == long_dims(op.result()->type.shape);
}

bool reads_in_order(const Op& op) {
  if (access_map(op).is_flat) return true;
  std::optional<std::vector<int>> dims = renamed_dims(op);
  if (!dims) return false;
  std::erase(*dims, -1);
  return std::ranges::is_sorted(*dims);
}

std::optional<Joint> joint_of(const Op& op) {
  const AccessMap map = access_map(op);
  const Shape& whole = op.result()->type.shape;
  Joint joint{-1, {}};
  std::vector<std::pair<int64_t, int64_t>> spans;  // of the dimension, by piece
  for (const AccessPiece& piece : map.pieces) {
    const Shape& part = op.operand(piece.operand)->type.shape;
    const std::optional<int> dim = shifted_dim(piece, part, whole);
    if (!dim || (joint.dim >= 0 && joint.dim != *dim)) return std::nullopt;
    joint.dim = *dim;
    const int64_t before = -piece.axes[*dim].constant;
    joint.starts.push_back(std::max<int64_t>(before, 0));
    spans.emplace_back(joint.starts.back(), std::min(before + part[*dim], whole[*dim]));
  }
  if (joint.dim < 0) return std::nullopt;
  std::ranges::sort(spans);
  int64_t end = 0;
  for (const auto& [first, last] : spans) {
    if (first != std::exchange(end, last)) return std::nullopt;
  }
  return end == whole[joint.dim] ? std::optional(joint) : std::nullopt;
}

bool is_box(const Op& op) {
  const AccessMap map = access_map(op);
  if (map.pieces.size() != 1 || map.is_flat) return false;
  const std::vector<AxisMap>& axes = map.pieces[0].axes;
  for (int d = 0; d < std::ssize(axes); ++d) {
    if (followed_dim(axes[d]) != d || axes[d].coefficients[d] < 0 || axes[d].start >= 0 || !axes[d].always)
      return false;
  }
  return true;
}

}  // namespace ingot
