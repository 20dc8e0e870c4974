#include "engine/src/file_map.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace ingot::engine {

ingot_status map_file(const char* path, FileMap* out, ingot_error* error) {
  *out = FileMap();
  out->descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (out->descriptor < 0) return fail(error, INGOT_FILE_FAILED, "cannot open %.150s: %s", path, std::strerror(errno));
  struct stat status;
  if (fstat(out->descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    unmap_file(out);
    return fail(error, INGOT_FILE_FAILED, "%.150s is not a regular file", path);
  }
  if (status.st_size == 0) return INGOT_OK;
  const auto byte_count = static_cast<uint64_t>(status.st_size);
  void* bytes = mmap(nullptr, byte_count, PROT_READ, MAP_PRIVATE, out->descriptor, 0);
  if (bytes == MAP_FAILED) {
    const int reason = errno;
    unmap_file(out);
    return fail(error, INGOT_FILE_FAILED, "cannot map %.150s: %s", path, std::strerror(reason));
  }
  out->bytes = static_cast<const uint8_t*>(bytes);
  out->byte_count = byte_count;
  return INGOT_OK;
}

void unmap_file(FileMap* map) {
  if (map->descriptor < 0) return;
  if (map->bytes) munmap(const_cast<uint8_t*>(map->bytes), map->byte_count);
  close(map->descriptor);
  *map = FileMap();
}

}  // namespace ingot::engine
