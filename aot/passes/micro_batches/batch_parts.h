// What of a function is of rows of its batch, and what waits for sums over them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "aot/analysis/row_use.h"

namespace ingot {

// Every value is one of four kinds: what the batch does not go into, or what is computed of it elementwise alone and then
// combined, as the number of labels that count (whole); what has rows; what combines all of them (sums); and what is
// computed of these (later).
struct BatchParts {
  int64_t count = 0;                           // of rows
  std::map<const Value*, RowDim> rows;         // values that have rows, and where
  std::map<const Op*, std::vector<int>> cuts;  // ops that read rows, and where their operands have them: RowUse
  std::vector<Op*> sums;                       // those of them that combine all rows, ...
  std::vector<Op*> later;                      // ... and what is computed of these, each in their order
  std::string why_not;                         // why parts cannot be computed one after the other; "" where they can
};

// The parts of an entry point, whose batch is the first dimension that most inputs have.
BatchParts batch_parts(const Function& entry);

}  // namespace ingot
