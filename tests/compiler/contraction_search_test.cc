// Random contractions (contraction_problem.h) for every target: lowered and verified; small ones interpreted beside
// their evaluation; some compiled, and run where their code can be.
//   INGOT_PROBLEMS, INGOT_PROBLEM_SEED   how many, from which seed
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iostream>

#include "aot/base/error.h"
#include "aot/graph/text/print.h"
#include "tests/support/contraction_problem.h"
#include "tests/support/environment.h"

namespace ingot {
namespace {

TEST(ContractionSearch, EveryTargetAgrees) {
  constexpr int64_t kSmall = 20000, kLarge = int64_t{1} << 34;  // multiply-adds
  constexpr int64_t kSmallEach = 4, kCompiledEach = 20, kLargeCompiledEach = 50, kProgress = 5000;
  const int64_t first = number_from_environment("INGOT_PROBLEM_SEED", 0);
  const int64_t end = first + number_from_environment("INGOT_PROBLEMS", 400);
  for (int64_t seed = first; seed < end; ++seed) {
    if (seed > first && (seed - first) % kProgress == 0) std::cout << "  " << seed << std::endl;
    const bool is_small = seed % kSmallEach == 0;
    const RandomProblem problem = random_problem(static_cast<unsigned>(seed), is_small ? kSmall : kLarge);
    SCOPED_TRACE(fmt::format("seed {}", seed));
    try {
      const bool is_compiled = seed % (is_small ? kCompiledEach : kLargeCompiledEach) == 0;
      check_kernel(problem.function, problem.tolerance, static_cast<uint32_t>(seed),
                   {.runs = is_small, .compiles = is_compiled});
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
    if (HasFailure()) {
      fmt::print("{}\n", print(*problem.function.module));
      return;
    }
  }
}

}  // namespace
}  // namespace ingot
