// What one op does to rows of a batch: where its result has them, or that it sums them up.
#pragma once

#include <optional>
#include <vector>

#include "aot/graph/op.h"

namespace ingot {

// Where a tensor has the rows of a batch, one after the other: row r has the places from r * each on along `dim`, as many
// as `each`. A `dim` of -1: the tensor has none.
struct RowDim {
  int dim = -1;
  int64_t each = 1;
  bool operator==(const RowDim&) const = default;

  bool any() const { return dim >= 0; }
};

struct RowUse {
  std::vector<int> operands;  // along which dimension each has its rows; -1: every row reads all of it
  RowDim results;             // where every result has them; a `dim` of -1: the result is combined from all rows
};

// What `op` does to rows that its operands have at `rows`. An operand without any may be cut along a dimension, as one
// that has rows would be. Nullopt where a row of a result may depend on several rows, or that is not known.
std::optional<RowUse> row_use(const Op& op, const std::vector<RowDim>& rows);

// What combines what parts of the batch give, where `op` combines rows; null where updates are put in one by one.
const OpDef* row_combiner(const Op& op);

// The dimension of `to` that has the rows, where a tensor of shape `from` is reshaped and has them at `rows`.
std::optional<RowDim> reshaped_rows(const RowDim& rows, const Shape& from, const Shape& to);

}  // namespace ingot
