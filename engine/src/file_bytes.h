// The bytes of a file. Giving them back is explicit: objects here live in memory that callers reclaim.
#pragma once

#include <cstdint>

#include "engine/src/error.h"

namespace ingot::engine {

struct FileBytes {
  const uint8_t* bytes = nullptr;
  uint64_t byte_count = 0;
  int descriptor = -1;   // of the file that is mapped; -1: none is
  bool is_copy = false;  // read into memory of its own
};

// Maps the whole of a regular file, whose later changes show in the bytes, or end the process where it is cut off.
ingot_status map_file(const char* path, FileBytes* out, ingot_error* error);

// Reads it into memory of its own, which nothing changes any more. Fails if it changes meanwhile.
ingot_status read_file(const char* path, FileBytes* out, ingot_error* error);

// Does nothing to bytes that are the caller's.
void free_bytes(FileBytes* file);

// Writes all of it, or returns false with errno set.
bool write_all(int descriptor, const void* bytes, uint64_t byte_count);

}  // namespace ingot::engine
