// Tensors that hold values: what they compute, how often they compile, and what they refuse.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <ingot/lazy.h>

#include <algorithm>
#include <random>
#include <sstream>

#include "tests/support/compiled_program.h"

namespace ingot {
namespace {

std::vector<float> draw(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  std::ranges::generate(values, [&] { return normal(random); });
  return values;
}

std::string printed(const Tensor& tensor) {
  std::ostringstream out;
  out << tensor;
  return out.str();
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Lazy, PrintingComputesOnce) {
  lazy::Device device;
  const Tensor t = device.tensor(i64[{}], {int64_t{3}});
  const Tensor s = t * t;
  EXPECT_EQ(device.samples("ExecuteTime"), 0);
  EXPECT_EQ(printed(s), "tensor(9, i64)");
  EXPECT_EQ(printed(s), "tensor(9, i64)");
  EXPECT_EQ(s.item(), 9);
  EXPECT_EQ(device.samples("ExecuteTime"), 1);
  EXPECT_EQ(device.samples("CompileTime"), 1);
}

TEST(Lazy, TensorsPrintAsTheirValues) {
  lazy::Device device;
  EXPECT_EQ(printed(device.tensor(f32[{2, 2}], {1.0F, 2.5F, -3.0F, 1e-9F})), "tensor([[1, 2.5], [-3, 1e-09]], f32)");
  EXPECT_EQ(printed(device.tensor(f32[{2}], {1.0F, 3.0F}) > 2), "tensor([false, true], i1)");
  EXPECT_EQ(printed(zeros({0, 3})), "tensor([], f32)");
  EXPECT_EQ(printed(arange(1001)), "tensor([0, 1, 2, ..., 998, 999, 1000], i32)");
  EXPECT_EQ(printed(Tensor(2.5)), "2.5");
  EXPECT_EQ(printed(Tensor()), "Tensor()");
}

TEST(Lazy, ValuesComeOutAsTheyWentIn) {
  lazy::Device device;
  const std::vector<float> values = draw(6, 1);
  const Tensor x = device.tensor(f32[{2, 3}], values);
  EXPECT_EQ(x.to_vector<float>(), values);
  EXPECT_EQ(device.samples("ExecuteTime"), 0);
  EXPECT_EQ(x.t().to_vector<float>(), (std::vector{values[0], values[3], values[1], values[4], values[2], values[5]}));
  EXPECT_EQ((x > 0).sum().to_vector<int64_t>()[0], std::ranges::count_if(values, [](float v) { return v > 0; }));
  EXPECT_EQ((x < 1e9).to_vector<uint8_t>(), std::vector<uint8_t>(6, 1));
}

TEST(Lazy, WhatIsDeadIsNotComputed) {
  lazy::Device device;
  const Tensor x = device.tensor(f32[{4}], draw(4, 1));
  {
    const Tensor dead = exp(x);
    expect_contains(device.text(dead), "stablehlo.exponential");
  }
  const Tensor y = x + 1;
  EXPECT_EQ(device.text(y).find("exponential"), std::string::npos) << device.text(y);
  // Nor does what is dead make another program: the same graph, met without it, is in the cache.
  (void)y.to_vector<float>();
  const Tensor z = x + 1;
  (void)z.to_vector<float>();
  EXPECT_EQ(device.samples("CompileTime"), 1);
  EXPECT_EQ(device.samples("ExecuteTime"), 2);
}

TEST(Lazy, AllThatIsInUseIsComputedTogether) {
  lazy::Device device;
  const Tensor x = device.tensor(f32[{3}], {1.0F, 2.0F, 3.0F});
  const Tensor a = x * 2, b = a + 1, c = b.sum();
  EXPECT_EQ(c.item(), 15);
  EXPECT_EQ(a.to_vector<float>(), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(b.to_vector<float>(), (std::vector<float>{3, 5, 7}));
  EXPECT_EQ(device.samples("ExecuteTime"), 1);
  const Tensor d = a + c;  // of results of an earlier run
  EXPECT_EQ(d.to_vector<float>(), (std::vector<float>{17, 19, 21}));
}

// --- training --------------------------------------------------------------------------------------------------------

constexpr int64_t kBatchSize = 16, kFeatures = 6, kClasses = 3;

struct Classifier : nn::Module {
  double p;
  nn::Linear fc1 = add("fc1", nn::Linear(kFeatures, 20));
  nn::Linear fc2 = add("fc2", nn::Linear(20, kClasses));
  explicit Classifier(double dropout) : p(dropout) {}
  Tensor forward(const Tensor& x) override { return fc2(dropout(relu(fc1(x)), p, is_training())); }
};

struct Batch {
  std::vector<float> x;
  std::vector<int32_t> y;
  explicit Batch(int step) : x(draw(kBatchSize * kFeatures, static_cast<uint32_t>(step))) {
    for (int64_t i = 0; i < kBatchSize; ++i) y.push_back(x[i * kFeatures] > 0 ? 0 : x[i * kFeatures + 1] > 0 ? 1 : 2);
  }
};

const Spec kX = f32[{kBatchSize, kFeatures}], kY = i32[{kBatchSize}];

// The losses of the step as one program, compiled by itself and run by the engine.
template <typename MakeOptimizer>
std::vector<double> compiled_losses(double p, int steps, const MakeOptimizer& make) {
  Classifier net(p);
  auto optimizer = make(net.parameters());
  Program program;
  program.add(
      "train_step",
      [&](const Tensor& x, const Tensor& y) {
        const Tensor loss = cross_entropy(net(x), y);
        loss.backward();
        optimizer.step();
        return loss;
      },
      kX.named("x"), kY.named("y"));
  CompiledExecutor executor(1);
  NamedTensors state;
  RefTensor seed({DType::kI64, {}});
  seed.i = {7};
  executor.run(program.module(), "init", state, {{"seed", seed}});
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    const Batch batch(step);
    RefTensor x(kX.type), y(kY.type);
    x.f.assign(batch.x.begin(), batch.x.end());
    y.i.assign(batch.y.begin(), batch.y.end());
    losses.push_back(executor.run(program.module(), "train_step", state, {{"x", x}, {"y", y}}).at("loss").f[0]);
  }
  return losses;
}

template <typename MakeOptimizer>
void expect_same_training(double p, int steps, const MakeOptimizer& make) {
  const std::vector<double> expected = compiled_losses(p, steps, make);
  lazy::Device device({.seed = 7});
  Classifier net(p);
  auto optimizer = make(net.parameters());
  for (int step = 0; step < steps; ++step) {
    const Batch batch(step);
    optimizer.zero_grad();
    const Tensor loss = cross_entropy(net(device.tensor(kX, batch.x)), device.tensor(kY, batch.y));
    loss.backward();
    optimizer.step();
    ASSERT_NEAR(loss.item(), expected[step], 1e-6 * std::max(1.0, expected[step])) << "in step " << step;
  }
  EXPECT_EQ(device.samples("ExecuteTime"), steps);
  EXPECT_LE(device.samples("CompileTime"), 2);
  EXPECT_EQ(device.counter("CachedCompile"), steps - device.samples("CompileTime"));
}

TEST(LazyTraining, SgdEqualsTheCompiledStep) {
  expect_same_training(0, 40, [](auto parameters) {
    return optim::SGD(parameters, {.lr = 0.1, .momentum = 0.9, .weight_decay = 1e-3});
  });
}

TEST(LazyTraining, AdamEqualsTheCompiledStep) {
  expect_same_training(0, 40, [](auto parameters) { return optim::Adam(parameters, {.lr = 0.01}); });
}

TEST(LazyTraining, DropoutDrawsWhatTheCompiledStepDraws) {
  expect_same_training(0.3, 20, [](auto parameters) { return optim::AdamW(parameters, {.lr = 0.01}); });
}

TEST(LazyTraining, AThousandStepsCompileTwice) {
  lazy::Device device;
  Classifier net(0);
  optim::Adam adam(net.parameters(), {.lr = 0.01});
  double first = 0, last = 0;
  for (int step = 0; step < 1000; ++step) {
    const Batch batch(step % 50);
    adam.zero_grad();
    const Tensor loss = cross_entropy(net(device.tensor(kX, batch.x)), device.tensor(kY, batch.y));
    loss.backward();
    adam.step();
    last = loss.item();
    if (step == 0) first = last;
  }
  EXPECT_LT(last, first / 10);
  EXPECT_EQ(device.samples("CompileTime"), 2);
  EXPECT_EQ(device.samples("ExecuteTime"), 1000);
}

TEST(LazyTraining, ANumberThatChangesBecomesAnInput) {
  lazy::Device device;
  Classifier net(0);
  optim::SGD sgd(net.parameters());
  const std::vector<float> before = net.fc2.bias.to_vector<float>();
  for (int step = 0; step < 20; ++step) {
    const Batch batch(step);
    sgd.zero_grad();
    const Tensor loss = cross_entropy(net(device.tensor(kX, batch.x)), device.tensor(kY, batch.y));
    loss.backward();
    const std::vector<float> old = net.fc2.bias.to_vector<float>();
    sgd.step(0.1 / (step + 1));
    const std::vector<float> gradient = net.fc2.bias.grad().to_vector<float>();
    const std::vector<float> now = net.fc2.bias.to_vector<float>();
    for (int64_t i = 0; i < kClasses; ++i) {
      EXPECT_NEAR(now[i], old[i] - gradient[i] * 0.1 / (step + 1), 1e-6) << "in step " << step;
    }
  }
  EXPECT_LE(device.samples("CompileTime"), 6) << device.metrics();
}

}  // namespace
}  // namespace ingot
