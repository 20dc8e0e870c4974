#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "aot/base/divide.h"
#include "aot/base/file.h"
#include "aot/bundle/bundle.h"
#include "aot/bundle/check_spec.h"
#include "aot/bundle/metadata.h"
#include "schema/bundle_header.h"
#include "schema/checksum.h"
#include "schema/kernel_abi.h"

namespace ingot::bundle {
namespace {

using Bytes = std::vector<std::byte>;

// Fills bytes of a known length from front to back.
class Writer {
 public:
  explicit Writer(uint64_t byte_count) : bytes_(byte_count) {}

  void copy(const void* data, uint64_t byte_count) {
    if (byte_count > 0) std::memcpy(bytes_.data() + at_, data, byte_count);
    at_ += byte_count;
  }
  template <typename T>
  void put(const T& value) {
    copy(&value, sizeof value);
  }
  void skip_to(uint64_t offset) { at_ = offset; }
  Bytes take() { return std::move(bytes_); }

 private:
  Bytes bytes_;
  uint64_t at_ = 0;
};

uint32_t access(const Parameter& parameter) {
  uint32_t bits = 0;
  if (parameter.reads) bits |= INGOT_ACCESS_READ;
  if (parameter.writes) bits |= INGOT_ACCESS_WRITE;
  return bits;
}

// The code segment: what the code is and needs, then the image, at a multiple of page_bytes.
Bytes code_segment(const Target& target) {
  std::string features;
  for (const std::string& feature : target.cpu_features) features += (features.empty() ? "" : ",") + feature;
  uint32_t parameter_count = 0;
  for (const Kernel& kernel : target.kernels) parameter_count += static_cast<uint32_t>(kernel.parameters.size());
  const uint64_t table_bytes = sizeof(ingot_code_header) + target.kernels.size() * sizeof(ingot_kernel_record) +
                               parameter_count * sizeof(ingot_parameter_record) + features.size();

  ingot_code_header header{};
  std::memcpy(header.magic, INGOT_CODE_MAGIC, sizeof header.magic);
  header.kernel_abi_version = INGOT_KERNEL_ABI_VERSION;
  header.kernel_count = static_cast<uint32_t>(target.kernels.size());
  header.parameter_count = parameter_count;
  header.features_bytes = static_cast<uint32_t>(features.size());
  header.image_offset = round_up<uint64_t>(table_bytes, target.page_bytes);
  header.image_bytes = target.code.size();
  header.flags = INGOT_CODE_TELLS_PLACES;
  std::memcpy(header.isa, target.isa.data(), target.isa.size());

  Writer out(header.image_offset + header.image_bytes);
  out.put(header);
  uint32_t first_parameter = 0;
  for (const Kernel& kernel : target.kernels) {
    const auto count = static_cast<uint32_t>(kernel.parameters.size());
    out.put(ingot_kernel_record{kernel.code_offset, kernel.task_count, first_parameter, count, kernel.scratch_bytes,
                                kernel.stack_bytes, 0});
    first_parameter += count;
  }
  for (const Kernel& kernel : target.kernels) {
    for (const Parameter& p : kernel.parameters) {
      out.put(ingot_parameter_record{p.reach_bytes, access(p), p.replaced_by ? *p.replaced_by + 1 : 0});
    }
  }
  out.copy(features.data(), features.size());
  out.skip_to(header.image_offset);
  out.copy(target.code.data(), target.code.size());
  return out.take();
}

Bytes deflated(const Bytes& bytes) {
  uLongf count = compressBound(bytes.size());
  Bytes out(count);
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &count, reinterpret_cast<const Bytef*>(bytes.data()),
                bytes.size(), Z_BEST_COMPRESSION) != Z_OK) {
    throw std::bad_alloc();
  }
  out.resize(count);
  return out;
}

