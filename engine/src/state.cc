// The part of the C API that copies state in memory.
#include <cstring>

#include "engine/src/session.h"

using namespace ingot::engine;

namespace {

// Tells where in the state region it lies.
ingot_status check_state(const ingot_session* session, uint32_t state, const void* data, uint64_t bytes,
                         uint64_t* offset_bytes, ingot_error* error) {
  if (!session || !data) return null_argument(error);
  INGOT_TRY(check_index("state", state, session->bundle->metadata.state_count(), error));
  const ingot_tensor_info tensor = session->bundle->metadata.state(state).tensor;
  *offset_bytes = tensor.offset_bytes;
  if (bytes == tensor.bytes) return INGOT_OK;
  return fail(error, INGOT_WRONG_SIZE, "'%.120s' has %ju bytes and was given %ju", tensor.name, tensor.bytes, bytes);
}

ingot_status check_whole(const ingot_session* session, const void* memory, uint64_t memory_bytes, ingot_error* error) {
  if (!session || !memory) return null_argument(error);
  INGOT_TRY(check_not_busy(*session, error));
  const uint64_t needed = session->bundle->requirements.state_bytes;
  if (memory_bytes >= needed) return INGOT_OK;
  return fail(error, INGOT_TOO_LITTLE_MEMORY, "a snapshot takes %ju bytes and was given %ju", needed, memory_bytes);
}

}  // namespace

ingot_status ingot_read_state(const ingot_session* session, uint32_t state, void* out, uint64_t bytes,
                              ingot_error* error) {
  uint64_t offset_bytes = 0;
  INGOT_TRY(check_state(session, state, out, bytes, &offset_bytes, error));
  if (bytes > 0) std::memcpy(out, session->state + offset_bytes, bytes);
  return INGOT_OK;
}

ingot_status ingot_write_state(ingot_session* session, uint32_t state, const void* data, uint64_t bytes,
                               ingot_error* error) {
  uint64_t offset_bytes = 0;
  INGOT_TRY(check_state(session, state, data, bytes, &offset_bytes, error));
  INGOT_TRY(check_not_busy(*session, error));
  if (bytes > 0) std::memcpy(session->state + offset_bytes, data, bytes);
  session->state_known[state] = 1;
  return INGOT_OK;
}

ingot_status ingot_snapshot(const ingot_session* session, void* memory, uint64_t memory_bytes, ingot_error* error) {
  INGOT_TRY(check_whole(session, memory, memory_bytes, error));
  std::memcpy(memory, session->state, session->bundle->requirements.state_bytes);
  return INGOT_OK;
}

ingot_status ingot_rollback(ingot_session* session, const void* memory, uint64_t memory_bytes, ingot_error* error) {
  INGOT_TRY(check_whole(session, memory, memory_bytes, error));
  std::memcpy(session->state, memory, session->bundle->requirements.state_bytes);
  return INGOT_OK;
}
