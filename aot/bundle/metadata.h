// The metadata flatbuffer of a bundle. The only files here that know flatbuffers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "aot/bundle/bundle.h"
#include "schema/bundle_header.h"

namespace ingot::bundle {

// The segments, and which of them the metadata refers to, by index.
struct SegmentTable {
  std::vector<ingot_segment_record> records;
  std::vector<uint32_t> code;                   // per target
  std::vector<std::optional<uint32_t>> rodata;  // per target
  std::optional<uint32_t> initial_state;
};

// The flatbuffer. Its length depends on the spec and on the number of segments, not on their offsets or checksums.
std::vector<std::byte> write_metadata(const BundleSpec& spec, const SegmentTable& segments);

}  // namespace ingot::bundle