// Collects segments; equal ones of one kind are stored once.
class Segments {
 public:
  uint32_t add(uint32_t kind, const Bytes& contents, uint32_t page_bytes, bool compress = false) {
    Bytes stored = compress ? deflated(contents) : contents;
    for (uint32_t i = 0; i < stored_.size(); ++i) {
      if (table.records[i].kind != kind || stored_[i] != stored) continue;
      page_bytes_[i] = std::max(page_bytes_[i], page_bytes);
      return i;
    }
    ingot_segment_record record{};
    record.stored_bytes = stored.size();
    record.bytes = contents.size();
    record.checksum = ingot_checksum(stored.data(), stored.size());
    record.kind = kind;
    record.compression = compress ? INGOT_COMPRESSION_ZLIB : INGOT_COMPRESSION_NONE;
    table.records.push_back(record);
    stored_.push_back(std::move(stored));
    page_bytes_.push_back(page_bytes);
    return static_cast<uint32_t>(stored_.size() - 1);
  }

  // Gives every segment its place behind `offset`; returns where the file ends.
  uint64_t place(uint64_t offset) {
    for (size_t i = 0; i < stored_.size(); ++i) {
      ingot_segment_record& record = table.records[i];
      record.offset = round_up<uint64_t>(offset, page_bytes_[i]);
      offset = record.offset + record.stored_bytes;
    }
    return offset;
  }

  void write(Writer& out) const {
    for (size_t i = 0; i < stored_.size(); ++i) {
      out.skip_to(table.records[i].offset);
      out.copy(stored_[i].data(), stored_[i].size());
    }
  }

  SegmentTable table;

 private:
  std::vector<Bytes> stored_;
  std::vector<uint32_t> page_bytes_;
};

}  // namespace

uint32_t largest_page_bytes(const BundleSpec& spec) {
  return std::ranges::max_element(spec.targets, {}, &Target::page_bytes)->page_bytes;
}

std::vector<std::byte> write_bundle(const BundleSpec& spec) {
  check_spec(spec);
  Segments segments;
  for (const Target& target : spec.targets) {
    segments.table.code.push_back(segments.add(INGOT_SEGMENT_CODE, code_segment(target), target.page_bytes));
    segments.table.rodata.push_back(
        target.rodata.empty() ? std::nullopt
                              : std::optional(segments.add(INGOT_SEGMENT_RODATA, target.rodata, target.page_bytes)));
  }
  if (!spec.initial_state.empty()) {
    segments.table.initial_state = segments.add(INGOT_SEGMENT_INITIAL_STATE, spec.initial_state,
                                                largest_page_bytes(spec), spec.compress_initial_state);
  }

  // The metadata's length does not depend on where segments lie: measure it, place them, write it again.
  const uint64_t metadata_bytes = write_metadata(spec, segments.table).size();
  const uint64_t file_bytes = segments.place(sizeof(ingot_bundle_header) + metadata_bytes);
  const Bytes metadata = write_metadata(spec, segments.table);

  ingot_bundle_header header{};
  std::memcpy(header.magic, INGOT_BUNDLE_MAGIC, sizeof header.magic);
  header.header_bytes = sizeof header;
  header.format_major = INGOT_FORMAT_MAJOR;
  header.format_minor = INGOT_FORMAT_MINOR;
  header.kernel_abi_version = INGOT_KERNEL_ABI_VERSION;
  header.metadata_offset = sizeof header;
  header.metadata_bytes = metadata.size();
  header.metadata_checksum = ingot_checksum(metadata.data(), metadata.size());
  header.file_bytes = file_bytes;
  header.header_checksum = ingot_checksum(&header, offsetof(ingot_bundle_header, header_checksum));

  Writer out(file_bytes);
  out.put(header);
  out.copy(metadata.data(), metadata.size());
  segments.write(out);
  return out.take();
}

void write_bundle_file(const BundleSpec& spec, const std::filesystem::path& path) {
  const std::vector<std::byte> bytes = write_bundle(spec);
  WholeFile file(path.string());
  file.write(bytes);
  file.commit();
}

}  // namespace ingot::bundle
