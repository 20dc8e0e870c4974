// Puts the checksums of a bundle right, so that what a fuzzer changed reaches the checks behind them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "schema/bundle_header.h"
#include "schema/checksum.h"

namespace ingot::test {

// Magic number, and checksums of metadata and header, as they should be.
inline void seal_bundle(uint8_t* file, size_t byte_count) {
  if (byte_count < sizeof(ingot_bundle_header)) return;
  ingot_bundle_header header;
  std::memcpy(&header, file, sizeof header);
  std::memcpy(header.magic, INGOT_BUNDLE_MAGIC, sizeof header.magic);
  if (header.metadata_offset <= byte_count && header.metadata_bytes <= byte_count - header.metadata_offset) {
    header.metadata_checksum = ingot_checksum(file + header.metadata_offset, header.metadata_bytes);
  }
  header.header_checksum = ingot_checksum(&header, offsetof(ingot_bundle_header, header_checksum));
  std::memcpy(file, &header, sizeof header);
}

}  // namespace ingot::test
