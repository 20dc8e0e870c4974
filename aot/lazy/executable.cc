#include "aot/lazy/executable.h"

#include <cstring>

#include "aot/lazy/recording.h"
#include "aot/pipeline/compile.h"

namespace ingot::lazy {
namespace {

constexpr uint32_t kEntry = 0;

engine::AlignedBytes compiled(std::unique_ptr<Module> module, const std::string& target) {
  CompileOptions options;
  options.targets = {target};
  std::vector<std::unique_ptr<Module>> modules;
  modules.push_back(std::move(module));
  const std::vector<std::byte> bundle = bundle::write_bundle(compile(std::move(modules), options).spec);
  engine::AlignedBytes bytes(bundle.size(), 64);
  std::memcpy(bytes.data(), bundle.data(), bundle.size());
  return bytes;
}

}  // namespace

Executable::Executable(std::unique_ptr<Module> module, const std::string& target, uint32_t threads)
    : bytes_(compiled(std::move(module), target)),
      bundle_(std::span<const std::byte>(bytes_.data(), bytes_.size())),
      session_(bundle_, threads) {
  const ingot_entry_info entry = bundle_.entry(kEntry);
  for (size_t i = 0; i < entry.input_count; ++i) input_indices_.push_back(bundle_.find_input(kEntry, input_name(i)));
  for (size_t i = 0; i < entry.output_count; ++i)
    output_indices_.push_back(bundle_.find_output(kEntry, output_name(i)));
}

std::vector<MemoryRef> Executable::run(const std::vector<MemoryRef>& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    engine::call(ingot_bind_input, session_.get(), kEntry, input_indices_[i], inputs[i]->data(), inputs[i]->size());
  }
  std::vector<MemoryRef> outputs;
  for (const uint32_t index : output_indices_) {
    const auto& output = outputs.emplace_back(std::make_shared<Memory>(bundle_.output(kEntry, index).bytes));
    engine::call(ingot_bind_output, session_.get(), kEntry, index, output->data(), output->size());
  }
  engine::call(ingot_run, session_.get(), kEntry);
  return outputs;
}

}  // namespace ingot::lazy
