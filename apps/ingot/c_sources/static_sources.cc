#include "apps/ingot/c_sources/static_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "aot/base/error.h"
#include "aot/base/join.h"
#include "aot/codegen/image_object.h"
#include "aot/loops/target.h"
#include "apps/ingot/c_sources/c_names.h"
#include "apps/ingot/c_sources/static_names.h"
#include "schema/kernel_abi.h"

namespace ingot {
namespace {

// Text that stays within a comment.
std::string comment(std::string text) {
  for (size_t k = 1; k < text.size(); ++k) {
    const bool is_mark = (text[k - 1] == '*' && text[k] == '/') || (text[k - 1] == '/' && text[k] == '*');
    if (is_mark) text.insert(k, " ");
  }
  return text;
}

// "w: f32[4,2]"
std::string described(const bundle::Tensor& tensor) {
  return comment(fmt::format("{}: {}[{}]", tensor.name, ingot_dtype_name(tensor.dtype), join(tensor.dims, ",")));
}

// "float net_x[32]"; what has no elements is an array of one, since C has none of zero.
std::string declared(const bundle::Tensor& tensor, const std::string& variable) {
  const ElementType& type = element_type(tensor.dtype);
  return fmt::format("{} {}[{}]", type.c, variable, std::max<uint64_t>(bundle::tensor_bytes(tensor) / type.c_bytes, 1));
}

bool has_unset_state(const bundle::BundleSpec& spec) {
  return std::ranges::any_of(spec.states, [](const bundle::State& it) { return it.start == bundle::Start::kUnset; });
}

void check_first_values(const bundle::BundleSpec& spec) {
  if (std::ranges::any_of(spec.entries, [](const bundle::Entry& entry) { return entry.name == "init"; })) return;
  for (const bundle::State& state : spec.states) {
    if (state.start != bundle::Start::kUnset) continue;
    throw_error(nullptr,
                fmt::format("state '{}' has no first value, and there is no entry point 'init' to give it one; "
                            "give values by --state FILE or --state zeros",
                            state.tensor.name));
  }
}

// --- The header ------------------------------------------------------------------------------------------------------

std::string size_constants(const bundle::BundleSpec& spec, const std::string& prefix) {
  const StaticSizes sizes = static_sizes(spec);
  const struct {
    const char* name;
    uint64_t bytes;
    const char* meaning;
  } rows[] = {
      {"ARENA", sizes.arena_bytes, "what is alive during a run"},
      {"STATE", sizes.state_bytes, "what lives from run to run"},
      {"SCRATCH", sizes.scratch_bytes, "of one kernel at a time"},
      {"PORTS", sizes.ports_bytes, "inputs and outputs"},
      {"STACK", sizes.stack_bytes, "the most that a kernel takes of its caller's stack"},
      {"CODE", sizes.code_bytes, "machine code; read only, as what follows"},
      {"CONSTANT", sizes.constant_bytes, ""},
      {"FIRST_VALUE", sizes.first_value_bytes, "of state"},
  };
  std::string text;
  for (const auto& row : rows) {
    text += fmt::format("#define {}_{}_BYTES {}u", capitals(prefix), row.name, row.bytes);
    text += *row.meaning ? fmt::format(" /* {} */\n", row.meaning) : "\n";
  }
  return text;
}

std::string entry_declarations(const StaticEntry& entry, const std::string& prefix) {
  std::string text = "\n";
  for (const StaticPort& port : entry.inputs) {
    text += fmt::format("extern {}; /* input {}{} */\n", declared(*port.tensor, port.variable), described(*port.tensor),
                        port.tensor->default_value.empty() ? "" : ", which has a value to start with");
  }
  for (const StaticPort& port : entry.outputs) {
    text += fmt::format("extern {}; /* output {} */\n", declared(*port.tensor, port.variable), described(*port.tensor));
  }
  return text + fmt::format("{}_MUST_CHECK int {}(void);\n", capitals(prefix), entry.function);
}

// A struct whose members lie where the plans have them.
std::string state_declaration(const bundle::BundleSpec& spec, const StaticNames& names) {
  std::string members;
  uint64_t end = 0;
  size_t gaps = 0;
  const auto skip_to = [&](uint64_t offset) {
    if (offset > end) members += fmt::format("  unsigned char ingot_gap_{}[{}];\n", gaps++, offset - end);
  };
  for (size_t k = 0; k < spec.states.size(); ++k) {
    const bundle::State& state = spec.states[k];
    const uint64_t bytes = bundle::tensor_bytes(state.tensor);
    if (bytes == 0) continue;
    skip_to(state.offset_bytes);
    members += fmt::format("  {}; /* {} */\n", declared(state.tensor, names.states[k]), described(state.tensor));
    end = state.offset_bytes + bytes;
  }
  if (members.empty()) return "";
  skip_to(spec.state_bytes);
  return fmt::format("\nextern struct {0}_state {{\n{1}}} {0}_state;\n", names.prefix, members);
}

std::string header_text(const bundle::BundleSpec& spec, const StaticNames& names) {
  const std::string& prefix = names.prefix;
  const bundle::Target& target = spec.targets.front();
  const std::string needs = target.cpu_features.empty() ? "" : " with " + join(target.cpu_features, ", ");
  std::string text = fmt::format(
      "/* Written by `ingot compile --emit static` for {1}{2}: change the program, not this.\n"
      " *\n"
      " * {0}_start() gives the state its first values{3}. Each entry point is a\n"
      " * function, which reads its inputs and the state and writes its outputs and the state. It returns 0; or 1, and "
      "has\n"
      " * done nothing, where the state has no values yet. Of all functions here one runs at a time, in the "
      "floating-point\n"
      " * modes that programs start in: to nearest, subnormal numbers kept.\n"
      " */\n"
      "#ifndef {4}_STATIC_H_\n#define {4}_STATIC_H_\n\n#include <stdint.h>\n\n{5}\n"
      "#if defined(__GNUC__)\n#define {4}_MUST_CHECK __attribute__((warn_unused_result))\n"
      "#else\n#define {4}_MUST_CHECK\n#endif\n\n"
      "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n"
      "void {0}_start(void);\n",
      prefix, target.name, needs, has_unset_state(spec) ? ", as far as it has some; the rest gets them from init" : "",
      capitals(prefix), size_constants(spec, prefix));
  text += state_declaration(spec, names);
  for (const StaticEntry& entry : names.entries) text += entry_declarations(entry, prefix);
  return text + fmt::format("\n#ifdef __cplusplus\n}}\n#endif\n\n#endif /* {}_STATIC_H_ */\n", capitals(prefix));
}

// --- The source ------------------------------------------------------------------------------------------------------

// The arrays and what each of these bases is: the kernel ABI of schema/kernel_abi.h, for one thread.
std::string bases_text(const bundle::BundleSpec& spec, const StaticNames& names, const StaticEntry& entry) {
  const StaticSizes sizes = static_sizes(spec);
  const auto block = [&](uint64_t bytes, const std::string& name) {
    return bytes == 0 ? std::string("0") : fmt::format("(unsigned char*){}_{}", names.prefix, name);
  };
  std::vector<std::string> bases = {
      block(sizes.arena_bytes, "arena"),
      sizes.state_bytes == 0 ? "0" : fmt::format("(unsigned char*)&{}_state", names.prefix),
      block(sizes.constant_bytes, "constants"),
  };
  for (const auto& ports : {entry.inputs, entry.outputs}) {
    for (const StaticPort& port : ports) bases.push_back("(unsigned char*)" + port.variable);
  }
  return fmt::format("  static unsigned char* const bases[] = {{{}}};\n", join(bases, ", "));
}

// One entry point: its steps in their order, and jumps among them.
std::string entry_text(const bundle::BundleSpec& spec, const StaticNames& names, const StaticEntry& entry) {
  const std::vector<bundle::Kernel>& kernels = spec.targets.front().kernels;
  const std::vector<bundle::Step>& steps = entry.plan->steps;
  std::set<size_t> labels;
  for (const bundle::Step& step : steps) {
    if (step.kind != bundle::StepKind::kKernel) labels.insert(step.target);
  }
  std::string operands, body;
  size_t operand_count = 0;
  for (size_t k = 0; k <= steps.size(); ++k) {
    if (labels.contains(k)) body += fmt::format("step_{}:\n", k);
    if (k == steps.size()) break;
    const bundle::Step& step = steps[k];
    if (step.kind == bundle::StepKind::kKernel) {
      body += fmt::format("  run({}, bases, operands + {}, {});\n", names.kernels[step.kernel], operand_count,
                          kernels[step.kernel].task_count);
    } else if (step.kind == bundle::StepKind::kJump) {
      body += fmt::format("  goto step_{};\n", step.target);
    } else {
      body += fmt::format("  if (value(bases, operands + {}, {}) != {}u) goto step_{};\n", operand_count,
                          step.word ? 4 : 1, step.kernel, step.target);
    }
    for (const bundle::Operand& operand : step.operands) {
      operands += fmt::format("      {{{}u, {}, 0}},\n", operand.offset_bytes, operand.base);
    }
    operand_count += step.operands.size();
  }
  std::string text = fmt::format("\nint {}(void) {{\n", entry.function);
  if (operand_count > 0) {
    text += bases_text(spec, names, entry) +
            fmt::format("  static const struct operand operands[] = {{\n{}  }};\n", operands);
  }
  if (!entry.initializes()) text += "  if (!is_ready) return 1;\n";
  text += body;
  if (entry.initializes()) text += "  is_ready = 1;\n";
  return text + "  return 0;\n}\n";
}

std::string start_text(const bundle::BundleSpec& spec, const StaticNames& names) {
  std::string text = fmt::format("\nvoid {}_start(void) {{\n", names.prefix);
  if (spec.state_bytes > 0) text += fmt::format("  memset(&{0}_state, 0, sizeof {0}_state);\n", names.prefix);
  uint64_t offset = 0;
  for (size_t k = 0; k < spec.states.size(); ++k) {
    const uint64_t bytes = bundle::tensor_bytes(spec.states[k].tensor);
    if (spec.states[k].start != bundle::Start::kSegment || bytes == 0) continue;
    text += fmt::format("  memcpy({0}_state.{1}, {0}_first_values + {2}, {3});\n", names.prefix, names.states[k],
                        offset, bytes);
    offset += bytes;
  }
  return text + fmt::format("  is_ready = {};\n}}\n", has_unset_state(spec) ? 0 : 1);
}

// The functions that steps are made of, as far as there are such steps.
std::string step_functions(const StaticNames& names) {
  bool has_kernels = false, has_tests = false;
  for (const StaticEntry& entry : names.entries) {
    for (const bundle::Step& step : entry.plan->steps) {
      has_kernels |= step.kind == bundle::StepKind::kKernel;
      has_tests |= step.kind == bundle::StepKind::kJumpUnless;
    }
  }
  std::string text;
  if (has_kernels) {
    text += fmt::format(
        "\nstatic void run(kernel_function* kernel, unsigned char* const* bases, const struct operand* operands, "
        "uint32_t "
        "task_count) {{\n"
        "  const struct context context = {{bases, operands, {}}};\n"
        "  for (uint32_t task = 0; task < task_count; ++task) kernel(&context, task);\n}}\n",
        names.prefix + "_scratch");
  }
  if (has_tests) {
    text +=
        "\nstatic uint32_t value(unsigned char* const* bases, const struct operand* operand, unsigned bytes) {\n"
        "  uint32_t value = 0;\n"
        "  memcpy(&value, bases[operand->base] + operand->offset_bytes, bytes);\n  return value;\n}\n";
  }
  return text;
}

std::string memory_text(const bundle::BundleSpec& spec, const StaticNames& names) {
  const StaticSizes sizes = static_sizes(spec);
  const std::string aligned = fmt::format("_Alignas({}) ", sizes.alignment_bytes);
  std::string text;
  if (sizes.constant_bytes > 0) text += fmt::format("extern const unsigned char {}_constants[];\n", names.prefix);
  if (sizes.first_value_bytes > 0) text += fmt::format("extern const unsigned char {}_first_values[];\n", names.prefix);
  text += "\n";
  if (sizes.arena_bytes > 0) {
    text += fmt::format("static {}unsigned char {}_arena[{}];\n", aligned, names.prefix, sizes.arena_bytes);
  }
  text += fmt::format("static {}unsigned char {}_scratch[{}];\n", aligned, names.prefix,
                      std::max<uint64_t>(sizes.scratch_bytes, 1));
  if (sizes.state_bytes > 0) text += fmt::format("{0}struct {1}_state {1}_state;\n", aligned, names.prefix);
  for (const StaticEntry& entry : names.entries) {
    for (const auto& ports : {entry.inputs, entry.outputs}) {
      for (const StaticPort& port : ports) {
        if (!port.tensor->default_value.empty()) continue;  // the object has it
        text += fmt::format("{}{};\n", aligned, declared(*port.tensor, port.variable));
      }
    }
  }
  return text + fmt::format("static int is_ready{};\n", spec.states.empty() ? " = 1" : "");
}

std::string source_text(const bundle::BundleSpec& spec, const StaticNames& names) {
  std::string text = fmt::format(
      "/* Written by `ingot compile --emit static`: change the program, not this. C11. */\n"
      "#include \"{}.h\"\n\n#include <string.h>\n\n"
      "/* Where an operand lies: offset_bytes behind the start of a base. */\n"
      "struct operand {{\n  uint64_t offset_bytes;\n  uint32_t base, reserved;\n}};\n"
      "/* What a kernel is given. Tasks of a kernel are independent of each other. */\n"
      "struct context {{\n  unsigned char* const* bases;\n  const struct operand* operands;\n"
      "  unsigned char* scratch;\n}};\n"
      "typedef void kernel_function(const struct context*, uint32_t);\n\n",
      names.prefix);
  for (const std::string& symbol : names.kernels) text += fmt::format("extern kernel_function {};\n", symbol);
  text += memory_text(spec, names) + step_functions(names) + start_text(spec, names);
  for (const StaticEntry& entry : names.entries) text += entry_text(spec, names, entry);
  return text;
}

// --- The object ------------------------------------------------------------------------------------------------------

std::string object_bytes(const bundle::BundleSpec& spec, const StaticNames& names) {
  const bundle::Target& target = spec.targets.front();
  const loops::Target& row = loops::find_target(target.name);
  codegen::ImageObject object{names.prefix, target.code, static_cast<uint64_t>(row.code_alignment_bytes), {}, {}};
  for (size_t k = 0; k < target.kernels.size(); ++k) {
    object.functions.push_back({names.kernels[k], target.kernels[k].code_offset});
  }
  if (!target.rodata.empty()) object.data.push_back({names.prefix + "_constants", target.rodata, true});
  if (!spec.initial_state.empty()) object.data.push_back({names.prefix + "_first_values", spec.initial_state, true});
  for (const StaticEntry& entry : names.entries) {
    for (const StaticPort& port : entry.inputs) {
      const std::vector<std::byte>& value = port.tensor->default_value;
      if (!value.empty()) object.data.push_back({port.variable, value, false});
    }
  }
  return codegen::write_object(object, row);
}

}  // namespace

StaticSources static_sources(const bundle::BundleSpec& spec, const std::string& name) {
  INGOT_CHECK(spec.targets.size() == 1);
  check_first_values(spec);
  const StaticNames names = static_names(spec, name);
  return {header_text(spec, names), source_text(spec, names), object_bytes(spec, names)};
}

}  // namespace ingot
