#include "tests/support/static_program.h"

#include <fmt/format.h>

#include <cstdlib>
#include <stdexcept>

#include "aot/base/file.h"
#include "aot/graph/graph.h"
#include "apps/ingot/c_sources/static_names.h"
#include "apps/ingot/c_sources/static_sources.h"
#include "tests/support/file_text.h"

namespace ingot {
namespace {

constexpr const char* kName = "net";

// Whatever a compiler has to say is an error; its flags in the environment are for others.
constexpr const char* kWarnings = "-std=c11 -Wall -Wextra -Wpedantic -Wshadow -Werror";

TensorType type_of(const bundle::Tensor& tensor) {
  const std::optional<DType> dtype = dtype_from_name(ingot_dtype_name(tensor.dtype));
  if (!dtype) throw std::out_of_range(tensor.name + " has an unknown element type");
  return {*dtype, {tensor.dims.begin(), tensor.dims.end()}};
}

// Takes tensors from the front of a text.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  RefTensor take(const bundle::Tensor& tensor) {
    const auto* const begin = reinterpret_cast<const std::byte*>(text_.data());
    const uint64_t count = bundle::tensor_bytes(tensor);
    if (text_.size() < count) throw std::out_of_range("the program wrote too little for " + tensor.name);
    text_.remove_prefix(count);
    return from_literal(*dense(type_of(tensor), {begin, begin + count}));
  }

 private:
  std::string_view text_;
};

std::string bytes_of(const RefTensor& tensor) {
  const std::vector<std::byte> bytes = to_literal(tensor)->dense_bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::string CTools::missing() const {
  const auto has = [](const std::string& command) {
    return std::system(fmt::format("command -v {} >/dev/null", command).c_str()) == 0;
  };
  return (has(compiler) && (emulator.empty() || has(emulator))) ? "" : package;
}

CTools c_tools(const std::string& target) {
  static const CTools kTools[] = {
      {"cortex-m7", "arm-none-eabi-gcc -mcpu=cortex-m7 -mfpu=fpv5-d16 -mfloat-abi=hard -mthumb",
       "qemu-system-arm -M mps2-an500 -display none -serial none -monitor none "
       "-semihosting-config enable=on,target=native -kernel",
       "gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm",
       "--specs=rdimon.specs -nostartfiles -T" INGOT_BOARD "/board.ld " INGOT_BOARD "/startup.c"},
      {"aarch64", "aarch64-linux-gnu-gcc -static", "qemu-aarch64", "gcc-aarch64-linux-gnu qemu-user", ""},
      {"riscv64", "riscv64-linux-gnu-gcc -static", "qemu-riscv64", "gcc-riscv64-linux-gnu qemu-user", ""},
  };
  for (const CTools& tools : kTools) {
    if (tools.target == target) return tools;
  }
  return {target, "cc", "", "gcc", ""};
}

StaticProgram::StaticProgram(const bundle::BundleSpec& spec, const CTools& tools) : spec_(spec), tools_(tools) {
  const StaticSources sources = static_sources(spec, kName);
  write_file(folder_.file("net.h"), sources.header);
  write_file(folder_.file("net.c"), sources.source);
  write_file(folder_.file("net_kernels.o"), sources.object);
}

std::string StaticProgram::built(const std::string& statements) const {
  write_file(folder_.file("main.c"),
             "#include \"net.h\"\n#include <stdio.h>\n#define put(v) (void)fwrite(&(v), 1, sizeof(v), stdout)\n"
             "#define get(v) (void)!fread(&(v), 1, sizeof(v), stdin)\nint main(void) {\n" +
                 statements + "  return 0;\n}\n");
  const std::string log = folder_.file("log");
  const std::string line = fmt::format("cd {} && {} {} -O1 main.c net.c net_kernels.o -o program {} >{} 2>&1",
                                       folder_.path().string(), tools_.compiler, kWarnings, tools_.board, log);
  if (std::system(line.c_str()) != 0) throw std::runtime_error(line + "\n" + file_text(log));
  return fmt::format("{} {}", tools_.emulator, folder_.file("program"));
}

std::string StaticProgram::run(const std::string& statements, const std::string& input) const {
  write_file(folder_.file("input"), input);
  const std::string line = fmt::format("{} <{} >{}", built(statements), folder_.file("input"), folder_.file("output"));
  if (const int status = std::system(line.c_str())) throw std::runtime_error(fmt::format("{}: {}", line, status));
  return file_text(folder_.file("output"));
}

std::vector<NamedTensors> StaticProgram::run(const std::string& entry_name, const std::vector<NamedTensors>& inputs,
                                             NamedTensors& state) const {
  const StaticNames names = static_names(spec_, kName);
  const auto entry = std::ranges::find(names.entries, entry_name, [](const StaticEntry& it) { return it.entry->name; });
  if (entry == names.entries.end()) throw std::out_of_range("no entry " + entry_name);
  std::string statements = fmt::format("  net_start();\n  for (int i = 0; i < {}; ++i) {{\n", inputs.size()), input;
  for (const StaticPort& port : entry->inputs) statements += fmt::format("    get({});\n", port.variable);
  statements += fmt::format("    if ({}() != 0) return 1;\n", entry->function);
  for (const StaticPort& port : entry->outputs) statements += fmt::format("    put({});\n", port.variable);
  statements += "  }\n";
  for (const std::string& member : names.states) statements += fmt::format("  put(net_state.{});\n", member);
  for (const NamedTensors& batch : inputs) {
    for (const StaticPort& port : entry->inputs) input += bytes_of(batch.at(port.tensor->name));
  }
  const std::string written = run(statements, input);
  Reader reader(written);
  std::vector<NamedTensors> outputs(inputs.size());
  for (NamedTensors& batch : outputs) {
    for (const StaticPort& port : entry->outputs) batch[port.tensor->name] = reader.take(*port.tensor);
  }
  for (const bundle::State& it : spec_.states) state[it.tensor.name] = reader.take(it.tensor);
  return outputs;
}

void expect_same_values(const NamedTensors& actual, const NamedTensors& expected) {
  for (const auto& [name, tensor] : expected) {
    ASSERT_TRUE(actual.contains(name)) << name;
    EXPECT_EQ(actual.at(name).f, tensor.f) << name;
    EXPECT_EQ(actual.at(name).i, tensor.i) << name;
  }
}

}  // namespace ingot
