// The network and its training step. Runs on the developer's machine, at build time;
// what it leaves behind is fashion.ingot.
#include <ingot/ingot.h>

using namespace ingot;

int main() {
  constexpr int64_t kBatch = 64;
  nn::Sequential net{nn::Conv2d(1, 16, 3, {.padding = 1}),
                     nn::ReLU(),
                     nn::MaxPool2d(2),  // 28x28 -> 14x14
                     nn::Conv2d(16, 32, 3, {.padding = 1}),
                     nn::ReLU(),
                     nn::MaxPool2d(2),  // 14x14 -> 7x7
                     nn::Flatten(),
                     nn::Linear(32 * 7 * 7, 128),
                     nn::ReLU(),
                     nn::Linear(128, 10)};
  optim::AdamW adam(net.parameters(), {.weight_decay = 1e-4});

  Program program;
  program.add(
      "train_step",
      [&](Tensor images, Tensor labels, Tensor lr) {
        Tensor loss = cross_entropy(net(images), labels);
        loss.backward();
        adam.step(lr);
        return loss;
      },
      f32[{kBatch, 1, 28, 28}].named("images"), i32[{kBatch}].named("labels"), f32[{}].named("lr"));
  program.add(
      "predict", [&](Tensor images) { return argmax(net(images), 1).to(i32); },
      f32[{kBatch, 1, 28, 28}].named("images"));
  compile(program).write("fashion.ingot");
}
