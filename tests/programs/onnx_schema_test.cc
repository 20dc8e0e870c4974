// Inputs and attributes of ONNX's nodes: what an op does not have, or what would not be heard, is refused.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <set>
#include <sstream>
#include <tuple>

#include "aot/base/file.h"
#include "aot/frontend/onnx/attribute_table.h"
#include "aot/frontend/onnx/import.h"
#include "aot/frontend/onnx/op_table.h"
#include "tests/support/error_of.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/temporary_folder.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;
using Attributes = std::vector<std::string>;

// What importing a model of one node with inputs of these shapes says; "" where it is imported.
std::string refused(const std::string& op, const std::vector<std::vector<int64_t>>& inputs,
                    const Attributes& attributes, int64_t opset, const OnnxNames& outputs = {"y"}) {
  OnnxGraph graph;
  OnnxNames names;
  for (const auto& dims : inputs) {
    names.push_back(dims.empty() ? "" : fmt::format("x{}", names.size()));
    if (!dims.empty()) graph.input(names.back(), kF32, dims);
  }
  graph.node(op, names, outputs, attributes);
  graph.output(outputs[0], kF32, {});
  const TemporaryFolder folder;
  write_file(folder.file("model.onnx"), onnx_model(graph, opset));
  return error_of([&] { onnx::import_model(folder.file("model.onnx")); });
}

void expect_refused(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << "'" << message << "' has no '" << part << "'";
}

TEST(OnnxAttributes, ThoseOfOtherOpsAreRefusedByName) {
  const std::string message = refused("Relu", {{4}}, {onnx_float("alpha", 0.1F)}, 18);
  expect_refused(message, "Relu 'Relu_node' (opset 18): it has the attribute alpha, which Relu of opset 18 does not");
  expect_refused(message, "remove it");
}

TEST(OnnxAttributes, ThoseOfOtherOpsetsAreRefused) {
  EXPECT_EQ(refused("Clip", {{4}}, {onnx_float("min", 0)}, 10), "");
  expect_refused(refused("Clip", {{4}}, {onnx_float("min", 0)}, 11), "attribute min, which Clip of opset 11");
  expect_refused(refused("AveragePool", {{1, 1, 4, 4}},
                         {onnx_integers("kernel_shape", {2, 2}), onnx_integers("dilations", {2, 2})}, 18),
                 "attribute dilations, which AveragePool of opset 18");
}

TEST(OnnxAttributes, TheirKindsMustFit) {
  expect_refused(refused("Flatten", {{2, 3}}, {onnx_float("axis", 1)}, 18),
                 "its attribute axis is a float, and must be an integer");
  expect_refused(refused("Elu", {{4}}, {onnx_integer("alpha", 1)}, 18), "is an integer, and must be a float");
}

TEST(OnnxAttributes, TwoOfOneNameAreRefused) {
  expect_refused(refused("Flatten", {{2, 3}}, {onnx_integer("axis", 1), onnx_integer("axis", 0)}, 18), "axis twice");
}

TEST(OnnxAttributes, HintsAndNotesOfToolsArePassedBy) {
  EXPECT_EQ(refused("Dropout", {{4}}, {onnx_integer("seed", 7)}, 18), "");
  EXPECT_EQ(refused("Relu", {{4}}, {onnx_text("__origin", "layer 1")}, 18), "");
}

TEST(OnnxAttributes, WhatOnlySomeUsesReadIsAllowedInTheOthers) {
  EXPECT_EQ(refused("MaxPool", {{1, 1, 4}}, {onnx_integers("kernel_shape", {2}), onnx_integer("storage_order", 1)}, 18),
            "");
  EXPECT_EQ(refused("Attention", {{1, 2, 3, 4}, {1, 2, 3, 4}, {1, 2, 3, 4}}, {onnx_integer("q_num_heads", 2)}, 23), "");
  EXPECT_EQ(refused("QuantizeLinear", {{4}, {1}}, {onnx_integer("axis", 0), onnx_integer("saturate", 1)}, 19), "");
}

