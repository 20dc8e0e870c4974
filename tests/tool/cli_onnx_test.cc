// ONNX models on the command line: compile, import, opt.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tests/support/onnx_writer.h"
#include "tests/tool/cli_fixture.h"

namespace ingot {
namespace {

using CliOnnxTest = CliTest;

// y = relu(x w), of an open batch.
std::string layer(const std::vector<float>& weights) {
  OnnxGraph graph;
  graph.input("x", 1, {-1, 2});
  graph.floats("w", {2, 2}, weights);
  graph.node("MatMul", {"x", "w"}, {"h"});
  graph.node("Relu", {"h"}, {"y"});
  graph.output("y", 1, {-1, 2});
  return onnx_model(graph, 18);
}

// Whether `ingot inspect` shows w among the state, or among what is constant.
bool has_w(const std::string& shown, const std::string& section) {
  const size_t begin = shown.find("\n" + section + ": ");
  const std::string part = begin == shown.npos ? "" : shown.substr(begin, shown.find("\n\n", begin) - begin);
  return part.find("w: f32[2,2]") != part.npos;
}

TEST_F(CliOnnxTest, AnOnnxModelBecomesABundleWithItsWeights) {
  write("model.onnx", layer({1, 0, 0, -1}));
  done("compile model.onnx -o model.ingot --shape batch=1");
  const std::string shown = done("inspect model.ingot");
  EXPECT_NE(shown.find("entry predict"), std::string::npos);
  EXPECT_TRUE(!has_w(shown, "state") && has_w(shown, "frozen")) << shown;
  write_safetensors(path("x.safetensors"), {{"x", tensor({1, 2}, {3, 4})}});
  const std::string said = done("run model.ingot predict --input x=@x.safetensors:x");
  EXPECT_NE(said.find("3"), std::string::npos) << said;
}

TEST_F(CliOnnxTest, WeightsAreConstantsOrState) {
  write("model.onnx", layer({1, 0, 0, -1}));
  write_safetensors(path("x.safetensors"), {{"x", tensor({1, 2}, {3, 4})}});
  write_safetensors(path("w.safetensors"), {{"w", tensor({2, 2}, {5, 0, 0, 7})}});
  const auto compile = [&](const std::string& options) {
    done("compile model.onnx -o model.ingot --shape batch=1 " + options);
    return has_w(done("inspect model.ingot"), "state");
  };
  const auto result = [&](const std::string& options) {
    const std::string said = done("run model.ingot predict --input x=@x.safetensors:x " + options);
    return said.substr(said.find("y:"));
  };
  EXPECT_TRUE(compile("--no-freeze"));
  const std::string own = result("");
  const std::string other = result("--state w.safetensors");
  EXPECT_FALSE(compile(""));
  EXPECT_EQ(result(""), own);
  EXPECT_FALSE(compile("--state w.safetensors"));
  EXPECT_EQ(result(""), other);
  EXPECT_NE(own, other);
  EXPECT_TRUE(compile("--state zeros"));
  EXPECT_NE(refused("compile model.onnx -o x.ingot --shape batch=1 --freeze --no-freeze").find("exclude each other"),
            std::string::npos);
}

TEST_F(CliOnnxTest, StateOfAFileIsFrozenWhenAskedFor) {
  write("model.onnx", layer({1, 0, 0, -1}));
  done("import model.onnx --shape batch=1 -o model.mlir --state state.safetensors");
  done("compile model.mlir -o model.ingot");
  EXPECT_TRUE(has_w(done("inspect model.ingot"), "state"));
  done("compile model.mlir -o model.ingot --freeze");
  const std::string shown = done("inspect model.ingot");
  EXPECT_TRUE(!has_w(shown, "state") && has_w(shown, "frozen")) << shown;
}

TEST_F(CliOnnxTest, SeveralSizesAreEntryPointsOfOneProgram) {
  write("model.onnx", layer({1, 0, 0, -1}));
  const std::string said = done("compile model.onnx -o model.ingot --shape batch=1,3");
  EXPECT_NE(said.find("predict@batch=1: "), std::string::npos) << said;
  EXPECT_NE(said.find("predict@batch<=3: "), std::string::npos) << said;
  write_safetensors(path("x.safetensors"), {{"one", tensor({1, 2}, {3, 4})},
                                            {"two", tensor({2, 2}, {3, -4, 5, -6})},
                                            {"four", tensor({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}});
  EXPECT_NE(done("run model.ingot predict --input x=@x.safetensors:one").find("y: f32[1,2] = [3, 0]"),
            std::string::npos);
  EXPECT_NE(done("run model.ingot --input x=@x.safetensors:two").find("y: f32[2,2] = [3, 4, 5, 6]"), std::string::npos);
  EXPECT_NE(refused("run model.ingot predict --input x=@x.safetensors:four")
                .find("'predict' has no entry point for batch=4; there are: predict@batch=1, predict@batch<=3"),
            std::string::npos);
  EXPECT_NE(refused("run model.ingot predict --input x=random").find("no entry point for no size"), std::string::npos);
  EXPECT_NE(refused("compile model.onnx -o x.ingot --shape batch=1,1").find("this size was given before"),
            std::string::npos);
  EXPECT_NE(refused("compile model.onnx -o x.ingot --shape batch=1 --shape batch=2").find("batch was given before"),
            std::string::npos);
  EXPECT_NE(refused("compile model.onnx -o x.ingot --shape batch=1,2,seq=1,2").find("of the name seq"),
            std::string::npos);
  EXPECT_NE(refused("import model.onnx --shape batch=1,2").find("one size is asked for here"), std::string::npos);
  EXPECT_NE(refused("compile model.onnx -o x.ingot --shape batch=1,2 --train mse_loss").find("--train takes one size"),
            std::string::npos);
}

TEST_F(CliOnnxTest, TheLargestSizeKeepsTheLimitAndOneMoreDoesNot) {
  write("model.onnx", layer({1, 0, 0, -1}));
  const std::string command = "compile model.onnx -o model.ingot --target host --train mse_loss --memory-limit ";
  const auto report = nlohmann::json::parse(done(command + "20KiB --largest batch --json"));
  const auto shape = report["notes"][0].get<std::string>();
  const int size = std::stoi(shape.substr(std::string("batch=").size()));
  EXPECT_GT(size, 20) << shape;
  EXPECT_NE(shape.find(" is the largest: with one more @"), std::string::npos) << shape;
  EXPECT_NE(done("inspect model.ingot").find(fmt::format("f32[{},2]", size)), std::string::npos);
  done(command + fmt::format("20KiB --shape batch={}", size));
  EXPECT_NE(refused(command + fmt::format("20KiB --shape batch={}", size + 1)).find("bytes of --memory-limit"),
            std::string::npos);
  EXPECT_NE(refused(command + "8 --largest batch").find("more than the 8 bytes"), std::string::npos);
  EXPECT_NE(refused(command + "8 --largest seq").find("give it by --shape batch=SIZE"), std::string::npos);
  EXPECT_NE(refused(command + "8 --largest batch --shape batch=2").find("exclude each other"), std::string::npos);
  EXPECT_NE(refused("compile model.onnx -o x.ingot --largest batch").find("give one"), std::string::npos);
}

TEST_F(CliOnnxTest, EntryPointsOfSeveralModelsShareWeightsByName) {
  write("model.onnx", layer({1, 2, 3, 4}));
  done("compile small=model.onnx -o one.ingot --shape batch=1");
  EXPECT_NE(done("inspect one.ingot").find("entry small"), std::string::npos);
  write("other.onnx", layer({1, 2, 3, 5}));
  done("compile a=model.onnx b=model.onnx -o two.ingot --shape batch=1");
  EXPECT_NE(
      refused("compile a=model.onnx b=other.onnx -o two.ingot --shape batch=1").find("the weight 'w' has other values"),
      std::string::npos);
}

TEST_F(CliOnnxTest, AnImportedModelIsTextAndState) {
  write("model.onnx", layer({1, 0, 0, -1}));
  done("import model.onnx --shape batch=1 -o model.mlir --state w.safetensors");
  EXPECT_NE(read_text(path("model.mlir")).find("func.func @predict"), std::string::npos);
  EXPECT_EQ(SafeTensors::read(path("w.safetensors")).tensors().count("w"), 1u);
  done("compile model.onnx -o a.ingot --shape batch=1");
  done("compile model.mlir -o b.ingot --state w.safetensors");
  EXPECT_NE(done("inspect b.ingot").find("entry predict"), std::string::npos);
  EXPECT_NE(done("opt model.onnx --shape batch=1 --passes=cse").find("stablehlo.dot_general"), std::string::npos);
}

TEST_F(CliOnnxTest, MistakesInOnnxModelsNameThem) {
  write("model.onnx", layer({1, 0, 0, -1}));
  EXPECT_NE(refused("compile model.onnx -o x.ingot").find("give it by --shape batch=SIZE"), std::string::npos);
  EXPECT_NE(refused("compile model.onnx -o x.ingot --shape batch=1,depth=2").find("depth"), std::string::npos);
  EXPECT_NE(refused("import missing.onnx").find("missing.onnx: No such file"), std::string::npos);
}

TEST_F(CliOnnxTest, FrozenWeightsCannotBeLoaded) {
  write("model.onnx", layer({1, 0, 0, -1}));
  done("compile model.onnx -o frozen.ingot --shape batch=1");
  write_safetensors(path("w.safetensors"), {{"w", tensor({2, 2}, {2, 0, 0, 2})}});
  EXPECT_NE(refused("run frozen.ingot --input x=1 --state w.safetensors").find("--no-freeze"), std::string::npos);
}

// A program that counts its runs beside a weight that nobody writes.
TEST_F(CliOnnxTest, OtherValuesForFrozenWeightsAreRefusedByName) {
  write("count.mlir", R"(
func.func @count(%w: tensor<2xf32> {ingot.state = "w"}, %n: tensor<f32> {ingot.state = "n"})
    -> (tensor<2xf32> {ingot.name = "y"}, tensor<f32> {ingot.state = "n"}) {
  %0 = stablehlo.add %n, %n : tensor<f32>
  return %w, %0 : tensor<2xf32>, tensor<f32>
})");
  const SafeTensor n = tensor({}, {3});
  write_safetensors(path("own.safetensors"), {{"w", tensor({2}, {1, 2})}, {"n", n}});
  write_safetensors(path("other.safetensors"), {{"w", tensor({2}, {1, 5})}, {"n", n}});
  done("compile count.mlir -o count.ingot --freeze --state own.safetensors");
  EXPECT_NE(done("run count.ingot --state own.safetensors").find("[1, 2]"), std::string::npos);
  const std::string said = refused("run count.ingot --state other.safetensors");
  EXPECT_NE(said.find("other.safetensors: 'w' has other values in the file"), std::string::npos) << said;
  EXPECT_NE(said.find("--no-freeze"), std::string::npos) << said;
}

TEST_F(CliOnnxTest, AnOnnxModelLearnsAndGoesBack) {
  write("model.onnx", layer({1, 0, 0, -1}));
  done("compile model.onnx -o train.ingot --shape batch=1 --train mse_loss --optimizer sgd --lr 0.5");
  write_safetensors(path("data.safetensors"),
                    {{"x", tensor({3, 1, 2}, {1, 2, 1, 2, 1, 2})}, {"target", tensor({3, 1, 2}, {2, 0, 2, 0, 2, 0})}});
  done("train train.ingot --data data.safetensors --save trained.safetensors");
  done("export model.onnx --state trained.safetensors -o tuned.onnx");
  done("compile model.onnx -o plain.ingot --shape batch=1");
  done("compile tuned.onnx -o tuned.ingot --shape batch=1");
  write_safetensors(path("x.safetensors"), {{"x", tensor({1, 2}, {1, 2})}});
  const std::string input = " predict --input x=@x.safetensors:x";
  EXPECT_EQ(done("run tuned.ingot" + input), done("run train.ingot" + input + " --state trained.safetensors"));
  EXPECT_NE(done("run tuned.ingot" + input), done("run plain.ingot" + input));
}

// With and without --no-freeze: the weight that is merged into is the model's, or the state's.
TEST_F(CliOnnxTest, AdaptersLearnAndAreMerged) {
  write("model.onnx", layer({1, 0, 0, -1}));
  write_safetensors(path("x.safetensors"), {{"x", tensor({1, 2}, {1, 2})}});
  write_safetensors(path("data.safetensors"),
                    {{"x", tensor({3, 1, 2}, {1, 2, 1, 2, 1, 2})}, {"target", tensor({3, 1, 2}, {2, 0, 2, 0, 2, 0})}});
  const std::string compile = "compile model.onnx -o train.ingot --shape batch=1 --train mse_loss --lr 0.1 ";
  const auto first_y = [&](const std::string& command) {
    const std::string said = done("run " + command + " predict --input x=@x.safetensors:x");
    return std::stof(said.substr(said.find('[', said.find('=')) + 1));
  };
  for (const char* const options : {"--lora rank=1,alpha=2:w", "--lora rank=1:w,MatMul_node --no-freeze"}) {
    done(compile + options);
    done("train train.ingot --data data.safetensors --save trained.safetensors");
    const std::string said = done("export model.onnx --state trained.safetensors -o tuned.onnx");
    EXPECT_NE(said.find("1 weights from trained.safetensors, 1 of them with LoRA's adapters merged"), said.npos)
        << said;
    done("compile tuned.onnx -o tuned.ingot --shape batch=1");
    done("compile model.onnx -o plain.ingot --shape batch=1");
    const float tuned = first_y("tuned.ingot");
    EXPECT_NEAR(tuned, first_y("train.ingot --state trained.safetensors"), 1e-5);
    EXPECT_GT(std::abs(tuned - first_y("plain.ingot")), 1e-3);
  }
  for (const auto& [lora, part] : {std::pair{"rank=1", "names no products"},
                                   {"rank=1,beta=2:w", "'beta=2' is neither rank=RANK nor alpha=ALPHA"},
                                   {"rank=1.5:w", "'rank=1.5' is neither"},
                                   {"alpha=2:w", "has no rank above 0"},
                                   {"rank=1:v", "no product by a weight is called 'v'; there are w (by MatMul_node)"},
                                   {"rank=2:w", "the rank 2 is not below 2"}}) {
    const std::string said = refused(compile + "--lora " + lora);
    EXPECT_NE(said.find(part), said.npos) << said;
  }
}

TEST_F(CliOnnxTest, MistakesInTrainingAndExportNameThem) {
  write("model.onnx", layer({1, 0, 0, -1}));
  const std::string compile = "compile model.onnx -o x.ingot --shape batch=1";
  EXPECT_NE(refused(compile + " --train entropy").find("no loss 'entropy'"), std::string::npos);
  EXPECT_NE(refused(compile + " --lr 0.1").find("are of --train"), std::string::npos);
  EXPECT_NE(refused(compile + " model.onnx --train mse_loss").find("one program"), std::string::npos);
  write_safetensors(path("other.safetensors"), {{"v", tensor({2, 2}, {1, 2, 3, 4})}});
  EXPECT_NE(refused("export model.onnx --state other.safetensors -o y.onnx").find("v are no weights"),
            std::string::npos);
  write_safetensors(path("wide.safetensors"), {{"w", tensor({4}, {1, 2, 3, 4})}});
  EXPECT_NE(refused("export model.onnx --state wide.safetensors -o y.onnx").find("'w' is tensor<2x2xf32>"),
            std::string::npos);
}

}  // namespace
}  // namespace ingot
