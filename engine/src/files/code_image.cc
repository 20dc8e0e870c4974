#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "engine/src/code_segment.h"

#ifdef __linux__
#include <fcntl.h>
#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif
#endif

namespace ingot::engine {
namespace {

constexpr int kExecutable = PROT_READ | PROT_EXEC;

#ifdef __linux__
// A file in memory with these bytes that nothing can change any more.
int sealed_file(const uint8_t* code, uint64_t byte_count) {
  int descriptor = memfd_create("ingot-code", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);
  if (descriptor < 0) descriptor = memfd_create("ingot-code", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) return -1;
  if (write_all(descriptor, code, byte_count) &&
      fcntl(descriptor, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0) {
    return descriptor;
  }
  close(descriptor);
  return -1;
}

void* map_copy(const uint8_t* code, uint64_t byte_count) {
  const int descriptor = sealed_file(code, byte_count);
  if (descriptor < 0) return MAP_FAILED;
  void* image = mmap(nullptr, byte_count, kExecutable, MAP_PRIVATE, descriptor, 0);
  const int reason = errno;
  close(descriptor);
  errno = reason;
  return image;
}
#else
// Without sealed files: written while private, executable only once it is no longer writable.
void* map_copy(const uint8_t* code, uint64_t byte_count) {
  void* image = mmap(nullptr, byte_count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (image == MAP_FAILED) return image;
  std::memcpy(image, code, byte_count);
  if (mprotect(image, byte_count, kExecutable) == 0) return image;
  munmap(image, byte_count);
  return MAP_FAILED;
}
#endif

}  // namespace

ingot_status map_code(const FileBytes& file, uint64_t file_offset, const uint8_t* code, uint64_t byte_count,
                      CodeImage* out, ingot_error* error) {
  *out = CodeImage();
  if (byte_count == 0) return INGOT_OK;
  void* image = MAP_FAILED;
  if (file.descriptor >= 0 && file_offset % static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) == 0) {
    image = mmap(nullptr, byte_count, kExecutable, MAP_PRIVATE, file.descriptor, static_cast<off_t>(file_offset));
  }
  if (image == MAP_FAILED) image = map_copy(code, byte_count);  // e.g. a file system mounted noexec
  if (image == MAP_FAILED) {
    return fail(error, INGOT_CODE_REFUSED, "code cannot be mapped executable: %s", std::strerror(errno));
  }
  __builtin___clear_cache(static_cast<char*>(image), static_cast<char*>(image) + byte_count);
  out->bytes = static_cast<const uint8_t*>(image);
  out->byte_count = byte_count;
  return INGOT_OK;
}

void unmap_code(CodeImage* image) {
  if (image->bytes) munmap(const_cast<uint8_t*>(image->bytes), image->byte_count);
  *image = CodeImage();
}

}  // namespace ingot::engine
