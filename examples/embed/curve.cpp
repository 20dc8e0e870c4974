// Trains the model of curve_model.cpp on a period of the sine: train_curve curve.ingot.
#include "curve.h"

#include <cmath>
#include <cstdio>
#include <exception>

int main(int argc, char** argv) try {
  const ingot::engine::Bundle bundle(argc > 1 ? argv[1] : "curve.ingot");
  ingot::engine::Session session(bundle);
  const curve::Init init(session);
  init.seed()[0] = 1;
  init.run();
  const curve::TrainStep step(session);
  for (size_t i = 0; i < step.x().size(); ++i) {
    step.x()[i] = static_cast<float>(i) / 10 - 3.2f;
    step.y()[i] = std::sin(step.x()[i]);
  }
  step.lr()[0] = 0.01f;
  for (int i = 0; i < 1000; ++i) step.run();
  std::printf("loss %g\n", step.loss()[0]);
  return step.loss()[0] < 0.01f ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
