#include "tests/support/compiled_program.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ingot/engine.hpp>

#include "aot/base/error.h"
#include "aot/graph/graph.h"
#include "tests/support/code_runner.h"

namespace ingot {
namespace {

constexpr uint64_t kAlignmentBytes = 64;
constexpr std::chrono::seconds kLongestRun(30);  // of programs that take milliseconds

engine::AlignedBytes aligned_copy(const std::vector<std::byte>& bytes) {
  engine::AlignedBytes copy(bytes.size(), kAlignmentBytes);
  if (!bytes.empty()) std::memcpy(copy.data(), bytes.data(), bytes.size());
  return copy;
}

bundle::BundleSpec compiled_spec(const Module& module, CompileOptions options) {
  std::vector<std::unique_ptr<Module>> modules;
  modules.push_back(copy_module(module));
  if (std::getenv("INGOT_EVERY_TARGET")) options.targets = every_target();
  return compile(std::move(modules), options).spec;
}

RefTensor tensor_of_bytes(const ingot_tensor_info& tensor, const std::byte* data) {
  const std::optional<DType> dtype = dtype_from_name(ingot_dtype_name(tensor.dtype));
  INGOT_CHECK(dtype);
  return from_literal(*dense({*dtype, {tensor.dims, tensor.dims + tensor.rank}}, {data, data + tensor.bytes}));
}

}  // namespace

struct CompiledProgram::Opened {
  bundle::BundleSpec spec;
  engine::AlignedBytes bytes;
  engine::Bundle bundle;
  std::map<uint32_t, engine::Session> sessions;  // by their threads

  Opened(const Module& module, const CompileOptions& options)
      : spec(compiled_spec(module, options)),
        bytes(aligned_copy(bundle::write_bundle(spec))),
        bundle(std::span<const std::byte>(bytes.data(), bytes.size())) {}
};

namespace {

// The memory of an input or output, bound to it.
template <typename Bind>
engine::AlignedBytes& provide(engine::Session& session, std::vector<engine::AlignedBytes>& memory, Bind bind,
                              uint32_t entry, uint32_t index, uint64_t byte_count) {
  engine::AlignedBytes& made = memory.emplace_back(std::max<uint64_t>(byte_count, 1), kAlignmentBytes);
  engine::call(bind, session.get(), entry, index, made.data(), byte_count);
  return made;
}

}  // namespace

CompiledProgram::CompiledProgram(const Module& module, const CompileOptions& options)
    : opened_(std::make_unique<Opened>(module, options)) {}
CompiledProgram::~CompiledProgram() = default;

const bundle::BundleSpec& CompiledProgram::spec() const { return opened_->spec; }

NamedTensors CompiledProgram::run(const std::string& entry_name, uint32_t threads, NamedTensors& state,
                                  const NamedTensors& inputs) {
  engine::Bundle& bundle = opened_->bundle;
  engine::Session& session = opened_->sessions.try_emplace(threads, bundle, threads).first->second;
  const uint32_t entry = bundle.find_entry(entry_name);

  for (uint32_t i = 0; i < bundle.info().state_count; ++i) {
    const ingot_tensor_info tensor = bundle.state(i);
    const auto given = state.find(tensor.name);
    std::vector<std::byte> bytes =
        given == state.end() ? std::vector<std::byte>(tensor.bytes) : to_literal(given->second)->dense_bytes();
    bytes.resize(std::max<uint64_t>(tensor.bytes, 1));
    engine::call(ingot_write_state, session.get(), i, bytes.data(), tensor.bytes);
  }
  std::vector<engine::AlignedBytes> memory;
  for (uint32_t i = 0; i < bundle.entry(entry).input_count; ++i) {
    const ingot_tensor_info tensor = bundle.input(entry, i);
    if (!inputs.contains(tensor.name))
      throw_error(nullptr, fmt::format("@{}: input '{}' is missing", entry_name, tensor.name));
    const std::vector<std::byte> bytes = to_literal(inputs.at(tensor.name))->dense_bytes();
    engine::AlignedBytes& to = provide(session, memory, ingot_bind_input, entry, i, tensor.bytes);
    if (bytes.size() != tensor.bytes)
      throw_error(nullptr, fmt::format("@{}: input '{}' has {} bytes, not {}", entry_name, tensor.name, tensor.bytes,
                                       bytes.size()));
    if (!bytes.empty()) std::memcpy(to.data(), bytes.data(), bytes.size());
  }
  std::vector<std::byte*> results;
  for (uint32_t i = 0; i < bundle.entry(entry).output_count; ++i) {
    results.push_back(provide(session, memory, ingot_bind_output, entry, i, bundle.output(entry, i).bytes).data());
  }
  const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
  int32_t is_complete = 0;
  engine::call(ingot_run_slice, session.get(), entry, 0U, static_cast<uint64_t>((now + kLongestRun).count()),
               &is_complete);
  if (!is_complete) throw_error(nullptr, fmt::format("@{} does not end", entry_name));

  NamedTensors outputs;
  for (uint32_t i = 0; i < results.size(); ++i) {
    const ingot_tensor_info tensor = bundle.output(entry, i);
    outputs[tensor.name] = tensor_of_bytes(tensor, results[i]);
  }
  for (uint32_t i = 0; i < bundle.info().state_count; ++i) {
    const ingot_tensor_info tensor = bundle.state(i);
    std::vector<std::byte> bytes(std::max<uint64_t>(tensor.bytes, 1));
    engine::call(ingot_read_state, session.get(), i, bytes.data(), tensor.bytes);
    state[tensor.name] = tensor_of_bytes(tensor, bytes.data());
  }
  return outputs;
}

NamedTensors CompiledExecutor::run(const Module& module, const std::string& entry, NamedTensors& state,
                                   const NamedTensors& inputs) {
  return programs_.try_emplace(&module, module).first->second.run(entry, threads_, state, inputs);
}

namespace {

void narrow(DType& dtype) {
  if (dtype == DType::kF64) dtype = DType::kF32;
}

void narrow(Attr& attr) {
  if (auto* type = std::get_if<TensorType>(&attr.value)) narrow(type->dtype);
  if (auto* number = std::get_if<FloatAttr>(&attr.value)) narrow(number->dtype);
  if (auto* list = std::get_if<std::vector<Attr>>(&attr.value)) {
    for (Attr& item : *list) narrow(item);
  }
  if (auto* entries = std::get_if<DictAttr>(&attr.value)) {
    for (auto& [name, item] : entries->entries) narrow(item);
  }
  auto* literal = std::get_if<LiteralRef>(&attr.value);
  if (!literal || (*literal)->type.dtype != DType::kF64) return;
  RefTensor tensor = from_literal(**literal);
  tensor.type.dtype = DType::kF32;
  *literal = (*literal)->is_splat && tensor.elements() > 0 ? splat(tensor.type, tensor.f[0]) : to_literal(tensor);
}

void narrow(Block& block) {
  for (auto& argument : block.arguments) narrow(argument->type.dtype);
  for (auto& op : block.ops) {
    for (auto& result : op->results) narrow(result->type.dtype);
    for (auto& [name, attr] : op->attr_map) narrow(attr);
    for (auto& region : op->regions) narrow(*region);
  }
}

}  // namespace

std::unique_ptr<Module> in_f32(const Module& module) {
  std::unique_ptr<Module> copy = copy_module(module);
  for (auto& function : copy->functions) {
    narrow(function->body);
    for (FunctionResult& result : function->results) narrow(result.type.dtype);
  }
  return copy;
}

}  // namespace ingot
