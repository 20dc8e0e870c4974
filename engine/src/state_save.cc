// Saving the state so that a crash at any instant leaves a whole file.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "engine/src/memory_cursor.h"
#include "engine/src/safetensors.h"
#include "engine/src/session.h"
#include "schema/dtype.h"

namespace ingot::engine {
namespace {

// Collects small pieces of text on their way into a file. Without a file it only counts.
class Output {
 public:
  explicit Output(int descriptor) : descriptor_(descriptor) {}

  void put(const void* data, uint64_t byte_count) {
    total_bytes_ += byte_count;
    if (descriptor_ < 0) return;
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

  uint64_t total_bytes() const { return total_bytes_; }

 private:
  void write_through(const uint8_t* data, uint64_t byte_count) {
    ok_ = ok_ && write_all(descriptor_, data, byte_count);
  }

  int descriptor_;
  uint64_t total_bytes_ = 0;
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

void put_header(const ingot_session& session, uint64_t checksum, Output* out) {
  const Metadata& m = session.bundle->metadata;
  char checksum_digits[17];
  checksum_text(checksum, checksum_digits);
  out->text("{");
  out->quoted(kMetadataKey);
  out->text(":{\"format\":\"pt\",");
  out->quoted(kChecksumKey);
  out->text(":");
  out->quoted(checksum_digits);
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
}

bool write_state(const ingot_session& session, int descriptor) {
  const Metadata& m = session.bundle->metadata;
  uint64_t checksum = 0;
  for_each_state(m, [&](const ingot_tensor_info& tensor) {
    checksum = chain_checksum(checksum, session.state + tensor.offset_bytes, tensor.bytes);
  });
  Output measure(-1);
  put_header(session, checksum, &measure);
  const uint64_t header_bytes = round_up(8 + measure.total_bytes(), kBlockAlignmentBytes) - 8;

  Output out(descriptor);
  out.put(&header_bytes, sizeof header_bytes);
  put_header(session, checksum, &out);
  while (out.total_bytes() < 8 + header_bytes) out.text(" ");
  for_each_state(m,
                 [&](const ingot_tensor_info& tensor) { out.put(session.state + tensor.offset_bytes, tensor.bytes); });
  return out.flush();
}

// Makes a rename in the directory of `path` last through a power failure. Not every file system can: then it is done.
void sync_directory(const char* path) {
  char directory[kPathBytesMax];
  std::snprintf(directory, sizeof directory, "%s", path);
  char* slash = std::strrchr(directory, '/');
  if (!slash) {
    std::strcpy(directory, ".");
  } else {
    slash[slash == directory ? 1 : 0] = 0;
  }
  const int descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

ingot_status system_error(const char* what, const char* path, ingot_error* error) {
  return fail(error, INGOT_FILE_FAILED, "cannot %s %.150s: %s", what, path, std::strerror(errno));
}

// `path` stays whole throughout: first it gets a second name, then the new file takes its name.
ingot_status replace(const char* partial, const char* path, const char* previous, ingot_error* error) {
  struct stat status;
  if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
    return fail(error, INGOT_FILE_FAILED, "cannot save as %.150s: it is not a regular file", path);
  }
  if (unlink(previous) != 0 && errno != ENOENT) return system_error("replace", previous, error);
  if (link(path, previous) != 0 && errno != ENOENT && rename(path, previous) != 0) {  // no hard links here
    return system_error("keep the previous file as", previous, error);
  }
  if (rename(partial, path) != 0) return system_error("rename the new file to", path, error);
  sync_directory(path);
  return INGOT_OK;
}

}  // namespace
}  // namespace ingot::engine

using namespace ingot::engine;

ingot_status ingot_save_state(const ingot_session* session, const char* path, ingot_error* error) {
  if (!session || !path) return fail(error, INGOT_BAD_ARGUMENT, "an argument is null");
  INGOT_TRY(check_not_busy(*session, error));
  INGOT_TRY(check_has_values(*session, error));
  char partial[kPathBytesMax], previous[kPathBytesMax];
  if (std::strlen(path) + sizeof kPreviousSuffix > kPathBytesMax) {
    return fail(error, INGOT_FILE_FAILED, "the path is longer than %u bytes", kPathBytesMax);
  }
  std::snprintf(partial, sizeof partial, "%s%s", path, kPartialSuffix);
  std::snprintf(previous, sizeof previous, "%s%s", path, kPreviousSuffix);
  const int descriptor = open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return system_error("create", partial, error);
  ingot_status status = INGOT_OK;
  if (!write_state(*session, descriptor) || fsync(descriptor) != 0) status = system_error("write", partial, error);
  if (close(descriptor) != 0 && status == INGOT_OK) status = system_error("close", partial, error);
  if (status == INGOT_OK) status = replace(partial, path, previous, error);
  if (status != INGOT_OK) unlink(partial);
  return status;
}
