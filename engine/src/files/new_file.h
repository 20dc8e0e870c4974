// A file that takes the place of another once it is whole, so that a crash at any instant leaves the old or the new one.
#pragma once

#include "engine/src/error.h"

namespace ingot::engine {

constexpr uint32_t kPathBytesMax = 4096;
constexpr uint32_t kSuffixBytesMax = 24;
using Path = char[kPathBytesMax + kSuffixBytesMax];  // of a file beside another

// What `path` names, behind symbolic links, and the path of what that was before it was replaced.
struct FilePlace {
  char path[kPathBytesMax];
  Path previous;
};
ingot_status find_place(const char* path, FilePlace* out, ingot_error* error);

// A file beside `place.path`, FILE.partial0 or the first number above that is free. While it is locked, a saver is at
// work on it; what is not was left behind by one that was killed.
struct NewFile {
  FilePlace place;
  uint32_t number = 0;
  int descriptor = -1;
};

// Starts an empty file with the permissions of the one it is to replace.
ingot_status begin(const char* path, NewFile* out, ingot_error* error);

// Syncs it and puts it in place; what was there becomes `place.previous`. If that fails, the new file stays beside it,
// and the error names it.
ingot_status finish(NewFile* file, ingot_error* error);

// Removes it. The error is of the write that failed, by errno.
ingot_status give_up(NewFile* file, ingot_error* error);

}  // namespace ingot::engine
