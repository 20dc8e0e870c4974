// The metadata flatbuffer of a bundle. The only files here that know flatbuffers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "aot/bundle/bundle.h"

namespace ingot::bundle {

// Where a segment lies in the file, and what it holds. Fields as in schema/bundle.fbs.
struct SegmentRecord {
  uint64_t offset = 0;
  uint64_t stored_bytes = 0;
  uint64_t bytes = 0;
  uint64_t checksum = 0;
  uint32_t kind = 0;
  uint32_t compression = 0;
};

// Which segments the metadata refers to, by index.
struct SegmentTable {
  std::vector<SegmentRecord> records;
  std::vector<uint32_t> code;                   // per target
  std::vector<std::optional<uint32_t>> rodata;  // per target
  std::optional<uint32_t> initial_state;
};

// The flatbuffer. Its length depends on the spec and on the number of segments, not on their offsets or checksums.
std::vector<std::byte> write_metadata(const BundleSpec& spec, const SegmentTable& segments);

}  // namespace ingot::bundle
