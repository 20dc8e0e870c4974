// Low-rank adapters beside an imported model's products: their gradients, and what is left when they are merged.
#include <gtest/gtest.h>
#include <ingot/finetune.h>

#include <random>

#include "aot/base/file.h"
#include "aot/finetune/merge_lora.h"
#include "tests/support/compiled_program.h"
#include "tests/support/error_of.h"
#include "tests/support/onnx_writer.h"

namespace ingot::lora_test {
namespace {

constexpr int64_t kRows = 4, kIn = 6, kHidden = 7, kOut = 5, kRank = 2;
constexpr double kAlpha = 3;

std::vector<double> drawn(int64_t count, int seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> distribution(-1, 1);
  std::vector<double> values(count);
  for (double& value : values) value = distribution(random);
  return values;
}

RefTensor drawn(const TensorType& type, int seed) { return tensor_of_values(type, drawn(type.elements(), seed)); }

// How a product reads the weight that is adapted.
struct Form {
  const char* name;
  Shape weight;
  void (*add)(OnnxGraph& graph);  // tanh(h), [kRows, kHidden], times "q_proj.weight" is "y"
};

void by_mat_mul(OnnxGraph& graph) { graph.node("MatMul", {"h", "q_proj.weight"}, {"y"}); }
void by_gemm(OnnxGraph& graph) {
  graph.node("Gemm", {"h", "q_proj.weight"}, {"y"}, {onnx_integer("transB", 1), onnx_float("alpha", 0.5)});
}
void by_transpose(OnnxGraph& graph) {
  graph.node("Transpose", {"q_proj.weight"}, {"t"});
  graph.node("MatMul", {"h", "t"}, {"y"});
}
void by_rows(OnnxGraph& graph) {
  graph.integers("two_by_two", {3}, {2, kRows / 2, kHidden});
  graph.integers("flat", {2}, {kRows, kOut});
  graph.node("Reshape", {"h", "two_by_two"}, {"h3"});
  graph.node("MatMul", {"h3", "q_proj.weight"}, {"y3"});
  graph.node("Reshape", {"y3", "flat"}, {"y"});
}
void from_left(OnnxGraph& graph) {
  graph.node("Transpose", {"h"}, {"columns"});
  graph.node("MatMul", {"q_proj.weight", "columns"}, {"z"});
  graph.node("Transpose", {"z"}, {"y"});
}
// There and back, by one weight.
void tied(OnnxGraph& graph) {
  graph.node("Gemm", {"h", "q_proj.weight"}, {"code"}, {onnx_integer("transB", 1)});
  graph.node("MatMul", {"code", "q_proj.weight"}, {"back"});
  graph.node("Gemm", {"back", "q_proj.weight"}, {"y"}, {onnx_integer("transB", 1)});
}

const Form kForms[] = {{"MatMul", {kHidden, kOut}, by_mat_mul},      {"Gemm", {kOut, kHidden}, by_gemm},
                       {"Transpose", {kOut, kHidden}, by_transpose}, {"Rows", {kHidden, kOut}, by_rows},
                       {"Left", {kOut, kHidden}, from_left},         {"Tied", {kOut, kHidden}, tied}};

// tanh(x w1), multiplied by q_proj.weight as `form` does it.
ImportedModel network(const Form& form) {
  const auto floats = [](int64_t count, int seed) {
    const std::vector<double> values = drawn(count, seed);
    return std::vector<float>(values.begin(), values.end());
  };
  OnnxGraph graph;
  graph.input("x", kF32, {kRows, kIn});
  graph.floats("k_proj.weight", {kIn, kHidden}, floats(kIn * kHidden, 1));
  graph.floats("q_proj.weight", form.weight, floats(kHidden * kOut, 2));
  graph.node("MatMul", {"x", "k_proj.weight"}, {"sums"});
  graph.node("Tanh", {"sums"}, {"h"});
  form.add(graph);
  graph.output("y", kF32, {kRows, kOut});
  const std::string path = testing::TempDir() + "/lora_" + form.name + ".onnx";
  write_file(path, onnx_model(graph, 18));
  return ImportedModel(onnx::import_model(path).module);
}

NamedTensors weights_of(const Form& form) {
  return {{"k_proj.weight", drawn({DType::kF32, {kIn, kHidden}}, 1)},
          {"q_proj.weight", drawn({DType::kF32, form.weight}, 2)}};
}

NamedTensors batch() {
  return {{"x", drawn({DType::kF32, {kRows, kIn}}, 3)},
          {"target", drawn({DType::kF32, {kRows, kOut}}, 4)},
          {"lr", tensor_of_values({DType::kF32, {}}, {1})}};
}

const LoraOptions kQueries{.rank = kRank, .alpha = kAlpha, .patterns = {"q_proj"}};

// The state with adapters as they are after some training: B is not 0.
NamedTensors adapted_state(const Form& form) {
  NamedTensors state = weights_of(form);
  const bool is_in_out = form.weight[0] == kHidden;
  const Shape a = is_in_out ? Shape{kHidden, kRank} : Shape{kRank, kHidden};
  const Shape b = is_in_out ? Shape{kRank, kOut} : Shape{kOut, kRank};
  state.emplace("q_proj.weight.lora_a", drawn({DType::kF32, a}, 5));
  state.emplace("q_proj.weight.lora_b", drawn({DType::kF32, b}, 6));
  state.emplace("q_proj.weight.lora_scale", tensor_of_values({DType::kF32, {}}, {kAlpha / kRank}));
  return state;
}

// As files hold tensors.
struct Stored {
  explicit Stored(const NamedTensors& tensors) {
    for (const auto& [name, tensor] : tensors) {
      const LiteralRef& literal = holders.emplace_back(to_literal(tensor));
      values[name] = {"F32", tensor.type.shape, literal->data};
    }
  }

