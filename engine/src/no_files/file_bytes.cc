#include "engine/src/file_bytes.h"

namespace ingot::engine {

void free_bytes(FileBytes* file) { *file = FileBytes(); }

}  // namespace ingot::engine
