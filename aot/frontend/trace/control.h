// Control flow of traced programs. A function that is given here is called once, to record what it does; what it
// computes depends on what it is given and on any tensor from outside. It may not write state, draw random numbers or
// call backward().
#pragma once

#include <functional>

#include "aot/frontend/trace/tensor.h"

namespace ingot {

using Tensors = std::vector<Tensor>;

// What a scan's body gives: what it carries on, and a slice of each result.
struct Scanned {
  Tensors carry;  // as many, of the same types, as went in
  Tensors ys;     // any shape
};

struct ScanOptions {
  bool reverse = false;  // from the last slice to the first
  int64_t length = -1;   // iterations, where there are no xs
};

// (carry, y) = body(carry, x) for each slice x along the first dimension of xs, which all have as many. Gives the last
// carry, and the ys of all iterations, [iterations, ...]. It has a gradient: the forward iterations save what they carry and their
// products, the backward iterations compute the rest again.
Scanned scan(const std::function<Scanned(Tensors carry, Tensors x)>& body, const Tensors& init, const Tensors& xs,
             const ScanOptions& options = {}, Where at = Where::current());

// then() where the predicate (i1[]) is true, else otherwise(); only one of them runs. They agree in their results'
// types. It has a gradient.
Tensors cond(const In& predicate, const std::function<Tensors()>& then, const std::function<Tensors()>& otherwise);
Tensor cond(const In& predicate, const std::function<Tensor()>& then, const std::function<Tensor()>& otherwise);

// branches[index](), the last one where there is none of that index (i32[]). It has a gradient.
Tensors switch_case(const In& index, const std::vector<std::function<Tensors()>>& branches);

// carry = body(carry) for as long as condition(carry) (i1[]) is true. No gradient: its iterations are not known.
Tensors while_loop(const std::function<Tensor(Tensors carry)>& condition,
                   const std::function<Tensors(Tensors carry)>& body, const Tensors& init, Where at = Where::current());

}  // namespace ingot
