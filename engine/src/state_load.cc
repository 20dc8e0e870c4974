// Loading a state file's bytes: all of them are checked before the first byte of the state changes.
#include <cstring>

#include "engine/src/format_text.h"
#include "engine/src/json_reader.h"
#include "engine/src/safetensors.h"
#include "engine/src/state_file.h"
#include "schema/bundle_header.h"
#include "schema/dtype.h"

namespace ingot::engine {
namespace {

// A tensor of the file.
struct FileTensor {
  JsonString name;
  JsonString dtype;
  uint64_t dims[INGOT_RANK_MAX];
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

// What the file says of itself; texts that it lacks are empty.
struct FileNotes {
  JsonString note;
  JsonString file_checksum;
  JsonString data_checksum;
};

ingot_status malformed(const char* what, ingot_error* error) {
  return fail(error, INGOT_BAD_STATE_FILE, "not a well-formed safetensors file: %s", what);
}

ingot_status split(const uint8_t* bytes, uint64_t byte_count, StateFile* out, ingot_error* error) {
  uint64_t header_bytes;
  if (byte_count < sizeof header_bytes) return malformed("it is shorter than 8 bytes", error);
  std::memcpy(&header_bytes, bytes, sizeof header_bytes);
  if (header_bytes > kHeaderBytesMax || header_bytes > byte_count - sizeof header_bytes) {
    return malformed("it ends within its header", error);
  }
  out->header = reinterpret_cast<const char*>(bytes) + sizeof header_bytes;
  out->header_bytes = header_bytes;
  out->data = bytes + sizeof header_bytes + header_bytes;
  out->data_bytes = byte_count - sizeof header_bytes - header_bytes;
  return INGOT_OK;
}

bool read_shape(JsonReader& json, FileTensor* tensor) {
  json.open('[');
  while (json.next(']')) {
    if (tensor->rank == INGOT_RANK_MAX || !json.number(&tensor->dims[tensor->rank++])) return false;
  }
  return json.ok();
}

// Each of the three fields, once.
bool read_tensor(JsonReader& json, FileTensor* tensor) {
  enum : uint32_t { kDtype = 1, kShape = 2, kOffsets = 4 };
  uint32_t fields = 0;
  JsonString key;
  json.open('{');
  while (json.next('}') && json.key(&key)) {
    uint32_t field = 0;
    bool is_read;
    if (equals(key, "dtype")) {
      field = kDtype;
      is_read = json.string(&tensor->dtype);
    } else if (equals(key, "shape")) {
      field = kShape;
      is_read = read_shape(json, tensor);
    } else if (equals(key, "data_offsets")) {
      field = kOffsets;
      is_read = json.open('[') && json.next(']') && json.number(&tensor->begin) && json.next(']') &&
                json.number(&tensor->end) && !json.next(']');
    } else {
      is_read = json.skip_value();
    }
    if (!is_read || (fields & field)) return false;
    fields |= field;
  }
  return json.ok() && fields == (kDtype | kShape | kOffsets);
}

bool read_notes(JsonReader& json, FileNotes* notes) {
  JsonString key, value;
  json.open('{');
  while (json.next('}') && json.key(&key) && json.string(&value)) {
    JsonString* place = equals(key, kNoteKey)           ? &notes->note
                        : equals(key, kFileChecksumKey) ? &notes->file_checksum
                        : equals(key, kDataChecksumKey) ? &notes->data_checksum
                                                        : nullptr;
    if (place && place->begin) return false;
    if (place) *place = value;
  }
  return json.ok();
}

// Whether tensors lie side by side, from the first byte of the data to the last: then, and only then, are the ends and
// 0 the same numbers as the begins and the end of all, as these steps lead from 0 to there. Sums of checksums tell.
class Tiling {
 public:
  explicit Tiling(uint64_t data_bytes) : data_bytes_(data_bytes), left_bytes_(data_bytes) {}

  // False if there is more than fits side by side.
  bool add(uint64_t begin, uint64_t end) {
    if (end < begin || end > data_bytes_ || end - begin > left_bytes_) return false;
    left_bytes_ -= end - begin;
    sum_ += of(end) - of(begin);
    return true;
  }
  bool is_whole() const { return sum_ == of(data_bytes_) - of(0); }

 private:
  static uint64_t of(uint64_t place) { return checksum(&place, sizeof place); }

