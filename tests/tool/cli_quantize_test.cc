// Programs of floats to bundles of 8-bit integers, on the command line, and which ranges their values get.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/ingot/device/seen_values.h"
#include "tests/support/onnx_writer.h"
#include "tests/tool/cli_fixture.h"

namespace ingot {
namespace {

constexpr int kDepth = 16, kColumns = 24, kWide = 320, kSteps = 6;
constexpr int64_t kFloat = 1;  // TensorProto.DataType

std::vector<float> waves(int count, double frequency) {
  std::vector<float> values;
  for (int k = 0; k < count; ++k) values.push_back(static_cast<float>(std::sin(frequency * k * k)));
  return values;
}

// A folder with model.onnx, relu(x w) u, and data.safetensors, some steps of x.
class CliQuantizeTest : public CliTest {
 protected:
  CliQuantizeTest() {
    OnnxGraph graph;
    graph.input("x", kFloat, {1, kDepth});
    graph.floats("w", {kDepth, kColumns}, waves(kDepth * kColumns, 0.7));
    graph.floats("u", {kColumns, 3}, waves(kColumns * 3, 1.3));
    graph.node("MatMul", {"x", "w"}, {"hidden"});
    graph.node("Relu", {"hidden"}, {"active"});
    graph.node("Gemm", {"active", "u"}, {"y"});
    graph.output("y", kFloat, {1, 3});
    write("model.onnx", onnx_model(graph, 18));
    write_data("data.safetensors", waves(kSteps * kDepth, 0.9));
  }

  void write_data(const std::string& name, const std::vector<float>& x) const {
    write_safetensors(path(name), {{"x", tensor({static_cast<int64_t>(x.size()) / kDepth, 1, kDepth}, x)}});
  }

  static std::string quantize(const std::string& arguments) {
    return "quantize model.onnx -o int8.ingot --target host --calibration " + arguments;
  }

  nlohmann::json report(const std::string& arguments) const {
    return nlohmann::json::parse(done(quantize(arguments) + " --json"));
  }

