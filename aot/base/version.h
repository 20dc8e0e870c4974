// The version of this compiler: the project's, as CMakeLists.txt gives it.
#pragma once

namespace ingot {

extern const char* const kVersion;  // "0.1.0"

}  // namespace ingot
