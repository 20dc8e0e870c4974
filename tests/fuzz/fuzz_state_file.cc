// Fuzzing of state files: whatever is in one, loading it succeeds or leaves the state as it was.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/engine/engine_fixture.h"

namespace ingot::test {
namespace {

struct Fixture {
  OpenBundle bundle{bundle::write_bundle(fit_spec())};
  OpenSession open{bundle};
  Block before{bundle.needs.state_bytes};

  bool is_as_before() const { return std::memcmp(before.data(), open.state.data(), before.size()) == 0; }
};

void load(const uint8_t* data, size_t byte_count) {
  static const Fixture fixture;
  const int descriptor = memfd_create("state", 0);
  if (descriptor < 0 || write(descriptor, data, byte_count) != static_cast<ssize_t>(byte_count)) std::abort();
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  std::memcpy(fixture.before.data(), fixture.open.state.data(), fixture.before.size());
  const uint32_t flags = byte_count > 0 ? data[byte_count - 1] & 3 : 0;
  if (ingot_load_state(fixture.open.session, path, flags, nullptr) != INGOT_OK && !fixture.is_as_before()) std::abort();
  close(descriptor);
}

}  // namespace
}  // namespace ingot::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t byte_count) {
  ingot::test::load(data, byte_count);
  return 0;
}
