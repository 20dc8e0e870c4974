#include "engine/src/file_bytes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace ingot::engine {
namespace {

// These functions return null, or what went wrong.

const char* map(int descriptor, const struct stat& status, bool is_copy, FileBytes* out) {
  if (!S_ISREG(status.st_mode)) return "it is not a regular file";
  const auto byte_count = static_cast<uint64_t>(status.st_size);
  if (byte_count > 0) {
    const int protection = is_copy ? PROT_READ | PROT_WRITE : PROT_READ;
    const int kind = is_copy ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_PRIVATE;
    void* bytes = mmap(nullptr, byte_count, protection, kind, is_copy ? -1 : descriptor, 0);
    if (bytes == MAP_FAILED) return std::strerror(errno);
#ifdef MADV_HUGEPAGE
    // Weights are read faster from large pages. A system without them refuses, which does not matter.
    if (is_copy) madvise(bytes, byte_count, MADV_HUGEPAGE);
#endif
    out->bytes = static_cast<const uint8_t*>(bytes);
  }
  out->byte_count = byte_count;
  out->descriptor = is_copy ? -1 : descriptor;
  out->is_copy = is_copy;
  return nullptr;
}

// Reads what a file of that status has into the memory that was mapped for it.
const char* fill(int descriptor, const struct stat& before, const FileBytes& copy) {
  constexpr const char* kChanged = "it changed while it was read";
  auto* out = const_cast<uint8_t*>(copy.bytes);
  for (uint64_t left = copy.byte_count; left > 0;) {
    const ssize_t count = read(descriptor, out, left);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count < 0 ? std::strerror(errno) : kChanged;
    out += count;
    left -= static_cast<uint64_t>(count);
  }
  struct stat after;
  const bool is_same = fstat(descriptor, &after) == 0 && after.st_size == before.st_size &&
                       after.st_mtim.tv_sec == before.st_mtim.tv_sec && after.st_mtim.tv_nsec == before.st_mtim.tv_nsec;
  return is_same ? nullptr : kChanged;
}

ingot_status take(const char* path, bool is_copy, FileBytes* out, ingot_error* error) {
  *out = FileBytes();
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe's other end is not waited for
  if (descriptor < 0) return fail(error, INGOT_FILE_FAILED, "cannot open %.150s: %s", path, std::strerror(errno));
  struct stat status;
  const char* wrong = fstat(descriptor, &status) != 0 ? std::strerror(errno) : map(descriptor, status, is_copy, out);
  if (!wrong && is_copy) wrong = fill(descriptor, status, *out);
  if (wrong || is_copy) close(descriptor);
  if (!wrong) return INGOT_OK;
  free_bytes(out);
  return fail(error, INGOT_FILE_FAILED, "cannot read %.150s: %s", path, wrong);
}

}  // namespace

ingot_status map_file(const char* path, FileBytes* out, ingot_error* error) { return take(path, false, out, error); }
ingot_status read_file(const char* path, FileBytes* out, ingot_error* error) { return take(path, true, out, error); }

void free_bytes(FileBytes* file) {
  if (file->bytes && (file->is_copy || file->descriptor >= 0)) {
    munmap(const_cast<uint8_t*>(file->bytes), file->byte_count);
  }
  if (file->descriptor >= 0) close(file->descriptor);
  *file = FileBytes();
}

bool write_all(int descriptor, const void* bytes, uint64_t byte_count) {
  const auto* at = static_cast<const uint8_t*>(bytes);
  while (byte_count > 0) {
    const ssize_t written = write(descriptor, at, byte_count);
    if (written < 0 && errno == EINTR) continue;
    if (written == 0) errno = EIO;
    if (written <= 0) return false;
    at += written;
    byte_count -= static_cast<uint64_t>(written);
  }
  return true;
}

}  // namespace ingot::engine