  std::vector<LiteralRef> holders;
  std::map<std::string, SafeTensor> values;
};

// With the model's weights, which are constants where nothing learns them.
CompiledProgram compiled(Program& program, const Stored& weights) {
  CompileOptions options;
  options.values = weights.values;
  return CompiledProgram(program.module(), options);
}

NamedTensors without_lr(NamedTensors inputs) {
  inputs.erase("lr");
  return inputs;
}

class LoraTest : public testing::TestWithParam<Form> {};

// A step of plain descent by 1 takes the gradient away: central differences of the loss are the same.
TEST_P(LoraTest, GradientsAreThoseOfTheLoss) {
  Program program =
      make_training_program(network(GetParam()), {.loss = "mse_loss", .optimizer = "sgd", .lora = {kQueries}});
  ReferenceExecutor executor(/*round=*/false);
  const NamedTensors start = adapted_state(GetParam());
  NamedTensors stepped = start;
  executor.run(program.module(), "train_step", stepped, batch());
  EXPECT_EQ(stepped.at("q_proj.weight").f, start.at("q_proj.weight").f);
  EXPECT_EQ(stepped.at("k_proj.weight").f, start.at("k_proj.weight").f);
  constexpr double kStep = 1e-4;
  for (const char* const name : {"q_proj.weight.lora_a", "q_proj.weight.lora_b"}) {
    for (int64_t k = 0; k < start.at(name).elements(); ++k) {
      const auto loss_at = [&](double step) {
        NamedTensors moved = start;
        moved.at(name).f[k] += step;
        return executor.run(program.module(), "evaluate", moved, without_lr(batch())).at("loss").f[0];
      };
      const double slope = (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
      const double gradient = start.at(name).f[k] - stepped.at(name).f[k];
      EXPECT_NEAR(gradient, slope, 1e-6 * (1 + std::abs(slope))) << name << " " << k;
    }
  }
}

// The plain model with merged weights gives what the adapters give.
TEST_P(LoraTest, MergedWeightsGiveTheSame) {
  const ImportedModel model = network(GetParam());
  Program adapted = make_training_program(model, {.loss = "mse_loss", .lora = {kQueries}});
  Program plain = make_training_program(model, {.loss = "mse_loss"});
  NamedTensors state = adapted_state(GetParam());
  const MergedWeights merged = merge_lora(Stored(state).values, {});
  EXPECT_EQ(merged.merged, std::vector<std::string>{"q_proj.weight"});
  NamedTensors of_plain = weights_of(GetParam());
  const SafeTensor& value = merged.values.at("q_proj.weight");
  of_plain.at("q_proj.weight") =
      from_literal(*dense({DType::kF32, value.shape}, {value.data.begin(), value.data.end()}));
  const NamedTensors inputs = {{"x", batch().at("x")}};
  const Stored weights(weights_of(GetParam()));
  const RefTensor y = compiled(adapted, weights).run("predict", 2, state, inputs).at("y");
  const RefTensor expected = ReferenceExecutor().run(plain.module(), "predict", of_plain, inputs).at("y");
  for (int64_t k = 0; k < y.elements(); ++k) EXPECT_NEAR(y.f[k], expected.f[k], 2e-5 * (1 + std::abs(expected.f[k])));
}

INSTANTIATE_TEST_SUITE_P(Forms, LoraTest, testing::ValuesIn(kForms),
                         [](const auto& info) { return std::string(info.param.name); });

// What init gives changes nothing yet; then the loss falls, and only adapters and what is named beside them change.
TEST(Lora, OnlyAdaptersAndNamedWeightsLearn) {
  const Form& form = kForms[0];
  Program program = make_training_program(
      network(form), {.loss = "mse_loss", .lr = 0.05, .trainable = {"k_proj.*"}, .lora = {kQueries}});
  const Stored weights(weights_of(form));
  CompiledProgram bundle = compiled(program, weights);
  NamedTensors state = {{"k_proj.weight", weights_of(form).at("k_proj.weight")}}, inputs = batch();
  bundle.run("init", 2, state, {{"seed", tensor_of_values({DType::kI64, {}}, {7})}});
  for (const double value : state.at("q_proj.weight.lora_b").f) EXPECT_EQ(value, 0);
  const double bound = 1 / std::sqrt(double(kHidden));
  for (const double value : state.at("q_proj.weight.lora_a").f) EXPECT_LE(std::abs(value), bound);
  EXPECT_NE(state.at("q_proj.weight.lora_a").f[0], state.at("q_proj.weight.lora_a").f[1]);
  inputs.at("lr").f = {0.05};
  std::vector<double> losses;
  for (int step = 0; step < 8; ++step) {
    losses.push_back(bundle.run("train_step", 2, state, inputs).at("loss").f[0]);
  }
  EXPECT_LT(losses.back(), 0.9 * losses.front());
  EXPECT_FALSE(state.contains("q_proj.weight"));
  EXPECT_NE(state.at("k_proj.weight").f, weights_of(form).at("k_proj.weight").f);
  int slots = 0;
  for (const auto& [name, tensor] : state) slots += name.starts_with("optimizer.") && tensor.type.rank() == 2 ? 1 : 0;
  EXPECT_EQ(slots, 6);  // two each, of A, B and k_proj.weight
  EXPECT_FALSE(state.contains("optimizer.q_proj.weight.exp_avg"));
  EXPECT_TRUE(state.contains("optimizer.q_proj.weight.lora_a.exp_avg"));
}

// Of several options the first that fits counts, and alpha is the rank where it is not given.
TEST(Lora, EachWeightHasTheFirstOptionsThatFit) {
  const Form& form = kForms[0];
  Program program = make_training_program(
      network(form), {.loss = "mse_loss", .lora = {{.rank = 3, .patterns = {"k_proj.weight"}}, {kRank, 1, {"*"}}}});
  ReferenceExecutor executor;
  NamedTensors state = weights_of(form);
  executor.run(program.module(), "init", state, {{"seed", tensor_of_values({DType::kI64, {}}, {7})}});
  EXPECT_EQ(state.at("k_proj.weight.lora_a").type.shape, (Shape{kIn, 3}));
  EXPECT_EQ(state.at("k_proj.weight.lora_scale").f[0], 1);
  EXPECT_EQ(state.at("q_proj.weight.lora_b").type.shape, (Shape{kRank, kOut}));
  EXPECT_EQ(state.at("q_proj.weight.lora_scale").f[0], 0.5);
}

// Exporters that fold a transpose name its result: then only the node knows the layer.
TEST(Lora, LayersAreKnownByWhatTheExporterSays) {
  const auto error = [](const std::string& scopes, const std::string& pattern) {
    static std::string said;
    said = scopes;
    const Form form{"Scoped", {kHidden, kOut}, [](OnnxGraph& graph) {
                      graph.node("MatMul", {"h", "q_proj.weight"}, {"y"}, {}, "", said);
                    }};
    return error_of([&] {
      make_training_program(network(form), {.loss = "mse_loss", .lora = {{.rank = 2, .patterns = {pattern}}}});
    });
  };
  const std::string usual = "['', 'layers.0', 'layers.0.attention', 'linear_1']";
  EXPECT_EQ(error(usual, "*.attention"), "");
  EXPECT_NE(error(usual, "*.0").find("q_proj.weight (by MatMul_node of layers.0.attention)"), std::string::npos);
  for (const char* const odd : {"", "[]", "['']", "', '", "['', ", "[', 'x']", "layers.0", "''"}) {
    EXPECT_NE(error(odd, "*.attention").find("no product by a weight is called"), std::string::npos) << odd;
  }
}

TEST(Lora, MistakesAreNamed) {
  const auto error = [](const LoraOptions& lora, std::vector<std::string> trainable = {}) {
    return error_of([&] {
      make_training_program(network(kForms[0]),
                            {.loss = "mse_loss", .trainable = std::move(trainable), .lora = {lora}});
    });
  };
  const auto expect = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect(error({.rank = 2, .patterns = {"*.k_prj"}}),
         "no product by a weight is called '*.k_prj'; there are k_proj.weight (by MatMul_node), q_proj.weight (by "
         "MatMul_node)");
  expect(error({.rank = 2, .patterns = {"q_prj*"}}), "there are q_proj.weight (by MatMul_node), k_proj.weight");
  expect(error({.rank = 5, .patterns = {"q_proj"}}), "the rank 5 is not below 5, the smaller side of 'q_proj.weight'");
  expect(error({.rank = 0, .patterns = {"q_proj"}}), "the rank is 0");
  expect(error({.rank = 2, .alpha = NAN, .patterns = {"q_proj"}}), "alpha is nan");
  expect(error({.rank = 2, .patterns = {"q_proj"}}, {"q*"}), "'q_proj.weight' is a weight to train and has LoRA's");
}

// Merged into a table that is also looked up, adapters would change what is found there.
TEST(Lora, WeightsThatOthersReadAreRefused) {
  const Form looked_up{"Gather", {kHidden, kOut}, [](OnnxGraph& graph) {
                         graph.integers("places", {kRows}, {0, 1, 2, 3});
                         graph.node("Gather", {"q_proj.weight", "places"}, {"rows"});
                         graph.node("MatMul", {"h", "q_proj.weight"}, {"z"});
                         graph.node("Add", {"z", "rows"}, {"y"});
                       }};
  const std::string text =
      error_of([&] { make_training_program(network(looked_up), {.loss = "mse_loss", .lora = {kQueries}}); });
  EXPECT_NE(text.find("'q_proj.weight' is also read by stablehlo.gather 'Gather_node'"), std::string::npos) << text;
}

TEST(Lora, AdaptersOfAnotherModelAreNotMerged) {
  const LiteralRef a = to_literal(drawn({DType::kF32, {2, 6}}, 1)), b = to_literal(drawn({DType::kF32, {5, 2}}, 1));
  const LiteralRef one = splat({DType::kF32, {}}, 1), weight = to_literal(drawn({DType::kF32, {6, 6}}, 1));
  std::map<std::string, SafeTensor> state = {{"w.lora_a", {"F32", {2, 6}, a->data}}};
  EXPECT_NE(error_of([&] { merge_lora(state, {}); }).find("a weight 'w', which the model does not have"),
            std::string::npos);
  state["w"] = {"F32", {6, 6}, weight->data};
  EXPECT_NE(error_of([&] { merge_lora(state, {}); }).find("the state has no 'w.lora_b'"), std::string::npos);
  state["w.lora_b"] = {"F32", {5, 2}, b->data};
  state["w.lora_scale"] = {"F32", {}, one->data};
  EXPECT_NE(error_of([&] { merge_lora(state, {}); }).find("do not fit"), std::string::npos);
}

}  // namespace
}  // namespace ingot::lora_test
