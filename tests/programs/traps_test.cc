// Mistakes that compilers of training steps were seen to make, and that a falling loss does not show: a donated weight
// that is overwritten before its last read, and convolution gradients that are zero. So every tensor is compared.
#include <gtest/gtest.h>
#include <ingot/ingot.h>

#include <algorithm>
#include <cmath>

#include "aot/frontend/stablehlo/import.h"
#include "aot/graph/text/parse.h"
#include "aot/ops/support/build.h"
#include "tests/support/compiled_program.h"
#include "tests/support/random_tensor.h"

namespace ingot {
namespace {

void expect_near(const NamedTensors& actual, const NamedTensors& expected, const std::string& where) {
  SCOPED_TRACE(where);
  ASSERT_EQ(actual.size(), expected.size());
  for (const auto& [name, tensor] : expected) {
    SCOPED_TRACE(name);
    for (double value : tensor.f) ASSERT_TRUE(std::isfinite(value));
    expect_equal({actual.at(name)}, {tensor}, {.absolute = 2e-6});
  }
}

// Trains `steps` steps on the same batch, compiled and evaluated, and compares all outputs of every step and the last
// state. Gives that state.
NamedTensors train_and_compare(const Module& module, const std::string& entry, const NamedTensors& start,
                               const NamedTensors& batch, int steps, Executor& compiled) {
  ReferenceExecutor reference;
  NamedTensors actual = start, expected = start;
  for (int step = 0; step < steps; ++step) {
    const NamedTensors outputs = compiled.run(module, entry, actual, batch);
    expect_near(outputs, reference.run(module, entry, expected, batch),
                entry + ", outputs of step " + std::to_string(step));
  }
  expect_near(actual, expected, entry + ", last state");
  return actual;
}

// --- donation: the first layer's gradient reads the second weight, which is written in place ---

// y = tanh(x w1) w2, by gradient descent on the mean square of y - t.
constexpr const char* kForward = R"(
  %0 = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : (tensor<32x24xf32>, tensor<24x40xf32>) -> tensor<32x40xf32>
  %h = stablehlo.tanh %0 : tensor<32x40xf32>
  %y = stablehlo.dot_general %h, %w2, contracting_dims = [1] x [0] : (tensor<32x40xf32>, tensor<40x8xf32>) -> tensor<32x8xf32>
  %e = stablehlo.subtract %y, %t : tensor<32x8xf32>
  %n = stablehlo.constant dense<3.906250e-03> : tensor<32x8xf32>
  %d = stablehlo.multiply %e, %n : tensor<32x8xf32>
  %p = stablehlo.multiply %d, %e : tensor<32x8xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %loss = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x8xf32>, tensor<f32>) -> tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<32x40xf32>
  %r1 = stablehlo.constant dense<0.5> : tensor<24x40xf32>
  %r2 = stablehlo.constant dense<0.5> : tensor<40x8xf32>
)";

// What leads to the new first weight; the first line reads the old second one.
constexpr const char* kFirstUpdate[] = {
    "%q = stablehlo.dot_general %d, %w2, contracting_dims = [1] x [1] : (tensor<32x8xf32>, tensor<40x8xf32>) -> "
    "tensor<32x40xf32>",
    "%s = stablehlo.multiply %h, %h : tensor<32x40xf32>",
    "%c = stablehlo.subtract %one, %s : tensor<32x40xf32>",
    "%z = stablehlo.multiply %q, %c : tensor<32x40xf32>",
    ("%g1 = stablehlo.dot_general %x, %z, contracting_dims = [0] x [0] : (tensor<32x24xf32>, tensor<32x40xf32>) -> "
     "tensor<24x40xf32>"),
    "%m1 = stablehlo.multiply %g1, %r1 : tensor<24x40xf32>",
    "%new1 = stablehlo.subtract %w1, %m1 : tensor<24x40xf32>",
};
constexpr const char* kSecondUpdate[] = {
    ("%g2 = stablehlo.dot_general %h, %d, contracting_dims = [0] x [0] : (tensor<32x40xf32>, tensor<32x8xf32>) -> "
     "tensor<40x8xf32>"),
    "%m2 = stablehlo.multiply %g2, %r2 : tensor<40x8xf32>",
    "%new2 = stablehlo.subtract %w2, %m2 : tensor<40x8xf32>",
};

