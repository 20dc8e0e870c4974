#include "aot/bundle/read_bundle.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "aot/base/error.h"
#include "aot/bundle/check_spec.h"
#include "schema/bundle_generated.h"
#include "schema/bundle_header.h"
#include "schema/checksum.h"
#include "schema/kernel_abi.h"
#include "schema/plan_records.h"
#include "schema/text.h"

namespace ingot::bundle {
namespace {

using Bytes = std::vector<std::byte>;

constexpr uint64_t kPageBytesMax = 4096;  // beyond it, that of the file is not known

void require(bool holds, const char* what) {
  if (!holds) throw_error({}, std::string("not a sound ingot bundle: ") + what);
}

template <typename T>
T read_struct(std::span<const std::byte> bytes, uint64_t offset) {
  require(offset <= bytes.size() && sizeof(T) <= bytes.size() - offset, "it is cut short");
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// What offsets are multiples of, if they are of 64.
uint32_t page_bytes_of(uint64_t offsets) {
  const uint64_t greatest = uint64_t{1} << std::countr_zero(offsets | kPageBytesMax);
  return static_cast<uint32_t>(std::max<uint64_t>(greatest, INGOT_BUFFER_ALIGNMENT_BYTES));
}

class Reader {
 public:
  explicit Reader(std::span<const std::byte> file) : file_(file), left_bytes_(kUnfoldedMax * file.size()) {
    require(file.size() >= 8 && std::memcmp(file.data(), INGOT_BUNDLE_MAGIC, 8) == 0, "it does not start like one");
    const auto header = read_struct<ingot_bundle_header>(file, 0);
    require(header.header_checksum == ingot_checksum(&header, offsetof(ingot_bundle_header, header_checksum)),
            "its header was changed");
    require(header.format_major == INGOT_FORMAT_MAJOR, "it has another format version");
    require(header.metadata_offset % INGOT_BUFFER_ALIGNMENT_BYTES == 0, "its metadata is not aligned");
    const auto metadata = part(header.metadata_offset, header.metadata_bytes, header.metadata_checksum);
    flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(metadata.data()), metadata.size());
    require(metadata.size() >= 8 && schema::VerifyBundleBuffer(verifier), "its metadata is malformed");
    bundle_ = schema::GetBundle(metadata.data());
  }

  BundleSpec read() {
    BundleSpec spec;
    spec.producer = text(bundle_->producer());
    spec.name = text(bundle_->name());
    for_each(bundle_->required_features(), [&](const auto* name) { spec.required_features.push_back(text(name)); });
    for_each(bundle_->entries(), [&](const schema::Entry* entry) {
      Entry out{text(entry->name()), {}, {}, entry->flops()};
      for_each(entry->inputs(), [&](const auto* tensor) { out.inputs.push_back(read_tensor(*tensor)); });
      for_each(entry->outputs(), [&](const auto* tensor) { out.outputs.push_back(read_tensor(*tensor)); });
      spec.entries.push_back(std::move(out));
    });
    for_each(bundle_->states(), [&](const schema::State* state) {
      spec.states.push_back(
          {read_tensor(*state->tensor()), text(state->role()), state->offset(), static_cast<Start>(state->start())});
    });
    for_each(bundle_->frozen(), [&](const schema::Frozen* frozen) {
      spec.frozen.push_back({read_tensor(*frozen->tensor()), frozen->checksum()});
    });
    spec.is_strict = bundle_->is_strict();
    spec.state_bytes = bundle_->state_bytes();
    if (bundle_->initial_state() != INGOT_NONE) {
      spec.initial_state = segment(bundle_->initial_state(), INGOT_SEGMENT_INITIAL_STATE);
      spec.compress_initial_state =
          bundle_->segments()->Get(bundle_->initial_state())->compression() == INGOT_COMPRESSION_ZLIB;
    }
    for_each(bundle_->targets(), [&](const schema::Target* target) { spec.targets.push_back(read_target(*target)); });
    if (bundle_->tools()) read_tools({bundle_->tools()->begin(), bundle_->tools()->end()}, spec);
    return spec;
  }

 private:
  // Parts of a file may be named many times; what is made of it must not be much larger than it is.
  static constexpr uint64_t kUnfoldedMax = 64;
  void spend(uint64_t byte_count) {
    require(byte_count <= left_bytes_, "it unfolds to much more than it is");
    left_bytes_ -= byte_count;
  }

  std::string plain(std::string text) {
    spend(sizeof text + text.size());
    require(ingot_is_plain_text(text.data(), text.size()), "a name is no plain text, or too long");
    return text;
  }
  std::string text(const flatbuffers::String* string) { return string ? plain(string->str()) : ""; }

  // Calls visit(element) for each element of a vector, which may be absent.
  template <typename T, typename Visit>
  void for_each(const flatbuffers::Vector<T>* vector, const Visit& visit) {
    if (!vector) return;
    spend(vector->size() * sizeof(std::remove_pointer_t<T>));
    require_aligned(*vector);
    for (const auto& element : *vector) visit(element);
  }

  // Flatbuffers' verifier does not look at the alignment of the elements of a vector.
  template <typename T>
  static void require_aligned(const flatbuffers::Vector<T>& vector) {
    const auto start = reinterpret_cast<uintptr_t>(vector.Data());
    require(vector.size() == 0 || start % alignof(std::remove_pointer_t<T>) == 0, "a table is not aligned");
  }

  Tensor read_tensor(const schema::Tensor& tensor) {
    require(ingot_dtype_bytes(tensor.dtype()) > 0, "a tensor has an unknown element type");
    require(!tensor.dims() || tensor.dims()->size() <= INGOT_RANK_MAX, "a tensor has too many dimensions");
    Tensor out{text(tensor.name()), static_cast<ingot_dtype>(tensor.dtype()), {}};
    for_each(tensor.dims(), [&](uint64_t dim) { out.dims.push_back(dim); });
    for_each(tensor.default_value(), [&](uint8_t byte) { out.default_value.push_back(std::byte{byte}); });
    return out;
  }

  void read_tools(const std::vector<uint8_t>& bytes, BundleSpec& spec) {
    flatbuffers::Verifier verifier(bytes.data(), bytes.size());
    require(verifier.VerifyBuffer<schema::Tools>(nullptr), "what it tells tools is damaged");
    const auto* all = flatbuffers::GetRoot<schema::Tools>(bytes.data())->plan_calls();
    uint32_t next = 0;
    for (Target& target : spec.targets) {
      for (Plan& plan : target.plans) {
        if (all && next < all->size()) read_plan_calls(*all->Get(next++), plan);
      }
    }
  }

  void read_plan_calls(const schema::PlanCalls& from, Plan& plan) {
    for_each(from.calls(), [&](const schema::Call* call) {
      plan.calls.push_back({text(call->name()), text(call->op()), text(call->source()),
                            static_cast<ingot_dtype>(call->dtype()), call->flops(), call->read_bytes(),
                            call->written_bytes()});
    });
    for (uint32_t i = 0; from.step_calls() && i < from.step_calls()->size() && i < plan.steps.size(); ++i) {
      const uint32_t call = from.step_calls()->Get(i);
      require(call == INGOT_NONE || call < plan.calls.size(), "a step is a part of no call");
      if (call != INGOT_NONE) plan.steps[i].call = call;
    }
  }

  // A checked part of the file.
  std::span<const std::byte> part(uint64_t offset, uint64_t byte_count, uint64_t checksum) const {
    require(offset <= file_.size() && byte_count <= file_.size() - offset, "it is cut short");
    const auto bytes = file_.subspan(offset, byte_count);
    require(ingot_checksum(bytes.data(), bytes.size()) == checksum, "it was changed after it was written");
    return bytes;
  }

  Bytes segment(uint32_t index, uint32_t kind) {
    require(bundle_->segments() && index < bundle_->segments()->size(), "a segment is missing");
    require_aligned(*bundle_->segments());
    const schema::Segment& record = *bundle_->segments()->Get(index);
    require(record.kind() == kind, "a segment is of another kind");
    const auto stored = part(record.offset(), record.stored_bytes(), record.checksum());
    spend(stored.size());
    if (record.compression() == INGOT_COMPRESSION_NONE) return Bytes(stored.begin(), stored.end());
    constexpr uint64_t kRatioMax = 1100;  // zlib's own limit is 1032
    require(record.bytes() <= stored.size() * kRatioMax, "a segment inflates to more than it can");
    Bytes inflated(record.bytes());
    uLongf count = inflated.size();
    const int result = uncompress(reinterpret_cast<Bytef*>(inflated.data()), &count,
                                  reinterpret_cast<const Bytef*>(stored.data()), stored.size());
    require(result == Z_OK && count == inflated.size(), "a compressed segment is damaged");
    return inflated;
  }

  Target read_target(const schema::Target& target) {
    Target out;
    out.name = text(target.name());
    const Bytes code = segment(target.code(), INGOT_SEGMENT_CODE);
    read_code(code, bundle_->segments()->Get(target.code())->offset(), &out);
    if (target.rodata() != INGOT_NONE) out.rodata = segment(target.rodata(), INGOT_SEGMENT_RODATA);
    for (uint32_t i = 0; target.kernel_names() && i < target.kernel_names()->size() && i < out.kernels.size(); ++i) {
      out.kernels[i].name = text(target.kernel_names()->Get(i));
    }
    for_each(target.plans(), [&](const schema::Plan* plan) { out.plans.push_back(read_plan(*plan, out)); });
    return out;
  }

  void read_code(const Bytes& segment, uint64_t segment_offset, Target* out) {
    const auto header = read_struct<ingot_code_header>(segment, 0);
    require(std::memcmp(header.magic, INGOT_CODE_MAGIC, sizeof header.magic) == 0, "its code is not described");
    out->isa = plain({header.isa, strnlen(header.isa, sizeof header.isa)});
    uint64_t at = sizeof header;
    const uint64_t parameters_at = at + uint64_t{header.kernel_count} * sizeof(ingot_kernel_record);
    for (uint32_t i = 0; i < header.kernel_count; ++i, at += sizeof(ingot_kernel_record)) {
      const auto record = read_struct<ingot_kernel_record>(segment, at);
      Kernel kernel;
      kernel.code_offset = record.code_offset;
      kernel.task_count = record.task_count;
      kernel.scratch_bytes = record.scratch_bytes;
      kernel.stack_bytes = record.stack_bytes;
      spend(sizeof kernel + uint64_t{record.parameter_count} * sizeof(Parameter));
      for (uint32_t j = 0; j < record.parameter_count; ++j) {
        const auto parameter = read_struct<ingot_parameter_record>(
            segment, parameters_at + (uint64_t{record.first_parameter} + j) * sizeof(ingot_parameter_record));
        kernel.parameters.push_back(
            {parameter.reach_bytes, (parameter.access & INGOT_ACCESS_READ) != 0,
             (parameter.access & INGOT_ACCESS_WRITE) != 0,
             parameter.replaced_by > 0 ? std::optional(parameter.replaced_by - 1) : std::nullopt});
      }
      out->kernels.push_back(std::move(kernel));
    }
    const uint64_t features_at = parameters_at + uint64_t{header.parameter_count} * sizeof(ingot_parameter_record);
    require(features_at + header.features_bytes <= header.image_offset && header.image_offset <= segment.size() &&
                header.image_bytes <= segment.size() - header.image_offset,
            "its code is cut short");
    const auto* features = reinterpret_cast<const char*>(segment.data()) + features_at;
    std::string feature;
    for (uint32_t i = 0; i < header.features_bytes; ++i) {
      if (features[i] != ',') {
        feature += features[i];
      } else {
        out->cpu_features.push_back(plain(std::move(feature)));
        feature.clear();
      }
    }
    if (!feature.empty()) out->cpu_features.push_back(plain(feature));
    out->page_bytes = page_bytes_of(segment_offset | header.image_offset);
    const auto image = segment.begin() + static_cast<ptrdiff_t>(header.image_offset);
    out->code.assign(image, image + static_cast<ptrdiff_t>(header.image_bytes));
  }

  Plan read_plan(const schema::Plan& plan, const Target& target) {
    Plan out;
    out.arena_bytes = plan.arena_bytes();
    out.lower_bound_bytes = plan.lower_bound_bytes();
    out.alignment_bytes = plan.alignment_bytes();
    for_each(plan.buffers(), [&](const schema::Buffer* buffer) {
      out.buffers.push_back(
          {buffer->offset(), buffer->bytes(), buffer->first_step(), buffer->last_step(),
           buffer->in_place_of() == INGOT_NONE ? std::nullopt : std::optional(buffer->in_place_of())});
    });
    const uint64_t operands = plan.operands() ? plan.operands()->size() : 0;
    require(operands == (plan.operand_buffers() ? plan.operand_buffers()->size() : 0), "operands are missing");
    for_each(plan.steps(), [&](const schema::Step* step) {
      const auto kind = static_cast<StepKind>(step->kind());
      require(kind <= StepKind::kJumpUnless, "a step is of an unknown kind");
      require(kind != StepKind::kKernel || step->kernel() < target.kernels.size(), "a step names no kernel");
      const uint64_t count = operand_count(target, kind, step->kernel());
      require(step->first_operand() + count <= operands, "operands are missing");
      spend(sizeof(Step) + count * sizeof(Operand));
      Step s{step->kernel(), (step->flags() & INGOT_STEP_BARRIER) != 0, {}, kind,
             step->target(), (step->flags() & INGOT_STEP_WORD) != 0};
      for (uint64_t i = step->first_operand(); i < step->first_operand() + count; ++i) {
        const schema::Operand& operand = *plan.operands()->Get(static_cast<uint32_t>(i));
        s.operands.push_back({operand.base(), operand.offset(), plan.operand_buffers()->Get(static_cast<uint32_t>(i))});
      }
      out.steps.push_back(std::move(s));
    });
    return out;
  }

  std::span<const std::byte> file_;
  uint64_t left_bytes_;  // that may still be made of the file
  const schema::Bundle* bundle_ = nullptr;
};

}  // namespace

BundleSpec read_bundle(std::span<const std::byte> bytes) { return Reader(bytes).read(); }

}  // namespace ingot::bundle
