// How packing walks a block of a contraction's depth: one part of an axis after the other, outermost first.
#pragma once

#include "aot/schedule/contraction/contraction_point.h"

namespace ingot::schedule {

struct DepthPart {
  Axis axis;
  loops::Index start;
  int64_t count;
  bool is_cut;
};

class DepthWalk {
 public:
  // `k`: which place of the block; `mask`: whether it exists, null when always.
  using Body = std::function<void(const loops::Index& k, const loops::Expr& mask)>;

  // `whole`: all of the depth, else one block. Only what belongs to the segment is walked of the last part.
  DepthWalk(ContractionPoint& point, const DepthSegment& segment, const BlockAt& block, bool whole = false);

  // With parts that lie in line in an operand walked as one.
  DepthWalk merged(const ContractionSide& side) const;

  const std::vector<DepthPart>& parts() const { return parts_; }
  void for_each(const Body& body) const;
  void for_each_outer(const Body& body) const;  // all parts but the last
  // The last part, where those before it are at `position`.
  void for_each_last(const loops::Index& position, const loops::Expr& mask, const Body& body) const;
  void for_each_last_vector(const loops::Index& position, const loops::Expr& mask, const Body& body) const;

  // Squares of vectors that run along the depth: element(i) gives vector i, masked, of the square at hand; store(k,
  // vector) takes transposed vector k.
  using SquareElement = std::function<loops::Expr(int64_t i, const loops::Expr& mask)>;
  using SquareStore = std::function<void(const loops::Index& k, const loops::Expr& vector)>;
  void transpose_squares(const SquareElement& element, const SquareStore& store) const;

 private:
  loops::Expr enter(const DepthPart& part, const loops::Index& i) const;  // whether there is such a place

  ContractionPoint& point_;
  std::vector<DepthPart> parts_;  // never empty
  int64_t from_, to_;             // of the last part
};

}  // namespace ingot::schedule
