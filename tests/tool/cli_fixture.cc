#include "tests/tool/cli_fixture.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <cstdlib>
#include <span>

namespace ingot {
namespace fs = std::filesystem;

const char* const kTrainStep = R"(
func.func @main(%w: tensor<4xf32> {ingot.state = "w"}, %x: tensor<8x4xf32> {ingot.name = "batch.x"},
                %y: tensor<8xf32> {ingot.name = "batch.y"}, %lr: tensor<f32> {ingot.name = "lr"})
    -> (tensor<4xf32> {ingot.state = "w"}, tensor<f32> {ingot.name = "loss"}) {
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %e = stablehlo.subtract %p, %y : tensor<8xf32>
  %g = stablehlo.dot_general %x, %e, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8xf32>) -> tensor<4xf32>
  %r = stablehlo.broadcast_in_dim %lr, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %d = stablehlo.multiply %g, %r : tensor<4xf32>
  %n = stablehlo.subtract %w, %d : tensor<4xf32>
  %l = stablehlo.dot_general %e, %e, contracting_dims = [0] x [0] : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  return %n, %l : tensor<4xf32>, tensor<f32>
}
)";
const char* const kPredict = R"(
func.func @main(%w: tensor<4xf32> {ingot.state = "w"}, %x: tensor<8x4xf32> {ingot.name = "x"})
    -> (tensor<8xf32> {ingot.name = "prediction"}) {
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return %p : tensor<8xf32>
}
)";
const char* const kCheck = R"(
func.func @sum() {
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = stablehlo.add %x, %x : tensor<2xf32>
  check.expect_eq_const %y, dense<[2.0, 4.0]> : tensor<2xf32>
  func.return
}
)";

namespace {

std::vector<float> make_inputs() {
  std::vector<float> values;
  for (int i = 0; i < 5 * 8 * 4; ++i) values.push_back(static_cast<float>(i * 37 % 11) / 11 - 0.5f);
  return values;
}

std::vector<float> make_targets(const std::vector<float>& inputs) {
  std::vector<float> values;
  for (size_t i = 0; i < inputs.size(); i += 4) {
    values.push_back(inputs[i] + 2 * inputs[i + 1] + 3 * inputs[i + 2] + 4 * inputs[i + 3]);
  }
  return values;
}

}  // namespace

CliTest::CliTest() {
  write("step.mlir", kTrainStep);
  write("predict.mlir", kPredict);
  write("check.mlir", kCheck);
  const std::vector<float> inputs = make_inputs(), targets = make_targets(inputs), zeros(4, 0);
  write_safetensors(path("data.safetensors"), {{"batch.x", tensor({5, 8, 4}, inputs)},
                                               {"batch.y", tensor({5, 8}, targets)},
                                               {"x", tensor({8, 4}, inputs)},
                                               {"narrow", tensor({8, 2}, inputs)}});
  write_safetensors(path("first.safetensors"), {{"w", tensor({4}, zeros)}});
}

Outcome CliTest::ingot(const std::string& arguments) const {
  const std::string out = path("..out"), err = path("..err");
  const std::string line =
      fmt::format("cd {} && {} {} >{} 2>{}", folder_.path().string(), INGOT_TOOL, arguments, out, err);
  const int status = std::system(line.c_str());
  Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_text(out), read_text(err)};
  fs::remove(out);
  fs::remove(err);
  return outcome;
}

std::string CliTest::done(const std::string& arguments) const {
  const Outcome outcome = ingot(arguments);
  EXPECT_EQ(outcome.exit_code, kSuccess) << arguments << "\n" << outcome.errors;
  return outcome.output;
}

std::string CliTest::refused(const std::string& arguments) const {
  const Outcome outcome = ingot(arguments);
  EXPECT_EQ(outcome.exit_code, kUserError) << arguments << "\n" << outcome.output << outcome.errors;
  return outcome.errors;
}

std::set<std::string> CliTest::files() const {
  std::set<std::string> names;
  for (const auto& item : fs::directory_iterator(folder_.path())) names.insert(item.path().filename().string());
  return names;
}

std::vector<float> CliTest::weights(const std::string& state) const {
  const SafeTensors file = SafeTensors::read(path(state));
  const auto* values = reinterpret_cast<const float*>(file.find("w")->data.data());
  return {values, values + 4};
}

SafeTensor CliTest::tensor(std::vector<int64_t> shape, const std::vector<float>& values) {
  size_t count = 1;
  for (const int64_t dim : shape) count *= static_cast<size_t>(dim);
  return {"F32", std::move(shape), std::as_bytes(std::span(values).first(count))};
}

}  // namespace ingot