  uint64_t data_bytes_;
  uint64_t left_bytes_;
  uint64_t sum_ = 0;
};

// What is called for each tensor.
struct Visitor {
  ingot_status (*call)(const void* visit, const FileTensor& tensor);
  const void* visit;
};

ingot_status visit_tensors(const StateFile& file, FileNotes* notes, ingot_error* error, const Visitor& visitor) {
  constexpr const char* kNoHeader = "its header is not as it should be";
  JsonReader json(file.header, file.header_bytes);
  Tiling tiling(file.data_bytes);
  bool has_notes = false;
  JsonString key;
  json.open('{');
  while (json.next('}') && json.key(&key)) {
    if (equals(key, kMetadataKey)) {
      if (has_notes || !read_notes(json, notes)) return malformed(kNoHeader, error);
      has_notes = true;
      continue;
    }
    FileTensor tensor;
    tensor.name = key;
    if (!read_tensor(json, &tensor)) return malformed(kNoHeader, error);
    if (!tiling.add(tensor.begin, tensor.end)) {
      return malformed("a tensor lies outside the file or over others: it may be truncated", error);
    }
    INGOT_TRY(visitor.call(visitor.visit, tensor));
  }
  if (!json.at_end()) return malformed("its header is not JSON", error);
  return tiling.is_whole() ? INGOT_OK : malformed("its tensors are not all of its data, side by side", error);
}

// Calls visit(tensor), which returns an ingot_status, for every tensor in the header's order.
template <typename Visit>
ingot_status for_each_tensor(const StateFile& file, FileNotes* notes, ingot_error* error, const Visit& visit) {
  const auto call = [](const void* it, const FileTensor& tensor) -> ingot_status {
    return (*static_cast<const Visit*>(it))(tensor);
  };
  return visit_tensors(file, notes, error, {call, &visit});
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

// "F32 [10,64]"; the first dimensions of many.
void describe(const char* dtype, uint64_t dtype_bytes, const uint64_t* dims, uint32_t rank, char (&out)[64]) {
  Text text(out, sizeof out - 1);  // of the bracket at the end
  text.put_text(dtype, dtype_bytes < 12 ? dtype_bytes : 12);
  text.put_text(" [");
  for (uint32_t i = 0; i < rank && text.left_bytes() > 12; ++i) {
    if (i > 0) text.put(',');
    text.put_number(dims[i]);
  }
  const size_t used = std::strlen(out);
  out[used] = ']';
  out[used + 1] = 0;
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

ingot_status check_frozen(const StateFile& file, const FileTensor& tensor, const FrozenView& frozen,
                          ingot_error* error) {
  INGOT_TRY(check_type(tensor, frozen.tensor, error));
  if (checksum(file.data + tensor.begin, tensor.end - tensor.begin) == frozen.checksum) return INGOT_OK;
  constexpr const char* kText =
      "'%.110s' has other values in the file; the bundle has it as a constant: compile with --no-freeze to load it";
  return fail(error, INGOT_FROZEN_TENSOR, kText, frozen.tensor.name);
}

// A tensor that is no state: a constant of the bundle's, with its values, or one that may be unknown.
ingot_status check_stateless(const Metadata& m, const StateFile& file, const FileTensor& tensor, uint32_t flags,
                             ingot_error* error) {
  for (uint32_t i = 0; i < m.frozen_count(); ++i) {
    const FrozenView frozen = m.frozen(i);
    if (equals(tensor.name, frozen.tensor.name)) return check_frozen(file, tensor, frozen, error);
  }
  if (flags & INGOT_LOAD_IGNORE_UNKNOWN) return INGOT_OK;
  return fail(error, INGOT_UNKNOWN_TENSOR, "the file has '%.*s', which is no state of the bundle",
              static_cast<int>(tensor.name.byte_count < 120 ? tensor.name.byte_count : 120), tensor.name.begin);
}

enum Seen : uint8_t { kNotSeen = 0, kSeen = 1 };

// Of the header's text, with zeros where the file's checksum stands.
uint64_t text_checksum(const StateFile& file, const JsonString& digits) {
  const char* end = digits.begin + digits.byte_count;
  const uint64_t no_length = 0;
  TextChecksum text;
  text.add(&no_length, sizeof no_length);
  text.add(file.header, static_cast<uint64_t>(digits.begin - file.header));
  text.add(kNoChecksum, sizeof kNoChecksum - 1);
  text.add(end, static_cast<uint64_t>(file.header + file.header_bytes - end));
  return text.value();
}

// `chain` is over the tensors.
ingot_status check_checksum(const StateFile& file, const FileNotes& notes, uint64_t chain, ingot_error* error) {
  const bool is_of_file = notes.file_checksum.begin;
  const JsonString& given = is_of_file ? notes.file_checksum : notes.data_checksum;
  if (!given.begin) return INGOT_OK;  // another writer's
  char expected[17];
  checksum_text(is_of_file ? file_checksum(chain, text_checksum(file, given)) : chain, expected);
  if (equals(given, expected)) return INGOT_OK;
  return fail(error, INGOT_DAMAGED, "the state file's checksum does not match: it was damaged");
}

// Checks the whole file against the bundle's states, and marks in session->state_seen those that it has.
ingot_status check_file(ingot_session* session, const StateFile& file, uint32_t flags, FileNotes* notes,
                        ingot_error* error) {
  const Metadata& m = session->bundle->metadata;
  if (m.state_count() > 0) std::memset(session->state_seen, kNotSeen, m.state_count());
  uint64_t chain = 0;
  uint32_t after = 0;
  INGOT_TRY(for_each_tensor(file, notes, error, [&](const FileTensor& tensor) -> ingot_status {
    chain = chain_checksum(chain, file.data + tensor.begin, tensor.end - tensor.begin);
    const uint32_t state = find_state(m, tensor.name, after);
    if (state == INGOT_NONE) return check_stateless(m, file, tensor, flags, error);
    if (session->state_seen[state] == kSeen) return malformed("a tensor is listed twice", error);
    session->state_seen[state] = kSeen;
    after = state + 1;
    return check_type(tensor, m.state(state).tensor, error);
  }));
  INGOT_TRY(check_checksum(file, *notes, chain, error));
  if (flags & INGOT_LOAD_PARTIAL) return INGOT_OK;
  for (uint32_t i = 0; i < m.state_count(); ++i) {
    if (session->state_seen[i] == kSeen) continue;
    return fail(error, INGOT_MISSING_TENSOR, "the file lacks '%.150s'", m.state(i).tensor.name);
  }
  return INGOT_OK;
}

}  // namespace

ingot_status load_state(ingot_session* session, const uint8_t* bytes, uint64_t byte_count, const LoadOptions& options,
                        ingot_error* error) {
  StateFile file;
  FileNotes notes;
  INGOT_TRY(split(bytes, byte_count, &file, error));
  INGOT_TRY(check_file(session, file, options.flags, &notes, error));
  if (options.note) copy_text(notes.note, options.note, options.note_bytes);
  const Metadata& m = session->bundle->metadata;
  uint32_t after = 0;
  FileNotes again;
  return for_each_tensor(file, &again, error, [&](const FileTensor& tensor) {
    const uint32_t state = find_state(m, tensor.name, after);
    if (state == INGOT_NONE) return INGOT_OK;
    const uint64_t tensor_bytes = tensor.end - tensor.begin;
    if (tensor_bytes > 0) {
      std::memcpy(session->state + m.state(state).tensor.offset_bytes, file.data + tensor.begin, tensor_bytes);
    }
    session->state_known[state] = 1;
    after = state + 1;
    return INGOT_OK;
  });
}

ingot_status check_load(const ingot_session* session, const void* source, const LoadOptions& options,
                        uint32_t known_flags, ingot_error* error) {
  if (!session || !source || (options.note && options.note_bytes == 0)) return null_argument(error);
  if (const uint32_t unknown = options.flags & ~known_flags; unknown != 0) {
    return fail(error, INGOT_BAD_ARGUMENT, "unknown flags: %u", unknown);
  }
  INGOT_TRY(check_not_busy(*session, error));
  if (error) error->status = INGOT_OK;
  return INGOT_OK;
}

}  // namespace ingot::engine

using namespace ingot::engine;

ingot_status ingot_load_state_memory(ingot_session* session, const void* bytes, uint64_t byte_count, uint32_t flags,
                                     char* note, uint64_t note_bytes, ingot_error* error) {
  const LoadOptions options = {flags, note, note_bytes};
  INGOT_TRY(check_load(session, bytes, options, INGOT_LOAD_PARTIAL | INGOT_LOAD_IGNORE_UNKNOWN, error));
  return load_state(session, static_cast<const uint8_t*>(bytes), byte_count, options, error);
}
