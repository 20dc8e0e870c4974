#include "tests/support/device_run.h"

#include <optional>

#include "aot/base/file.h"
#include "aot/pipeline/initial_state.h"
#include "apps/ingot/device/batches.h"
#include "apps/ingot/device/device.h"

namespace ingot {

DeviceRun train_on_device(const std::string& bundle_path, const std::string& data_path, int steps, uint32_t threads) {
  Device device(bundle_path, threads);
  device.start_state(data_path.empty() ? kZeroState : data_path);
  const uint32_t entry = device.find_entry("");
  const auto inputs = device.inputs(entry), outputs = device.outputs(entry);
  const Device::Bound bound = device.bind(entry);
  std::optional<Batches> batches;
  if (data_path.empty()) {
    for (size_t i = 0; i < inputs.size(); ++i) fill_random(inputs[i], bound.inputs[i]);
  } else {
    batches.emplace(std::vector{data_path}, inputs, fill_inputs(device, entry, inputs, {}, bound));
  }

  DeviceRun run;
  for (int step = 0; step < steps; ++step) {
    if (batches) batches->fill(step, bound.inputs);
    device.run(entry);
    auto& scalars = run.scalars.emplace_back();
    for (size_t i = 0; i < outputs.size(); ++i) {
      const std::span<std::byte> bytes = bound.outputs[i];
      run.outputs.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      if (outputs[i].rank == 0) scalars[outputs[i].name] = scalar_value(outputs[i], bytes);
    }
  }
  const std::string state_path = bundle_path + ".safetensors";
  device.save_state(state_path);
  run.state = read_text(state_path);
  return run;
}

}  // namespace ingot
