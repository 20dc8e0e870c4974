// The part of the C API that saves the state in files and loads it from them.
#include "engine/src/state_file.h"

#include <cstring>

#include "engine/src/file_bytes.h"
#include "engine/src/files/new_file.h"

namespace ingot::engine {
namespace {

// Collects small pieces of text on their way into a file.
class BufferedFile {
 public:
  explicit BufferedFile(int descriptor) : descriptor_(descriptor) {}

  bool write(const void* bytes, uint64_t byte_count) {
    if (byte_count > sizeof buffer_ - used_bytes_ && !flush()) return false;
    if (byte_count > sizeof buffer_) return write_all(descriptor_, bytes, byte_count);
    if (byte_count > 0) std::memcpy(buffer_ + used_bytes_, bytes, byte_count);
    used_bytes_ += byte_count;
    return true;
  }

  bool flush() {
    const uint64_t byte_count = used_bytes_;
    used_bytes_ = 0;
    return write_all(descriptor_, buffer_, byte_count);
  }

 private:
  int descriptor_;
  uint64_t used_bytes_ = 0;
  uint8_t buffer_[4096];
};

bool write_to_file(void* user, const void* bytes, uint64_t byte_count) {
  return static_cast<BufferedFile*>(user)->write(bytes, byte_count);
}

bool write_file(const ingot_session& session, const char* note, int descriptor) {
  BufferedFile file(descriptor);
  return write_state(session, note, {write_to_file, &file}) && file.flush();
}

ingot_status load_file(ingot_session* session, const char* path, const LoadOptions& options, ingot_error* error) {
  FileBytes file;
  INGOT_TRY(read_file(path, &file, error));
  const ingot_status status = load_state(session, file.bytes, file.byte_count, options, error);
  free_bytes(&file);
  return status;
}

// Whether the file itself is at fault, not what is asked of it.
bool file_is_bad(ingot_status status) {
  return status == INGOT_FILE_FAILED || status == INGOT_BAD_STATE_FILE || status == INGOT_DAMAGED;
}

}  // namespace
}  // namespace ingot::engine

using namespace ingot::engine;

ingot_status ingot_save_state(const ingot_session* session, const char* path, ingot_error* error) {
  return ingot_save_state_noted(session, path, nullptr, error);
}

ingot_status ingot_save_state_noted(const ingot_session* session, const char* path, const char* note,
                                    ingot_error* error) {
  INGOT_TRY(check_save(session, path, error));
  NewFile file;
  INGOT_TRY(begin(path, &file, error));
  return write_file(*session, note, file.descriptor) ? finish(&file, error) : give_up(&file, error);
}

ingot_status ingot_load_state(ingot_session* session, const char* path, uint32_t flags, ingot_error* error) {
  return ingot_load_state_noted(session, path, flags, nullptr, 0, error);
}

ingot_status ingot_load_state_noted(ingot_session* session, const char* path, uint32_t flags, char* note,
                                    uint64_t note_bytes, ingot_error* error) {
  constexpr uint32_t kKnownFlags = INGOT_LOAD_PARTIAL | INGOT_LOAD_IGNORE_UNKNOWN | INGOT_LOAD_OR_PREVIOUS;
  const LoadOptions options = {flags, note, note_bytes};
  INGOT_TRY(check_load(session, path, options, kKnownFlags, error));
  const ingot_status status = load_file(session, path, options, error);
  FilePlace place;
  if (!(flags & INGOT_LOAD_OR_PREVIOUS) || !file_is_bad(status) || find_place(path, &place, nullptr) != INGOT_OK) {
    return status;
  }
  return load_file(session, place.previous, options, nullptr) == INGOT_OK ? INGOT_OK : status;
}
