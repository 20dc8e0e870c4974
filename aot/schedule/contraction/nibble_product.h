// Few rows by weights that are kept in 4 bits (ingot.unpack_nibbles), which registers alone hold as more: vectors run along
// the columns, of which words and scales lie side by side, so that memory is read as one stream of each.
//
// A step before makes the rows ready, once for all columns. Where a target multiplies bytes at once, elements of a part of
// a row (of up to 32) become integers of 24 bits, as three signed digits of 8, and products are sums of bytes: exact, until
// each part is scaled. No element is further off than 2^-23 of the part's largest, by which the unit is chosen. Other
// targets multiply floats: a digit d of a word is taken where it stands, as d 16^j, and multiplied by x / 16^j. What words
// have more than the integers that they stand for is taken off as a multiple of the part's sum.
#pragma once

#include <optional>

#include "aot/ops/support/nibbles.h"
#include "aot/schedule/contraction/geometry.h"
#include "aot/schedule/step.h"

namespace ingot::schedule {

struct NibbleProduct {
  const Op* root;
  const Op* unpack;
  ops::NibbleShape shape;
  loops::Contraction space;
  ContractionSide rows_side = {};
  std::vector<int> row_dims = {};  // of the iteration space, outermost first
  int depth_dim = 0, column_dim = 0;
  int64_t rows = 1, columns = 1;
  int64_t part = 1;         // of the depth, whose products are added up before they are scaled
  bool has_digits = false;  // rows are made integers

  int64_t parts() const { return shape.depth() / part; }
  int64_t words_of_part() const { return part / ops::kNibbles; }
  bool has_zeros() const { return unpack->operands.size() == 3; }
};

// A point of the iteration space, as loops walk it.
struct NibblePoint {
  const NibbleProduct& product;
  std::vector<loops::Index> at = std::vector<loops::Index>(product.space.dims.size(), loops::Index(0));

  void enter_row(loops::KernelBuilder& b, const loops::Index& row);
  std::vector<loops::Index> index(const std::vector<AxisMap>& accesses) const;  // of an operand, or of the result
};

// The contraction as such a product; nullopt where it is another, or has more rows than pay.
std::optional<NibbleProduct> nibble_product(const Draft& draft, const Op& root);

void lower_nibble_product(Draft& draft, const NibbleProduct& product);

}  // namespace ingot::schedule
