// Along which dimensions contractions of bytes hold four of them in a word.
#pragma once

#include <optional>

#include "aot/graph/op.h"

namespace ingot {

struct ByteDepth {
  int64_t lhs, rhs;  // dimensions of the operands, of which products are summed
};

// Of a dot_general or convolution; nullopt where so few products are summed that words would be mostly empty.
std::optional<ByteDepth> byte_depth(const Op& op);

}  // namespace ingot