// The step @`name`. `order` says from which update each next line comes: "2221111111" writes the second weight first.
std::string two_layer_step(const std::string& name, const std::string& order) {
  std::string text = "func.func public @" + name +
                     "(%x: tensor<32x24xf32> loc(\"x\"), %w1: tensor<24x40xf32> {tf.aliasing_output = 0 : i32} "
                     "loc(\"w1\"), %w2: tensor<40x8xf32> {tf.aliasing_output = 1 : i32} loc(\"w2\"), "
                     "%t: tensor<32x8xf32> loc(\"t\")) -> (tensor<24x40xf32>, tensor<40x8xf32>, tensor<f32> "
                     "{jax.result_info = \"loss\"}) {" +
                     kForward;
  const char* const* next[] = {kFirstUpdate, kSecondUpdate};
  for (const char update : order) text += std::string("  ") + *next[update - '1']++ + "\n";
  return text + "  return %new1, %new2, %loss : tensor<24x40xf32>, tensor<40x8xf32>, tensor<f32>\n}\n";
}

TEST(Traps, ADonatedWeightKeepsItsOldValueForItsLastReader) {
  std::string text;
  std::string order = std::string(std::size(kFirstUpdate), '1') + std::string(std::size(kSecondUpdate), '2');
  std::vector<std::string> entries;
  do {
    text += two_layer_step(entries.emplace_back("order_" + order), order);
  } while (std::next_permutation(order.begin(), order.end()));
  ASSERT_EQ(entries.size(), 120u);
  const auto module = parse_module(text, "two_layers.mlir", all_ops());
  import_stablehlo(*module);

  const NamedTensors start = {{"w1", random_tensor({DType::kF32, {24, 40}}, 1, -0.3, 0.3)},
                              {"w2", random_tensor({DType::kF32, {40, 8}}, 2, -0.3, 0.3)}};
  const NamedTensors batch = {{"x", random_tensor({DType::kF32, {32, 24}}, 3)},
                              {"t", random_tensor({DType::kF32, {32, 8}}, 4)}};
  for (const uint32_t threads : {1, 3}) {
    CompiledExecutor compiled(threads);
    for (const std::string& entry : entries) train_and_compare(*module, entry, start, batch, 4, compiled);
  }
}

// --- convolution gradients ---

// The part of the elements that differ.
double moved(const RefTensor& from, const RefTensor& to) {
  double count = 0;
  for (size_t i = 0; i < from.f.size(); ++i) count += from.f[i] != to.f[i];
  return count / static_cast<double>(from.f.size());
}

TEST(Traps, EveryParameterOfAConvolutionalNetworkLearns) {
  nn::Sequential net{nn::Conv2d(2, 6, 3, {.padding = 1}),
                     nn::ReLU(),
                     nn::MaxPool2d(2),
                     nn::Conv2d(6, 8, 3, {.stride = 2, .padding = 1, .groups = 2}),
                     nn::ReLU(),
                     nn::Flatten(),
                     nn::Linear(8 * 3 * 3, 5)};
  optim::SGD sgd(net.parameters(), {.lr = 0.05, .momentum = 0.9});
  Program program;
  program.add(
      "train_step",
      [&](Tensor images, Tensor labels) {
        Tensor loss = cross_entropy(net(images), labels);
        loss.backward();
        sgd.step();
        return loss;
      },
      f32[{4, 2, 10, 10}].named("images"), i32[{4}].named("labels"));

  NamedTensors start;
  ReferenceExecutor().run(program.module(), "init", start, {{"seed", tensor_of_values({DType::kI64, {}}, {5})}});
  const NamedTensors batch = {{"images", random_tensor({DType::kF32, {4, 2, 10, 10}}, 6)},
                              {"labels", tensor_of_values({DType::kI32, {4}}, {0, 4, 2, 1})}};
  for (const uint32_t threads : {1, 3}) {
    CompiledExecutor compiled(threads);
    const NamedTensors last = train_and_compare(program.module(), "train_step", start, batch, 4, compiled);
    for (const char* name : {"0.weight", "0.bias", "3.weight", "3.bias", "6.weight", "6.bias"}) {
      EXPECT_GT(moved(start.at(name), last.at(name)), 0.8) << name;
    }
  }
}

}  // namespace
}  // namespace ingot
