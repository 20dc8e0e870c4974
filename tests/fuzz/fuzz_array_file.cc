// Fuzzing of data files: whatever is in one, it is read as .npy and as safetensors, or refused by an Error.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>

#include "aot/base/error.h"
#include "aot/base/safetensors.h"
#include "apps/ingot/files/npy.h"

namespace ingot {
namespace {

// What `read` refuses is refused by an Error of the user's or a limit: any other exception ends the fuzzer.
template <typename Read>
void try_read(Read read) {
  try {
    read();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kBug) std::abort();
  }
}

// Every byte of every array, so that a sanitizer sees those that are not the file's.
unsigned sum(std::span<const std::byte> data) {
  unsigned total = 0;
  for (const std::byte byte : data) total += static_cast<unsigned>(byte);
  return total;
}

void read_safetensors(const std::string& path) {
  const SafeTensors file = SafeTensors::read(path);
  volatile unsigned total = 0;
  for (const auto& [name, tensor] : file.tensors()) total = total + sum(tensor.data);
}

void read_part_of_safetensors(const std::string& path) {
  const SafeTensorsReader file(path);
  std::array<std::byte, 16> part;
  for (const auto& [name, array] : file.arrays()) {
    file.read(array, 0, std::span(part).first(std::min<uint64_t>(array.bytes, part.size())));
  }
}

void read_arrays(const uint8_t* data, size_t byte_count) {
  const int descriptor = memfd_create("array", 0);
  if (descriptor < 0 || write(descriptor, data, byte_count) != static_cast<ssize_t>(byte_count)) std::abort();
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  try_read([&] { read_safetensors(path); });
  try_read([&] { read_part_of_safetensors(path); });
  static constexpr uint64_t kDims[] = {2, 3};
  const ingot_tensor_info tensor = {"x", INGOT_F32, 2, kDims, 24, "", 0};
  std::array<std::byte, 24> elements;
  for (const bool cast : {false, true}) {
    try_read([&] { read_npy(path, tensor, cast, elements); });
  }
  close(descriptor);
}

}  // namespace
}  // namespace ingot

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t byte_count) {
  ingot::read_arrays(data, byte_count);
  return 0;
}
