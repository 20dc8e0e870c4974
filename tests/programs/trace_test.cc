// What a user writes in C++: shapes, values, errors, state and a training step.
#include <gtest/gtest.h>
#include <ingot/ingot.h>

#include <algorithm>

#include "aot/base/error.h"
#include "aot/frontend/trace/philox.h"
#include "aot/graph/graph.h"
#include "tests/support/error_of.h"
#include "tests/support/program_runner.h"
#include "tests/support/random_tensor.h"

namespace ingot {
namespace {

// The values of a function of one or more inputs.
template <typename F>
RefTensor values(F&& function, const std::vector<RefTensor>& inputs = {}) {
  Program program;
  NamedTensors named, state;
  std::vector<Spec> specs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    specs.push_back({inputs[i].type, ""});
    named["arg" + std::to_string(i)] = inputs[i];
  }
  if constexpr (std::is_invocable_v<F, Tensor, Tensor>) {
    program.add("f", function, specs.at(0), specs.at(1));
  } else if constexpr (std::is_invocable_v<F, Tensor>) {
    program.add("f", function, specs.at(0));
  } else {
    program.add("f", function);
  }
  return ReferenceExecutor().run(program.module(), "f", state, named).at("output");
}

RefTensor vec(std::vector<double> v, DType dtype = DType::kF32) {
  return tensor_of_values({dtype, {static_cast<int64_t>(v.size())}}, v);
}

RefTensor matrix(int64_t rows, int64_t columns, std::vector<double> v, DType dtype = DType::kF32) {
  return tensor_of_values({dtype, {rows, columns}}, v);
}

// The message of the error that tracing `function` gives.
template <typename F, typename... S>
std::string tracing_error(F&& function, const S&... specs) {
  return error_of([&] { Program().add("f", function, specs...); });
}

TEST(Tensors, BroadcastLikePyTorch) {
  const RefTensor sum =
      values([](Tensor a, Tensor b) { return a + b; }, {matrix(2, 3, {1, 2, 3, 4, 5, 6}), vec({10, 20, 30})});
  EXPECT_EQ(sum.type, (TensorType{DType::kF32, {2, 3}}));
  EXPECT_EQ(sum.f, (std::vector<double>{11, 22, 33, 14, 25, 36}));
  const RefTensor outer = values([](Tensor a) { return a.unsqueeze(1) * a; }, {vec({1, 2, 3})});
  EXPECT_EQ(outer.f, (std::vector<double>{1, 2, 3, 2, 4, 6, 3, 6, 9}));
}

TEST(Tensors, PromoteLikePyTorch) {
  const auto dtype = [](auto function) {
    Program p;
    DType result{};
    p.add(
        "f", [&](Tensor i, Tensor f, Tensor scalar, Tensor truth) { result = function(i, f, scalar, truth).dtype(); },
        i32[{2}], f16[{2}], f64[{}], i1[{2}]);
    return result;
  };
  EXPECT_EQ(dtype([](auto i, auto, auto, auto) { return i + 1; }), DType::kI32);
  EXPECT_EQ(dtype([](auto i, auto, auto, auto) { return i + 1.5; }), DType::kF32);
  EXPECT_EQ(dtype([](auto i, auto, auto, auto) { return i / 2; }), DType::kF32);
  EXPECT_EQ(dtype([](auto i, auto f, auto, auto) { return i * f; }), DType::kF16);
  EXPECT_EQ(dtype([](auto, auto f, auto scalar, auto) { return f * scalar; }), DType::kF16);
  EXPECT_EQ(dtype([](auto i, auto, auto scalar, auto) { return i * scalar; }), DType::kF64);
  EXPECT_EQ(dtype([](auto, auto, auto, auto truth) { return truth.sum(); }), DType::kI64);
  EXPECT_EQ(dtype([](auto i, auto, auto, auto) { return i < 3; }), DType::kI1);
}

TEST(Tensors, MatmulTakesVectorsMatricesAndBatches) {
  const auto shape = [](std::initializer_list<int64_t> a, std::initializer_list<int64_t> b) {
    Program p;
    Shape result;
    p.add("f", [&](Tensor x, Tensor y) { result = x.matmul(y).shape(); }, f32[a], f32[b]);
    return result;
  };
  EXPECT_EQ(shape({3}, {3}), (Shape{}));
  EXPECT_EQ(shape({2, 3}, {3}), (Shape{2}));
  EXPECT_EQ(shape({3}, {3, 4}), (Shape{4}));
  EXPECT_EQ(shape({5, 2, 3}, {3, 4}), (Shape{5, 2, 4}));
  EXPECT_EQ(shape({5, 2, 3}, {5, 3, 4}), (Shape{5, 2, 4}));
  EXPECT_EQ(shape({7, 1, 2, 3}, {5, 3, 4}), (Shape{7, 5, 2, 4}));
  EXPECT_EQ(shape({3}, {5, 3, 4}), (Shape{5, 4}));
  const RefTensor y =
      values([](Tensor a, Tensor b) { return matmul(a, b); }, {matrix(1, 2, {1, 2}), matrix(2, 2, {3, 4, 5, 6})});
  EXPECT_EQ(y.f, (std::vector<double>{13, 16}));
}

TEST(Tensors, MoveElements) {
  const RefTensor m = matrix(2, 3, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(values([](Tensor x) { return x.t(); }, {m}).f, (std::vector<double>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(values([](Tensor x) { return x.view({3, -1}); }, {m}).type.shape, (Shape{3, 2}));
  EXPECT_EQ(values([](Tensor x) { return x.select(1, -1); }, {m}).f, (std::vector<double>{3, 6}));
  EXPECT_EQ(values([](Tensor x) { return x.slice(1, 0, 3, 2); }, {m}).f, (std::vector<double>{1, 3, 4, 6}));
  EXPECT_EQ(values([](Tensor x) { return cat({x, x.chunk(3, 1)[0]}, 1); }, {m}).f,
            (std::vector<double>{1, 2, 3, 1, 4, 5, 6, 4}));
  EXPECT_EQ(values([](Tensor x) { return stack({x, x}, -1); }, {m}).type.shape, (Shape{2, 3, 2}));
  EXPECT_EQ(values([](Tensor x) { return tril(x); }, {m}).f, (std::vector<double>{1, 0, 0, 4, 5, 0}));
  EXPECT_EQ(values([](Tensor x) { return flip(x, 1); }, {m}).f, (std::vector<double>{3, 2, 1, 6, 5, 4}));
  EXPECT_EQ(values([](Tensor x) { return pad(x, {1, 0}); }, {m}).f, (std::vector<double>{0, 1, 2, 3, 0, 4, 5, 6}));
}

TEST(Tensors, ReduceAndSearch) {
  const RefTensor m = matrix(2, 3, {1, 7, 3, 9, 5, 9});
  EXPECT_EQ(values([](Tensor x) { return x.sum(0); }, {m}).f, (std::vector<double>{10, 12, 12}));
  EXPECT_EQ(values([](Tensor x) { return x.mean({0, 1}, true); }, {m}).type.shape, (Shape{1, 1}));
  EXPECT_EQ(values([](Tensor x) { return x.amax(-1); }, {m}).f, (std::vector<double>{7, 9}));
  EXPECT_EQ(values([](Tensor x) { return argmax(x, 1); }, {m}).i, (std::vector<int64_t>{1, 0}));
  EXPECT_FLOAT_EQ(values([](Tensor x) { return var(x, 1); }, {m}).f[0], 28.0 / 3);
}

TEST(Tensors, IndexRows) {
  const RefTensor table = matrix(3, 2, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(values([](Tensor t, Tensor i) { return index_select(t, 0, i); }, {table, vec({2, 0}, DType::kI32)}).f,
            (std::vector<double>{5, 6, 1, 2}));
  EXPECT_EQ(values([](Tensor t, Tensor i) { return index_select(t, 1, i); }, {table, vec({1}, DType::kI32)}).f,
            (std::vector<double>{2, 4, 6}));
  EXPECT_EQ(values([](Tensor t, Tensor i) { return gather(t, 1, i); }, {table, matrix(3, 1, {1, 0, 1}, DType::kI32)}).f,
            (std::vector<double>{2, 3, 6}));
  EXPECT_EQ(values([](Tensor i) { return one_hot(i, 3); }, {vec({2, 0}, DType::kI32)}).i,
            (std::vector<int64_t>{0, 0, 1, 1, 0, 0}));
}

TEST(TraceErrors, NameTheUsersLine) {
  const int line = __LINE__ + 1;
  const std::string message = tracing_error([](Tensor a, Tensor b) { return a + b; }, f32[{2, 3}], f32[{4}]);
  EXPECT_NE(message.find("trace_test.cc:" + std::to_string(line)), message.npos) << message;
  EXPECT_NE(message.find("+: [2, 3] and [4] do not broadcast"), message.npos) << message;
  EXPECT_NE(tracing_error([](Tensor a) { return a.matmul(a); }, f32[{2, 3}]).find("inner sizes 3 and 2 differ"),
            std::string::npos);
  EXPECT_NE(tracing_error([](Tensor a) { return reshape(a, {4, -1}); }, f32[{2, 3}]).find("does not fit [4, -1]"),
            std::string::npos);
  EXPECT_NE(tracing_error([](Tensor a) { return a.sum(2); }, f32[{2, 3}]).find("dimension 2 is outside of [-2, 1]"),
            std::string::npos);
  nn::Linear layer(4, 2);
  EXPECT_NE(tracing_error([&](Tensor a) { return layer(a); }, f32[{2, 3}]).find("linear: the last size of the input"),
            std::string::npos);
}

TEST(TraceErrors, SayWhatALossMustBe) {
  nn::Linear layer(3, 2);
  EXPECT_NE(tracing_error([&](Tensor x) { layer(x).backward(); }, f32[{2, 3}]).find("the loss must be a scalar"),
            std::string::npos);
  EXPECT_NE(tracing_error([&](Tensor x) { x.sum().backward(); }, f32[{2, 3}]).find("depends on no parameter"),
            std::string::npos);
  EXPECT_NE(tracing_error([&](Tensor x) { argmax(layer(x), 1).sum().backward(); }, f32[{2, 3}]).find("must be a float"),
            std::string::npos);
}

TEST(TraceErrors, KeepTracesApart) {
  Tensor leaked;
  Program p;
  p.add("a", [&](Tensor x) { leaked = x + 1; }, f32[{2}]);
  EXPECT_NE(tracing_error([&](Tensor x) { return x + leaked; }, f32[{2}]).find("belongs to another entry point"),
            std::string::npos);
  EXPECT_THROW(leaked + 1, Error);
  EXPECT_THROW(p.add("a", [](Tensor x) { return x; }, f32[{2}]), Error);
  EXPECT_NO_THROW(p.add("b", [](Tensor x) { return x; }, f32[{2}]));
}

TEST(TraceErrors, RefuseTwoVariablesOfOneName) {
  nn::Sequential a{nn::Linear(2, 2)}, b{nn::Linear(2, 2)};
  EXPECT_NE(tracing_error([&](Tensor x) { return b(a(x)); }, f32[{1, 2}]).find("two variables are named '0.weight'"),
            std::string::npos);
  b.named("second");
  EXPECT_EQ(tracing_error([&](Tensor x) { return b(a(x)); }, f32[{1, 2}]), "");
  EXPECT_EQ(b.parameters()[0].name(), "second.0.weight");
}

TEST(Programs, WrittenStateReplacesItsArgument) {
  Program p;
  Tensor counter = buffer("counter", {DType::kI64, {}}, init::constant(5));
  p.add("count", [&] {
    const Tensor before = counter + 0;
    counter.copy_(counter + 1);
    return Outputs{{"before", before}, {"after", counter}};
  });
  NamedTensors state;
  ReferenceExecutor executor;
  executor.run(p.module(), "init", state, {{"seed", RefTensor({DType::kI64, {}})}});
  EXPECT_EQ(state.at("counter").i[0], 5);
  NamedTensors out = executor.run(p.module(), "count", state, {});
  EXPECT_EQ(out.at("before").i[0], 5);
  EXPECT_EQ(out.at("after").i[0], 6);
  EXPECT_EQ(state.at("counter").i[0], 6);
}

TEST(Programs, GradientsFlowThroughWhatStateKeeps) {
  Tensor w = parameter("w", {DType::kF32, {}}, init::constant(3)),
         last = buffer("last", {DType::kF32, {}}, init::zeros());
  Program program;
  program.add("f", [&] {
    const Tensor hidden = w * w;
    last.copy_(hidden);
    (hidden * hidden + last * w).backward();
    return w.grad();
  });
  NamedTensors state;
  ReferenceExecutor executor;
  executor.run(program.module(), "init", state, {{"seed", RefTensor({DType::kI64, {}})}});
  const NamedTensors outputs = executor.run(program.module(), "f", state, {});
  EXPECT_EQ(outputs.at("output").f[0], 4 * 27 + 9);  // of w^4, and of last w, where last is a constant
  EXPECT_EQ(state.at("last").f[0], 9);
}

TEST(Programs, ReadLikePyTorch) {
  nn::Sequential net{nn::Conv2d(1, 16, 3), nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(), nn::Linear(16 * 13 * 13, 10)};
  optim::AdamW adam(net.parameters());
  Program p;
  p.add(
      "train_step",
      [&](Tensor images, Tensor labels, Tensor lr) {
        Tensor loss = cross_entropy(net(images), labels);
        loss.backward();
        adam.step(lr);
        return loss;
      },
      f32[{64, 1, 28, 28}], i32[{64}], f32[{}]);
  p.add("predict", [&](Tensor images) { return argmax(net(images), 1); }, f32[{64, 1, 28, 28}]);

  const Function* predict = p.module().find("predict");
  EXPECT_EQ(predict->results.at(0).type, (TensorType{DType::kI32, {64}}));
  EXPECT_EQ(predict->argument_count(), 5);
  EXPECT_EQ(*predict->argument_attrs[0].at("ingot.state").as<std::string>(), "0.weight");
  EXPECT_EQ(*predict->argument_attrs[4].at("ingot.name").as<std::string>(), "arg0");
  const Function* train = p.module().find("train_step");
  EXPECT_EQ(*train->results.back().attrs.at("ingot.name").as<std::string>(), "loss");
  EXPECT_EQ(train->results.size(), 4u + 8u + 1u + 1u);  // parameters, moments, the step, the loss
  EXPECT_NE(p.module().find("init"), nullptr);
}

TEST(Programs, DropoutIsScaledAndDrawnAnewEachStep) {
  Program p;
  p.add("f", [](Tensor x) { return dropout(x, 0.25); }, f32[{4000}].named("x"));
  const NamedTensors inputs{{"x", tensor_of_values({DType::kF32, {4000}}, std::vector<double>(4000, 3.0))}};
  NamedTensors state;
  ReferenceExecutor executor;
  executor.run(p.module(), "init", state, {{"seed", tensor_of_values({DType::kI64, {}}, {123})}});
  const RefTensor first = executor.run(p.module(), "f", state, inputs).at("output");
  const RefTensor second = executor.run(p.module(), "f", state, inputs).at("output");
  const auto zeros = std::count(first.f.begin(), first.f.end(), 0.0);
  EXPECT_EQ(zeros + std::count(first.f.begin(), first.f.end(), 4.0), 4000);
  EXPECT_NEAR(static_cast<double>(zeros) / 4000, 0.25, 0.03);
  EXPECT_NE(first.f, second.f);
  EXPECT_EQ(state.at("rng.step").i[0], 2);
}

// Known answers of Random123 1.14 (kat_vectors): philox4x32-10.
TEST(Random, PhiloxGivesItsKnownAnswers) {
  const auto blocks = [](int64_t counter, int64_t key) {
    return values([=] {
             const Tensor c = full({1}, 0, DType::kUI32) + counter, k = full({1}, 0, DType::kUI32) + key;
             const auto words = philox4x32({c, c, c, c}, {k, k});
             return cat({words.begin(), words.end()});
           })
        .i;
  };
  EXPECT_EQ(blocks(0, 0), (std::vector<int64_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(blocks(0xffffffff, 0xffffffff), (std::vector<int64_t>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(Programs, AnMlpTrains) {
  nn::Sequential net{nn::Linear(4, 16), nn::ReLU(), nn::Linear(16, 3)};
  optim::AdamW adam(net.parameters());
  Program p;
  p.add(
      "train_step",
      [&](Tensor x, Tensor y, Tensor lr) {
        Tensor loss = cross_entropy(net(x), y);
        loss.backward();
        adam.step(lr);
        return loss;
      },
      f32[{8, 4}].named("x"), i32[{8}].named("y"), f32[{}].named("lr"));
  p.add("predict", [&](Tensor x) { return argmax(net(x), 1); }, f32[{8, 4}].named("x"));

  NamedTensors state;
  ReferenceExecutor executor;
  executor.run(p.module(), "init", state, {{"seed", tensor_of_values({DType::kI64, {}}, {7})}});
  ASSERT_TRUE(state.contains("0.weight") && state.contains("optimizer.2.bias.exp_avg_sq") &&
              state.contains("optimizer.step"));
  const NamedTensors inputs{{"x", random_tensor({DType::kF32, {8, 4}}, 1)},
                            {"y", tensor_of_values({DType::kI32, {8}}, {0, 1, 2, 0, 1, 2, 0, 1})},
                            {"lr", tensor_of_values({DType::kF32, {}}, {0.05})}};
  std::vector<double> losses;
  for (int step = 0; step < 40; ++step)
    losses.push_back(executor.run(p.module(), "train_step", state, inputs).at("loss").f[0]);
  EXPECT_NEAR(losses.front(), 1.1, 0.4);
  EXPECT_LT(losses.back(), 0.1 * losses.front());
  EXPECT_EQ(executor.run(p.module(), "predict", state, inputs).at("output").i, inputs.at("y").i);
  EXPECT_EQ(state.at("optimizer.step").i[0], 40);
}

}  // namespace
}  // namespace ingot
