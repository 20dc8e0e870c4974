// The ops that StableHLO and CHLO define, whether ingot has them or not:
// what tells "not supported yet" from a misspelling.
#pragma once

#include <string_view>

namespace ingot {

bool is_public_op(std::string_view name);  // "stablehlo.fft"

// What an op does that ingot cannot compile, and what to do instead; "" for other ops.
std::string_view refusal_of(std::string_view name);

}  // namespace ingot