TEST(OnnxAttributes, WhatTheInputsSayOtherwiseIsRefused) {
  expect_refused(refused("Conv", {{1, 1, 8}, {1, 1, 3}}, {onnx_integers("kernel_shape", {5})}, 18),
                 "kernel_shape = [5] for weights of [3]");
  expect_refused(refused("RNN", {{2, 1, 3}, {1, 4, 3}, {1, 4, 4}}, {onnx_integer("hidden_size", 5)}, 18),
                 "hidden_size = 5 for weights of 4");
  expect_refused(refused("Attention", {{1, 2, 3, 4}, {1, 2, 3, 4}, {1, 2, 3, 4}}, {onnx_integer("q_num_heads", 4)}, 23),
                 "q_num_heads = 4 for an input of 2 heads");
  expect_refused(refused("LinearAttention", {{1, 3, 8}, {1, 3, 8}, {1, 3, 8}},
                         {onnx_integer("q_num_heads", 2), onnx_integer("kv_num_heads", 2)}, 27),
                 "update_rule = 'gated_delta' takes decay and beta");
}

TEST(OnnxAttributes, ValuesThatOnnxDoesNotHaveAreRefused) {
  expect_refused(refused("LayerNormalization", {{2, 4}, {4}}, {onnx_integer("stash_type", 7)}, 18), "a float type");
}

// What a call of a function with one input and no attributes says.
std::string refused_call(const OnnxNames& inputs, const Attributes& attributes) {
  OnnxGraph graph;
  graph.input("x", kF32, {2});
  graph.node("Twice", inputs, {"y"}, attributes, "local");
  graph.output("y", kF32, {2});
  const std::string function = onnx_function("local", "Twice", {"a"}, {"b"}, {}, onnx_node("Add", {"a", "a"}, {"b"}));
  const TemporaryFolder folder;
  write_file(folder.file("model.onnx"), onnx_model(graph, 18, {function}));
  return error_of([&] { onnx::import_model(folder.file("model.onnx")); });
}

TEST(OnnxAttributes, AFunctionsCallerMayOnlyGiveWhatItHas) {
  EXPECT_EQ(refused_call({"x"}, {}), "");
  expect_refused(refused_call({"x"}, {onnx_float("slope", 0.25F)}),
                 "it has the attribute slope, which the model's function does not have");
  expect_refused(refused_call({"x", "x"}, {}), "it has 2 inputs, and the model's function takes 1");
}

TEST(OnnxInputs, MoreThanTheOpTakesAreRefused) {
  expect_refused(refused("Relu", {{4}, {4}}, {}, 18),
                 "Relu 'Relu_node' (opset 18): it has 2 inputs, and Relu of opset 18 takes 1");
  expect_refused(refused("Gemm", {{2, 3}, {3, 4}, {4}, {4}}, {}, 13), "takes 2 to 3");
}

TEST(OnnxInputs, ThoseOfOtherOpsetsAreRefused) {
  EXPECT_EQ(refused("Gemm", {{2, 3}, {3, 4}}, {}, 13), "");
  expect_refused(refused("Dropout", {{4}, {1}}, {}, 10), "it has 2 inputs, and Dropout of opset 10 takes 1");
  expect_refused(refused("Gemm", {{2, 3}, {3, 4}}, {}, 9), "takes 3; name the opset that the model was written for");
}

TEST(OnnxInputs, TheLastMayBeLeftOutByAnEmptyName) {
  EXPECT_EQ(refused("Relu", {{4}, {}}, {}, 18), "");
  EXPECT_EQ(refused("Clip", {{4}, {}, {}}, {}, 18), "");
}

TEST(OnnxInputs, FewerThanTheOpTakesAreRefused) {
  expect_refused(refused("Concat", {}, {onnx_integer("axis", 0)}, 18),
                 "it has 0 inputs, and Concat of opset 18 takes at least 1");
}

// --- the table -------------------------------------------------------------------------------------------------------

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  char part[4096];
  while (const size_t count = pipe ? fread(part, 1, sizeof part, pipe.get()) : 0) text.append(part, count);
  return text;
}

// "domain op attribute kind first last" of every schema of the package onnx.
constexpr const char* kSchemas = R"(
import onnx.defs
versions = {}
for s in onnx.defs.get_all_schemas_with_history():
    versions.setdefault((s.domain or '-', s.name), []).append(s)
