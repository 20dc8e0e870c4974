// Gradients of whole small networks against central differences, in f64 without rounding.
#include <gtest/gtest.h>
#include <ingot/ingot.h>

#include <cmath>

#include "aot/frontend/trace/trace.h"
#include "tests/support/error_of.h"
#include "tests/support/program_runner.h"
#include "tests/support/random_tensor.h"

namespace ingot {
namespace {

// A scalar loss of parameters that are drawn at random, and of inputs that stay. `loss` is traced twice: alone, and
// with its gradients as outputs.
struct Network {
  std::vector<Tensor> parameters;
  std::vector<RefTensor> inputs;
  std::function<Tensor(std::span<const Tensor>)> loss;
};

std::vector<Spec> specs_of(const Network& network) {
  std::vector<Spec> specs;
  for (const RefTensor& input : network.inputs) specs.push_back({input.type, ""});
  specs.resize(2, f64[{}]);
  return specs;
}

// Every element of every parameter (a sample of large ones): |analytic - numeric| <= 1e-6 (1 + |numeric|).
// Training.md's step: h = 6e-6 max(1, |x|).
void expect_gradients_match(const Network& network) {
  Program program;
  const auto trace = [&](const char* name, bool with_gradients) {
    const std::vector<Spec> specs = specs_of(network);
    program.add(
        name,
        [&, with_gradients](Tensor a, Tensor b) {
          const Tensor loss = network.loss(std::vector<Tensor>{a, b});
          Outputs outputs{{"loss", loss}};
          if (with_gradients) {
            loss.backward();
            for (const Tensor& p : network.parameters) outputs.tensors.emplace_back(p.name(), p.grad());
          }
          return outputs;
        },
        specs[0], specs[1]);
  };
  trace("loss", false);
  trace("gradients", true);

  ReferenceExecutor executor(false);
  NamedTensors inputs{{"arg0", RefTensor({DType::kF64, {}})}, {"arg1", RefTensor({DType::kF64, {}})}};
  for (size_t i = 0; i < network.inputs.size(); ++i) inputs["arg" + std::to_string(i)] = network.inputs[i];
  NamedTensors state;
  uint64_t seed = 1;
  for (const Tensor& p : network.parameters) state[p.name()] = random_tensor(p.type(), ++seed, 0.2, 1.1);

  const auto loss_at = [&](const NamedTensors& values) {
    NamedTensors copy = values;
    return executor.run(program.module(), "loss", copy, inputs).at("loss").f[0];
  };
  NamedTensors copy = state;
  const NamedTensors analytic = executor.run(program.module(), "gradients", copy, inputs);
  for (const Tensor& p : network.parameters) {
    const RefTensor& gradient = analytic.at(p.name());
    RefTensor& value = state.at(p.name());
    const int64_t stride = std::max<int64_t>(value.elements() / 12, 1);
    for (int64_t k = 0; k < value.elements(); k += stride) {
      const double x = value.f[k], h = 6e-6 * std::max(1.0, std::abs(x));
      value.f[k] = x + h;
      const double above = loss_at(state);
      value.f[k] = x - h;
      const double below = loss_at(state);
      value.f[k] = x;
      const double numeric = (above - below) / (2 * h);
      EXPECT_NEAR(gradient.f[k], numeric, 1e-6 * (1 + std::abs(numeric))) << p.name() << " element " << k;
    }
  }
}

RefTensor labels(std::vector<double> values) {
  return tensor_of_values({DType::kI32, {static_cast<int64_t>(values.size())}}, values);
}

TEST(Gradients, Mlp) {
  nn::Sequential net{nn::Linear(3, 5, {.dtype = f64}), nn::Tanh(), nn::Linear(5, 4, {.dtype = f64}), nn::GELU(),
                     nn::Linear(4, 3, {.dtype = f64})};
  expect_gradients_match({net.parameters(),
                          {random_tensor({DType::kF64, {4, 3}}, 9), labels({0, 2, 1, 1})},
                          [&](auto in) { return cross_entropy(net(in[0]), in[1], {.label_smoothing = 0.1}); }});
}

TEST(Gradients, ConvolutionBatchNormPool) {
  nn::Sequential net{nn::Conv2d(2, 4, 3, {.stride = 2, .padding = 1, .groups = 2, .dtype = f64}),
                     nn::BatchNorm2d(4, {.dtype = f64}),
                     nn::SiLU(),
                     nn::MaxPool2d(2, {.stride = 1}),
                     nn::AvgPool2d(2, {.stride = 1, .padding = 1}),
                     nn::Flatten(),
                     nn::Linear(36, 2, {.dtype = f64})};
  expect_gradients_match({net.parameters(),
                          {random_tensor({DType::kF64, {2, 2, 6, 6}}, 9), labels({0, 1})},
                          [&](auto in) { return cross_entropy(net(in[0]), in[1]); }});
}

TEST(Gradients, AttentionWithEmbeddingAndLayerNorm) {
  const int64_t time = 4, width = 6, heads = 2;
  struct Block : nn::Module {
    nn::Embedding embedding = add("embedding", nn::Embedding(5, 6, {.dtype = f64}));
    nn::LayerNorm norm = add("norm", nn::LayerNorm(6, {.dtype = f64}));
    nn::Linear qkv = add("qkv", nn::Linear(6, 18, {.dtype = f64})),
               head = add("head", nn::Linear(6, 5, {.dtype = f64}));
    Tensor forward(const Tensor& ids) override {
      const Tensor x = embedding(ids);
      const std::vector<Tensor> parts = qkv(norm(x)).chunk(3, -1);
      const auto split = [](const Tensor& t) { return t.view({2, time, heads, width / heads}).transpose(1, 2); };
      const Tensor scores = split(parts[0]).matmul(split(parts[1]).transpose(-2, -1)) / 1.7;
      const Tensor mask = tril(ones({time, time}, f64)) == 0;
      const Tensor y = softmax(scores.masked_fill(mask, -1e30), -1).matmul(split(parts[2]));
      return head(x + y.transpose(1, 2).reshape({2, time, width}));
    }
  } block;
  const RefTensor ids = tensor_of_values({DType::kI32, {2, time}}, {0, 3, 3, 1, 4, 2, 0, 0});
  expect_gradients_match({block.parameters(), {ids}, [&](auto in) { return square(block(in[0])).mean(); }});
}

TEST(Gradients, IndexingAndMovement) {
  Tensor w = parameter("w", {DType::kF64, {4, 6}}, init::normal());
  const RefTensor index = tensor_of_values({DType::kI32, {4, 2}}, {0, 5, 1, 1, 3, 2, 4, 0});
  expect_gradients_match(
      {{w}, {index}, [&](auto in) {
         const Tensor a = gather(w, 1, in[0]).sum(1, true) * w.slice(1, 0, 6, 2);
         const Tensor b = cat({flip(w, {0, 1}).slice(1, 1, 4), pad(w, {1, 0, 0, 2}).slice(0, 0, 4).slice(1, 0, 3)}, 1);
         const Tensor c = where(w > 0.5, w.exp(), w.square()).permute({1, 0}).expand({2, 6, 4}).select(0, 1);
         const Tensor d = stack(w.split(3, 1), 0).amax(2) - w.amin(0).view({2, 3}).mean();
         return a.log().sum() + b.sqrt().sum() + c.matmul(w).sum() + d.sum() + var(w, 0).sum() + logsumexp(w, 1).sum();
       }});
}

TEST(Gradients, ScanAndCond) {
  Tensor w = parameter("w", {DType::kF64, {3, 3}}, init::normal()),
         v = parameter("v", {DType::kF64, {3}}, init::normal());
  expect_gradients_match({{w, v}, {random_tensor({DType::kF64, {4, 2, 3}}, 9)}, [&](auto in) {
                            const auto body = [&](Tensors carry, Tensors x) {
                              const Tensor z = tanh(carry[0].matmul(w) + x[0] * v);
                              const Tensor h = cond(z.sum() > 0.3, [&] { return z * v; }, [&] { return z + w.sum(0); });
                              return Scanned{{h}, {h.exp().sum(1)}};
                            };
                            const Scanned all = scan(body, {expand(v, {2, 3})}, {in[0]}, {.reverse = true});
                            return all.carry[0].square().sum() + all.ys[0].log().sum();
                          }});
}

TEST(Gradients, AddUpAndClear) {
  Tensor w = parameter("w", {DType::kF64, {2}}, init::ones());
  Program p;
  p.add("f", [&] {
    w.square().sum().backward();
    (3 * w).sum().backward();
    const Tensor both = w.grad();
    w.set_grad({});
    w.sum().backward();
    return Outputs{{"both", both}, {"last", w.grad()}};
  });
  NamedTensors state{{"w", tensor_of_values({DType::kF64, {2}}, {5, 7})}};
  const NamedTensors out = ReferenceExecutor().run(p.module(), "f", state, {});
  EXPECT_EQ(out.at("both").f, (std::vector<double>{13, 17}));
  EXPECT_EQ(out.at("last").f, (std::vector<double>{1, 1}));
}

TEST(Gradients, StopAtDetachedAndAtUpdatedValues) {
  Tensor w = parameter("w", {DType::kF64, {2}}, init::ones());
  optim::SGD sgd({w}, {.lr = 0.5});
  Program p;
  p.add("f", [&] {
    (w * w.detach()).sum().backward();
    const Tensor first = w.grad();
    sgd.step();
    sgd.zero_grad();
    w.square().sum().backward();  // of the new value, not through the update
    return Outputs{{"first", first}, {"second", w.grad()}};
  });
  NamedTensors state{{"w", tensor_of_values({DType::kF64, {2}}, {4, 8})}};
  const NamedTensors out = ReferenceExecutor().run(p.module(), "f", state, {});
  EXPECT_EQ(out.at("first").f, (std::vector<double>{4, 8}));
  EXPECT_EQ(state.at("w").f, (std::vector<double>{2, 4}));
  EXPECT_EQ(out.at("second").f, (std::vector<double>{4, 8}));
}

// How many ops of a kind an entry point has.
int count(const Program& program, const char* entry, const OpDef& op) {
  int n = 0;
  for (const auto& o : const_cast<Program&>(program).module().find(entry)->body.ops) n += o->is(op);
  return n;
}

TEST(Gradients, FrozenLayersCostNothing) {
  nn::Sequential net{nn::Linear(3, 3), nn::ReLU(), nn::Linear(3, 3), nn::ReLU(), nn::Linear(3, 1)};
  const auto products = [&] {
    Program p;
    p.add("f", [&](Tensor x) { net(x).sum().backward(); }, f32[{2, 3}]);
    return count(p, "f", kDotGeneral);
  };
  EXPECT_EQ(products(), 3 + 3 + 2);  // forward, weights, inputs of all but the first layer
  net[0].requires_grad_(false);
  EXPECT_EQ(products(), 3 + 2 + 1);
  net[2].requires_grad_(false);
  EXPECT_EQ(products(), 3 + 1 + 0);
}

// An op without a gradient: a kernel, which passes make after differentiation.
Tensor opaque(const In& x) {
  const Scope scope(x.at);
  Value* value = value_of(x.tensor);
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(std::make_unique<Block>());
  GraphBuilder inner;
  inner.at_end(*regions[0]);
  inner.create(kYield, {regions[0]->add_argument(value->type)});
  return wrap(builder().create(kKernel, {value}, {}, {}, std::move(regions))->result());
}

TEST(Gradients, AMissingOneNamesTheOpAndTheLine) {
  Tensor w = parameter("w", {DType::kF32, {2}}, init::ones());
  Program p;
  const int line = __LINE__ + 2;
  const auto body = [&] {
    const Tensor y = opaque(w);
    erf(y).sum().backward();
  };
  const std::string message = error_of([&] { p.add("f", body); });
  EXPECT_NE(message.find("ingot.kernel has no gradient"), message.npos) << message;
  EXPECT_NE(message.find("gradients_test.cc:" + std::to_string(line)), message.npos) << message;
  EXPECT_NO_THROW(p.add("cut", [&] { (w + opaque(w).detach()).sum().backward(); }));
}

}  // namespace
}  // namespace ingot
