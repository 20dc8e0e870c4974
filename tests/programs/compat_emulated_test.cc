// A bundle that an earlier compiler made for another processor gives the numbers that it gave then, in an emulator of
// that processor; compat_test runs those for x86-64. Which those are, and how they were made, is written there.
#include <gtest/gtest.h>

#include "aot/base/file.h"
#include "aot/bundle/read_bundle.h"
#include "tests/support/walked_program.h"

namespace ingot {
namespace {

using Doubles = std::vector<double>;
using Floats = std::vector<float>;

Doubles points() {
  Doubles values;
  for (int i = 0; i < 24; ++i) values.push_back(static_cast<float>(i * 7 % 11) * 0.25f - 1);
  return values;
}

Doubles labels() {
  const Doubles x = points();
  Doubles values;
  for (size_t i = 0; i < 24; i += 3) values.push_back(x[i] > x[i + 1]);
  return values;
}

// The losses of five steps.
Floats train(const std::string& target_name) {
  const loops::Target& target = loops::find_target(target_name);
  const bundle::BundleSpec spec =
      bundle::read_bundle(read_bytes(INGOT_SOURCE_DIR "/tests/engine/compat/two_layers_1.4.ingot"));
  WalkedProgram program(spec, target);
  NamedTensors state;
  program.run("init", state, {});
  const NamedTensors inputs = {{"x", tensor_of_values({DType::kF32, {8, 3}}, points())},
                               {"label", tensor_of_values({DType::kI32, {8}}, labels())},
                               {"lr", tensor_of_values({DType::kF32, {}}, {0.5})}};
  Floats losses;
  for (int step = 0; step < 5; ++step)
    losses.push_back(static_cast<float>(program.run("train_step", state, inputs).at("loss").f[0]));
  return losses;
}

TEST(CompatEmulated, ABundleOfFormat14TrainsOnAarch64) {
  if (!can_run(loops::find_target("aarch64"))) GTEST_SKIP() << "there is no emulator of aarch64";
  EXPECT_EQ(train("aarch64"), (Floats{3.27669811f, 0.187173158f, 0.133040115f, 0.130949676f, 0.129229084f}));
}

}  // namespace
}  // namespace ingot
