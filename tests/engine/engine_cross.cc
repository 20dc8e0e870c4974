// engine_cross BUNDLE STATE THREADS: five steps of tests/engine/compat/two_layers_1.4.ingot. Prints the losses, and
// whether the state is then that of the file. engine_cross_test builds it for another processor.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ingot/engine.hpp>

namespace {

// Points of two classes, the same in every step.
void fill(const ingot::engine::Entry& step) {
  const auto x = step.input<float>("x");
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7 % 11) * 0.25f - 1;
  const auto label = step.input<int32_t>("label");
  for (size_t i = 0; i < label.size(); ++i) label[i] = x[3 * i] > x[3 * i + 1];
  step.input<float>("lr")[0] = 0.5f;
}

bool equal(const ingot::engine::AlignedBytes& a, const ingot::engine::AlignedBytes& b) {
  return std::equal(a.data(), a.data() + a.size(), b.data(), b.data() + b.size());
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 4) return 2;
  const ingot::engine::Bundle bundle(argv[1]);
  ingot::engine::Session session(bundle, static_cast<uint32_t>(std::atoi(argv[3])));
  session.entry("init").run();
  const ingot::engine::Entry step = session.entry("train_step");
  fill(step);
  for (int i = 0; i < 5; ++i) {
    step.run();
    std::printf("%.9g\n", static_cast<double>(step.output<float>("loss")[0]));
  }
  ingot::engine::Session loaded(bundle);
  loaded.load(argv[2]);
  std::printf("target %s, state %s\n", bundle.info().target,
              equal(session.snapshot(), loaded.snapshot()) ? "equal" : "other");
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
