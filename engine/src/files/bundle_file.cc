// The part of the C API that reads bundles from files.
#include "engine/src/bundle.h"

using namespace ingot::engine;

ingot_status ingot_probe_file(const char* path, ingot_requirements* out, ingot_error* error) {
  return ingot_probe_file_with(path, nullptr, out, error);
}

ingot_status ingot_probe_file_with(const char* path, const ingot_open_options* options, ingot_requirements* out,
                                   ingot_error* error) {
  if (!path || !out) return null_argument(error);
  FileBytes file;
  const bool is_copied = chosen(options).bundle_check;
  INGOT_TRY(is_copied ? read_file(path, &file, error) : map_file(path, &file, error));
  return probe_bundle(file, chosen(options), out, error);
}

ingot_status ingot_open_file(const char* path, const ingot_open_options* options, void* memory, uint64_t memory_bytes,
                             ingot_bundle** out, ingot_error* error) {
  if (!path || !memory || !out) return null_argument(error);
  FileBytes file;
  const ingot_open_options& o = chosen(options);
  const bool is_copied = o.copy_file || o.code_check || o.bundle_check;  // what a check has seen does not change
  INGOT_TRY(is_copied ? read_file(path, &file, error) : map_file(path, &file, error));
  return open_bundle(file, o, memory, memory_bytes, out, error);
}

ingot_status ingot_read_file(const char* path, ingot_file* out, ingot_error* error) {
  if (!path || !out) return null_argument(error);
  FileBytes file;
  INGOT_TRY(read_file(path, &file, error));
  *out = {file.bytes, file.byte_count};
  return INGOT_OK;
}

void ingot_free_file(ingot_file* file) {
  if (!file) return;
  FileBytes copy;
  copy.bytes = static_cast<const uint8_t*>(file->bytes);
  copy.byte_count = file->byte_count;
  copy.is_copy = true;
  free_bytes(&copy);
  *file = {};
}
