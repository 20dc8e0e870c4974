// How a kernel in the making evaluates the elements of a value: where, and how many times.
#pragma once

#include <vector>

#include "aot/graph/op.h"

namespace ingot::fusion {

// The points that a kernel visits: a shape, some of whose dimensions (ascending) a reduction combines.
//
//   elementwise, contraction   shape [B, C], reduced []
//   rows                       shape [B, T, D], reduced [2]: the reduced dimensions are the last ones
//   columns                    shape [B, T, D], reduced [0, 1]
struct Space {
  Shape shape;
  std::vector<int> reduced;

  int64_t points() const { return element_count(shape); }
  int64_t rows() const;           // points with the reduced dimensions left out
  std::vector<int> dims() const;  // all: 0, 1, ...
  std::vector<int> kept() const;  // those that are not reduced
  bool is_rows() const;           // the reduced dimensions are the last ones
};

struct Access {
  // One entry for each dimension of the value: the dimension of the space that it follows, -1 where its extent is 1.
  std::vector<int> dims;
  bool aligned = false;     // `dims` says where an element is read
  bool flat = false;        // not aligned, but visited in the row-major order of the whole space, each element once
  bool is_reread = false;   // operand of a contraction or window: each element is read over and over
  int64_t evaluations = 0;  // elements that are asked for, each time counted
};

// Reads every point of the space once, in order.
bool is_full(const Access& access, const Space& space);
// Reads every row of the space once, in order: follows all kept dimensions of extent > 1 and no reduced one.
bool is_row(const Access& access, const Space& space);
// Follows kept dimensions only, in order (fewer than all: a row's value of a broadcast operand).
std::vector<int> followed(const Access& access);

// The dimensions of the space that `access` leaves out, when they are its last ones; else empty.
std::vector<int> missing_last_dims(const Access& access, const Space& space);

// The value lies along these dimensions of the space, up to dimensions of extent 1: its access; not aligned when it
// does not.
Access align(const Shape& shape, const Space& space, const std::vector<int>& along, int64_t evaluations);

// How a kernel of this space writes the op's result.
Access output_access(const Op& op, const Space& space);

// Access of operand `i`, when the kernel evaluates `op` (a kElement op, or a root that it contains) by `access`.
Access operand_access(const Op& op, const Access& access, const Space& space, int i);

// A value that is read in two ways.
Access merged(const Access& a, const Access& b);

}  // namespace ingot::fusion
