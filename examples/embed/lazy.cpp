// Trains a small network on a period of the sine, in a loop that is compiled as it runs.
#include <ingot/lazy.h>

#include <cmath>
#include <iostream>

int main() try {
  using namespace ingot;
  std::vector<float> xs, ys;
  for (int i = 0; i < 64; ++i) {
    xs.push_back(static_cast<float>(i) / 10 - 3.2f);
    ys.push_back(std::sin(xs.back()));
  }
  lazy::Device device({.seed = 1});
  const Tensor x = device.tensor(f32[{64, 1}], xs), y = device.tensor(f32[{64, 1}], ys);
  nn::Sequential net{nn::Linear(1, 16), nn::Tanh(), nn::Linear(16, 1)};
  optim::Adam adam(net.parameters(), {.lr = 0.01});
  Tensor loss;
  for (int step = 0; step < 1000; ++step) {
    adam.zero_grad();
    loss = mse_loss(net(x), y);
    loss.backward();
    adam.step();  // runs what was recorded
  }
  std::cout << "loss " << loss.item() << "\n"
            << device.samples("ExecuteTime") << " steps, " << device.samples("CompileTime") << " compilations\n";
  return loss.item() < 0.01 ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
