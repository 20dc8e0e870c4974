// Passes keep the meaning: random programs, and training steps traced by JAX.
#include "aot/pipeline/passes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "aot/graph/evaluate.h"
#include "aot/graph/parse.h"
#include "aot/graph/print.h"
#include "aot/ops/build.h"
#include "tests/random_graph.h"
#include "tests/random_tensor.h"

namespace ingot {
namespace {

// Exponentials of exponentials make large numbers, whose last places are not what is tested.
constexpr RandomGraphOptions kTame = {.transcendentals = false};
constexpr int kSeeds = 300;

void run(std::initializer_list<const char*> names, Module& module) {
  PassContext context(all_ops());
  std::vector<PassRow> rows;
  for (const char* name : names) rows.push_back(*find_pass(name));
  run_passes(rows, module, context);
}

void expect_same_meaning(std::initializer_list<const char*> names, uint64_t seed) {
  SCOPED_TRACE(fmt::format("seed {}", seed));
  const auto module = random_graph(seed, kTame);
  const auto changed = copy_module(*module);
  run(names, *changed);
  const Function& before = *module->functions[0];
  const Function& after = *changed->functions[0];
  const std::vector<RefTensor> arguments = random_arguments(before, seed);
  expect_equal(evaluate(after, arguments), evaluate(before, arguments), {.ulp = 16, .absolute = 1e-5});
  const std::string once = print(*changed);
  run(names, *changed);
  EXPECT_EQ(print(*changed), once) << "not idempotent";
  if (testing::Test::HasFailure()) ADD_FAILURE() << print(*module) << "became\n" << once;
}

class Passes : public testing::TestWithParam<const char*> {};

TEST_P(Passes, KeepTheMeaningOfRandomPrograms) {
  for (uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed) expect_same_meaning({GetParam()}, seed);
}
INSTANTIATE_TEST_SUITE_P(Each, Passes,
                         testing::Values("fold_constants", "simplify", "cse", "dce", "canonicalize", "fuse"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Fuse, KeepsTheMeaningOfCanonicalPrograms) {
  for (uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed) expect_same_meaning({"canonicalize", "fuse"}, seed);
}

}  // namespace
}  // namespace ingot
