#include "apps/ingot/c_sources/typed_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "aot/base/join.h"
#include "apps/ingot/c_sources/c_names.h"

namespace ingot {
namespace {

// "train_step" is TrainStep.
std::string class_name(const std::string& name) {
  std::string text;
  bool is_first = true;
  for (const char c : identifier(name)) {
    if (c != '_') text += is_first ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    is_first = c == '_';
  }
  return text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) ? "Entry" + text : text;
}

// A text literal. Octal escapes end after three digits, whatever follows.
std::string quoted(const std::string& text) {
  std::string literal = "\"";
  for (const char c : text) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) ||
                          (c != '\0' && std::string_view("._-/+ ").find(c) != std::string_view::npos);
    literal += is_plain ? std::string(1, c) : fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  }
  return literal + "\"";
}

// An input or an output, and what it is called in the header.
struct Port {
  const bundle::Tensor* tensor;
  bool is_input;
  size_t index;
  std::string member, field, type;       // C++
  std::string constant, bytes_constant;  // C
};

struct NamedEntry {
  const bundle::Entry* entry;
  std::string constant, type;
  std::vector<Port> ports;  // inputs, then outputs
};

std::vector<Port> name_ports(const NamedEntry& named, NameScope& constants) {
  NameScope members({"run", "entry", "entry_", named.type});
  std::vector<Port> ports;
  const auto add = [&](const std::vector<bundle::Tensor>& tensors, bool is_input) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      const std::string member = members.add(identifier(tensors[i].name));
      const std::string constant = constants.add(named.constant + "_" + capitals(member));
      ports.push_back({&tensors[i], is_input, i, member, members.add(member + "_"),
                       members.add(class_name(tensors[i].name)), constant, constants.add(constant + "_BYTES")});
    }
  };
  add(named.entry->inputs, true);
  add(named.entry->outputs, false);
  return ports;
}

// The most that any target of the bundle needs.
struct Sizes {
  uint64_t alignment_bytes = 64, arena_bytes = 0, scratch_bytes_per_thread = 0;
};

Sizes sizes_of(const bundle::BundleSpec& spec) {
  Sizes sizes;
  for (const bundle::Target& target : spec.targets) {
    for (const bundle::Plan& plan : target.plans) {
      sizes.alignment_bytes = std::max(sizes.alignment_bytes, plan.alignment_bytes);
      sizes.arena_bytes = std::max(sizes.arena_bytes, plan.arena_bytes);
    }
    for (const bundle::Kernel& kernel : target.kernels) {
      sizes.scratch_bytes_per_thread = std::max(sizes.scratch_bytes_per_thread, kernel.scratch_bytes);
    }
  }
  return sizes;
}

std::vector<std::pair<std::string, uint64_t>> constants_of(const bundle::BundleSpec& spec) {
  const Sizes sizes = sizes_of(spec);
  return {{"alignment_bytes", sizes.alignment_bytes},
          {"arena_bytes", sizes.arena_bytes},
          {"state_bytes", spec.state_bytes},
          {"scratch_bytes_per_thread", sizes.scratch_bytes_per_thread}};
}

std::vector<NamedEntry> name_entries(const bundle::BundleSpec& spec, const std::string& prefix) {
  NameScope constants({capitals(prefix) + "_BUNDLE_BYTES"}), types({prefix, "bytes"});
  for (const auto& [name, value] : constants_of(spec)) {
    constants.add(capitals(prefix + "_" + name));
    types.add(name);
  }
  std::vector<NamedEntry> entries;
  for (const bundle::Entry& entry : spec.entries) {
    const std::string constant = constants.add(capitals(prefix + "_" + identifier(entry.name)));
    entries.push_back({&entry, constant, types.add(class_name(entry.name)), {}});
    entries.back().ports = name_ports(entries.back(), constants);
  }
  return entries;
}

std::string c_part(const bundle::BundleSpec& spec, const std::vector<NamedEntry>& entries, const HeaderNames& names) {
  const std::string prefix = capitals(names.prefix);
  std::string text = "/* What ingot_create asks for, on every target of the bundle. */\n";
  for (const auto& [name, value] : constants_of(spec)) {
    text += fmt::format("#define {}_{} {}\n", prefix, capitals(name), value);
  }
  text += "\n/* Entry points; of each its inputs and outputs by index, and their bytes. */\n";
  for (size_t i = 0; i < entries.size(); ++i) {
    text += fmt::format("#define {} {}\n", entries[i].constant, i);
    for (const Port& port : entries[i].ports) {
      text += fmt::format("#define {} {}\n#define {} {}\n", port.constant, port.index, port.bytes_constant,
                          bundle::tensor_bytes(*port.tensor));
    }
  }
  if (!names.is_embedded) return text;
  return text +
         fmt::format(
             "\n/* The bundle itself, for ingot_open_memory. */\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n"
             "extern const unsigned char {0}_bundle[];\nextern const unsigned char {0}_bundle_end[];\n"
             "#ifdef __cplusplus\n}}\n#endif\n#define {1}_BUNDLE_BYTES ((uint64_t)({0}_bundle_end - {0}_bundle))\n",
             names.prefix, prefix);
}

