#include "apps/ingot/device/wanted_call.h"

#include <ingot/sized.hpp>
#include <set>

#include "apps/ingot/device/tensor_files.h"

namespace ingot {
namespace {

// The program at several sizes that a name means; "" where it means something else.
std::string sized_program(const Device& device, const std::string& name) {
  std::set<std::string> sized, others;
  for (uint32_t i = 0; i < device.bundle().info().entry_count; ++i) {
    const std::string entry = device.bundle().entry(i).name;
    const engine::SizedName parsed = engine::parse_sized_name(entry);
    (parsed.sizes.empty() ? others : sized).insert(parsed.program);
  }
  if (name.empty() && others.empty() && sized.size() == 1) return *sized.begin();
  return sized.contains(name) && !others.contains(name) ? name : "";
}

engine::SizedChoice choose(const Device& device, const std::string& program, const std::vector<std::string>& settings) {
  const engine::SizedProgram sized(device.bundle(), program);
  engine::WantedSizes wanted;
  for (const std::string& setting : settings) {
    const size_t equals = setting.find('=');
    if (equals == setting.npos) continue;
    const std::vector<uint64_t> dims = dims_of_source(setting.substr(equals + 1));
    sized.want(setting.substr(0, equals), dims, wanted);
  }
  return sized.choose(wanted);
}

}  // namespace

WantedCall wanted_call(const Device& device, const std::string& name, const std::vector<std::string>& settings) {
  WantedCall call;
  const std::string program = sized_program(device, name);
  engine::SizedChoice choice;
  if (!program.empty()) choice = choose(device, program, settings);
  call.entry = program.empty() ? device.find_entry(name) : choice.entry;
  call.inputs = device.inputs(call.entry);
  call.outputs = device.outputs(call.entry);
  const auto cut = [&](ingot_tensor_info& tensor, uint64_t rows) {
    if (tensor.rank == 0 || tensor.dims[0] == rows) return;
    std::vector<uint64_t>& dims = call.dims.emplace_back(tensor.dims, tensor.dims + tensor.rank);
    tensor.bytes = tensor.bytes / dims[0] * rows;
    dims[0] = rows;
    tensor.dims = dims.data();
  };
  for (size_t i = 0; i < choice.input_rows.size(); ++i) cut(call.inputs[i], choice.input_rows[i]);
  for (size_t i = 0; i < choice.output_rows.size(); ++i) cut(call.outputs[i], choice.output_rows[i]);
  return call;
}

}  // namespace ingot
