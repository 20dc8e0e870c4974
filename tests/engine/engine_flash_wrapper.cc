// engine_flash_wrapper FILE.ingot: what engine_flash.c does, in C++: it links the engine without files and no other. Trains
// ten steps and prints the losses; then one more, and again from the state before it.
#include <cstdio>
#include <exception>
#include <ingot/engine.hpp>

#include "tests/engine/flash.h"

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  const flash file = flash_of(argv[1]);
  const ingot::engine::Bundle bundle(
      std::span(static_cast<const std::byte*>(file.bytes), static_cast<size_t>(file.byte_count)));
  ingot::engine::Session session(bundle);
  const ingot::engine::Entry init = session.entry("init"), step = session.entry("train_step");
  init.input<int32_t>("seed")[0] = 1;
  init.run();
  step.input<float>("lr")[0] = 0.5f;
  for (size_t i = 0; i < 1024; ++i) {
    step.input<float>("x")[i] = 1;
    step.input<float>("y")[i] = static_cast<float>(i) / 1024;
  }
  const auto loss = [&] {
    step.run();
    return step.output<float>("loss")[0];
  };
  for (int i = 0; i < 10; ++i) std::printf("step %d loss %g\n", i, static_cast<double>(loss()));
  const std::vector<std::byte> state = session.save_to_memory();
  const float after = loss();
  session.load_from_memory(state);
  return loss() == after ? 0 : 3;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
