// What importing an ONNX model makes of names, weights, files beside it, functions and what cannot be.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "aot/base/file.h"
#include "aot/frontend/onnx/import.h"
#include "tests/support/error_of.h"
#include "tests/support/onnx_run.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/temporary_folder.h"

namespace ingot {
namespace {

class OnnxImport : public testing::Test {
 protected:
  std::string write(const std::string& bytes, const std::string& name = "model.onnx") const {
    write_file(folder_.file(name), bytes);
    return folder_.file(name);
  }
  onnx::Imported import(const OnnxGraph& graph, int64_t opset = 18, const onnx::ImportOptions& options = {}) const {
    return onnx::import_model(write(onnx_model(graph, opset)), options);
  }
  std::string refused(const OnnxGraph& graph, int64_t opset = 18, const onnx::ImportOptions& options = {}) const {
    return error_of([&] { import(graph, opset, options); });
  }
  static std::vector<double> run(const onnx::Imported& imported, const NamedTensors& inputs) {
    ReferenceExecutor executor;
    return run_imported(imported, executor, inputs).at("y").f;
  }

  const TemporaryFolder folder_;
};

RefTensor row(const std::vector<double>& values) {
  return tensor_of_values({DType::kF32, {std::ssize(values)}}, values);
}

TEST_F(OnnxImport, InputsOutputsAndWeightsKeepTheirNames) {
  OnnxGraph graph;
  graph.input("net/in:0", kF32, {2});
  graph.floats("net.weight", {2}, {10, 20});
  graph.floats("half", {}, {0.5F});
  graph.floats("unused", {2}, {1, 1});
  graph.node("Mul", {"net/in:0", "net.weight"}, {"product"});
  graph.node("Mul", {"product", "half"}, {"y"});
  graph.output("y", kF32, {2});
  const onnx::Imported imported = import(graph);
  const Function& function = *imported.module->functions.front();
  EXPECT_EQ(function.name, "predict");
  ASSERT_EQ(function.argument_count(), 2);
  EXPECT_EQ(attr_text(function.argument_attrs[0], attributes::kName), "net/in:0");
  EXPECT_EQ(attr_text(function.argument_attrs[1], attributes::kState), "net.weight");
  ASSERT_EQ(imported.weights.size(), 1u);
  EXPECT_EQ(imported.weights.at("net.weight").dtype, "F32");
  EXPECT_EQ(run(imported, {{"net/in:0", row({1, 2})}}), (std::vector<double>{5, 20}));
}

// As exporters write it; the specification has a third dimension.
TEST_F(OnnxImport, SignalsOfTwoDimensionsAreReal) {
  std::vector<double> values;
  for (const bool has_third : {false, true}) {
    OnnxGraph graph;
    graph.input("x", kF32, has_third ? std::vector<int64_t>{1, 6, 1} : std::vector<int64_t>{1, 6});
    graph.integers("step", {}, {2});
    graph.floats("window", {4}, {1, 2, 2, 1});
    graph.node("STFT", {"x", "step", "window"}, {"y"});
    graph.output("y", kF32, {1, 2, 3, 2});
    const Shape shape = has_third ? Shape{1, 6, 1} : Shape{1, 6};
    const RefTensor x = tensor_of_values({DType::kF32, shape}, {1, 2, 4, 8, 16, 32});
    const std::vector<double> spectra = run(import(graph), {{"x", x}});
    ASSERT_EQ(spectra.size(), 12u);
    EXPECT_EQ(spectra[0], 1 + 2 * 2 + 2 * 4 + 8);
    if (has_third) EXPECT_EQ(spectra, values);
    values = spectra;
  }
}

TEST_F(OnnxImport, WindowsLargerThanTheInputHaveOnePositionWithinAStride) {
  const NamedTensors inputs{{"x", tensor_of_values({DType::kF32, {1, 1, 2}}, {6, 8})}};
  for (const auto& [op, expected] : std::map<std::string, double>{{"AveragePool", 7}, {"MaxPool", 8}, {"LpPool", 10}}) {
    for (const int64_t stride : {2, 3, 9}) {
      const int64_t positions = stride == 2 ? 0 : 1;
      OnnxGraph graph;
      graph.input("x", kF32, {1, 1, 2});
      graph.node(
          op, {"x"}, {"y"},
          {onnx_integers("kernel_shape", {4}), onnx_integers("strides", {stride}), onnx_integer("ceil_mode", 1)});
      graph.output("y", kF32, {1, 1, positions});
      EXPECT_EQ(run(import(graph), inputs), std::vector<double>(positions, expected)) << op << " " << stride;
    }
  }
}

TEST_F(OnnxImport, InitializersMayBeInputsToo) {
  OnnxGraph graph;
  graph.input("x", kF32, {2});
  graph.input("w", kF32, {2});
  graph.floats("w", {2}, {3, 4});
  graph.node("Add", {"x", "w"}, {"y"});
  graph.output("y", kF32, {2});
  EXPECT_EQ(run(import(graph), {{"x", row({1, 1})}}), (std::vector<double>{4, 5}));
}

TEST_F(OnnxImport, WeightsMayLieInFilesBesideTheModel) {
  OnnxGraph graph;
  graph.input("x", kF32, {2});
  graph.tensor(onnx_external("w", kF32, {2}, {{"location", "model.data"}, {"offset", "4"}, {"length", "8"}}));
  graph.node("Add", {"x", "w"}, {"y"});
  graph.output("y", kF32, {2});
  write(raw_floats({0, 7, 8}), "model.data");
  EXPECT_EQ(run(import(graph), {{"x", row({1, 1})}}), (std::vector<double>{8, 9}));
}

TEST_F(OnnxImport, FilesOutsideTheModelsFolderAreNotRead) {
  for (const char* location : {"/etc/passwd", "../secret", "a/../../secret", ""}) {
    OnnxGraph graph;
    graph.tensor(onnx_external("w", kF32, {2}, {{"location", location}}));
    graph.node("Neg", {"w"}, {"y"});
    graph.output("y", kF32, {2});
    EXPECT_NE(refused(graph).find("which must lie in the model's folder"), std::string::npos) << location;
  }
}

TEST_F(OnnxImport, RangesOfFilesAreChecked) {
  write(raw_floats({0, 7, 8}), "model.data");
  const auto with = [&](const std::string& offset, const std::string& length) {
    OnnxGraph graph;
    graph.tensor(onnx_external("w", kF32, {2}, {{"location", "model.data"}, {"offset", offset}, {"length", length}}));
    graph.node("Neg", {"w"}, {"y"});
    graph.output("y", kF32, {2});
    return refused(graph);
  };
  EXPECT_EQ(with("4", "8"), "");
  EXPECT_NE(with("8", "8").find("takes 8 bytes from byte 8"), std::string::npos);
  EXPECT_NE(with("99", "8").find("starts at byte 99"), std::string::npos);
  EXPECT_NE(with("18446744073709551612", "8").find("starts at byte"), std::string::npos);
  EXPECT_NE(with("4", "4").find("takes 8 bytes, but has 4"), std::string::npos);
  EXPECT_NE(with("four", "8").find("is no number: 'four'"), std::string::npos);
}

TEST_F(OnnxImport, OpenDimensionsAreGivenByName) {
  OnnxGraph graph;
  graph.input("x", kF32, {-1, 2});
  graph.node("Shape", {"x"}, {"shape"});
  graph.node("ConstantOfShape", {"shape"}, {"zeros"});
  graph.node("Add", {"x", "zeros"}, {"y"});
  graph.output("y", kF32, {-1, 2});
  EXPECT_NE(refused(graph).find("dimension 0 of the input 'x' is not known; give it by --shape batch=SIZE"),
            std::string::npos);
  for (const GivenShape& shape : {GivenShape{"batch", {3}}, GivenShape{"x", {3, 2}}}) {
    const onnx::Imported imported = import(graph, 18, {.shapes = {shape}});
    EXPECT_EQ(imported.module->functions.front()->results[0].type, (TensorType{DType::kF32, {3, 2}}));
  }
}

TEST_F(OnnxImport, AGivenIntegerDecidesABranch) {
  OnnxGraph then, otherwise;
  then.node("Neg", {"x"}, {"a"});
  then.output("a", kF32, {2});
  otherwise.node("Concat", {"x", "x"}, {"b"}, {onnx_integer("axis", 0)});
  otherwise.output("b", kF32, {4});
  OnnxGraph graph;
  graph.input("x", kF32, {2});
  graph.input("rate", kI64, {});
  graph.integers("wanted", {}, {16000});
  graph.node("Equal", {"rate", "wanted"}, {"is_wanted"});
  graph.node("If", {"is_wanted"}, {"y"}, {onnx_graph("then_branch", then), onnx_graph("else_branch", otherwise)});
  graph.output("y", kF32, {2});
  EXPECT_NE(refused(graph).find("its branches give tensor<2xf32> and tensor<4xf32>"), std::string::npos);
  const onnx::Imported imported = import(graph, 18, {.shapes = {{"rate", {16000}}}});
  EXPECT_EQ(imported.given, std::set<std::string>{"rate"});
  EXPECT_EQ(run(imported, {{"x", row({1, 2})}}), (std::vector<double>{-1, -2}));
}

// As of a model of two sample rates, which fits the sizes of one of them at a time.
OnnxGraph by_rate(const OnnxGraph& wanted, const OnnxGraph& otherwise) {
  OnnxGraph graph;
  graph.input("x", kF32, {2});
  graph.input("rate", kI64, {});
  graph.integers("wanted", {}, {16000});
  graph.floats("three", {3}, {1, 2, 3});
  graph.node("Equal", {"rate", "wanted"}, {"is_wanted"});
  graph.node("If", {"is_wanted"}, {"y"}, {onnx_graph("then_branch", wanted), onnx_graph("else_branch", otherwise)});
  graph.output("y", kF32, {2});
  return graph;
}

TEST_F(OnnxImport, ABranchThatDoesNotFitNamesWhatDecides) {
  OnnxGraph then, otherwise;
  then.node("Neg", {"x"}, {"a"});
  then.output("a", kF32, {2});
  otherwise.node("Add", {"x", "three"}, {"b"});
  otherwise.output("b", kF32, {2});
  const OnnxGraph graph = by_rate(then, otherwise);
  const std::string message = refused(graph);
  EXPECT_NE(message.find("Add 'Add_node'"), std::string::npos) << message;
  EXPECT_NE(message.find("one integer among the inputs decides, --shape NAME=VALUE gives it"), std::string::npos);
  EXPECT_EQ(run(import(graph, 18, {.shapes = {{"rate", {16000}}}}), {{"x", row({1, 2})}}),
            (std::vector<double>{-1, -2}));
}

TEST_F(OnnxImport, BranchesWithinBranchesSayOnceWhatDecides) {
  OnnxGraph inner, innermost, negative;
  innermost.node("Add", {"x", "three"}, {"a"});
  innermost.output("a", kF32, {2});
  negative.node("Neg", {"x"}, {"b"});
  negative.output("b", kF32, {2});
  const std::vector<std::string> branches = {onnx_graph("then_branch", innermost), onnx_graph("else_branch", negative)};
  inner.node("If", {"is_wanted"}, {"c"}, branches);
  inner.output("c", kF32, {2});
  const OnnxGraph graph = by_rate(inner, negative);
  const std::string message = refused(graph), hint = "; a branch of If";
  const size_t first = message.find(hint);
  ASSERT_NE(first, std::string::npos) << message;
  EXPECT_EQ(message.find(hint, first + 1), std::string::npos) << message;
}

TEST_F(OnnxImport, FunctionsAreInlinedWithTheirCallersAttributes) {
  OnnxGraph graph;
  graph.input("x", kF32, {2});
  graph.node("Leaky", {"x"}, {"y"}, {onnx_float("slope", 0.25F)}, "local");
  graph.output("y", kF32, {2});
  const std::string function =
      onnx_function("local", "Leaky", {"a"}, {"b"}, {"slope"},
                    onnx_node("LeakyRelu", {"a"}, {"b"}, {onnx_reference("alpha", "slope", 1)}));
  const onnx::Imported imported = onnx::import_model(write(onnx_model(graph, 18, {function})));
  EXPECT_EQ(run(imported, {{"x", row({-4, 4})}}), (std::vector<double>{-1, 4}));
}

TEST_F(OnnxImport, FunctionsThatCallThemselvesAreRefused) {
  OnnxGraph graph;
  graph.input("x", kF32, {2});
  graph.node("Round", {"x"}, {"y"}, {}, "local");
  graph.output("y", kF32, {2});
  const std::string function =
      onnx_function("local", "Round", {"a"}, {"b"}, {}, onnx_node("Round", {"a"}, {"b"}, {}, "local"));
  EXPECT_NE(error_of([&] { onnx::import_model(write(onnx_model(graph, 18, {function}))); }).find("nest deeper than"),
            std::string::npos);
}

TEST_F(OnnxImport, EveryUnsupportedOpIsNamedAtOnce) {
  OnnxGraph body;
  body.node("FusedInBranch", {"x"}, {"a"}, {}, "com.microsoft");
  body.output("a", kF32, {2});
  OnnxGraph graph;
  graph.input("x", kF32, {2});
  graph.input("c", 9, {});
  graph.node("Wrong", {"x"}, {"p"});
  graph.node("Wrong", {"p"}, {"q"});
  graph.node("If", {"c"}, {"y"}, {onnx_graph("then_branch", body), onnx_graph("else_branch", body)});
  graph.output("y", kF32, {2});
  const std::string message = refused(graph);
  EXPECT_NE(message.find("Wrong of ai.onnx (opset 18): 2 nodes, such as 'Wrong_node'"), std::string::npos) << message;
  EXPECT_NE(message.find("FusedInBranch of com.microsoft"), std::string::npos) << message;
}

// x[indices] by an op of three elements.
OnnxGraph gathering(const std::string& op, const std::vector<int64_t>& dims) {
  OnnxGraph graph;
  graph.input("x", kF32, {3});
  graph.node(op, {"x", "at"}, {"y"});
  graph.output("y", kF32, {dims[0]});
  return graph;
}

OnnxGraph scattering(const std::string& op) {
  OnnxGraph graph;
  graph.input("x", kF32, {3});
  graph.input("updates", kF32, {2});
  graph.node(op, {"x", "at", "updates"}, {"y"});
  graph.output("y", kF32, {3});
  return graph;
}

TEST_F(OnnxImport, KnownIndicesOutOfRangeAreRefused) {
  for (const auto& [op, dims] : std::map<std::string, std::vector<int64_t>>{{"Gather", {2}},
                                                                            {"GatherElements", {2}},
                                                                            {"GatherND", {2, 1}},
                                                                            {"ScatterElements", {2}},
                                                                            {"ScatterND", {2, 1}}}) {
    for (const int64_t wrong : {3, -4}) {
      OnnxGraph graph = op.starts_with("G") ? gathering(op, dims) : scattering(op);
      graph.integers("at", dims, {-3, wrong});
      const std::string part =
          fmt::format("its input 1 ('at') has the index {}, which is not one of 3 elements", wrong);
      EXPECT_NE(refused(graph).find(part), std::string::npos) << op << ": " << refused(graph);
    }
    OnnxGraph graph = op.starts_with("G") ? gathering(op, dims) : scattering(op);
    graph.integers("at", dims, {-3, 2});
    EXPECT_EQ(refused(graph), "") << op;
  }
}

TEST_F(OnnxImport, IndicesOutOfRangeWhileItRunsReadTheNearestElement) {
  for (const auto& [op, dims] :
       std::map<std::string, std::vector<int64_t>>{{"Gather", {4}}, {"GatherElements", {4}}, {"GatherND", {4, 1}}}) {
    OnnxGraph graph = gathering(op, dims);
    graph.input("at", kI64, dims);
    const NamedTensors inputs{{"x", row({10, 20, 30})}, {"at", tensor_of_values({DType::kI64, dims}, {-9, -1, 0, 9})}};
    EXPECT_EQ(run(import(graph), inputs), (std::vector<double>{10, 30, 10, 30})) << op;
  }
}

TEST_F(OnnxImport, UpdatesOutOfRangeWhileItRunsAreLeftOut) {
  for (const auto& [op, dims] :
       std::map<std::string, std::vector<int64_t>>{{"ScatterElements", {2}}, {"ScatterND", {2, 1}}}) {
    OnnxGraph graph = scattering(op);
    graph.input("at", kI64, dims);
    const auto at = [&](std::vector<double> values) { return tensor_of_values({DType::kI64, dims}, values); };
    const NamedTensors inputs{{"x", row({10, 20, 30})}, {"updates", row({1, 2})}};
    NamedTensors high = inputs, low = inputs;
    high.emplace("at", at({3, -1}));
    low.emplace("at", at({-4, 1}));
    EXPECT_EQ(run(import(graph), high), (std::vector<double>{10, 20, 2})) << op;
    EXPECT_EQ(run(import(graph), low), (std::vector<double>{10, 2, 30})) << op;
  }
}

TEST_F(OnnxImport, NothingCanBeTakenFromAnAxisOfNoElements) {
  OnnxGraph graph;
  graph.input("x", kF32, {0});
  graph.input("at", kI64, {2});
  graph.node("Gather", {"x", "at"}, {"y"});
  graph.output("y", kF32, {2});
  EXPECT_NE(refused(graph), "");
}

TEST_F(OnnxImport, MistakesNameTheNodeAndTheOpset) {
  OnnxGraph graph;
  graph.input("x", kF32, {2, 3});
  graph.input("z", kF32, {4});
  graph.node("Add", {"x", "z"}, {"y"});
  graph.output("y", kF32, {2, 3});
  const std::string message = refused(graph);
  EXPECT_NE(message.find("Add 'Add_node' (opset 18): the shapes [2, 3] and [4] do not broadcast"), std::string::npos)
      << message;
}

TEST_F(OnnxImport, VersionsAndTypesThatAreNotSupportedAreLimits) {
  OnnxGraph graph;
  graph.input("x", kF32, {2});
  graph.node("Neg", {"x"}, {"y"});
  graph.output("y", kF32, {2});
  EXPECT_NE(refused(graph, 6).find("it is of opset 6; 7 to 27 are supported"), std::string::npos);
  EXPECT_NE(refused(graph, 28).find("it is of opset 28"), std::string::npos);
  OnnxGraph strings;
  strings.input("words", kString, {2});
  EXPECT_NE(refused(strings).find("the input 'words' is of strings"), std::string::npos);
}

TEST_F(OnnxImport, ShapesOfInputsThatDecideShapesAreRefused) {
  OnnxGraph graph;
  graph.input("x", kF32, {6});
  graph.input("shape", kI64, {2});
  graph.node("Reshape", {"x", "shape"}, {"y"});
  graph.output("y", kF32, {2, 3});
  const std::string message = refused(graph);
  EXPECT_NE(message.find("shapes depend on the values of its input 1 ('shape')"), std::string::npos) << message;
  const onnx::Imported imported = import(graph, 18, {.fixed = {{"shape", dense_ints({3, 2})}}});
  EXPECT_EQ(imported.module->functions.front()->results[0].type.shape, (Shape{3, 2}));
}

}  // namespace
}  // namespace ingot
