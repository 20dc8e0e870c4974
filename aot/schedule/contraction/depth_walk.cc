#include "aot/schedule/contraction/depth_walk.h"

namespace ingot::schedule {

using loops::Expr;
using loops::Index;

DepthWalk::DepthWalk(ContractionPoint& point, const DepthSegment& segment, const BlockAt& block, bool whole)
    : point_(point) {
  const Blocked& depth = point.plan().depth;
  for (size_t k = whole ? 0 : depth.cut; k < depth.axes.size(); ++k) {
    const Axis& axis = depth.axes[k];
    const bool is_cut = !whole && static_cast<int>(k) == depth.cut;
    parts_.push_back({axis, is_cut ? block.start : Index(0), is_cut ? depth.chunk : axis.extent, is_cut});
  }
  const bool is_part = point.plan().segments.size() > 1;
  from_ = is_part ? segment.start : 0;
  to_ = is_part ? segment.end : parts_.back().count;
}

DepthWalk DepthWalk::merged(const ContractionSide& side) const {
  if (!side.is_affine() || !point_.step().draft().kept(side.value)) return *this;
  DepthWalk result = *this;
  result.parts_.clear();
  for (const DepthPart& part : parts_) {
    const bool follows =
        !result.parts_.empty() && !result.parts_.back().is_cut && !part.axis.dims.empty() &&
        side.stride(result.parts_.back().axis.dims.back()) == side.stride(part.axis.dims[0]) * part.count;
    if (!follows) {
      result.parts_.push_back(part);
      continue;
    }
    DepthPart& last = result.parts_.back();
    last.axis.dims.insert(last.axis.dims.end(), part.axis.dims.begin(), part.axis.dims.end());
    last.axis.extent *= part.axis.extent;
    last.count *= part.count;
  }
  if (result.parts_.size() < parts_.size()) result.to_ = result.parts_.back().count;
  return result;
}

Expr DepthWalk::enter(const DepthPart& part, const Index& i) const {
  point_.set_axis(part.axis, part.start + i);
  const bool is_ragged = part.is_cut && point_.plan().depth.is_ragged();
  return is_ragged ? point_.b().in_range(part.start + i, 0, part.axis.extent) : nullptr;
}

void DepthWalk::for_each_outer(const Body& body) const {
  const auto enter_all = [&](const auto& self, size_t at, const Index& position, const Expr& mask) -> void {
    if (at + 1 == parts_.size()) return body(position, mask);
    point_.b().loop("k", 0, parts_[at].count, 1, [&](Index i) {
      const Expr more = enter(parts_[at], i);
      self(self, at + 1, position * parts_[at].count + i, point_.b().both(mask, more));
    });
  };
  enter_all(enter_all, 0, 0, nullptr);
}

void DepthWalk::for_each_last(const Index& position, const Expr& mask, const Body& body) const {
  const DepthPart& part = parts_.back();
  point_.b().loop("k", from_, to_, 1, [&](Index i) {
    const Expr more = enter(part, i);
    body(position * part.count + i, point_.b().both(mask, more));
  });
}

void DepthWalk::for_each_last_vector(const Index& position, const Expr& mask, const Body& body) const {
  loops::KernelBuilder& b = point_.b();
  const DepthPart& part = parts_.back();
  const int64_t lanes = point_.plan().vector_lanes();
  const auto vector = [&](const Index& i, const Expr& edge) {
    const Expr more = b.both(edge, enter(part, i));
    body(position * part.count + i, b.both(mask, more));
  };
  const int64_t filled = from_ + (to_ - from_) / lanes * lanes;
  b.loop("k", from_, filled, lanes, [&](Index i) { vector(i + b.lane(), nullptr); });
  if (filled < to_) vector(Index(filled) + b.lane(), b.in_range(Index(filled) + b.lane(), from_, to_));
}

void DepthWalk::for_each(const Body& body) const {
  for_each_outer([&](const Index& position, const Expr& mask) { for_each_last(position, mask, body); });
}

void DepthWalk::transpose_squares(const SquareElement& element, const SquareStore& store) const {
  loops::KernelBuilder& b = point_.b();
  const int64_t lanes = point_.plan().lanes;
  const DepthPart& part = parts_.back();
  for_each_outer([&](const Index& position, const Expr& outer) {
    const auto square = [&](const Index& k, int64_t count) {
      const loops::TileId vectors = b.tile("square", point_.dtype(), point_.plan().lanes, {lanes});
      const Expr edge = count < lanes ? b.in_range(b.lane(), 0, count) : nullptr;
      const Expr mask = b.both(b.both(outer, edge), enter(part, k + b.lane()));
      for (int64_t i = 0; i < lanes; ++i) {
        Pull::Scope scope(point_.step().pull());
        b.set(vectors, {i}, element(i, mask));
      }
      b.transpose(vectors);
      for (int64_t i = 0; i < count; ++i) store(position * part.count + k + i, b.read(vectors, {i}));
    };
    const int64_t filled = from_ + (to_ - from_) / lanes * lanes;
    b.loop("k", from_, filled, lanes, [&](Index k) { square(k, lanes); });
    if (filled < to_) square(filled, to_ - filled);
  });
}

}  // namespace ingot::schedule
