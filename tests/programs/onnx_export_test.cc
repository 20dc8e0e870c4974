// Weights that go back into an ONNX model, and all else, which stays.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "aot/base/file.h"
#include "aot/frontend/onnx/export_weights.h"
#include "aot/frontend/onnx/import.h"
#include "tests/support/error_of.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/temporary_folder.h"

namespace ingot {
namespace {

SafeTensor stored(const Shape& shape, const std::vector<float>& values) {
  return {"F32", shape, std::as_bytes(std::span(values))};
}

std::vector<float> floats_of(const SafeTensor& tensor) {
  std::vector<float> values(tensor.data.size() / sizeof(float));
  std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  return values;
}

class OnnxExport : public testing::Test {
 protected:
  // y = (x + a) * b, where b lies in a file beside the model.
  std::string write_model() const {
    write_file(folder_.file("weights.bin"), raw_floats({7, 5, 6}));
    OnnxGraph graph;
    graph.input("x", kF32, {2});
    graph.floats("a", {2}, {1, 2});
    graph.tensor(onnx_external("b", kF32, {2}, {{"location", "weights.bin"}, {"offset", "4"}, {"length", "8"}}));
    graph.node("Add", {"x", "a"}, {"sum"});
    graph.node("Mul", {"sum", "b"}, {"y"});
    graph.output("y", kF32, {2});
    write_file(folder_.file("model.onnx"), onnx_model(graph, 18));
    return folder_.file("model.onnx");
  }

  const TemporaryFolder folder_;
};

TEST_F(OnnxExport, NewValuesAndThoseOfOtherFilesLieInTheModel) {
  const std::vector<float> values = {3, 4};
  const onnx::Exported exported =
      onnx::export_weights(write_model(), {{"a", stored({2}, values)}, {"c", stored({2}, values)}});
  EXPECT_EQ(exported.replaced, std::vector<std::string>{"a"});
  EXPECT_EQ(exported.unused, std::vector<std::string>{"c"});
  const TemporaryFolder elsewhere;
  write_file(elsewhere.file("tuned.onnx"), exported.model);
  const onnx::Imported imported = onnx::import_model(elsewhere.file("tuned.onnx"));
  EXPECT_EQ(floats_of(imported.weights.at("a")), (std::vector<float>{3, 4}));
  EXPECT_EQ(floats_of(imported.weights.at("b")), (std::vector<float>{5, 6}));
}

TEST_F(OnnxExport, ValuesMustFit) {
  const std::vector<float> values = {3, 4};
  const std::string error = error_of([&] { onnx::export_weights(write_model(), {{"a", stored({1, 2}, values)}}); });
  EXPECT_NE(error.find("the model's 'a' is tensor<2xf32>, the value for it F32[1,2]"), std::string::npos) << error;
}

TEST_F(OnnxExport, WithoutValuesAModelStaysAsItIs) {
  const std::filesystem::path goldens = std::filesystem::path(INGOT_SHARED_DIR) / "goldens/onnx";
  if (!std::filesystem::exists(goldens)) GTEST_SKIP() << "no goldens at " << goldens;
  for (const auto& folder : std::filesystem::directory_iterator(goldens)) {
    const std::string path = (folder.path() / "model.onnx").string();
    if (!std::filesystem::exists(path)) continue;
    const std::vector<std::byte> bytes = read_bytes(path);
    const std::string model = onnx::export_weights(path, {}).model;
    EXPECT_TRUE(std::ranges::equal(bytes, std::as_bytes(std::span(model)))) << path;
    const onnx::Imported imported = onnx::import_model(path);
    const onnx::Exported same = onnx::export_weights(path, imported.weights);
    EXPECT_EQ(same.replaced.size(), imported.weights.size()) << path;
  }
}

}  // namespace
}  // namespace ingot
