// Golden text of passes: every tests/golden/PASS/*.mlir is a program whose first line says what to run on it
// (`// run: cse, dce`), and what comes out. What a golden shows is also checked: the passes are idempotent, and the
// program means the same before and after.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "aot/graph/evaluate.h"
#include "aot/graph/text/parse.h"
#include "aot/graph/text/print.h"
#include "aot/ops/support/build.h"
#include "aot/pipeline/passes.h"
#include "tests/support/golden_file.h"
#include "tests/support/in_memory.h"
#include "tests/support/random_tensor.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

std::vector<PassRow> passes_of(const std::string& input) {
  std::string line = input.substr(0, input.find('\n'));
  const std::string prefix = "// run:";
  if (!line.starts_with(prefix)) throw std::runtime_error("the first line must be '// run: PASS, ...'");
  std::replace(line.begin(), line.end(), ',', ' ');
  std::istringstream names(line.substr(prefix.size()));
  std::vector<PassRow> rows;
  for (std::string name; names >> name;) {
    const PassRow* row = find_pass(name);
    if (!row) throw std::runtime_error("there is no pass '" + name + "'");
    rows.push_back(*row);
  }
  return rows;
}

class GoldenTest : public testing::TestWithParam<fs::path> {};

TEST_P(GoldenTest, GivesTheExpectedText) {
  const fs::path& path = GetParam();
  const GoldenFile golden(path);
  const std::vector<PassRow> passes = passes_of(golden.input());
  auto module = parse_module(golden.input(), path.filename(), all_ops());
  const auto before = copy_module(*module);
  PassContext context(all_ops());
  run_passes(passes, *module, context);
  const std::string actual = print(*module);
  golden.expect({{"expect", actual}});

  const auto again = copy_module(*module);
  PassContext fresh(all_ops());
  run_passes(passes, *again, fresh);
  EXPECT_EQ(print(*again), actual) << "not idempotent";

  for (const auto& function : before->functions) {
    const Function* after = module->find(function->name);
    if (!after) continue;
    const std::vector<RefTensor> arguments = random_arguments(*function, /*seed=*/1);
    std::vector<RefTensor> given = arguments, expected = evaluate(*function, arguments);
    for (size_t i = 0; i < given.size(); ++i) {
      if (given[i].type != after->body.argument(static_cast<int>(i))->type) given[i] = in_memory(given[i]);
    }
    for (size_t i = 0; i < expected.size(); ++i) {
      if (expected[i].type != after->results[i].type) expected[i] = in_memory(expected[i]);
    }
    expect_equal(evaluate(*after, given), expected, {.ulp = 4});
  }
}

INSTANTIATE_TEST_SUITE_P(All, GoldenTest,
                         testing::ValuesIn(golden_files(fs::path(INGOT_SOURCE_DIR) / "tests/golden", ".mlir")),
                         [](const auto& info) {
                           return info.param.parent_path().filename().string() + "_" + info.param.stem().string();
                         });

}  // namespace
}  // namespace ingot
