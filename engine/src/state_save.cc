// Making the bytes of a state file.
#include <cstring>

#include "engine/src/memory_cursor.h"
#include "engine/src/safetensors.h"
#include "engine/src/state_file.h"
#include "schema/dtype.h"

namespace ingot::engine {
namespace {

// Hands on what is put into it. Without a sink it only counts the bytes, and sums them up.
class Output {
 public:
  explicit Output(const StateSink* sink) : sink_(sink) {}

  void put(const void* data, uint64_t byte_count) {
    total_bytes_ += byte_count;
    if (!sink_) {
      text_checksum_.add(data, byte_count);
    } else {
      ok_ = ok_ && sink_->write(sink_->user, data, byte_count);
    }
  }

  void text(const char* text) { put(text, std::strlen(text)); }

  void number(uint64_t value) {
    char digits[20];
    int count = 0;
    do {
      digits[sizeof digits - ++count] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value > 0);
    put(digits + sizeof digits - count, static_cast<uint64_t>(count));
  }

  // A JSON string.
  void quoted(const char* text) {
    put("\"", 1);
    for (; *text; ++text) {
      const auto c = static_cast<uint8_t>(*text);
      if (c < 0x20) {
        const char escaped[] = {'\\', 'u', '0', '0', "01"[c >> 4], "0123456789abcdef"[c & 15]};
        put(escaped, sizeof escaped);
        continue;
      }
      if (c == '"' || c == '\\') put("\\", 1);
      put(text, 1);
    }
    put("\"", 1);
  }

  // With spaces, up to a multiple of the alignment.
  void pad() {
    while (total_bytes_ % kBlockAlignmentBytes != 0) text(" ");
  }

  bool ok() const { return ok_; }
  uint64_t total_bytes() const { return total_bytes_; }
  uint64_t text_checksum() const { return text_checksum_.value(); }

 private:
  const StateSink* sink_;
  uint64_t total_bytes_ = 0;
  TextChecksum text_checksum_;
  bool ok_ = true;
};

// Calls visit(tensor) for every state in the order of the file.
template <typename Visit>
void for_each_state(const Metadata& m, const Visit& visit) {
  for (uint64_t width_bytes = 16; width_bytes > 0; width_bytes /= 2) {
    for (uint32_t i = 0; i < m.state_count(); ++i) {
      const ingot_tensor_info tensor = m.state(i).tensor;
      if (ingot_dtype_bytes(tensor.dtype) == width_bytes) visit(tensor);
    }
  }
}

// All before the data: the header's length, and the header. Returns the bytes of the data.
uint64_t put_header(const ingot_session& session, const char* note, uint64_t header_bytes, const char* checksum,
                    Output* out) {
  const Metadata& m = session.bundle->metadata;
  out->put(&header_bytes, sizeof header_bytes);
  out->text("{");
  out->quoted(kMetadataKey);
  out->text(":{\"format\":\"pt\",");
  if (note) {
    out->quoted(kNoteKey);
    out->text(":");
    out->quoted(note);
    out->text(",");
  }
  out->quoted(kFileChecksumKey);
  out->text(":");
  out->quoted(checksum);
  out->text("}");
  uint64_t offset = 0;
  for_each_state(m, [&](const ingot_tensor_info& tensor) {
    out->text(",");
    out->quoted(tensor.name);
    out->text(":{\"dtype\":");
    out->quoted(ingot_dtype_safetensors(tensor.dtype));
    out->text(",\"shape\":[");
    for (uint32_t j = 0; j < tensor.rank; ++j) {
      if (j > 0) out->text(",");
      out->number(tensor.dims[j]);
    }
    out->text("],\"data_offsets\":[");
    out->number(offset);
    out->text(",");
    out->number(offset += tensor.bytes);
    out->text("]}");
  });
  out->text("}");
  out->pad();
  return offset;
}

// Memory that is filled from front to back.
struct Room {
  uint8_t* at;
  uint64_t left_bytes;
};

bool fill(void* user, const void* bytes, uint64_t byte_count) {
  auto* room = static_cast<Room*>(user);
  if (byte_count > room->left_bytes) return false;
  if (byte_count > 0) std::memcpy(room->at, bytes, byte_count);
  room->at += byte_count;
  room->left_bytes -= byte_count;
  return true;
}

}  // namespace

bool write_state(const ingot_session& session, const char* note, const StateSink& sink) {
  const Metadata& m = session.bundle->metadata;
  uint64_t chain = 0;
  for_each_state(m, [&](const ingot_tensor_info& tensor) {
    chain = chain_checksum(chain, session.state + tensor.offset_bytes, tensor.bytes);
  });
  Output header(nullptr);
  put_header(session, note, 0, kNoChecksum, &header);
  char digits[17];
  checksum_text(file_checksum(chain, header.text_checksum()), digits);
  Output out(&sink);
  put_header(session, note, header.total_bytes() - sizeof(uint64_t), digits, &out);
  for_each_state(m,
                 [&](const ingot_tensor_info& tensor) { out.put(session.state + tensor.offset_bytes, tensor.bytes); });
  return out.ok();
}

ingot_status check_save(const ingot_session* session, const void* place, ingot_error* error) {
  if (!session || !place) return null_argument(error);
  INGOT_TRY(check_not_busy(*session, error));
  return check_has_values(*session, error);
}

}  // namespace ingot::engine

using namespace ingot::engine;

ingot_status ingot_save_state_memory(const ingot_session* session, const char* note, void* memory,
                                     uint64_t memory_bytes, uint64_t* byte_count, ingot_error* error) {
  INGOT_TRY(check_save(session, byte_count, error));
  Output header(nullptr);
  const uint64_t data_bytes = put_header(*session, note, 0, kNoChecksum, &header);
  *byte_count = header.total_bytes() + data_bytes;
  if (!memory) return INGOT_OK;
  if (memory_bytes < *byte_count) {
    return fail(error, INGOT_TOO_LITTLE_MEMORY, "the state as a file takes %ju bytes and was given %ju", *byte_count,
                memory_bytes);
  }
  Room room = {static_cast<uint8_t*>(memory), memory_bytes};
  write_state(*session, note, {fill, &room});
  return INGOT_OK;
}
