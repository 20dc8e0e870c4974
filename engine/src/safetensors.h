// What saving and loading share: the file format, https://github.com/huggingface/safetensors#format.
//
//   u64 header bytes | header: JSON, padded with spaces | data
//   {"__metadata__": {"format": "pt", "ingot.checksum": "0123456789abcdef"},
//    "fc1.weight": {"dtype": "F32", "shape": [10, 64], "data_offsets": [0, 2560]}, ...}
//
// Wide elements stand before narrow ones, so that every tensor is aligned, as readers that map the file expect.
// The checksum, which files of other writers lack, is a chain over the tensors in the order of the header.
#pragma once

#include <cstdint>

#include "engine/src/checksum.h"

namespace ingot::engine {

constexpr uint64_t kHeaderBytesMax = 100'000'000;  // the format's own limit
constexpr char kMetadataKey[] = "__metadata__";
constexpr char kChecksumKey[] = "ingot.checksum";
constexpr char kPreviousSuffix[] = ".previous";
constexpr char kPartialSuffix[] = ".partial";
constexpr uint32_t kPathBytesMax = 4096;

inline uint64_t chain_checksum(uint64_t chain, const void* tensor, uint64_t bytes) {
  const uint64_t link[2] = {chain, checksum(tensor, bytes)};
  return checksum(link, sizeof link);
}

// 16 digits and a zero.
inline void checksum_text(uint64_t checksum, char (&out)[17]) {
  for (int i = 0; i < 16; ++i) out[i] = "0123456789abcdef"[checksum >> (60 - 4 * i) & 15];
  out[16] = 0;
}

}  // namespace ingot::engine
