// The bytes of a state file, as files/state_file.cc writes and reads them: the format is told in safetensors.h.
#pragma once

#include "engine/src/session.h"

namespace ingot::engine {

// Where the bytes go, a piece at a time. False: it takes no more.
struct StateSink {
  bool (*write)(void* user, const void* bytes, uint64_t byte_count);
  void* user;
};

// What every function that saves looks at first. `place` is where it saves to.
ingot_status check_save(const ingot_session* session, const void* place, ingot_error* error);

// False if the sink took not all of it.
//   note  null: none.
bool write_state(const ingot_session& session, const char* note, const StateSink& sink);

struct LoadOptions {
  uint32_t flags;
  char* note;  // for the file's; null: not wanted
  uint64_t note_bytes;
};

// What every function that loads looks at first. `source` is what it loads from.
ingot_status check_load(const ingot_session* session, const void* source, const LoadOptions& options,
                        uint32_t known_flags, ingot_error* error);

// Checks all of the bytes, then loads them. Nobody may change them meanwhile.
ingot_status load_state(ingot_session* session, const uint8_t* bytes, uint64_t byte_count, const LoadOptions& options,
                        ingot_error* error);

}  // namespace ingot::engine
