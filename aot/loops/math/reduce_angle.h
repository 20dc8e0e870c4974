// Angles modulo a quarter turn.
#pragma once

#include "aot/loops/math/double_word.h"

namespace ingot::loops::math {

// x = (pi/2) (4 i + quadrant) + angle for some integer i, with |angle| <= pi/4 but for rounding.
struct ReducedAngle {
  DoubleWord angle;  // f64
  Scalar quadrant;   // ui64; only its two lowest bits matter
};

// For 0 <= x < 2^31, f64.
ReducedAngle reduce_moderate(const Scalar& x);

// For finite x >= 4 of any size, f64; `source` is f32 when x was one, which needs less work.
ReducedAngle reduce_large(const Scalar& x, DType source);

// The angle pi x, which must be at most pi/4, in two parts: f64.
DoubleWord half_turns(const Scalar& x);

}  // namespace ingot::loops::math
