#include "aot/pipeline/initial_state.h"

#include <fmt/format.h>

#include "aot/base/error.h"
#include "aot/base/join.h"
#include "aot/base/safetensors.h"

namespace ingot {

void set_initial_state(const plan::StateTable& state, const std::string& path, bundle::BundleSpec& spec) {
  const SafeTensors file = SafeTensors::read(path);
  for (size_t i = 0; i < spec.states.size(); ++i) {
    const plan::StateSlot& slot = state.slots()[i];
    const std::string_view dtype = info(slot.type.dtype).safetensors;
    const std::string type = fmt::format("{}[{}]", dtype, join(slot.type.shape, ","));
    const SafeTensor* tensor = file.find(slot.name);
    if (!tensor) {
      if (spec.states[i].start == bundle::Start::kInit) continue;
      throw_error(nullptr, fmt::format("{}: has no tensor for the state {}: {}", path, slot.name, type));
    }
    if (tensor->dtype != dtype || tensor->shape != slot.type.shape) {
      throw_error(nullptr, fmt::format("{}: '{}' is {}[{}], but the state is {}", path, slot.name, tensor->dtype,
                                       join(tensor->shape, ","), type));
    }
    spec.states[i].start = bundle::Start::kSegment;
    spec.initial_state.insert(spec.initial_state.end(), tensor->data.begin(), tensor->data.end());
  }
}

}  // namespace ingot
