#include "tests/support/jax_models.h"

namespace ingot {

Tensor GoldenModel::weight(const std::string& name, const Dims& shape) {
  return parameters_.emplace_back(parameter("params." + name, {DType::kF32, shape}, init::zeros()));
}

GoldenModel GoldenModel::mlp_adamw() {
  GoldenModel model;
  const Tensor w1 = model.weight("fc1.w", {784, 512}), b1 = model.weight("fc1.b", 512);
  const Tensor w2 = model.weight("fc2.w", {512, 256}), b2 = model.weight("fc2.b", 256);
  const Tensor w3 = model.weight("fc3.w", {256, 10}), b3 = model.weight("fc3.b", 10);
  optim::AdamW adamw(model.parameters_, {.lr = 1e-3, .weight_decay = 0.01});
  model.program_.add(
      "train_step",
      [&](Tensor x, Tensor y) {
        Tensor h = relu(x.matmul(w1) + b1);
        h = relu(h.matmul(w2) + b2);
        Tensor loss = cross_entropy(h.matmul(w3) + b3, y);
        loss.backward();
        adamw.step();
        return loss;
      },
      f32[{128, 784}].named("x"), i32[{128}].named("y"));
  return model;
}

GoldenModel GoldenModel::cnn_adamw() {
  GoldenModel model;
  const Tensor conv1 = model.weight("conv1", {32, 1, 3, 3}), b1 = model.weight("b1", 32);
  const Tensor conv2 = model.weight("conv2", {64, 32, 3, 3}), b2 = model.weight("b2", 64);
  const Tensor fc1 = model.weight("fc1.w", {9216, 128}), fc1_b = model.weight("fc1.b", 128);
  const Tensor fc2 = model.weight("fc2.w", {128, 10}), fc2_b = model.weight("fc2.b", 10);
  optim::AdamW adamw(model.parameters_, {.lr = 1e-3, .weight_decay = 1e-4});
  model.program_.add(
      "train_step",
      [&](Tensor x, Tensor y) {
        Tensor h = relu(conv2d(x, conv1, b1));
        h = relu(conv2d(h, conv2, b2));
        h = max_pool2d(h, 2).flatten(1);
        h = relu(h.matmul(fc1) + fc1_b);
        Tensor loss = cross_entropy(h.matmul(fc2) + fc2_b, y);
        loss.backward();
        adamw.step();
        return loss;
      },
      f32[{64, 1, 28, 28}].named("x"), i32[{64}].named("y"));
  return model;
}

std::string GoldenModel::golden_name(const std::string& name) {
  const std::string prefix = "optimizer.params.";
  if (name == "optimizer.step") return "opt.0.count";
  if (!name.starts_with(prefix)) return name;
  const size_t dot = name.rfind('.');
  const std::string moment = name.substr(dot + 1) == "exp_avg" ? "mu" : "nu";
  return "opt.0." + moment + "." + name.substr(prefix.size(), dot - prefix.size());
}

}  // namespace ingot
