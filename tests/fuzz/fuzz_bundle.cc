// Fuzzing of what the engine reads: a bundle's header and metadata, with checksums put right so that the checks behind
// them are reached.
#include <ingot/engine.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "tests/fuzz/seal_bundle.h"

namespace {

constexpr uint64_t kMostBytes = 1 << 24;

void* block(uint64_t bytes) {
  void* memory = nullptr;
  if (posix_memalign(&memory, 64, bytes + 1) != 0) std::abort();
  return memory;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t byte_count) {
  auto* file = static_cast<uint8_t*>(block(byte_count));
  std::memcpy(file, data, byte_count);
  ingot::test::seal_bundle(file, byte_count);
  ingot_requirements needs;
  ingot_error error;
  if (ingot_probe_memory(file, byte_count, &needs, &error) == INGOT_OK && needs.bundle_bytes < kMostBytes) {
    void* memory = block(needs.bundle_bytes);
    ingot_bundle* bundle = nullptr;
    if (ingot_open_memory(file, byte_count, nullptr, memory, needs.bundle_bytes, &bundle, &error) == INGOT_OK) {
      ingot_bundle_info info;
      ingot_get_bundle_info(bundle, &info);
      for (uint32_t i = 0; i < info.state_count; ++i) {
        ingot_tensor_info tensor;
        uint32_t found;
        if (ingot_get_state_info(bundle, i, &tensor, &error) == INGOT_OK) {
          ingot_find_state(bundle, tensor.name, &found, &error);
        }
      }
      ingot_close(bundle);
    }
    std::free(memory);
  }
  std::free(file);
  return 0;
}