std::string tensor_type(const bundle::Tensor& tensor) {
  std::string text = std::string("ingot::engine::TensorType<") + element_type(tensor.dtype).cpp;
  for (const uint64_t dim : tensor.dims) text += fmt::format(", {}", dim);
  return text + ">";
}

std::string entry_class(const NamedEntry& named) {
  std::string types, initializers, accessors, members;
  for (const Port& port : named.ports) {
    const char* of = port.is_input ? "input" : "output";
    const std::string span = port.type + (port.is_input ? "::Span" : "::ConstSpan");
    types += fmt::format("  using {} = {};\n", port.type, tensor_type(*port.tensor));
    initializers +=
        fmt::format(",\n        {}(entry_.{}_of<{}>({}))", port.field, of, port.type, quoted(port.tensor->name));
    accessors += fmt::format("  {} {}() const {{ return {}; }}\n", span, port.member, port.field);
    members += fmt::format("  {} {};\n", span, port.field);
  }
  return fmt::format(
      "class {0} {{\n public:\n{1}\n"
      "  explicit {0}(ingot::engine::Session& session)\n      : entry_(session.entry({2})){3} {{}}\n\n"
      "  void run() const {{ entry_.run(); }}\n{4}"
      "  const ingot::engine::Entry& entry() const {{ return entry_; }}\n\n"
      " private:\n  ingot::engine::Entry entry_;\n{5}}};\n",
      named.type, types, quoted(named.entry->name), initializers, accessors, members);
}

std::string cpp_part(const bundle::BundleSpec& spec, const std::vector<NamedEntry>& entries, const HeaderNames& names) {
  std::string text = fmt::format(
      "#include <complex>\n#include <cstddef>\n#include <cstdint>\n#include <ingot/engine.hpp>\n#include <span>\n\n"
      "namespace {} {{\n\n",
      names.prefix);
  for (const auto& [name, value] : constants_of(spec)) {
    text += fmt::format("inline constexpr std::uint64_t {} = {};\n", name, value);
  }
  if (names.is_embedded) {
    text += fmt::format(
        "\n// The bundle itself: ingot::engine::Bundle({0}::bytes()).\n"
        "inline std::span<const std::byte> bytes() {{ return std::as_bytes(std::span({0}_bundle, {0}_bundle_end)); "
        "}}\n",
        names.prefix);
  }
  text += "\n// Entry points of a session. Inputs and outputs are memory of the session's.\n";
  std::vector<std::string> classes;
  for (const NamedEntry& entry : entries) classes.push_back(entry_class(entry));
  return text + join(classes, "\n") + fmt::format("\n}}  // namespace {}\n", names.prefix);
}

}  // namespace

std::string typed_header(const bundle::BundleSpec& spec, const HeaderNames& names) {
  const std::vector<NamedEntry> entries = name_entries(spec, names.prefix);
  const std::string guard = capitals(names.prefix) + "_BUNDLE_H_";
  return fmt::format(
      "/* Written by `ingot header`: change the program, not this. */\n#ifndef {0}\n#define {0}\n\n"
      "#include <ingot/engine.h>\n\n{1}\n#ifdef __cplusplus\n{2}#endif\n\n#endif /* {0} */\n",
      guard, c_part(spec, entries, names), cpp_part(spec, entries, names));
}

std::string embedding_source(const std::string& prefix, const std::string& path, uint32_t page_bytes) {
  return fmt::format(
      "/* Written by `ingot header`: the bytes of a bundle. */\n"
      "__asm__(\".pushsection .rodata\\n\"\n"
      "        \".balign {2}\\n\"\n"
      "        \".globl {0}_bundle, {0}_bundle_end\\n\"\n"
      "        \"{0}_bundle: .incbin \\\"\" {1} \"\\\"\\n\"\n"
      "        \"{0}_bundle_end: .byte 0\\n\"\n"
      "        \".popsection\\n\");\n",
      prefix, quoted(path), page_bytes);
}

}  // namespace ingot
