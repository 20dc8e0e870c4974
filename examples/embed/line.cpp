// Trains the model of line.mlir: train line.ingot. What the header line.h declares is checked by the compiler.
#include "line.h"

#include <cstdio>
#include <exception>

int main(int argc, char** argv) try {
  const ingot::engine::Bundle bundle(argc > 1 ? argv[1] : "line.ingot");
  ingot::engine::Session session(bundle);
  const line::TrainStep step(session);
  static_assert(line::TrainStep::X::count == 8);
  for (size_t i = 0; i < step.x().size(); ++i) {
    step.x()[i] = static_cast<float>(i) / 8;
    step.y()[i] = 3 * step.x()[i] + 1;
  }
  step.lr()[0] = 0.1f;
  for (int i = 0; i < 200; ++i) step.run();
  std::printf("loss %g: y = %g x + %g\n", step.loss()[0], session.read<float>("a")[0], session.read<float>("b")[0]);
  session.save("line.safetensors");
  return step.loss()[0] < 0.01f ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
