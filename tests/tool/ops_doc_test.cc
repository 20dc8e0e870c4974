// docs/ops.md is what the op table says. INGOT_BLESS=1 writes it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "aot/graph/text/parse.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/region.h"
#include "tests/support/file_text.h"

namespace ingot {
namespace {

constexpr std::string_view kIntroduction = R"(# Ops

Every op that the compiler knows: StableHLO's, CHLO's, and a few of its own. `ingot opt FILE.mlir` parses and checks a
program; what cannot be compiled is an error with the op's name and place.

- **Types**: the element types for which the op's samples are run through the evaluator and, where it has code, through
  compiled code. *floats* are f16, bf16, f32 and f64; *integers* all signed and unsigned ones from 2 to 64 bits.
- **Gradient**: *yes*: reverse mode differentiates it, checked against finite differences. *zero*: nothing flows back.
- **Bound**: the greatest error of compiled code in units in the last place, f32 / f64; 0 is exact. f16 and bf16 are
  computed in f32 and rounded once. For sums, units of the sum of the terms' magnitudes.
- **How**: *fused* into the kernels that read it; a *kernel* that others fuse into; *expands* into other ops; *jumps*:
  steps of the plan; *-*: a pass removes it.
- **Programs**: how many of StableHLO's own programs that check themselves use the op, and pass when they are compiled.

| op | meaning | types | gradient | bound | how | programs |
|---|---|---|---|---|---|---|
)";

std::string types_of(const OpDef& def) {
  std::set<DType> found;
  for (const Sample& sample : def.samples ? def.samples() : std::vector<Sample>()) {
    const auto module = parse_module(sample.text, "sample", all_ops());
    for (const auto& function : module->functions) {
      for (const auto& argument : function->body.arguments) found.insert(argument->type.dtype);
      for (const auto& op : function->body.ops) {
        for (const auto& result : op->results) found.insert(result->type.dtype);
      }
    }
  }
  std::string text;
  const auto add = [&](std::string_view name) { text += fmt::format("{}{}", text.empty() ? "" : ", ", name); };
  const auto add_class = [&](std::string_view name, auto is_member) {
    std::vector<DType> missing, members;
    for (int i = 0; i < kDTypeCount; ++i) {
      const auto dtype = static_cast<DType>(i);
      if (is_member(dtype)) (found.contains(dtype) ? members : missing).push_back(dtype);
    }
    if (missing.empty()) return add(name);
    for (const DType dtype : members) add(info(dtype).name);
  };
  add_class("floats", [](DType d) { return is_float(d) && !is_narrow_float(d); });
  add_class("integers", is_integer);
  add_class("i1", is_bool);
  add_class("complex", is_complex);
  return text;
}

std::string_view gradient_of(const OpDef& def) { return def.gradient ? "yes" : def.zero_gradient ? "zero" : ""; }

std::string bound_of(const OpDef& def) {
  if (def.root == KernelRoot::kNone && !def.expand) return "";
  return fmt::format("{:g} / {:g}", def.ulp.f32, def.ulp.f64);
}

std::string_view how(const OpDef& def) {
  if (def.expand && def.expand != ops::converted_for_region) return "expands";
  switch (def.root) {
    case KernelRoot::kNone:
      return "-";
    case KernelRoot::kElement:
      return "fused";
    case KernelRoot::kControlFlow:
      return "jumps";
    default:
      return "kernel";
  }
}

// By op: written by conformance_test.
std::map<std::string, int> programs_passed() {
  std::map<std::string, int> passed;
  std::ifstream file(std::filesystem::path(INGOT_SOURCE_DIR) / "tests/tool/conformance.txt");
  std::string op;
  for (int count = 0; file >> op >> count;) passed[op] = count;
  return passed;
}

std::string document() {
  const std::map<std::string, int> passed = programs_passed();
  std::map<std::string_view, const OpDef*> sorted;
  for (const OpDef* def : all_ops().all()) {
    if (!def->is_terminator && def->name != "ingot.kernel") sorted.emplace(def->name, def);
  }
  std::string text(kIntroduction);
  for (const auto& [name, def] : sorted) {
    std::string doc(def->doc);
    for (size_t at = 0; (at = doc.find('|', at)) != doc.npos; at += 2) doc.insert(at, "\\");
    const auto programs = passed.find(std::string(name));
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |\n", name, doc, types_of(*def), gradient_of(*def),
                        bound_of(*def), how(*def), programs == passed.end() ? "" : std::to_string(programs->second));
  }
  return text;
}

TEST(OpsDocument, IsCurrent) {
  const std::filesystem::path path = std::filesystem::path(INGOT_SOURCE_DIR) / "docs/ops.md";
  const std::string expected = document();
  if (std::getenv("INGOT_BLESS")) std::ofstream(path) << expected;
  EXPECT_EQ(file_text(path), expected) << "run ops_doc_test with INGOT_BLESS=1";
}

}  // namespace
}  // namespace ingot
