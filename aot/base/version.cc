#include "aot/base/version.h"

namespace ingot {

const char* const kVersion = INGOT_VERSION;

}  // namespace ingot
