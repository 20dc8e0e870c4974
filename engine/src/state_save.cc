// Saving the state.
#include <cstring>

#include "engine/src/memory_cursor.h"
#include "engine/src/new_file.h"
#include "engine/src/safetensors.h"
#include "engine/src/session.h"
#include "schema/dtype.h"

namespace ingot::engine {
namespace {

// Collects small pieces of text on their way into a file. Without a file it only counts them, and sums them up.
class Output {
 public:
  explicit Output(int descriptor) : descriptor_(descriptor) {}

  void put(const void* data, uint64_t byte_count) {
    total_bytes_ += byte_count;
    if (descriptor_ < 0) {
      text_checksum_.add(data, byte_count);
      return;
    }
    if (byte_count > sizeof buffer_ - used_bytes_) flush();
    if (byte_count > sizeof buffer_) {
      write_through(static_cast<const uint8_t*>(data), byte_count);
    } else {
      std::memcpy(buffer_ + used_bytes_, data, byte_count);
      used_bytes_ += byte_count;
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

  bool flush() {
    write_through(buffer_, used_bytes_);
    used_bytes_ = 0;
    return ok_;
  }

  // With spaces, up to a multiple of the alignment.
  void pad() {
    while (total_bytes_ % kBlockAlignmentBytes != 0) text(" ");
  }

  uint64_t total_bytes() const { return total_bytes_; }
  uint64_t text_checksum() const { return text_checksum_.value(); }

 private:
  void write_through(const uint8_t* data, uint64_t byte_count) {
    ok_ = ok_ && write_all(descriptor_, data, byte_count);
  }

  int descriptor_;
  uint64_t total_bytes_ = 0;
  TextChecksum text_checksum_;
  uint64_t used_bytes_ = 0;
  bool ok_ = true;
  uint8_t buffer_[4096];
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

// All before the data: the header's length, and the header.
void put_header(const ingot_session& session, const char* note, uint64_t header_bytes, const char* checksum,
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
}

bool write_state(const ingot_session& session, const char* note, int descriptor) {
  const Metadata& m = session.bundle->metadata;
  uint64_t chain = 0;
  for_each_state(m, [&](const ingot_tensor_info& tensor) {
    chain = chain_checksum(chain, session.state + tensor.offset_bytes, tensor.bytes);
  });
  Output measure(-1);
  put_header(session, note, 0, kNoChecksum, &measure);
  char digits[17];
  checksum_text(file_checksum(chain, measure.text_checksum()), digits);
  Output out(descriptor);
  put_header(session, note, measure.total_bytes() - sizeof(uint64_t), digits, &out);
  for_each_state(m,
                 [&](const ingot_tensor_info& tensor) { out.put(session.state + tensor.offset_bytes, tensor.bytes); });
  return out.flush();
}

}  // namespace
}  // namespace ingot::engine

using namespace ingot::engine;

ingot_status ingot_save_state(const ingot_session* session, const char* path, ingot_error* error) {
  return ingot_save_state_noted(session, path, nullptr, error);
}

ingot_status ingot_save_state_noted(const ingot_session* session, const char* path, const char* note,
                                    ingot_error* error) {
  if (!session || !path) return null_argument(error);
  INGOT_TRY(check_not_busy(*session, error));
  INGOT_TRY(check_has_values(*session, error));
  NewFile file;
  INGOT_TRY(begin(path, &file, error));
  return write_state(*session, note, file.descriptor) ? finish(&file, error) : give_up(&file, error);
}
