// Random programs of tensors, run twice: recorded as a device's, with values looked at and tensors dropped on the way, and
// traced as one entry point, which the reference evaluates.
//   INGOT_GRAPHS, INGOT_GRAPH_SEED   how many, from which seed
#include <gtest/gtest.h>
#include <ingot/lazy.h>

#include <cmath>
#include <functional>
#include <random>

#include "tests/support/environment.h"
#include "tests/support/program_runner.h"

namespace ingot {
namespace {

constexpr int64_t kRows = 4, kColumns = 4;
constexpr int kSteps = 12;
const Spec kMatrix = f32[{kRows, kColumns}];

using Observe = std::function<void(const Tensor&)>;

// One random program: the same for the same seed, whatever is observed.
class RandomProgram {
 public:
  explicit RandomProgram(uint32_t seed) : random_(seed) {}

  // All values are of [rows, columns]; most stay near 1 in size.
  Outputs run(const Tensor& x, const Tensor& y, const Observe& observe) {
    Tensor weight = parameter("weight", kMatrix.type, init::uniform(-1, 1));
    Tensor count = buffer("count", {DType::kF32, {}}, init::ones());
    pool_ = {x, y, weight};
    Tensor loss;
    for (int step = 0; step < kSteps; ++step) {
      pool_.push_back(next());
      observe(pool_.back());
      if (below(4) == 0) pool_.erase(pool_.begin() + below(static_cast<int>(pool_.size()) - 1));
      if (below(5) == 0) count.copy_(count + any().detach().mean());
      if (below(6) == 0) pool_.push_back(any() * count);
    }
    for (const Tensor& tensor : pool_) loss = loss.defined() ? loss + tensor.mean() : tensor.mean();
    loss = loss + weight.sum();
    observe(loss);
    loss.backward();
    if (below(2) == 0) observe(weight.grad());
    Outputs outputs{{"loss", loss}, {"gradient", weight.grad()}, {"count", count + 0}};
    for (size_t i = 0; i < pool_.size(); ++i) outputs.tensors.emplace_back("value" + std::to_string(i), pool_[i] + 0);
    return outputs;
  }

 private:
  int below(int end) { return static_cast<int>(random_() % static_cast<uint32_t>(end)); }
  const Tensor& any() { return pool_[below(static_cast<int>(pool_.size()))]; }

  Tensor next() {
    const Tensor a = any(), b = any();
    switch (below(14)) {
      case 0:
        return tanh(a) + b;
      case 1:
        return a * sigmoid(b);
      case 2:
        return a.matmul(b) * 0.25;
      case 3:
        return a.t() - b;
      case 4:
        return a.softmax(below(2));
      case 5:
        return where(a > b, a, b * 0.5);
      case 6:
        return cat({a.slice(0, 0, 2), b.slice(0, 2, kRows)});
      case 7:
        return a - a.mean({1}, true);
      case 8:
        return a.select(0, below(kRows)).unsqueeze(0).expand({kRows, kColumns}) * b.sigmoid();
      case 9:
        return layer_norm(a, {kColumns}) * 0.5;
      case 10:
        return a.reshape({2, 8}).reshape({kRows, kColumns}) + below(3) * 0.5;
      case 11:  // the sums of what was normalized are 0 but for rounding, which must not choose
        return cond(a.sum() > b.sum() + 0.3, [&] { return a * 0.5; }, [&] { return tanh(b); });
      case 12:
        return summed_rows(a, b);
      default:
        return (a.detach() + b).relu();
    }
  }

  static Tensor summed_rows(const Tensor& a, const Tensor& b) {
    const auto body = [&](Tensors carry, Tensors row) {
      const Tensor sum = tanh(carry[0] + row[0] * b.select(0, 1));
      return Scanned{{sum}, {sum}};
    };
    return scan(body, {a.select(0, 0)}, {a}).ys[0];
  }

  std::mt19937 random_;
  Tensors pool_;
};

RefTensor drawn(uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  RefTensor tensor(kMatrix.type);
  for (double& value : tensor.f) value = uniform(random);
  return tensor;
}

NamedTensors reference(uint32_t seed, const RefTensor& x, const RefTensor& y) {
  Program program;
  RandomProgram random(seed);
  program.add(
      "f", [&](const Tensor& a, const Tensor& b) { return random.run(a, b, [](const Tensor&) {}); }, kMatrix.named("x"),
      kMatrix.named("y"));
  ReferenceExecutor executor;
  NamedTensors state;
  executor.run(program.module(), "init", state, {{"seed", RefTensor({DType::kI64, {}})}});
  return executor.run(program.module(), "f", state, {{"x", x}, {"y", y}});
}

void compare(uint32_t seed) {
  SCOPED_TRACE("INGOT_GRAPH_SEED=" + std::to_string(seed));
  const RefTensor x = drawn(2 * seed), y = drawn(2 * seed + 1);
  const NamedTensors expected = reference(seed, x, y);
  lazy::Device device;
  std::mt19937 looks(seed);
  const Observe observe = [&](const Tensor& tensor) {
    if (looks() % 6 == 0) (void)tensor.to_vector<float>();
    if (looks() % 8 == 0) device.mark_step();
  };
  const auto tensor = [&](const RefTensor& values) {
    return device.tensor(kMatrix, std::vector<float>(values.f.begin(), values.f.end()));
  };
  const Outputs outputs = RandomProgram(seed).run(tensor(x), tensor(y), observe);
  ASSERT_EQ(outputs.tensors.size(), expected.size());
  for (const auto& [name, output] : outputs.tensors) {
    const std::vector<float> values = output.to_vector<float>();
    const std::vector<double>& wanted = expected.at(name).f;
    ASSERT_EQ(values.size(), wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      ASSERT_NEAR(values[i], wanted[i], 2e-4 * std::max(1.0, std::abs(wanted[i]))) << name << "[" << i << "]";
    }
  }
}

TEST(LazyRandom, EqualsTheReference) {
  const int64_t first = number_from_environment("INGOT_GRAPH_SEED", 0);
  const int64_t end = first + number_from_environment("INGOT_GRAPHS", 25);
  for (int64_t seed = first; seed < end && !HasFatalFailure(); ++seed) compare(static_cast<uint32_t>(seed));
}

}  // namespace
}  // namespace ingot
