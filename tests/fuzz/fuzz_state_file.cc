// Coverage-guided fuzzing of state files: whatever is in one, loading it succeeds or leaves the state as it was.
// Built like fuzz_bundle.cc; INGOT_FUZZ_BUNDLE names the bundle whose state is loaded.
#include <ingot/engine.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

void* block(uint64_t bytes) {
  void* memory = nullptr;
  if (posix_memalign(&memory, 64, bytes + 1) != 0) std::abort();
  return memory;
}

struct Fixture {
  Fixture() {
    const char* path = std::getenv("INGOT_FUZZ_BUNDLE");
    ingot_bundle* bundle = nullptr;
    if (!path || ingot_probe_file(path, &needs, nullptr) != INGOT_OK ||
        ingot_open_file(path, nullptr, block(needs.bundle_bytes), needs.bundle_bytes, &bundle, nullptr) != INGOT_OK) {
      std::fputs("INGOT_FUZZ_BUNDLE names no bundle for this machine\n", stderr);
      std::exit(1);
    }
    state = block(needs.state_bytes);
    const uint64_t session_bytes = needs.session_bytes + needs.session_bytes_per_thread;
    const ingot_memory memory = {block(session_bytes),
                                 session_bytes,
                                 block(needs.arena_bytes),
                                 needs.arena_bytes,
                                 state,
                                 needs.state_bytes,
                                 block(needs.scratch_bytes_per_thread),
                                 needs.scratch_bytes_per_thread,
                                 1};
    if (ingot_create(bundle, &memory, &session, nullptr) != INGOT_OK) std::abort();
    before = block(needs.state_bytes);
  }
  ingot_requirements needs;
  ingot_session* session = nullptr;
  void* state;
  void* before;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t byte_count) {
  static const Fixture fixture;
  const int descriptor = memfd_create("state", 0);
  if (descriptor < 0 || write(descriptor, data, byte_count) != static_cast<ssize_t>(byte_count)) std::abort();
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  std::memcpy(fixture.before, fixture.state, fixture.needs.state_bytes);
  const uint32_t flags = byte_count > 0 ? data[byte_count - 1] & 3 : 0;
  ingot_error error;
  const ingot_status status = ingot_load_state(fixture.session, path, flags, &error);
  if (status != INGOT_OK && std::memcmp(fixture.before, fixture.state, fixture.needs.state_bytes) != 0) std::abort();
  close(descriptor);
  return 0;
}
