// Sizes of memory as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ingot {

// "65536", "64KiB", "1.5MiB", "2GB": a number of bytes, rounded down. nullopt for other texts, and for what has no
// place in 63 bits.
std::optional<int64_t> byte_count(std::string_view text);

}  // namespace ingot
