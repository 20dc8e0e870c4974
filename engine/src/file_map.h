// A file mapped for reading. Closing and unmapping are explicit: objects here live in memory that callers reclaim.
#pragma once

#include <cstdint>

#include "engine/src/error.h"

namespace ingot::engine {

struct FileMap {
  int descriptor = -1;  // -1: not a file
  const uint8_t* bytes = nullptr;
  uint64_t byte_count = 0;
};

// Maps the whole of a regular file. An empty file has no bytes.
ingot_status map_file(const char* path, FileMap* out, ingot_error* error);
void unmap_file(FileMap* map);

}  // namespace ingot::engine
