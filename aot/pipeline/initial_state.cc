#include "aot/pipeline/initial_state.h"

#include <fmt/format.h>

#include <set>

#include "aot/base/error.h"
#include "aot/base/join.h"
#include "aot/base/safetensors.h"
#include "aot/graph/attributes.h"

namespace ingot {
namespace {

const Function* init_of(const std::vector<Function*>& entries) {
  const auto found = std::ranges::find(entries, "init", &Function::name);
  return found == entries.end() ? nullptr : *found;
}

std::set<std::string> states_written_by(const Function& entry) {
  std::set<std::string> names;
  for (const FunctionResult& result : entry.results) names.insert(attr_text(result.attrs, attributes::kState));
  return names;
}

// "w: F32[4]"
std::string describe(const plan::StateSlot& slot) {
  return fmt::format("{}: {}[{}]", slot.name, info(slot.type.dtype).safetensors, join(slot.type.shape, ","));
}

// The tensor of the slot's name; null where there is none. `source` is where it comes from.
const SafeTensor* find_value(const std::map<std::string, SafeTensor>& values, const std::string& source,
                             const plan::StateSlot& slot) {
  const auto found = values.find(slot.name);
  const SafeTensor* tensor = found == values.end() ? nullptr : &found->second;
  if (!tensor || (tensor->dtype == info(slot.type.dtype).safetensors && tensor->shape == slot.type.shape)) {
    return tensor;
  }
  throw_error(nullptr, fmt::format("{}: '{}' is {}[{}], but the state is {}", source, slot.name, tensor->dtype,
                                   join(tensor->shape, ","), describe(slot)));
}

// In the order of the states, each by the first list that has it.
void read_values(const plan::StateTable& state, const std::map<std::string, SafeTensor>& file, const std::string& path,
                 const std::map<std::string, SafeTensor>& values, bundle::BundleSpec& spec) {
  for (size_t i = 0; i < spec.states.size(); ++i) {
    const plan::StateSlot& slot = state.slots()[i];
    const SafeTensor* tensor = find_value(file, path, slot);
    if (!tensor && path != kZeroState) tensor = find_value(values, "the program", slot);
    if (!tensor) continue;
    spec.states[i].start = bundle::Start::kSegment;
    spec.initial_state.insert(spec.initial_state.end(), tensor->data.begin(), tensor->data.end());
  }
}

}  // namespace

void set_initial_state(const plan::StateTable& state, const std::vector<Function*>& entries, const std::string& source,
                       const std::map<std::string, SafeTensor>& values, bundle::BundleSpec& spec) {
  const bool from_file = !source.empty() && source != kZeroState;
  const SafeTensors file = from_file ? SafeTensors::read(source) : SafeTensors();
  read_values(state, file.tensors(), source, values, spec);
  const Function* init = init_of(entries);
  const std::set<std::string> initialized = init ? states_written_by(*init) : std::set<std::string>();
  for (size_t i = 0; i < spec.states.size(); ++i) {
    const plan::StateSlot& slot = state.slots()[i];
    if (spec.states[i].start == bundle::Start::kSegment || initialized.contains(slot.name)) continue;
    if (source == kZeroState) spec.states[i].start = bundle::Start::kZero;
    if (from_file) throw_error(nullptr, fmt::format("{}: has no tensor for the state {}", source, describe(slot)));
    if (init && source.empty()) {
      throw_error(init->location, fmt::format("@init leaves the state {} without a value; return it there, or give it "
                                              "by --state FILE.safetensors, or zeros by --state {}",
                                              describe(slot), kZeroState));
    }
  }
}

}  // namespace ingot
