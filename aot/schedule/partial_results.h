// Partial results: several tasks each make a part of what is summed up, and a step of its own combines them, the first
// part first: the same bits for any number of threads.
#pragma once

#include "aot/schedule/step.h"

namespace ingot::schedule {

// They lie in a temporary for each result, one part after the other.
struct PartialResults {
  Shape shape;
  int64_t parts = 0;
  std::vector<int> temporaries = {};

  void add(Draft& draft, DType dtype);  // one more result
  // Where a part of the element `flat` lies.
  loops::Index place(const loops::Index& part, const loops::Index& flat) const;
};

// A part of result `k` at the element that is combined.
using LoadPart = std::function<loops::Expr(size_t k, const loops::Index& part)>;

// Combines the parts of every element: `answer` does it for one and answers for `roots`, of which `makes` is made. The
// step has declared what it reads besides.
void combine_parts(Step& step, const PartialResults& partial, const Values& makes, const Values& roots,
                   const std::function<void(const LoadPart&)>& answer);

}  // namespace ingot::schedule
