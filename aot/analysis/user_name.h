// What the user's framework calls an op.
#pragma once

#include <string>

#include "aot/base/location.h"

namespace ingot {

// The outermost name; "" where there is none.
std::string user_name(const Location& location);

}  // namespace ingot
