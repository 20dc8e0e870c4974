#include "engine/src/bundle_metadata.h"

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "engine/src/checksum.h"
#include "engine/src/memory_cursor.h"
#include "schema/bundle_generated.h"
#include "schema/bundle_header.h"
#include "schema/dtype.h"
#include "schema/text.h"

namespace ingot::engine {
namespace {

// Records are read where they lie: the flatbuffer's structs and the C structs are one layout.
static_assert(sizeof(schema::Buffer) == sizeof(ingot_buffer_record) && sizeof(ingot_buffer_record) == 32);
static_assert(sizeof(schema::Step) == sizeof(ingot_step_record) && sizeof(ingot_step_record) == 16);
static_assert(sizeof(schema::Operand) == sizeof(ingot_operand) && sizeof(ingot_operand) == 16);
static_assert(sizeof(schema::Segment) == sizeof(ingot_segment_record) && sizeof(ingot_segment_record) == 40);
static_assert(sizeof(ingot_bundle_header) == 64 && sizeof(ingot_code_header) == 64);

constexpr uint32_t kVerifierDepthMax = 16;
constexpr uint32_t kVerifierTablesMax = 1 << 22;
constexpr uint64_t kAlignmentBytesMax = 1 << 16;

const schema::Bundle& bundle_of(const void* root) { return *static_cast<const schema::Bundle*>(root); }

template <typename T>
uint32_t size(const flatbuffers::Vector<T>* vector) {
  return vector ? vector->size() : 0;
}

template <typename T, typename Record>
void view_records(const flatbuffers::Vector<T>* vector, const Record** records, uint32_t* count) {
  if (!vector) return;
  *records = reinterpret_cast<const Record*>(vector->Data());
  *count = vector->size();
}

const char* text(const flatbuffers::String* string) { return string ? string->c_str() : ""; }

// Flatbuffers' verifier does not look at the alignment of the elements of a vector.
template <typename T>
bool elements_aligned(const flatbuffers::Vector<T>* vector) {
  return size(vector) == 0 || is_aligned(vector->Data(), alignof(std::remove_pointer_t<T>));
}

// False if the product of the dimensions does not fit, or the type is unknown.
bool tensor_bytes(const schema::Tensor& tensor, uint64_t* out) {
  uint64_t bytes = ingot_dtype_bytes(tensor.dtype());
  if (bytes == 0) return false;
  bool has_zero = false;
  for (uint32_t i = 0; i < size(tensor.dims()); ++i) {
    const uint64_t dim = tensor.dims()->Get(i);
    if (dim == 0) has_zero = true;
    if (dim != 0 && __builtin_mul_overflow(bytes, dim, &bytes)) return false;
  }
  *out = has_zero ? 0 : bytes;
  return bytes <= INT64_MAX;
}

ingot_tensor_info tensor_info(const schema::Tensor& tensor) {
  ingot_tensor_info info = {};
  info.name = tensor.name()->c_str();
  info.dtype = static_cast<ingot_dtype>(tensor.dtype());
  info.rank = size(tensor.dims());
  info.dims = info.rank ? tensor.dims()->data() : nullptr;
  info.role = "";
  tensor_bytes(tensor, &info.bytes);
  return info;
}

// Missing texts are "".
bool text_ok(const flatbuffers::String* text) { return !text || ingot_is_plain_text(text->c_str(), text->size()); }

bool name_ok(const flatbuffers::String* name) { return name && name->size() > 0 && text_ok(name); }

bool tensor_ok(const schema::Tensor& tensor, uint64_t* bytes) {
  return name_ok(tensor.name()) && tensor.layout() == 0 && size(tensor.dims()) <= INGOT_RANK_MAX &&
         elements_aligned(tensor.dims()) && tensor_bytes(tensor, bytes);
}

// A default value is all of the tensor, where a kernel may read it.
bool default_ok(const schema::Tensor& tensor, uint64_t bytes) {
  const flatbuffers::Vector<uint8_t>* value = tensor.default_value();
  return !value || (value->size() == bytes && is_aligned(value->Data(), INGOT_BUFFER_ALIGNMENT_BYTES));
}

const ingot_segment_record* segment(const schema::Bundle& bundle, uint32_t index) {
  if (index == INGOT_NONE) return nullptr;
  return reinterpret_cast<const ingot_segment_record*>(bundle.segments()->Get(index));
}

bool segment_is(const schema::Bundle& bundle, uint32_t index, uint32_t kind) {
  return index < size(bundle.segments()) && bundle.segments()->Get(index)->kind() == kind;
}

bool segments_ok(const schema::Bundle& bundle, uint64_t file_bytes) {
  if (!elements_aligned(bundle.segments())) return false;
  for (uint32_t i = 0; i < size(bundle.segments()); ++i) {
    const schema::Segment& segment = *bundle.segments()->Get(i);
    if (segment.offset() > file_bytes || segment.stored_bytes() > file_bytes - segment.offset()) return false;
    if (segment.offset() % kBlockAlignmentBytes != 0) return false;
    const bool is_plain = segment.compression() == INGOT_COMPRESSION_NONE && segment.bytes() == segment.stored_bytes();
    const bool is_inflated =
        segment.compression() == INGOT_COMPRESSION_ZLIB && segment.kind() == INGOT_SEGMENT_INITIAL_STATE;
    const bool is_used = segment.kind() <= INGOT_SEGMENT_INITIAL_STATE;  // others are passed by
    if (is_used && !is_plain && !is_inflated) return false;
  }
  return true;
}

bool entries_ok(const schema::Bundle& bundle) {
  for (uint32_t i = 0; i < size(bundle.entries()); ++i) {
    const schema::Entry& entry = *bundle.entries()->Get(i);
    if (!name_ok(entry.name()) || size(entry.inputs()) > INGOT_PORTS_MAX || size(entry.outputs()) > INGOT_PORTS_MAX)
      return false;
    uint64_t bytes = 0;
    for (uint32_t j = 0; j < size(entry.inputs()); ++j) {
      const schema::Tensor& input = *entry.inputs()->Get(j);
      if (!tensor_ok(input, &bytes) || !default_ok(input, bytes)) return false;
    }
    for (uint32_t j = 0; j < size(entry.outputs()); ++j) {
      if (!tensor_ok(*entry.outputs()->Get(j), &bytes)) return false;
    }
  }
  return true;
}

bool states_ok(const schema::Bundle& bundle) {
  uint64_t end = 0;
  uint64_t initial_bytes = 0;
  for (uint32_t i = 0; i < size(bundle.states()); ++i) {
    const schema::State& state = *bundle.states()->Get(i);
    uint64_t bytes = 0;
    if (!tensor_ok(*state.tensor(), &bytes) || !text_ok(state.role())) return false;
    if (std::strcmp(state.tensor()->name()->c_str(), INGOT_RESERVED_STATE) == 0) return false;
    if (state.offset() < end || state.offset() % INGOT_BUFFER_ALIGNMENT_BYTES != 0) return false;
    if (__builtin_add_overflow(state.offset(), bytes, &end) || end > bundle.state_bytes()) return false;
    if (state.start() > INGOT_START_UNSET) return false;
    if (state.start() == INGOT_START_SEGMENT) initial_bytes += bytes;
  }
  const uint32_t segment = bundle.initial_state();
  if (segment == INGOT_NONE) return initial_bytes == 0;
  return segment_is(bundle, segment, INGOT_SEGMENT_INITIAL_STATE) &&
         bundle.segments()->Get(segment)->bytes() == initial_bytes;
}

bool frozen_ok(const schema::Bundle& bundle) {
  for (uint32_t i = 0; i < size(bundle.frozen()); ++i) {
    uint64_t bytes = 0;
    if (!tensor_ok(*bundle.frozen()->Get(i)->tensor(), &bytes)) return false;
  }
  return true;
}

bool plan_ok(const schema::Plan& plan) {
  const uint32_t alignment = plan.alignment_bytes();
  return elements_aligned(plan.buffers()) && elements_aligned(plan.steps()) && elements_aligned(plan.operands()) &&
         size(plan.operands()) == size(plan.operand_buffers()) && alignment >= INGOT_BUFFER_ALIGNMENT_BYTES &&
         alignment <= kAlignmentBytesMax && (alignment & (alignment - 1)) == 0;
}

bool targets_ok(const schema::Bundle& bundle) {
  for (uint32_t i = 0; i < size(bundle.targets()); ++i) {
    const schema::Target& target = *bundle.targets()->Get(i);
    if (!name_ok(target.name()) || !segment_is(bundle, target.code(), INGOT_SEGMENT_CODE)) return false;
    if (target.rodata() != INGOT_NONE && !segment_is(bundle, target.rodata(), INGOT_SEGMENT_RODATA)) return false;
    if (size(target.plans()) != size(bundle.entries())) return false;
    for (uint32_t j = 0; j < size(target.kernel_names()); ++j) {
      if (!text_ok(target.kernel_names()->Get(j))) return false;
    }
    for (uint32_t j = 0; j < size(target.plans()); ++j) {
      if (target.plans()->Get(j)->entry() != j || !plan_ok(*target.plans()->Get(j))) return false;
    }
  }
  return true;
}

ingot_status check_header(const ingot_bundle_header& header, uint64_t file_bytes, ingot_error* error) {
  if (header.header_checksum != checksum(&header, offsetof(ingot_bundle_header, header_checksum))) {
    return fail(error, INGOT_DAMAGED, "the header's checksum does not match");
  }
  if (header.format_major != INGOT_FORMAT_MAJOR || header.kernel_abi_version != INGOT_KERNEL_ABI_VERSION) {
    return fail(error, INGOT_WRONG_VERSION,
                "bundle has format %u.%u and kernel ABI %u; this engine reads format %d and kernel ABI %d: "
                "compile the bundle anew or update the engine",
                header.format_major, header.format_minor, header.kernel_abi_version, INGOT_FORMAT_MAJOR,
                INGOT_KERNEL_ABI_VERSION);
  }
  if (header.file_bytes > file_bytes) {
    return fail(error, INGOT_TRUNCATED, "the bundle has %ju bytes of %ju", file_bytes, header.file_bytes);
  }
  if (header.header_bytes != sizeof header || header.reserved != 0 || header.metadata_offset < sizeof header ||
      header.metadata_offset % kBlockAlignmentBytes != 0 || header.metadata_offset > header.file_bytes ||
      header.metadata_bytes > header.file_bytes - header.metadata_offset || header.metadata_bytes > INT32_MAX) {
    return fail(error, INGOT_BAD_METADATA, "the header contradicts itself");
  }
  return INGOT_OK;
}

}  // namespace

ingot_status Metadata::read(const uint8_t* file, uint64_t file_bytes, ingot_error* error) {
  ingot_bundle_header header;
  if (file_bytes < sizeof header.magic || std::memcmp(file, INGOT_BUNDLE_MAGIC, sizeof header.magic) != 0) {
    return fail(error, INGOT_NOT_A_BUNDLE, "the first bytes are not those of an ingot bundle");
  }
  if (file_bytes < sizeof header) return fail(error, INGOT_TRUNCATED, "the bundle ends within its header");
  std::memcpy(&header, file, sizeof header);
  INGOT_TRY(check_header(header, file_bytes, error));

  const uint8_t* metadata = file + header.metadata_offset;
  if (checksum(metadata, header.metadata_bytes) != header.metadata_checksum) {
    return fail(error, INGOT_DAMAGED, "the metadata's checksum does not match");
  }
  flatbuffers::Verifier verifier(metadata, header.metadata_bytes, kVerifierDepthMax, kVerifierTablesMax);
  if (header.metadata_bytes < 8 || !schema::VerifyBundleBuffer(verifier)) {
    return fail(error, INGOT_BAD_METADATA, "the metadata is not a well-formed flatbuffer");
  }
  const schema::Bundle& bundle = *schema::GetBundle(metadata);
  for (uint32_t i = 0; i < size(bundle.required_features()); ++i) {
    const char* feature = bundle.required_features()->Get(i)->c_str();
    if (std::strcmp(feature, INGOT_FEATURE_CONTROL_FLOW) == 0) continue;
    return fail(error, INGOT_UNKNOWN_FEATURE,
                "the bundle requires '%.100s', which this engine does not have: update it", feature);
  }
  const char* wrong = !text_ok(bundle.name()) || !text_ok(bundle.producer()) ? "names"
                      : !segments_ok(bundle, header.file_bytes)              ? "segments"
                      : !entries_ok(bundle)                                  ? "entry points"
                      : !states_ok(bundle)                                   ? "states"
                      : !frozen_ok(bundle)                                   ? "frozen state"
                      : !targets_ok(bundle)                                  ? "targets"
                                                                             : nullptr;
  if (wrong) return fail(error, INGOT_BAD_METADATA, "the table of %s contradicts itself", wrong);
  root_ = &bundle;
  return INGOT_OK;
}

const char* Metadata::name() const { return text(bundle_of(root_).name()); }
const char* Metadata::producer() const { return text(bundle_of(root_).producer()); }
uint64_t Metadata::state_bytes() const { return bundle_of(root_).state_bytes(); }
uint32_t Metadata::entry_count() const { return size(bundle_of(root_).entries()); }
uint32_t Metadata::state_count() const { return size(bundle_of(root_).states()); }
uint32_t Metadata::target_count() const { return size(bundle_of(root_).targets()); }
uint32_t Metadata::frozen_count() const { return size(bundle_of(root_).frozen()); }

EntryView Metadata::entry(uint32_t entry) const {
  const schema::Entry& e = *bundle_of(root_).entries()->Get(entry);
  return {e.name()->c_str(), size(e.inputs()), size(e.outputs())};
}

ingot_tensor_info Metadata::port(uint32_t entry, uint32_t port) const {
  const schema::Entry& e = *bundle_of(root_).entries()->Get(entry);
  const uint32_t input_count = size(e.inputs());
  return tensor_info(port < input_count ? *e.inputs()->Get(port) : *e.outputs()->Get(port - input_count));
}

const uint8_t* Metadata::input_default(uint32_t entry, uint32_t input) const {
  const auto* value = bundle_of(root_).entries()->Get(entry)->inputs()->Get(input)->default_value();
  return value ? value->Data() : nullptr;
}

StateView Metadata::state(uint32_t index) const {
  const schema::State& state = *bundle_of(root_).states()->Get(index);
  StateView view = {tensor_info(*state.tensor()), state.start()};
  view.tensor.role = text(state.role());
  view.tensor.offset_bytes = state.offset();
  return view;
}

FrozenView Metadata::frozen(uint32_t index) const {
  const schema::Frozen& frozen = *bundle_of(root_).frozen()->Get(index);
  return {tensor_info(*frozen.tensor()), frozen.checksum()};
}

PlanView Metadata::plan(uint32_t target, uint32_t entry) const {
  const schema::Plan& p = *bundle_of(root_).targets()->Get(target)->plans()->Get(entry);
  PlanView view;
  view_records(p.buffers(), &view.buffers, &view.buffer_count);
  view_records(p.steps(), &view.steps, &view.step_count);
  view_records(p.operands(), &view.operands, &view.operand_count);
  if (p.operand_buffers()) view.operand_buffers = p.operand_buffers()->data();
  view.arena_bytes = p.arena_bytes();
  view.lower_bound_bytes = p.lower_bound_bytes();
  view.alignment_bytes = p.alignment_bytes();
  return view;
}

const char* Metadata::target_name(uint32_t target) const {
  return bundle_of(root_).targets()->Get(target)->name()->c_str();
}

const ingot_segment_record* Metadata::code(uint32_t target) const {
  return segment(bundle_of(root_), bundle_of(root_).targets()->Get(target)->code());
}

const ingot_segment_record* Metadata::rodata(uint32_t target) const {
  return segment(bundle_of(root_), bundle_of(root_).targets()->Get(target)->rodata());
}

const ingot_segment_record* Metadata::initial_state() const {
  return segment(bundle_of(root_), bundle_of(root_).initial_state());
}

const char* Metadata::kernel_name(uint32_t target, uint32_t kernel) const {
  const auto* names = bundle_of(root_).targets()->Get(target)->kernel_names();
  return kernel < size(names) ? names->Get(kernel)->c_str() : "";
}

}  // namespace ingot::engine
