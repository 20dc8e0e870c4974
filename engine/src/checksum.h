// The contract's checksum, compiled once.
#pragma once

#include <cstdint>

namespace ingot::engine {

// XXH64 of bytes data[0, byte_count): schema/checksum.h.
uint64_t checksum(const void* data, uint64_t byte_count);

}  // namespace ingot::engine
