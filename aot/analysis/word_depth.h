// Along which dimensions contractions of bytes, or of bf16, hold several of them in a word.
#pragma once

#include <optional>

#include "aot/graph/op.h"

namespace ingot {

struct WordDepth {
  int64_t lhs, rhs;  // dimensions of the operands, of which products are summed
};

// Of a dot_general or convolution: for four bytes, and for two bf16; nullopt where so few products are summed that words
// would not pay.
std::optional<WordDepth> byte_depth(const Op& op);
std::optional<WordDepth> pair_depth(const Op& op);

}  // namespace ingot
