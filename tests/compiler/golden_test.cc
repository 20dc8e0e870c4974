// Golden text: every tests/golden/PASS/*.mlir is a program, what to run on it, and what comes out.
//
//   // run: cse, dce
//   func.func @main(...) ...
//   // ---- expect
//   ...
//
// INGOT_BLESS=1 writes what comes out into the files; read the diff before you commit it. What a golden shows is also
// checked: the passes are idempotent, and the program means the same before and after.
//
// In the folders of stages below the graph the first line is "// run: lower for x86-64-v3": a whole compilation, of
// which that stage is shown.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "aot/graph/evaluate.h"
#include "aot/graph/text/parse.h"
#include "aot/graph/text/print.h"
#include "aot/ops/support/build.h"
#include "aot/pipeline/compile.h"
#include "aot/pipeline/passes.h"
#include "aot/pipeline/stages.h"
#include "tests/support/in_memory.h"
#include "tests/support/random_tensor.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExpect = "// ---- expect\n";

struct Golden {
  fs::path path;
  std::string input;  // with its run line
  std::string expected;
};

std::string read_file(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

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

Golden read_golden(const fs::path& path) {
  const std::string text = read_file(path);
  const size_t at = text.find(kExpect);
  return {path, text.substr(0, at), at == text.npos ? "" : text.substr(at + kExpect.size())};
}

// The lines that differ, with the first and last common ones left out.
std::string diff(const std::string& expected, const std::string& actual) {
  const auto lines = [](const std::string& text) {
    std::vector<std::string> result;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) result.push_back(line);
    return result;
  };
  std::vector<std::string> a = lines(expected), b = lines(actual);
  size_t first = 0;
  while (first < a.size() && first < b.size() && a[first] == b[first]) ++first;
  while (a.size() > first && b.size() > first && a.back() == b.back()) a.pop_back(), b.pop_back();
  std::string text;
  for (size_t i = first; i < a.size(); ++i) text += "- " + a[i] + "\n";
  for (size_t i = first; i < b.size(); ++i) text += "+ " + b[i] + "\n";
  return text;
}

void expect_text(const Golden& golden, const std::string& actual) {
  if (std::getenv("INGOT_BLESS")) {
    std::ofstream(golden.path) << golden.input << kExpect << actual;
  } else {
    EXPECT_TRUE(actual == golden.expected)
        << diff(golden.expected, actual) << "To accept: INGOT_BLESS=1 build/release/tests/compiler/golden_test";
  }
}

class GoldenTest : public testing::TestWithParam<fs::path> {};

TEST_P(GoldenTest, GivesTheExpectedText) {
  const Golden golden = read_golden(GetParam());
  const std::vector<PassRow> passes = passes_of(golden.input);
  auto module = parse_module(golden.input, golden.path.filename(), all_ops());
  const auto before = copy_module(*module);
  PassContext context;
  run_passes(passes, *module, context);
  const std::string actual = print(*module);
  expect_text(golden, actual);

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
  const Golden golden = read_golden(GetParam());
  const std::vector<std::string> line = run_line(golden.input);
  ASSERT_EQ(line.size(), 3u) << "the first line must be '// run: STAGE for TARGET'";
  CompileOptions options;
  options.targets = {line[2]};
  std::string actual;
  options.pipeline.print_after = {line[0]};
  options.pipeline.print = [&](const std::string& text) { actual += text; };
  std::vector<std::unique_ptr<Module>> modules;
  modules.push_back(parse_module(golden.input, golden.path.filename(), all_ops()));
  compile(std::move(modules), options);
  expect_text(golden, actual);
}

// Goldens of passes, or of the stages below the graph.
std::vector<fs::path> goldens(bool of_stages) {
  const std::vector<std::string> stages = stage_names();
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(INGOT_SOURCE_DIR) / "tests/golden")) {
    const fs::path& path = entry.path();
    const bool is_stage = std::ranges::find(stages, path.parent_path().filename().string()) != stages.end();
    if (path.extension() == ".mlir" && is_stage == of_stages) paths.push_back(path);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string name_of(const testing::TestParamInfo<fs::path>& info) {
  return info.param.parent_path().filename().string() + "_" + info.param.stem().string();
}

INSTANTIATE_TEST_SUITE_P(All, GoldenTest, testing::ValuesIn(goldens(false)), name_of);
INSTANTIATE_TEST_SUITE_P(All, StageGoldenTest, testing::ValuesIn(goldens(true)), name_of);

}  // namespace
}  // namespace ingot
