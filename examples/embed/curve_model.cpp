// A small network that learns a curve, and its training step. Runs at build time; what it leaves behind is curve.ingot.
#include <ingot/ingot.h>

#include <cstdio>

int main() try {
  using namespace ingot;
  nn::Sequential net{nn::Linear(1, 16), nn::Tanh(), nn::Linear(16, 1)};
  optim::Adam adam(net.parameters());
  Program program;
  program.add(
      "train_step",
      [&](Tensor x, Tensor y, Tensor lr) {
        Tensor loss = mse_loss(net(x), y);
        loss.backward();
        adam.step(lr);
        return loss;
      },
      f32[{64, 1}].named("x"), f32[{64, 1}].named("y"), f32[{}].named("lr"));
  compile(program).write("curve.ingot");  // with an entry point init(seed), for the first values of the parameters
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
