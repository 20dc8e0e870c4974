// Random contractions (contraction_problem.h) for every target: lowered and verified; small ones interpreted beside
// their evaluation; some compiled, and run where their code can be.
//   INGOT_PROBLEMS, INGOT_PROBLEM_SEED   how many, from which seed
//   INGOT_PROCESSES                      that share them; 0: one for each core
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iostream>

#include "aot/base/error.h"
#include "aot/graph/text/print.h"
#include "tests/support/contraction_problem.h"
#include "tests/support/environment.h"
#include "tests/support/in_processes.h"

namespace ingot {
namespace {

// What the problem is and what is done of it follow from its seed alone.
void check_problem(int64_t seed) {
  constexpr int64_t kSmall = 20000, kLarge = int64_t{1} << 34;  // multiply-adds
  constexpr int64_t kSmallEach = 4, kCompiledEach = 20, kLargeCompiledEach = 50;
  const bool is_small = seed % kSmallEach == 0;
  const int64_t compiled_each = is_small ? kCompiledEach : kLargeCompiledEach;
  const RandomProblem problem = random_problem(static_cast<unsigned>(seed), is_small ? kSmall : kLarge);
  SCOPED_TRACE(fmt::format("seed {}", seed));
  try {
    check_kernel(problem.function, problem.tolerance, static_cast<uint32_t>(seed),
                 {.runs = is_small, .compiles = seed % compiled_each == 0, .turn = seed / compiled_each});
  } catch (const Error& error) {
    ADD_FAILURE() << error.what();
  }
  if (testing::Test::HasFailure()) fmt::print("{}\n", print(*problem.function.module));
}

TEST(ContractionSearch, EveryTargetAgrees) {
  constexpr int64_t kProgress = 5000;
  const int64_t first = number_from_environment("INGOT_PROBLEM_SEED", 0);
  const int64_t end = first + number_from_environment("INGOT_PROBLEMS", 400);
  std::cout << fmt::format("  problems of seeds {} to {}", first, end - 1) << std::endl;
  EXPECT_TRUE(in_processes(number_from_environment("INGOT_PROCESSES", 1), first, end, [](int64_t begin, int64_t last) {
    for (int64_t seed = begin; seed < last && !HasFailure(); ++seed) {
      if (seed > begin && (seed - begin) % kProgress == 0) std::cout << "  " + std::to_string(seed) << std::endl;
      check_problem(seed);
    }
  }));
}

}  // namespace
}  // namespace ingot
