#include "engine/src/checksum.h"

#include "schema/checksum.h"

namespace ingot::engine {

uint64_t checksum(const void* data, uint64_t byte_count) { return ingot_checksum(data, byte_count); }

}  // namespace ingot::engine
