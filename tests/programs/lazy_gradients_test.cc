// Gradients of tensors that hold values: what is kept from run to run, what is forgotten, and what is refused.
#include <gtest/gtest.h>
#include <ingot/lazy.h>

#include <cmath>
#include <thread>

#include "aot/base/error.h"
#include "tests/support/error_of.h"

namespace ingot {
namespace {

using Floats = std::vector<float>;

Floats values(const Tensor& tensor) { return tensor.to_vector<float>(); }

TEST(LazyGradients, FlowThroughWhatWasLookedAt) {
  lazy::Device device;
  Tensor w = parameter("w", {DType::kF32, {2}}, init::ones());
  const Tensor x = device.tensor(f32[{2}], {3.0F, 4.0F});
  const Tensor hidden = square(w * x);
  EXPECT_EQ(values(hidden), (Floats{9, 16}));  // runs, and keeps the way back
  const Tensor loss = (hidden * hidden).sum();
  EXPECT_EQ(loss.item(), 81 + 256);
  loss.backward();
  EXPECT_EQ(values(w.grad()), (Floats{4 * 81, 4 * 256}));  // of (w x)^4: 4 w^3 x^4
  EXPECT_EQ(values(w), (Floats{1, 1}));
}

TEST(LazyGradients, AddUpUntilTheyAreZeroed) {
  lazy::Device device;
  Tensor w = parameter("w", {DType::kF32, {}}, init::ones());
  optim::SGD sgd({w}, {.lr = 0.0});
  for (int step = 1; step <= 3; ++step) {
    (w * 2).backward();
    device.mark_step();
    EXPECT_EQ(w.grad().item(), 2 * step);
  }
  sgd.zero_grad();
  EXPECT_FALSE(w.grad().defined());
}

TEST(LazyGradients, ReachTensorsThatAskForThem) {
  lazy::Device device;
  Tensor x = device.tensor(f32[{3}], {1.0F, 2.0F, 3.0F});
  x.requires_grad_();
  EXPECT_TRUE(x.requires_grad());
  const Tensor loss = (x * x * x).sum();
  device.mark_step();
  loss.backward();
  EXPECT_EQ(values(x.grad()), (Floats{3, 12, 27}));
}

TEST(LazyGradients, OfADeadTensorAreNotAnothers) {
  lazy::Device device;
  for (int i = 0; i < 100; ++i) {
    Tensor x = device.tensor(f32[{}], {2.0F});
    x.requires_grad_();
    EXPECT_FALSE(x.grad().defined());
    square(x).backward();
    device.mark_step();
    EXPECT_EQ(x.grad().item(), 4);
  }
}

TEST(LazyGradients, AreRefusedWhereTheWayBackIsForgotten) {
  lazy::Device device;
  Tensor w = parameter("w", {DType::kF32, {2}}, init::ones());
  Tensor state = device.tensor(f32[{2}], {1.0F, 2.0F});
  const auto step = [&] {
    state = tanh(state * w);
    state.sum().backward();
    device.mark_step();
  };
  step();
  const std::string error = error_of(step);
  EXPECT_TRUE(error.find("forgotten") != error.npos && error.find("lazy_gradients_test.cc") != error.npos) << error;
  state = state.detach();
  step();

  const Tensor early = (w * 3).sum();
  optim::SGD sgd({w}, {.lr = 0.5});
  (w * 2).sum().backward();
  sgd.step();
  EXPECT_NE(error_of([&] { early.backward(); }).find("was written since"), std::string::npos);
}

TEST(LazyGradients, StopAtWhatIsDetached) {
  lazy::Device device;
  Tensor w = parameter("w", {DType::kF32, {}}, init::constant(3));
  const Tensor fixed = (w * w).detach();
  const Tensor loss = fixed * w + (w * w).detach() * w;  // one is known when this has run, the other computed again
  EXPECT_EQ(loss.item(), 54);
  loss.backward();
  EXPECT_EQ(w.grad().item(), 18);
}

TEST(LazyGradients, OfGradientsBeforeARun) {
  lazy::Device device;
  Tensor w = parameter("w", {DType::kF32, {}}, init::constant(2));
  pow(w, 3).backward();
  const Tensor slope = w.grad();
  w.set_grad({});
  square(slope).backward();  // (3 w^2)^2: 36 w^3
  EXPECT_EQ(w.grad().item(), 36 * 8);
}

// What is kept for gradients goes with the tensors that need it: graphs do not grow from step to step.
TEST(LazyGradients, EvaluationKeepsNothing) {
  lazy::Device device;
  nn::Linear fc(4, 4);
  double total = 0;
  for (int step = 0; step < 30; ++step) {
    const Tensor y = fc(device.tensor(f32[{1, 4}], {1.0F, 2.0F, 3.0F, static_cast<float>(step)}));
    total += y.sum().item();
    device.mark_step();
  }
  EXPECT_TRUE(std::isfinite(total));
  EXPECT_EQ(device.samples("CompileTime"), 2);  // the first one makes the weights
}

TEST(LazyLoops, ReadParametersFirstInTheirBody) {
  lazy::Device device;
  Tensor w = parameter("w", {DType::kF32, {2}}, init::constant(2));
  const Tensor x = device.tensor(f32[{3, 2}], {1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F});
  const Scanned all = scan(
      [&](Tensors carry, Tensors row) {
        const Tensor next = carry[0] + row[0] * w;
        return Scanned{{next}, {next}};
      },
      {zeros({2})}, {x});
  EXPECT_EQ(values(all.carry[0]), (Floats{18, 24}));
  all.carry[0].sum().backward();
  EXPECT_EQ(values(w.grad()), (Floats{9, 12}));
  EXPECT_EQ(values(cond(x.sum() > 0, [&] { return w + 1; }, [&] { return w - 1; })), (Floats{3, 3}));
}

TEST(LazyErrors, NameTheUsersLine) {
  lazy::Device device;
  const Tensor a = device.tensor(f32[{2, 3}], Floats(6)), b = device.tensor(f32[{4}], Floats(4));
  const std::string error = error_of([&] { (void)(a + b); });
  EXPECT_TRUE(error.find("[2, 3] and [4] do not broadcast") != error.npos) << error;
  EXPECT_TRUE(error.find("lazy_gradients_test.cc:" + std::to_string(__LINE__ - 2)) != error.npos) << error;
  EXPECT_NE(error_of([&] { (void)a.matmul(b); }).find("matmul"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)a.item(); }).find("to_vector() gives all"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)a.to_vector<double>(); }).find("elements are f32, not f64"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)device.tensor(f32[{3}], Floats(2)); }).find("3 elements, and 2 are"),
            std::string::npos);
  EXPECT_NE(error_of([&] { (void)device.tensor(f32[{1}], {1}); }).find("elements that are i32"), std::string::npos);
  Tensor c = a;
  EXPECT_NE(error_of([&] { c.copy_(a); }).find("only parameters and buffers"), std::string::npos);
  EXPECT_EQ(values(a), Floats(6));  // and goes on
}

