// Whatever a text says, it is compiled or refused at its place: nothing crashes, nothing hangs. Coverage-guided, for as
// long as one likes: tests/fuzz/fuzz_text.cc.
#include "tests/support/front_door.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "tests/support/mutate_text.h"

namespace ingot {
namespace {

void expect_no_bug(const std::string& text) {
  try {
    try_text(text);
  } catch (const std::logic_error& bug) {
    ADD_FAILURE() << bug.what() << "\n" << text;
  }
}

TEST(FrontDoor, ProgramsOfTheTestsPass) {
  for (const std::string& text : texts_of_tests(INGOT_SOURCE_DIR)) expect_no_bug(text);
}

// Each value is read twice by the next: what walks every way from the end to the start never comes back.
TEST(FrontDoor, LongChainsPass) {
  std::string text = "func.func @main(%x0: tensor<5x7xf32>) -> tensor<5x7xf32> {\n";
  constexpr int kSteps = 3000;
  for (int k = 0; k < kSteps; ++k) {
    text +=
        fmt::format("  %x{} = stablehlo.{} %x{}, %x{} : tensor<5x7xf32>\n", k + 1, k % 2 ? "add" : "multiply", k, k);
  }
  text += fmt::format("  return %x{} : tensor<5x7xf32>\n}}\n", kSteps);
  EXPECT_EQ(try_text(text), Verdict::kLowered);
}

// INGOT_FUZZ_ROUNDS says how many; INGOT_FUZZ_TRACE names a file that holds the text that is being tried.
TEST(FrontDoor, NearlyRightTextsAreRefusedOrCompiled) {
  const char* asked = std::getenv("INGOT_FUZZ_ROUNDS");
  const char* trace = std::getenv("INGOT_FUZZ_TRACE");
  const int rounds = asked ? std::atoi(asked) : 4000;
  const std::vector<std::string> texts = texts_of_tests(INGOT_SOURCE_DIR);
  const TextMutator mutator(texts);
  int counts[3] = {};
  for (int seed = 0; seed < rounds && !HasFailure(); ++seed) {
    Random random(seed);
    const std::string text = mutator.mutate(random.one_of(texts), random);
    SCOPED_TRACE(seed);
    if (trace) std::ofstream(trace) << text;
    try {
      ++counts[static_cast<int>(try_text(text))];
    } catch (const std::logic_error& bug) {
      ADD_FAILURE() << bug.what() << "\n" << text;
    }
  }
  std::cout << "  refused " << counts[0] << ", parsed " << counts[1] << ", lowered " << counts[2] << "\n";
  EXPECT_GT(counts[2], rounds / 50) << "hardly any text is right";
}

}  // namespace
}  // namespace ingot