  // y of the first step.
  std::vector<float> result(const std::string& bundle) const {
    write_safetensors(path("x.safetensors"), {{"x", tensor({1, kDepth}, waves(kDepth, 0.9))}});
    const std::string said = done("run " + bundle + " --input x=@x.safetensors:x");
    std::vector<float> values(3);
    EXPECT_EQ(std::sscanf(said.c_str(), "y: f32[1,3] = [%f, %f, %f]", &values[0], &values[1], &values[2]), 3) << said;
    return values;
  }
};

TEST_F(CliQuantizeTest, TheResultsAreNearlyThoseOfFloats) {
  const std::string said = done(quantize("data.safetensors"));
  EXPECT_NE(said.find("2 of 2 products and convolutions are of 8-bit integers"), said.npos) << said;
  done("compile model.onnx -o f32.ingot --target host");
  const std::vector<float> integers = result("int8.ingot"), floats = result("f32.ingot");
  double largest = 0;
  for (const float value : floats) largest = std::max<double>(largest, std::abs(value));
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(integers[k], floats[k], 0.03 * largest);
  EXPECT_NE(integers, floats);
}

TEST_F(CliQuantizeTest, TellsOfEachProductWhatItReadsAndHowFarItIs) {
  const nlohmann::json told = report("data.safetensors");
  EXPECT_EQ(told.at("steps"), kSteps);
  ASSERT_EQ(told.at("products").size(), 2u);
  const std::vector<float> x = waves(kSteps * kDepth, 0.9);
  const nlohmann::json first = told.at("products")[0], second = told.at("products")[1];
  EXPECT_EQ(first.at("low"), *std::ranges::min_element(x));
  EXPECT_EQ(first.at("high"), *std::ranges::max_element(x));
  EXPECT_EQ(first.at("alone_db"), first.at("in_all_db")) << "nothing stands before it";
  EXPECT_EQ(second.at("low"), 0) << "of a relu";
  for (const auto& product : told.at("products")) EXPECT_GT(product.at("in_all_db"), 25) << product;
  EXPECT_GT(told.at("results")[0].at("db"), 25);
  EXPECT_EQ(told.at("results")[0].at("rows"), kSteps);
}

// One value is far from all others, and no other can be told apart where the range is taken whole.
TEST_F(CliQuantizeTest, OtherRangesClipWhatIsRare) {
  std::vector<float> x = waves(400 * kDepth, 0.9);
  x[5] = 1000;
  write_data("outlier.safetensors", x);
  const std::string data = "outlier.safetensors --measured-on data.safetensors";
  EXPECT_LT(report(data).at("results")[0].at("db"), 1);
  const nlohmann::json clipped = report(data + " --range percentile --percentile 99");
  EXPECT_LT(clipped.at("products")[0].at("high"), 2);
  EXPECT_GT(clipped.at("results")[0].at("db"), 20);
}

TEST_F(CliQuantizeTest, ProductsStayInFloatsWhereTheyAreAskedTo) {
  const nlohmann::json all = report("data.safetensors");
  const std::string name = all.at("products")[1].at("name");
  const nlohmann::json kept = report(fmt::format("data.safetensors --keep '{}'", name));
  EXPECT_TRUE(kept.at("products")[0].at("of_integers"));
  EXPECT_EQ(kept.at("products")[1].at("why"), "it is asked to stay");
  const std::string says = refused(quantize("data.safetensors --keep 'head*'"));
  EXPECT_NE(says.find("--keep head*: no product or convolution is called so"), says.npos) << says;
  EXPECT_NE(refused(quantize("data.safetensors --keep '*'")).find("can be one of integers"), says.npos);
}

TEST_F(CliQuantizeTest, OneEntryPointIsCompiled) {
  const std::vector<float> weights = {0.5, -0.25, 1, 2};
  write_safetensors(path("w.safetensors"), {{"w", tensor({4}, weights)}});
  write_safetensors(path("rows.safetensors"), {{"x", tensor({2, 8, 4}, waves(64, 0.3))}});
  const std::string both =
      "quantize train_step=step.mlir predict.mlir -o p.ingot --state w.safetensors --calibration rows.safetensors ";
  EXPECT_NE(done(both).find("1 of 1 products"), std::string::npos);
  const std::string shown = done("inspect p.ingot");
  EXPECT_NE(shown.find("entry predict"), shown.npos) << shown;
  EXPECT_EQ(shown.find("entry train_step"), shown.npos) << shown;
  const std::string says = refused(both + "--entry train_step");
  EXPECT_NE(says.find("neither factor is known before it runs"), says.npos) << "its weights change: " << says;
}

TEST_F(CliQuantizeTest, WeightsAloneBecomeIntegers) {
  OnnxGraph graph;
  graph.input("x", kFloat, {1, kDepth});
  graph.floats("w", {kDepth, kWide}, waves(kDepth * kWide, 0.7));
  graph.floats("u", {kWide, 3}, waves(kWide * 3, 1.3));
  graph.node("MatMul", {"x", "w"}, {"hidden"});
  graph.node("Gemm", {"hidden", "u"}, {"y"});
  graph.output("y", kFloat, {1, 3});
  write("model.onnx", onnx_model(graph, 18));
  const nlohmann::json told = report("data.safetensors --weights int8");
  EXPECT_EQ(told.at("weights")[0].at("bytes"), kDepth * kWide + 4 * kWide);
  EXPECT_EQ(told.at("weights")[1].at("why"), "its weights are 960 numbers only");
  EXPECT_GT(told.at("results")[0].at("db"), 30);
  const std::string said = done("compile model.onnx -o kept.ingot --target host --quantize-weights int8");
  EXPECT_NE(said.find("weights of 1 of 2 products are integers: 6400 bytes instead of 20.0 KiB"), said.npos) << said;
  EXPECT_EQ(result("kept.ingot"), result("int8.ingot"));
}

// x w, whose weights are waves, then by those of which all but one of a channel are nearly 0, then by others.
TEST_F(CliQuantizeTest, EachProductByWeightsTellsHowFarItIs) {
  std::vector<float> few(kWide * kWide, 1e-3F);
  for (int k = 0; k < kWide; ++k) few[k * kWide + k % kDepth] = 1;
  OnnxGraph graph;
  graph.input("x", kFloat, {1, kDepth});
  graph.floats("w", {kDepth, kWide}, waves(kDepth * kWide, 0.7));
  graph.floats("few", {kWide, kWide}, few);
  graph.floats("v", {kWide, kDepth}, waves(kWide * kDepth, 0.5));
  graph.floats("u", {kDepth, 3}, waves(kDepth * 3, 1.3));
  graph.node("MatMul", {"x", "w"}, {"first"});
  graph.node("MatMul", {"first", "few"}, {"second"});
  graph.node("MatMul", {"second", "v"}, {"third"});
  graph.node("Gemm", {"third", "u"}, {"y"});
  graph.output("y", kFloat, {1, 3});
  write("model.onnx", onnx_model(graph, 18));
  const nlohmann::json weights = report("data.safetensors --weights int4").at("weights");
  ASSERT_EQ(weights.size(), 4u);
  for (int k = 0; k < 3; ++k) {
    EXPECT_LE(weights[k].at("in_all_db"), weights[k].at("alone_db").get<double>() + 1) << weights;
    if (k > 0) EXPECT_GE(weights[k].at("alone_db"), weights[k - 1].at("alone_db")) << "the worst is first: " << weights;
  }
  EXPECT_FALSE(weights[3].contains("alone_db")) << "it stays in floats: " << weights;
  const std::string said = done(quantize("data.safetensors --weights int4"));
  EXPECT_NE(said.find("bits      alone     in all"), said.npos) << said;
}

TEST_F(CliQuantizeTest, WeightsThatCannotBeIntegersAreSaid) {
  for (const char* command : {"compile model.onnx -o w.ingot --target host --quantize-weights int4",
                              "quantize model.onnx -o w.ingot --weights int4 --calibration data.safetensors"}) {
    const std::string says = refused(command);
    EXPECT_NE(says.find("no product of the program has weights that can be integers"), says.npos) << says;
    EXPECT_NE(says.find("its weights are 384 numbers only"), says.npos) << says;
  }
  EXPECT_NE(refused(quantize("data.safetensors --weights int8 --keep '*'")).find("--keep is of products of integers"),
            std::string::npos);
}

TEST_F(CliQuantizeTest, MistakesInTheDataNameThem) {
  std::vector<float> x = waves(kSteps * kDepth, 0.9);
  x[3 * kDepth + 2] = NAN;
  write_data("nan.safetensors", x);
  EXPECT_NE(refused(quantize("nan.safetensors")).find("nan.safetensors: step 3 of 'x' has a NaN at element 2"),
            std::string::npos);
  write_safetensors(path("name.safetensors"), {{"pixels", tensor({1, 1, kDepth}, waves(kDepth, 1))}});
  EXPECT_NE(refused(quantize("name.safetensors")).find("has no tensor for the input x: f32[1,16]"), std::string::npos);
  write_safetensors(path("shape.safetensors"), {{"x", tensor({kDepth, 1}, waves(kDepth, 1))}});
  EXPECT_NE(refused(quantize("shape.safetensors")).find("rows for the input x: f32[1,16] are wanted"),
            std::string::npos);
  EXPECT_NE(refused(quantize("data.safetensors --percentile 40")).find("--percentile 40"), std::string::npos);
  EXPECT_NE(refused("quantize predict.mlir -o p.ingot --calibration data.safetensors").find("can be one of integers"),
            std::string::npos)
      << "its weights are state without values";
}

// Evenly spread numbers of [-1, 1], and a few that are further away.
SeenValues seen(const std::vector<float>& far) {
  std::vector<float> values = far;
  for (int k = -1000; k <= 1000; ++k) values.push_back(static_cast<float>(k) / 1000);
  SeenValues result;
  result.widen(values);
  result.count(values);
  return result;
}

TEST(SeenValuesTest, RangesHoldAllThatWasSeenOrWhatIsClippedIsRare) {
  const SeenValues values = seen({-4, 9});
  EXPECT_EQ(values.range(RangeRule::kMinMax, 0).low, -4);
  EXPECT_EQ(values.range(RangeRule::kMinMax, 0).high, 9);
  const SeenRange clipped = values.range(RangeRule::kPercentile, 0.01);
  EXPECT_NEAR(clipped.low, -1, 0.03);
  EXPECT_NEAR(clipped.high, 1, 0.03);
  const SeenRange all = values.range(RangeRule::kPercentile, 0);
  EXPECT_EQ(all.low, -4);
  EXPECT_EQ(all.high, 9);
}

// Two values that are clipped cost more than coarse steps save, where they are far enough away.
TEST(SeenValuesTest, TheLeastErrorWeighsClippingAgainstSteps) {
  const SeenRange near = seen({}).range(RangeRule::kLeastError, 0);
  EXPECT_NEAR(near.high, 1, 0.05);
  EXPECT_NEAR(near.low, -1, 0.05);
  const SeenRange far = seen({20}).range(RangeRule::kLeastError, 0);
  EXPECT_GT(far.high, 10);
  EXPECT_NEAR(seen({1.5}).range(RangeRule::kLeastError, 0).high, 1.5, 0.5);
}

TEST(SeenValuesTest, ConstantsHaveARange) {
  SeenValues values;
  const std::vector<float> zeros(5, 0);
  values.widen(zeros);
  values.count(zeros);
  for (const RangeRule rule : {RangeRule::kMinMax, RangeRule::kPercentile, RangeRule::kLeastError}) {
    EXPECT_EQ(values.range(rule, 0.01).low, 0);
    EXPECT_EQ(values.range(rule, 0.01).high, 0);
  }
}

}  // namespace
}  // namespace ingot
