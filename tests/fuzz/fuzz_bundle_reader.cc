// Fuzzing of the compiler's reader of bundles, which `ingot inspect` uses: it reads them or refuses them by an Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "aot/base/error.h"
#include "aot/bundle/read_bundle.h"
#include "tests/fuzz/seal_bundle.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t byte_count) {
  std::vector<std::byte> file(reinterpret_cast<const std::byte*>(data),
                              reinterpret_cast<const std::byte*>(data) + byte_count);
  ingot::test::seal_bundle(reinterpret_cast<uint8_t*>(file.data()), file.size());
  try {
    ingot::bundle::read_bundle(file);
  } catch (const ingot::Error& error) {
    if (error.kind() == ingot::ErrorKind::kBug) std::abort();
  }
  return 0;
}