for (domain, op), schemas in versions.items():
    schemas.sort(key=lambda s: s.since_version)
    for s, after in zip(schemas, schemas[1:] + [None]):
        for name, a in s.attributes.items():
            print(domain, op, name, int(a.type.value), s.since_version, after.since_version - 1 if after else 99)
)";

using Uses = std::set<std::tuple<std::string, std::string, std::string, int, int64_t>>;  // the last: the opset

int64_t oldest(std::string_view domain) { return domain.empty() ? onnx::kOldestOpset : 1; }

Uses uses_of_schemas(const std::string& text) {
  Uses uses;
  std::istringstream lines(text);
  std::string domain, op, name;
  int kind = 0;
  int64_t first = 0, last = 0;
  while (lines >> domain >> op >> name >> kind >> first >> last) {
    if (domain == "-") domain.clear();
    for (int64_t opset = std::max(first, oldest(domain)); opset <= std::min<int64_t>(last, 99); ++opset) {
      if (onnx::find_op(domain, op, opset)) uses.emplace(domain, op, name, kind, opset);
    }
  }
  return uses;
}

// The package knows the ops of ONNX itself; those of a runtime's own domain are that runtime's to publish.
bool in_package(std::string_view domain) { return domain != "com.microsoft"; }

fs::path python_with_onnx() { return fs::path(INGOT_SOURCE_DIR) / "build/onnx/bin/python"; }

std::string run_python(const std::string& program) {
  const TemporaryFolder folder;
  write_file(folder.file("program.py"), program);
  return output_of(python_with_onnx().string() + " " + folder.file("program.py"));
}

#define SKIP_WITHOUT_ONNX()            \
  if (!fs::exists(python_with_onnx())) \
  GTEST_SKIP() << "no package onnx: python3 -m venv build/onnx && build/onnx/bin/pip install onnx"

TEST(OnnxInputs, TheTableSaysWhatThePackageOnnxSays) {
  SKIP_WITHOUT_ONNX();
  std::string program = "import onnx.defs\n";
  std::vector<std::string> expected;
  for (const onnx::OpRow& row : onnx::op_table()) {
    if (!in_package(row.domain)) continue;
    for (int64_t opset = std::max(row.first, oldest(row.domain)); opset <= row.last; ++opset) {
      program += fmt::format(
          "s = onnx.defs.get_schema('{0}', {1}, '{2}'); print('{2}', '{0}', {1}, s.min_input, min(s.max_input, {3}))\n",
          row.name, opset, row.domain, onnx::OpRow::kAny);
      expected.push_back(fmt::format("{} {} {} {} {}", row.domain, row.name, opset, row.inputs_min, row.inputs_max));
    }
  }
  std::istringstream lines(run_python(program));
  std::string line;
  for (const std::string& row : expected) {
    ASSERT_TRUE(std::getline(lines, line)) << row;
    EXPECT_EQ(line, row);
  }
}

TEST(OnnxAttributes, TheTableSaysWhatThePackageOnnxSays) {
  SKIP_WITHOUT_ONNX();
  const Uses expected = uses_of_schemas(run_python(kSchemas));
  ASSERT_FALSE(expected.empty());
  Uses found;
  for (const onnx::AttributeRow& row : onnx::attribute_table()) {
    if (!in_package(row.domain)) continue;
    for (int64_t opset = row.first; opset <= row.last; ++opset)
      found.emplace(row.domain, row.op, row.name, static_cast<int>(row.kind), opset);
  }
  for (const auto& [domain, op, name, kind, opset] : expected) {
    EXPECT_TRUE(found.contains({domain, op, name, kind, opset})) << op << "." << name << " of opset " << opset;
  }
  for (const auto& [domain, op, name, kind, opset] : found) {
    EXPECT_TRUE(expected.contains({domain, op, name, kind, opset})) << op << "." << name << " of opset " << opset;
  }
}

TEST(OnnxAttributes, EveryRowOfTheTableIsOfAnOp) {
  for (const onnx::AttributeRow& row : onnx::attribute_table()) {
    EXPECT_TRUE(onnx::find_op(row.domain, row.op, row.first)) << row.op << "." << row.name;
    EXPECT_TRUE(onnx::find_op(row.domain, row.op, row.last)) << row.op << "." << row.name;
  }
}

}  // namespace
}  // namespace ingot
