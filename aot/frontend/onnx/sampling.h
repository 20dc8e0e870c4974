// Elements of images between their pixels.
#pragma once

#include <functional>

#include "aot/frontend/onnx/node_args.h"

namespace ingot::onnx {

// x [n, c, space...] at whole places, one term [n, points] of i32 for each spatial dimension: [n, c, points]. Places
// outside are those of the border.
Term pixels_at(Term x, const std::vector<Term>& places);

// The neighbours of a place along one dimension, from `first` on, counted from the place's whole part, and the factor
// of each by the place's fraction.
struct Kernel {
  int first, count;
  std::function<Term(Term fraction, int k)> weight;
};
// The sum over the neighbours of fractional places, one [n, points] for each spatial dimension. `pixel` gives the values
// at whole places, floats like these: [n, c, points].
Term interpolated(const std::vector<Term>& places, const Kernel& kernel,
                  const std::function<Term(const std::vector<Term>&)>& pixel);
Kernel linear_kernel();

// As pixels_at of floats, but zero outside.
Term pixels_or_zero(Term x, const std::vector<Term>& places);

}  // namespace ingot::onnx
