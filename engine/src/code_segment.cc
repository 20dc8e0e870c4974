#include "engine/src/code_segment.h"

#include <cstring>

namespace ingot::engine {

constexpr uint64_t kScratchBytesMax = uint64_t{1} << 40;  // so that no sum of them overflows

ingot_status read_code_segment(const uint8_t* segment, uint64_t segment_bytes, CodeView* out, ingot_error* error) {
  const auto contradiction = [&] {
    return fail(error, INGOT_BAD_METADATA, "a code segment's description contradicts itself");
  };
  ingot_code_header header;
  if (segment_bytes < sizeof header) return contradiction();
  std::memcpy(&header, segment, sizeof header);
  if (std::memcmp(header.magic, INGOT_CODE_MAGIC, sizeof header.magic) != 0 || header.isa[sizeof header.isa - 1] != 0) {
    return contradiction();
  }
  if (header.kernel_abi_version != INGOT_KERNEL_ABI_VERSION) {
    return fail(error, INGOT_WRONG_VERSION, "code has kernel ABI %u; this engine calls kernel ABI %d",
                header.kernel_abi_version, INGOT_KERNEL_ABI_VERSION);
  }
  const uint64_t kernels_at = sizeof header;
  const uint64_t parameters_at = kernels_at + uint64_t{header.kernel_count} * sizeof(ingot_kernel_record);
  const uint64_t features_at = parameters_at + uint64_t{header.parameter_count} * sizeof(ingot_parameter_record);
  const uint64_t tables_end = features_at + header.features_bytes;
  if (tables_end > header.image_offset || header.image_offset > segment_bytes ||
      header.image_bytes > segment_bytes - header.image_offset) {
    return contradiction();
  }
  CodeView view;
  view.kernels = reinterpret_cast<const ingot_kernel_record*>(segment + kernels_at);
  view.parameters = reinterpret_cast<const ingot_parameter_record*>(segment + parameters_at);
  view.features = reinterpret_cast<const char*>(segment + features_at);
  view.image = segment + header.image_offset;
  view.kernel_count = header.kernel_count;
  view.features_bytes = header.features_bytes;
  view.image_offset = header.image_offset;
  view.image_bytes = header.image_bytes;
  view.tells_places = header.flags & INGOT_CODE_TELLS_PLACES;
  std::memcpy(view.isa, header.isa, sizeof view.isa);
  for (uint32_t i = 0; i < view.kernel_count; ++i) {
    const ingot_kernel_record& kernel = view.kernels[i];
    if (kernel.code_offset >= header.image_bytes || kernel.scratch_bytes > kScratchBytesMax || kernel.reserved != 0 ||
        uint64_t{kernel.first_parameter} + kernel.parameter_count > header.parameter_count) {
      return contradiction();
    }
  }
  *out = view;
  return INGOT_OK;
}

}  // namespace ingot::engine
