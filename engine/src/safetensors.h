// What saving and loading share: the file format, https://github.com/huggingface/safetensors#format.
//
//   u64 header bytes | header: JSON, padded with spaces | data
//   {"__metadata__": {"format": "pt", "ingot.note": "any text", "ingot.file_checksum": "0123456789abcdef"},
//    "fc1.weight": {"dtype": "F32", "shape": [10, 64], "data_offsets": [0, 2560]}, ...}
//
// Wide elements stand before narrow ones, so that every tensor is aligned, as readers that map the file expect.
// The checksum, which files of other writers lack, is of the header, with zeros for its own digits, and of a chain over
// the tensors in the order of the header. Files of ingot's first versions have "ingot.checksum", of the chain alone.
#pragma once

#include <cstdint>

#include "engine/src/checksum.h"

namespace ingot::engine {

constexpr uint64_t kHeaderBytesMax = 100'000'000;  // the format's own limit
constexpr char kMetadataKey[] = "__metadata__";
constexpr char kNoteKey[] = "ingot.note";
constexpr char kFileChecksumKey[] = "ingot.file_checksum";
constexpr char kDataChecksumKey[] = "ingot.checksum";
constexpr char kNoChecksum[] = "0000000000000000";

// FNV-1a (RFC draft "The FNV Non-Cryptographic Hash Algorithm", section 2) of text that comes in pieces.
class TextChecksum {
 public:
  void add(const void* text, uint64_t byte_count) {
    const auto* bytes = static_cast<const uint8_t*>(text);
    for (uint64_t i = 0; i < byte_count; ++i) value_ = (value_ ^ bytes[i]) * 0x100000001b3;
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};

inline uint64_t chain_checksum(uint64_t chain, const void* tensor, uint64_t bytes) {
  const uint64_t link[2] = {chain, checksum(tensor, bytes)};
  return checksum(link, sizeof link);
}

// Of the chain over the tensors, and of the header's text with eight zero bytes before it.
inline uint64_t file_checksum(uint64_t chain, uint64_t text) { return chain_checksum(chain, &text, sizeof text); }

// 16 digits and a zero.
inline void checksum_text(uint64_t checksum, char (&out)[17]) {
  for (int i = 0; i < 16; ++i) out[i] = "0123456789abcdef"[checksum >> (60 - 4 * i) & 15];
  out[16] = 0;
}

}  // namespace ingot::engine
