// What a damaged or hostile ONNX file may do: import, or be an error. Small models are written here, then each byte is
// changed and each length cut off.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "aot/base/error.h"
#include "aot/frontend/onnx/import.h"
#include "tests/support/onnx_writer.h"

namespace ingot {
namespace {

using onnx::Imported;

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

class OnnxDamage : public testing::TestWithParam<std::string (*)()> {
 protected:
  // "" where the bytes import.
  std::string import(const std::string& bytes) {
    const int descriptor = memfd_create("model", 0);
    EXPECT_EQ(::write(descriptor, bytes.data(), bytes.size()), std::ssize(bytes));
    const std::string path = fmt::format("/proc/self/fd/{}", descriptor);
    const std::string said = import_file(path);
    ::close(descriptor);
    return said;
  }

 private:
  static std::string import_file(const std::string& path) {
    try {
      onnx::import_model(path);
    } catch (const Error& error) {
      EXPECT_NE(error.kind(), ErrorKind::kBug) << error.what();
      EXPECT_NE(error.message().find(path), std::string::npos) << error.what();
      return error.message();
    }
    return "";
  }
};

TEST_P(OnnxDamage, TheModelImports) { EXPECT_EQ(import(GetParam()()), ""); }

TEST_P(OnnxDamage, EveryChangedByteImportsOrIsAnError) {
  const std::string bytes = GetParam()();
  int errors = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const int change : {0x01, 0x80, 0x7f, 0xff}) {
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

std::string name_of(const testing::TestParamInfo<std::string (*)()>& info) {
  constexpr const char* kNames[] = {"Layer", "Loop", "Call"};
  return kNames[info.index];
}

INSTANTIATE_TEST_SUITE_P(Models, OnnxDamage, testing::Values(layer, loop, call), name_of);

}  // namespace
}  // namespace ingot
