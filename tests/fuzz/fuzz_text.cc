// Coverage-guided fuzzing of the front door: whatever a text says, it is refused at its place or passes every pass.
//   cmake -B build/fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_BUILD_TYPE=RelWithDebInfo
//     -DINGOT_SANITIZE=fuzzer-no-link,address,undefined && ninja -C build/fuzz fuzz_text
//   build/fuzz/tests/fuzz_text -timeout=10 -rss_limit_mb=4096 CORPUS tests/golden
#include <cstdint>

#include "tests/front_door.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t byte_count) {
  ingot::try_text({reinterpret_cast<const char*>(data), byte_count});
  return 0;
}
