// Objects to one flat image, with proofs.
#pragma once

#include <span>
#include <string>

#include "aot/codegen/code_image.h"

namespace ingot::codegen {

// Links `objects` (the bytes of ELF object files) with lld, in this process; one link at a time. `entries` are the
// symbols wanted as entry_offsets.
CodeImage link(std::span<const std::string> objects, std::span<const std::string> entries);

}  // namespace ingot::codegen
