// What a damaged or hostile ONNX file may do: import, or be an error. Small models are written here, then each byte is
// changed and each length cut off.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <random>

#include "aot/base/error.h"
#include "aot/base/file.h"
#include "aot/frontend/onnx/import.h"
#include "tests/support/onnx_cases.h"
#include "tests/support/onnx_writer.h"

namespace ingot {
namespace {

// A layer with weights, and a shape that is computed.
std::string layer() {
  OnnxGraph graph;
  graph.input("x", 1, {2, 3});
  graph.floats("w", {4, 3}, std::vector<float>(12, 0.5F));
  graph.floats("b", {4}, {1, 2, 3, 4});
  graph.integers("shape", {2}, {4, -1});
  graph.node("Gemm", {"x", "w", "b"}, {"h"}, {onnx_integer("transB", 1)});
  graph.node("Relu", {"h"}, {"r"});
  graph.node("Reshape", {"r", "shape"}, {"y"});
  graph.output("y", 1, {4, 2});
  return onnx_model(graph, 18);
}

// A loop whose body stacks what it carries, and a branch.
std::string loop() {
  OnnxGraph body;
  body.input("i", 7, {});
  body.input("go", 9, {});
  body.input("carried", 1, {2});
  body.node("Identity", {"go"}, {"goes_on"});
  body.node("Add", {"carried", "carried"}, {"next"});
  body.node("Identity", {"next"}, {"part"});
  for (const char* name : {"goes_on", "next", "part"}) body.output(name, 1, {});
  OnnxGraph branch;
  branch.node("Neg", {"last"}, {"negative"});
  branch.output("negative", 1, {2});
  OnnxGraph otherwise;
  otherwise.node("Identity", {"last"}, {"same"});
  otherwise.output("same", 1, {2});
  OnnxGraph graph;
  graph.input("x", 1, {2});
  graph.input("which", 9, {});
  graph.integers("count", {}, {3});
  graph.node("Loop", {"count", "", "x"}, {"last", "all"}, {onnx_graph("body", body)});
  graph.node("If", {"which"}, {"y"}, {onnx_graph("then_branch", branch), onnx_graph("else_branch", otherwise)});
  graph.output("y", 1, {2});
  graph.output("all", 1, {3, 2});
  return onnx_model(graph, 18);
}

// A function with an attribute of its caller, and a pool whose attributes are lists.
std::string call() {
  OnnxGraph graph;
  graph.input("x", 1, {1, 2, 5, 5});
  graph.node("Leaky", {"x"}, {"h"}, {onnx_float("slope", 0.25F)}, "local");
  graph.node("MaxPool", {"h"}, {"y"}, {onnx_integers("kernel_shape", {2, 2}), onnx_integers("strides", {2, 2})});
  graph.output("y", 1, {1, 2, 2, 2});
  const std::string function =
      onnx_function("local", "Leaky", {"a"}, {"b"}, {"slope"},
                    onnx_node("LeakyRelu", {"a"}, {"b"}, {onnx_reference("alpha", "slope", 1)}));
  return onnx_model(graph, 18, {function});
}

// In how many ways each byte is changed; of the node tests, how many changed models.
int damages(int otherwise) {
  const char* given = std::getenv("INGOT_ONNX_DAMAGES");
  return given ? std::atoi(given) : otherwise;
}

// "" where the bytes import.
std::string import(const std::string& bytes) {
  const int descriptor = memfd_create("model", 0);
  EXPECT_EQ(::write(descriptor, bytes.data(), bytes.size()), std::ssize(bytes));
  const std::string path = fmt::format("/proc/self/fd/{}", descriptor);
  std::string said;
  try {
    onnx::import_model(path);
  } catch (const Error& error) {
    EXPECT_NE(error.kind(), ErrorKind::kBug) << error.what();
    EXPECT_NE(error.message().find(path), std::string::npos) << error.what();
    said = error.message();
  }
  ::close(descriptor);
  return said;
}

class OnnxDamage : public testing::TestWithParam<std::string (*)()> {};

TEST_P(OnnxDamage, TheModelImports) { EXPECT_EQ(import(GetParam()()), ""); }

TEST_P(OnnxDamage, EveryChangedByteImportsOrIsAnError) {
  const std::string bytes = GetParam()();
  int errors = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (int k = 1; k <= damages(4); ++k) {
      constexpr int kFirst[] = {0x01, 0x80, 0x7f, 0xff};
      const int change = damages(4) == 4 ? kFirst[k - 1] : k;
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      errors += !import(damaged).empty();
    }
  }
  EXPECT_GT(errors, 0);
}

TEST_P(OnnxDamage, EveryCutFileIsAnErrorOrHasAGraph) {
  const std::string bytes = GetParam()();
  for (size_t size = 0; size < bytes.size(); ++size) import(bytes.substr(0, size));
}

// Every op's way to be wrong: bytes of the node tests are changed at random.
TEST(OnnxDamagedCases, ImportOrAreErrors) {
  const std::vector<OnnxCase> cases = onnx_cases();
  if (cases.empty()) GTEST_SKIP() << kNoOnnxCases;
  std::mt19937 random(1);
  for (const OnnxCase& test : cases) {
    SCOPED_TRACE(test.name);
    const std::string bytes = read_text(test.model());
    for (int k = 0; k < damages(4); ++k) {
      std::string damaged = bytes;
      for (int changes = 1 + static_cast<int>(random() % 3); changes-- > 0;) {
        damaged[random() % damaged.size()] = static_cast<char>(random());
      }
      import(damaged);
    }
  }
}

std::string name_of(const testing::TestParamInfo<std::string (*)()>& info) {
  constexpr const char* kNames[] = {"Layer", "Loop", "Call"};
  return kNames[info.index];
}

INSTANTIATE_TEST_SUITE_P(Models, OnnxDamage, testing::Values(layer, loop, call), name_of);

}  // namespace
}  // namespace ingot
