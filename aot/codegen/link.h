// Objects to one flat image, with proofs.
#pragma once

#include <llvm/ADT/SmallVector.h>

#include <span>
#include <string>

#include "aot/codegen/code_image.h"

namespace ingot::codegen {

// Links `objects` with lld, in this process; one link at a time. `entries` are the symbols wanted as entry_offsets.
CodeImage link(std::span<const llvm::SmallVector<char, 0>> objects, std::span<const std::string> entries);

}  // namespace ingot::codegen
