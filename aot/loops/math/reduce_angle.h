// Angles modulo a quarter turn.
#pragma once

#include "aot/loops/math/double_word.h"

namespace ingot::loops::math {

// x = (pi/2) (4 i + quadrant) + angle for some integer i, with |angle| <= pi/4 but for rounding.
struct ReducedAngle {
  DoubleWord angle;  // f64
  Scalar quadrant;   // ui64; only its two lowest bits matter
};

// For finite x >= 0, f64, of any size; `source` is f32 when x was one, which needs less work.
ReducedAngle reduce_angle(const Scalar& x, DType source);

}  // namespace ingot::loops::math
