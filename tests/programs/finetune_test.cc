// Imported models that learn: as the same networks written here do, and every golden there is.
#include <gtest/gtest.h>
#include <ingot/finetune.h>

#include <filesystem>

#include "aot/base/file.h"
#include "aot/finetune/training_loss.h"
#include "aot/frontend/stablehlo/import.h"
#include "aot/graph/text/parse.h"
#include "tests/support/compiled_program.h"
#include "tests/support/error_of.h"
#include "tests/support/onnx_writer.h"

namespace ingot {
namespace {

constexpr int64_t kBatch = 4, kIn = 3, kHidden = 5, kOut = 4;

std::vector<double> numbers(int64_t count, double scale, int64_t seed) {
  std::vector<double> values;
  for (int64_t k = 0; k < count; ++k) values.push_back(scale * static_cast<double>((k * 37 + seed * 11) % 19 - 9) / 9);
  return values;
}

std::vector<float> floats(int64_t count, double scale, int64_t seed) {
  const std::vector<double> values = numbers(count, scale, seed);
  return {values.begin(), values.end()};
}

// softmax(relu(x w1 + b1) w2), or what `last` makes of the sums; "": the sums.
ImportedModel network(const std::string& last) {
  OnnxGraph graph;
  graph.input("x", kF32, {kBatch, kIn});
  graph.floats("w1", {kIn, kHidden}, floats(kIn * kHidden, 1, 1));
  graph.floats("b1", {kHidden}, floats(kHidden, 0.1, 2));
  graph.floats("w2", {kHidden, kOut}, floats(kHidden * kOut, 1, 3));
  graph.node("Gemm", {"x", "w1", "b1"}, {"h"});
  graph.node("Relu", {"h"}, {"r"});
  graph.node("MatMul", {"r", "w2"}, {last.empty() ? "y" : "sums"});
  if (!last.empty()) graph.node(last, {"sums"}, {"y"});
  graph.output("y", kF32, {kBatch, kOut});
  const std::string path = testing::TempDir() + "/finetune_" + last + ".onnx";
  write_file(path, onnx_model(graph, 18));
  return ImportedModel(onnx::import_model(path).module);
}

NamedTensors first_state() {
  return {{"w1", tensor_of_values({DType::kF32, {kIn, kHidden}}, numbers(kIn * kHidden, 1, 1))},
          {"b1", tensor_of_values({DType::kF32, {kHidden}}, numbers(kHidden, 0.1, 2))},
          {"w2", tensor_of_values({DType::kF32, {kHidden, kOut}}, numbers(kHidden * kOut, 1, 3))}};
}

NamedTensors batch(const TensorType& target) {
  return {{"x", tensor_of_values({DType::kF32, {kBatch, kIn}}, numbers(kBatch * kIn, 1, 4))},
          {"target", tensor_of_values(target, is_integer(target.dtype) ? std::vector<double>{0, 3, 1, 2}
                                                                       : std::vector<double>(kBatch * kOut, 0.25))},
          {"lr", tensor_of_values({DType::kF32, {}}, {0.05})}};
}

// The same network, and `loss` of its sums.
Program written_here(const TensorType& target, Tensor (*loss)(const Tensor& sums, const Tensor& target)) {
  Program program;
  Tensor w1 = parameter("w1", {DType::kF32, {kIn, kHidden}}, init::zeros());
  Tensor b1 = parameter("b1", {DType::kF32, {kHidden}}, init::zeros());
  Tensor w2 = parameter("w2", {DType::kF32, {kHidden, kOut}}, init::zeros());
  optim::AdamW adamw({w1, b1, w2});
  program.add(
      "train_step",
      [&](const Tensor& x, const Tensor& expected, const Tensor& lr) {
        const Tensor result = loss(relu(x.matmul(w1) + b1).matmul(w2), expected);
        result.backward();
        adamw.step(lr);
        return Outputs{{"loss", result}};
      },
      f32[{kBatch, kIn}].named("x"), Spec{target, "target"}, f32[{}].named("lr"));
  return program;
}

// The losses of some steps, and the state after them.
std::pair<std::vector<double>, NamedTensors> trained(Program& program, const TensorType& target) {
  ReferenceExecutor executor(/*round=*/false);
  NamedTensors state = first_state();
  std::vector<double> losses;
  for (int step = 0; step < 4; ++step) {
    losses.push_back(executor.run(program.module(), "train_step", state, batch(target)).at("loss").f[0]);
  }
  return {losses, state};
}

struct Case {
  const char* last;
  const char* loss;
  Tensor (*written)(const Tensor& sums, const Tensor& target);
};

class FinetuneTest : public testing::TestWithParam<Case> {};

TEST_P(FinetuneTest, LearnsAsTheSameNetworkWrittenHere) {
  const auto& [last, loss, written] = GetParam();
  const TensorType target = find_training_loss(loss).target({DType::kF32, {kBatch, kOut}});
  Program imported = make_training_program(network(last), {.loss = loss});
  Program own = written_here(target, written);
  const auto [losses, state] = trained(imported, target);
  const auto [own_losses, own_state] = trained(own, target);
  EXPECT_LT(losses.back(), losses.front());
  for (size_t i = 0; i < losses.size(); ++i) EXPECT_NEAR(losses[i], own_losses[i], 1e-6);
  for (const char* const name : {"w1", "b1", "w2"}) {
    const RefTensor &weight = state.at(name), &expected = own_state.at(name);
    for (int64_t k = 0; k < weight.elements(); ++k) EXPECT_NEAR(weight.f[k], expected.f[k], 1e-6) << name << " " << k;
  }
}

Tensor classes(const Tensor& sums, const Tensor& target) { return cross_entropy(sums, target); }
Tensor of_sigmoid(const Tensor& sums, const Tensor& target) {
  const Tensor p = sigmoid(sums);
  return -mean(target * log(p) + (1 - target) * log(1 - p));
}
Tensor squares(const Tensor& sums, const Tensor& target) { return mse_loss(sums, target); }
Tensor absolutes(const Tensor& sums, const Tensor& target) { return l1_loss(sums, target); }
INSTANTIATE_TEST_SUITE_P(Losses, FinetuneTest,
                         testing::Values(Case{"", "cross_entropy", classes}, Case{"Softmax", "cross_entropy", classes},
                                         Case{"", "token_cross_entropy", classes},
                                         Case{"Softmax", "token_cross_entropy", classes},
                                         Case{"Sigmoid", "binary_cross_entropy", of_sigmoid},
                                         Case{"", "binary_cross_entropy_with_logits", of_sigmoid},
                                         Case{"", "mse_loss", squares}, Case{"", "l1_loss", absolutes}),
                         [](const auto& info) { return std::string(info.param.last) + info.param.loss; });

// A step changes what it names; of the rest there is no gradient and no slot.
TEST(Finetune, OnlyTrainableWeightsChange) {
  const TensorType target{DType::kI32, {kBatch}};
  Program program = make_training_program(network(""), {.loss = "cross_entropy", .trainable = {"w2", "b*"}});
  const auto [losses, state] = trained(program, target);
  EXPECT_EQ(state.at("w1").f, first_state().at("w1").f);
  EXPECT_NE(state.at("w2").f, first_state().at("w2").f);
  EXPECT_NE(state.at("b1").f, first_state().at("b1").f);
  EXPECT_FALSE(state.contains("optimizer.w1.exp_avg"));
  EXPECT_TRUE(state.contains("optimizer.w2.exp_avg"));
}

TEST(Finetune, StateThatIsOnlySetIsSet) {
  auto module = parse_module(R"(
func.func @main(%x: tensor<4xf32> {ingot.name = "x"}, %w: tensor<4xf32> {ingot.state = "w"}) -> (tensor<4xf32>, tensor<4xf32> {ingot.state = "seen"}) {
  %0 = stablehlo.multiply %x, %w : tensor<4xf32>
  return %0, %x : tensor<4xf32>, tensor<4xf32>
})",
                             "model.mlir", all_ops());
  import_stablehlo(*module);
  const auto row = [](double value) { return tensor_of_values({DType::kF32, {4}}, std::vector<double>(4, value)); };
  Program program = make_training_program(ImportedModel(std::move(module)), {.loss = "mse_loss", .optimizer = "sgd"});
  NamedTensors state{{"w", row(1)}, {"seen", row(0)}};
  ReferenceExecutor executor;
  executor.run(program.module(), "train_step", state,
               {{"x", row(2)}, {"target", row(0)}, {"lr", tensor_of_values({DType::kF32, {}}, {0.1})}});
  EXPECT_EQ(state.at("seen").f, row(2).f);
  EXPECT_NE(state.at("w").f, row(1).f);
}

TEST(Finetune, EvaluatesAndPredicts) {
  Program program = make_training_program(network("Softmax"), {.loss = "cross_entropy"});
  ReferenceExecutor executor;
  NamedTensors state = first_state();
  NamedTensors inputs = batch({DType::kI32, {kBatch}});
  inputs.erase("lr");
  const NamedTensors made = executor.run(program.module(), "evaluate", state, inputs);
  inputs.erase("target");
  const RefTensor p = executor.run(program.module(), "predict", state, inputs).at("y");
  double loss = 0, right = 0;
  const int64_t labels[] = {0, 3, 1, 2};
  for (int64_t row = 0; row < kBatch; ++row) {
    const double* const begin = p.f.data() + row * kOut;
    loss -= std::log(begin[labels[row]]) / kBatch;
    right += std::max_element(begin, begin + kOut) == begin + labels[row] ? 1.0 / kBatch : 0;
  }
  EXPECT_NEAR(made.at("loss").f[0], loss, 1e-5);
  EXPECT_NEAR(made.at("accuracy").f[0], right, 1e-6);
}

TEST(Finetune, MistakesAreNamed) {
  const auto error = [](const TrainingOptions& options) {
    return error_of([&] { make_training_program(network(""), options); });
  };
  EXPECT_NE(error({.loss = "entropy"}).find("no loss 'entropy'; there are cross_entropy"), std::string::npos);
  EXPECT_NE(error({.loss = "mse_loss", .output = "z"}).find("no output 'z'; it has y"), std::string::npos);
  EXPECT_NE(error({.loss = "mse_loss", .target = "x"}).find("has an input 'x' already"), std::string::npos);
  EXPECT_NE(error({.loss = "mse_loss", .optimizer = "lion"}).find("no optimizer 'lion'"), std::string::npos);
  EXPECT_NE(error({.loss = "mse_loss", .momentum = 0.9}).find("adamw has no momentum"), std::string::npos);
  EXPECT_NE(error({.loss = "mse_loss", .trainable = {"w*", "head.*"}}).find("is called 'head.*'; there are"),
            std::string::npos);
}

// What compiled code makes of it: the loss on one batch falls.
TEST(Finetune, EveryGoldenLearns) {
  const std::filesystem::path goldens = std::filesystem::path(INGOT_SHARED_DIR) / "goldens/onnx";
  if (!std::filesystem::exists(goldens)) GTEST_SKIP() << "no goldens at " << goldens;
  for (const auto& folder : std::filesystem::directory_iterator(goldens)) {
    if (!std::filesystem::exists(folder.path() / "model.onnx")) continue;
    SCOPED_TRACE(folder.path().filename());
    onnx::Imported imported = onnx::import_model((folder.path() / "model.onnx").string());
    const ImportedModel model(std::move(imported.module));
    Program program = make_training_program(model, {.loss = "mse_loss", .optimizer = "sgd"});
    const SafeTensors data = SafeTensors::read((folder.path() / "io.safetensors").string());
    NamedTensors state, inputs = {{"lr", tensor_of_values({DType::kF32, {}}, {1e-3})}};
    const auto value = [](const SafeTensor& stored) {
      const DType dtype = stored.dtype == "F32" ? DType::kF32 : DType::kI64;
      return from_literal(*dense({dtype, stored.shape}, {stored.data.begin(), stored.data.end()}));
    };
    for (const auto& [name, weight] : imported.weights) state.emplace(name, value(weight));
    for (const auto& [key, tensor] : data.tensors()) {
      if (key.starts_with("input.")) inputs.emplace(key.substr(6), value(tensor));
    }
    RefTensor target = value(data.tensors().at("output." + model.outputs()[0]));
    for (int64_t k = 0; k < target.elements(); k += 2) target.f[k] += 1;
    inputs.emplace("target", target);
    CompiledExecutor executor;
    std::vector<double> losses;
    for (int step = 0; step < 4; ++step) {
      losses.push_back(executor.run(program.module(), "train_step", state, inputs).at("loss").f[0]);
    }
    EXPECT_LT(losses.back(), losses.front());
  }
}

}  // namespace
}  // namespace ingot
