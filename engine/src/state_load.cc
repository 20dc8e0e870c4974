// Loading a state file: all of it is read into memory and checked before the first byte of the state changes.
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "engine/src/json_reader.h"
#include "engine/src/safetensors.h"
#include "engine/src/session.h"
#include "schema/dtype.h"

namespace ingot::engine {
namespace {

constexpr uint32_t kRankMax = 64;

// A tensor of the file.
struct FileTensor {
  JsonString name;
  JsonString dtype;
  uint64_t dims[kRankMax];
  uint32_t rank = 0;
  uint64_t begin = 0;  // in the data
  uint64_t end = 0;
};

struct StateFile {
  const char* header = nullptr;
  uint64_t header_bytes = 0;
  const uint8_t* data = nullptr;
  uint64_t data_bytes = 0;
};

ingot_status malformed(const char* what, ingot_error* error) {
  return fail(error, INGOT_BAD_STATE_FILE, "not a well-formed safetensors file: %s", what);
}

ingot_status split(const FileBytes& bytes, StateFile* out, ingot_error* error) {
  uint64_t header_bytes;
  if (bytes.byte_count < sizeof header_bytes) return malformed("it is shorter than 8 bytes", error);
  std::memcpy(&header_bytes, bytes.bytes, sizeof header_bytes);
  if (header_bytes > kHeaderBytesMax || header_bytes > bytes.byte_count - sizeof header_bytes) {
    return malformed("it ends within its header", error);
  }
  out->header = reinterpret_cast<const char*>(bytes.bytes) + sizeof header_bytes;
  out->header_bytes = header_bytes;
  out->data = bytes.bytes + sizeof header_bytes + header_bytes;
  out->data_bytes = bytes.byte_count - sizeof header_bytes - header_bytes;
  return INGOT_OK;
}

bool read_tensor(JsonReader& json, FileTensor* tensor) {
  bool has_dtype = false, has_shape = false, has_offsets = false;
  JsonString key;
  json.open('{');
  while (json.next('}') && json.key(&key)) {
    if (equals(key, "dtype")) {
      has_dtype = json.string(&tensor->dtype);
    } else if (equals(key, "shape")) {
      has_shape = json.open('[');
      while (json.next(']')) {
        if (tensor->rank == kRankMax || !json.number(&tensor->dims[tensor->rank++])) return false;
      }
    } else if (equals(key, "data_offsets")) {
      has_offsets = json.open('[') && json.next(']') && json.number(&tensor->begin) && json.next(']') &&
                    json.number(&tensor->end) && !json.next(']');
    } else {
      json.skip_value();
    }
  }
  return json.ok() && has_dtype && has_shape && has_offsets;
}

// Calls visit(tensor), which returns an ingot_status, for every tensor in the header's order. *checksum is the text of
// the file's checksum, or empty.
template <typename Visit>
ingot_status for_each_tensor(const StateFile& file, JsonString* checksum, ingot_error* error, const Visit& visit) {
  JsonReader json(file.header, file.header_bytes);
  JsonString key;
  json.open('{');
  while (json.next('}') && json.key(&key)) {
    if (equals(key, kMetadataKey)) {
      JsonString value;
      json.open('{');
      while (json.next('}') && json.key(&key) && json.string(&value)) {
        if (equals(key, kChecksumKey)) *checksum = value;
      }
      continue;
    }
    FileTensor tensor;
    tensor.name = key;
    if (!read_tensor(json, &tensor)) return malformed("its header is not as it should be", error);
    if (tensor.begin > tensor.end || tensor.end > file.data_bytes) {
      return malformed("a tensor lies outside of the file: it may be truncated", error);
    }
    INGOT_TRY(visit(tensor));
  }
  return json.at_end() ? INGOT_OK : malformed("its header is not JSON", error);
}

// The state of that name, or INGOT_NONE. Files of our own have the states in order: `after` is where to look first.
uint32_t find_state(const Metadata& m, const JsonString& name, uint32_t after) {
  const uint32_t count = m.state_count();
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t candidate = (after + i) % count;
    if (equals(name, m.state(candidate).tensor.name)) return candidate;
  }
  return INGOT_NONE;
}

// "F32 [10,64]"
void describe(const char* dtype, uint64_t dtype_bytes, const uint64_t* dims, uint32_t rank, char (&out)[64]) {
  int used = std::snprintf(out, sizeof out, "%.*s [", static_cast<int>(dtype_bytes < 12 ? dtype_bytes : 12), dtype);
  for (uint32_t i = 0; i < rank && used < 50; ++i) {
    used +=
        std::snprintf(out + used, sizeof out - static_cast<size_t>(used), i == 0 ? "%" PRIu64 : ",%" PRIu64, dims[i]);
  }
  if (used > 62) used = 62;
  std::snprintf(out + used, sizeof out - static_cast<size_t>(used), "]");
}

ingot_status check_type(const FileTensor& file, const ingot_tensor_info& state, ingot_error* error) {
  const char* dtype = ingot_dtype_safetensors(state.dtype);
  const bool same_dims =
      file.rank == state.rank && (state.rank == 0 || std::memcmp(file.dims, state.dims, state.rank * 8) == 0);
  if (same_dims && equals(file.dtype, dtype)) {
    return file.end - file.begin == state.bytes ? INGOT_OK : malformed("a tensor's bytes do not fit its type", error);
  }
  char in_file[64], in_state[64];
  describe(file.dtype.begin, file.dtype.byte_count, file.dims, file.rank, in_file);
  describe(dtype, std::strlen(dtype), state.dims, state.rank, in_state);
  return fail(error, INGOT_WRONG_TYPE, "'%.110s' is %s in the file and %s in the bundle", state.name, in_file,
              in_state);
}

enum Seen : uint8_t { kNotSeen = 0, kSeen = 1 };

// Checks the whole file against the bundle's states, and marks in session->state_seen those that it has.
ingot_status check_file(ingot_session* session, const StateFile& file, uint32_t flags, ingot_error* error) {
  const Metadata& m = session->bundle->metadata;
  if (m.state_count() > 0) std::memset(session->state_seen, kNotSeen, m.state_count());
  uint64_t chain = 0;
  uint32_t after = 0;
  JsonString checksum;
  INGOT_TRY(for_each_tensor(file, &checksum, error, [&](const FileTensor& tensor) -> ingot_status {
    chain = chain_checksum(chain, file.data + tensor.begin, tensor.end - tensor.begin);
    const uint32_t state = find_state(m, tensor.name, after);
    if (state == INGOT_NONE) {
      if (flags & INGOT_LOAD_IGNORE_UNKNOWN) return INGOT_OK;
      return fail(error, INGOT_UNKNOWN_TENSOR, "the file has '%.*s', which is no state of the bundle",
                  static_cast<int>(tensor.name.byte_count < 120 ? tensor.name.byte_count : 120), tensor.name.begin);
    }
    if (session->state_seen[state] == kSeen) return malformed("a tensor is listed twice", error);
    session->state_seen[state] = kSeen;
    after = state + 1;
    return check_type(tensor, m.state(state).tensor, error);
  }));
  char expected[17];
  checksum_text(chain, expected);
  if (checksum.begin && !equals(checksum, expected)) {
    return fail(error, INGOT_DAMAGED, "the state file's checksum does not match: it was damaged after it was written");
  }
  if (flags & INGOT_LOAD_PARTIAL) return INGOT_OK;
  for (uint32_t i = 0; i < m.state_count(); ++i) {
    if (session->state_seen[i] == kSeen) continue;
    return fail(error, INGOT_MISSING_TENSOR, "the file lacks '%.150s'", m.state(i).tensor.name);
  }
  return INGOT_OK;
}

ingot_status load_bytes(ingot_session* session, const FileBytes& bytes, uint32_t flags, ingot_error* error) {
  StateFile file;
  INGOT_TRY(split(bytes, &file, error));
  INGOT_TRY(check_file(session, file, flags, error));
  const Metadata& m = session->bundle->metadata;
  uint32_t after = 0;
  JsonString checksum;
  return for_each_tensor(file, &checksum, error, [&](const FileTensor& tensor) {
    const uint32_t state = find_state(m, tensor.name, after);
    if (state == INGOT_NONE) return INGOT_OK;
    const uint64_t byte_count = tensor.end - tensor.begin;
    if (byte_count > 0) {
      std::memcpy(session->state + m.state(state).tensor.offset_bytes, file.data + tensor.begin, byte_count);
    }
    session->state_known[state] = 1;
    after = state + 1;
    return INGOT_OK;
  });
}

ingot_status load_file(ingot_session* session, const char* path, uint32_t flags, ingot_error* error) {
  FileBytes file;
  INGOT_TRY(read_file(path, &file, error));
  const ingot_status status = load_bytes(session, file, flags, error);
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

ingot_status ingot_load_state(ingot_session* session, const char* path, uint32_t flags, ingot_error* error) {
  constexpr uint32_t kKnownFlags = INGOT_LOAD_PARTIAL | INGOT_LOAD_IGNORE_UNKNOWN | INGOT_LOAD_OR_PREVIOUS;
  if (!session || !path) return fail(error, INGOT_BAD_ARGUMENT, "an argument is null");
  if (flags & ~kKnownFlags) return fail(error, INGOT_BAD_ARGUMENT, "unknown flags: %#x", flags & ~kKnownFlags);
  INGOT_TRY(check_not_busy(*session, error));
  const ingot_status status = load_file(session, path, flags, error);
  if (!(flags & INGOT_LOAD_OR_PREVIOUS) || !file_is_bad(status)) return status;
  char previous[kPathBytesMax];
  const int length = std::snprintf(previous, sizeof previous, "%s%s", path, kPreviousSuffix);
  if (length >= static_cast<int>(sizeof previous)) return status;
  return load_file(session, previous, flags, nullptr) == INGOT_OK ? INGOT_OK : status;
}