TEST(LazyErrors, KeepDevicesApart) {
  Tensor left;
  EXPECT_NE(error_of([&] { (void)zeros({2}); }).find("lazy::Device"), std::string::npos);
  {
    lazy::Device device;
    left = ones({2}) + 1;
    EXPECT_NE(error_of([] { lazy::Device second; }).find("has a lazy::Device already"), std::string::npos);
    Program program;
    program.add("f", [](const Tensor& x) { return x + 1; }, f32[{2}]);  // an entry point of its own
    EXPECT_NE(error_of([&] { program.add("g", [&] { return left + 1; }); }).find("holds a value of a lazy::Device"),
              std::string::npos);
    EXPECT_NE(error_of([&] {
                program.add("h", [&](const Tensor& x) { (void)x.item(); }, f32[{}]);
              }).find("while an entry point is traced"),
              std::string::npos);
    EXPECT_NE(error_of([&] { program.add("i", [] { lazy::Device inner; }); }).find("an entry point is being traced"),
              std::string::npos);
    EXPECT_EQ(values(left), (Floats{2, 2}));
  }
  lazy::Device other;
  EXPECT_NE(error_of([&] { (void)(left + 1); }).find("a lazy::Device that is gone"), std::string::npos);
}

TEST(LazyErrors, RefuseWhatALoopCannotGive) {
  lazy::Device device;
  const Tensor x = device.tensor(f32[{2}], {1.0F, 2.0F}), pending = x + 1;
  const auto look = [&](const auto& at) {
    const auto body = [&](Tensors carry, Tensors) {
      (void)values(at(carry[0]));
      return Scanned{carry, {}};
    };
    return error_of([&] { (void)scan(body, {x}, {}, {.length = 2}); });
  };
  EXPECT_NE(look([&](const Tensor&) { return pending; }).find("inside of a scan"), std::string::npos);
  EXPECT_NE(look([&](const Tensor& carried) { return carried; }).find("inside of a scan"), std::string::npos);
  EXPECT_EQ(look([&](const Tensor&) { return x; }), "");
  EXPECT_EQ(values(pending), (Floats{2, 3}));
}

TEST(LazyErrors, RefuseTwoParametersOfOneName) {
  lazy::Device device;
  nn::Linear a(2, 2), b(2, 2);
  const Tensor x = ones({1, 2});
  (void)a(x);
  EXPECT_NE(error_of([&] { (void)b(x); }).find("two variables are named 'weight'"), std::string::npos);
  b.named("b");
  EXPECT_EQ(b(x).numel(), 2);
}

TEST(LazySeeds, GiveTheSameNumbersAgain) {
  lazy::Device device;
  const auto drawn = [&] {
    const Tensor a = dropout(ones({64}), 0.5), b = dropout(ones({64}), 0.5);
    EXPECT_NE(values(a), values(b));
    return values(a);
  };
  const Floats first = drawn(), second = drawn();
  EXPECT_NE(first, second);
  device.manual_seed(0);
  EXPECT_EQ(drawn(), first);
  device.manual_seed(1);
  EXPECT_NE(drawn(), first);
}

TEST(LazyThreads, HaveADeviceEach) {
  Floats results[2];
  const auto train = [](Floats& losses) {
    lazy::Device device;
    nn::Linear fc(4, 1);
    optim::SGD sgd(fc.parameters(), {.lr = 0.1});
    for (int step = 0; step < 20; ++step) {
      sgd.zero_grad();
      const Tensor loss = square(dropout(fc(device.tensor(f32[{1, 4}], {1.0F, 2.0F, 3.0F, 4.0F})), 0.1) - 1).sum();
      loss.backward();
      sgd.step();
      losses.push_back(static_cast<float>(loss.item()));
    }
  };
  std::thread other(train, std::ref(results[1]));
  train(results[0]);
  other.join();
  EXPECT_EQ(results[0], results[1]);
}

}  // namespace
}  // namespace ingot
