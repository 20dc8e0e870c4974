// Golden text of passes: every tests/golden/PASS/*.mlir is a program whose first line says what to run on it
// (`// run: cse, dce`), and what comes out. What a golden shows is also checked: the passes are idempotent, and the
// program means the same before and after. In the folders of stages below the graph the first line is
// `// run: loops for x86-64-v3`: a whole compilation, of which that stage is shown.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "aot/base/contains.h"
#include "aot/graph/evaluate.h"
#include "aot/graph/text/parse.h"
#include "aot/graph/text/print.h"
#include "aot/ops/support/build.h"
#include "aot/pipeline/compile.h"
#include "aot/pipeline/passes.h"
#include "aot/pipeline/stages.h"
#include "tests/support/golden_file.h"
#include "tests/support/in_memory.h"
#include "tests/support/random_tensor.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

// The words of the run line.
std::vector<std::string> run_line(const std::string& input) {
  std::string line = input.substr(0, input.find('\n'));
  const std::string prefix = "// run:";
  if (!line.starts_with(prefix)) throw std::runtime_error("the first line must be '// run: PASS, ...'");
  std::replace(line.begin(), line.end(), ',', ' ');
  std::istringstream words(line.substr(prefix.size()));
  return {std::istream_iterator<std::string>(words), {}};
}

std::vector<PassRow> passes_of(const std::string& input) {
  std::vector<PassRow> rows;
  for (const std::string& name : run_line(input)) rows.push_back(pass_named(name, "// run:"));
  return rows;
}

class GoldenTest : public testing::TestWithParam<fs::path> {};

TEST_P(GoldenTest, GivesTheExpectedText) {
  const fs::path& path = GetParam();
  const GoldenFile golden(path);
  const std::vector<PassRow> passes = passes_of(golden.input());
  auto module = parse_module(golden.input(), path.filename(), all_ops());
  const auto before = copy_module(*module);
  PassContext context;
  run_passes(passes, *module, context);
  const std::string actual = print(*module);
  golden.expect({{"expect", actual}});

  const auto again = copy_module(*module);
  PassContext fresh;
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

class StageGoldenTest : public testing::TestWithParam<fs::path> {};

TEST_P(StageGoldenTest, GivesTheExpectedText) {
  const fs::path& path = GetParam();
  const GoldenFile golden(path);
  const std::vector<std::string> line = run_line(golden.input());
  ASSERT_EQ(line.size(), 3u) << "the first line must be '// run: STAGE for TARGET'";
  CompileOptions options;
  options.targets = {line[2]};
  std::string actual;
  options.pipeline.print_after = {line[0]};
  options.pipeline.print = [&](const std::string& text) { actual += text; };
  std::vector<std::unique_ptr<Module>> modules;
  modules.push_back(parse_module(golden.input(), path.filename(), all_ops()));
  compile(std::move(modules), options);
  golden.expect({{"expect", actual}});
}

// Goldens of passes, or of the stages below the graph.
std::vector<fs::path> goldens(bool of_stages) {
  const std::vector<std::string> stages = stage_names();
  std::vector<fs::path> paths = golden_files(fs::path(INGOT_SOURCE_DIR) / "tests/golden", ".mlir");
  std::erase_if(paths, [&](const fs::path& path) {
    return contains(stages, path.parent_path().filename().string()) != of_stages;
  });
  return paths;
}

std::string name_of(const testing::TestParamInfo<fs::path>& info) {
  return info.param.parent_path().filename().string() + "_" + info.param.stem().string();
}

INSTANTIATE_TEST_SUITE_P(All, GoldenTest, testing::ValuesIn(goldens(false)), name_of);
INSTANTIATE_TEST_SUITE_P(All, StageGoldenTest, testing::ValuesIn(goldens(true)), name_of);

}  // namespace
}  // namespace ingot
