// Access maps: where the elements of a space lie in an operand. An op that only moves elements is nothing but such a map
// (`OpDef::access`); a contraction has one for each operand (aot/loops/contraction.h).
#pragma once

#include <optional>
#include <vector>

#include "aot/graph/graph.h"

namespace ingot {

// Where one dimension of an operand is read for a point i of the space: at (constant + sum coefficients[d] * i[d]) /
// divisor. The point has an element where that divides without a rest and lies within the operand.
struct AxisMap {
  int64_t constant = 0;
  std::vector<int64_t> coefficients;  // one for each dimension of the space
  int64_t divisor = 1;                // greater than 1: the operand lies spread out, with gaps between its elements
  int start = -1;       // the operand, a scalar, that is added, clamped so that every point has an element; -1: none
  bool always = false;  // the ranges prove that every point has an element
};

// The map that follows one dimension of the space. `settle` adds the other coefficients.
AxisMap along(int64_t dim, int64_t constant = 0, int64_t coefficient = 1);

// Whether the index of `dim` is all that the map follows, step by step, perhaps from a start on.
bool follows(const AxisMap& axis, int dim);

// Gives all maps into `operand` one coefficient for each dimension of the space, and finds which of them hold always.
void settle(std::vector<AxisMap>& axes, const Shape& space, const Shape& operand);

// What `axes` read of a tensor whose own elements are read through `inner`, where that has an element. No divisors.
std::vector<AxisMap> compose(const std::vector<AxisMap>& axes, const std::vector<AxisMap>& inner);

// The part of a result that one operand gives: the points at which all axes have an element.
struct AccessPiece {
  int operand = 0;
  std::vector<AxisMap> axes = {};  // one for each dimension of the operand
};

struct AccessMap {
  std::vector<AccessPiece> pieces;  // each lies over those before it; together they are the whole result
  bool is_flat = false;             // element by element in row-major order: of the one piece, which needs no axes

  bool is_empty() const { return pieces.empty(); }
  bool is_view() const;  // of operand 0: nothing else is among the elements
};

// How an op moves elements, settled; empty for any other op.
AccessMap access_map(const Op& op);

// --- what is asked about an op; of one that does not only move elements, the answer is no ---

// The dimension of the result whose index is that of the operand's `dim` all along; -1 where there is none.
int renamed_dim(const Op& op, int dim);

// That for each dimension of the operand, -1 where its extent is 1. Nullopt for whatever does more than reorder
// dimensions, repeat along new ones and add or drop unit ones.
std::optional<std::vector<int>> renamed_dims(const Op& op);

// The op's operand has the result's elements in the result's order: only dimensions of extent 1 come and go.
bool changes_unit_dims_only(const Op& op);

// Reads its operand in the order in which it lies, each element perhaps several times.
bool reads_in_order(const Op& op);

// Pieces that stand side by side along one dimension, each as it lies, and are whole along all others.
struct Joint {
  int dim;
  std::vector<int64_t> starts;  // along it, of each piece
};
std::optional<Joint> joint_of(const Op& op);

// Reads a box of its operand: the elements from some index on, some steps apart in each dimension.
bool is_box(const Op& op);

}  // namespace ingot
