// Random programs that compute with positions in narrow types: compiled as a whole, with the batch in parts, and in the
// least memory, they give the same as their evaluation.
//   INGOT_NARROW_PROGRAMS, INGOT_NARROW_SEED   how many, from which seed
#include "tests/support/narrow_positions.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "aot/graph/text/parse.h"
#include "aot/graph/text/print.h"
#include "tests/support/compiled_program.h"
#include "tests/support/environment.h"
#include "tests/support/file_text.h"
#include "tests/support/in_memory.h"
#include "tests/support/joined_graphs.h"
#include "tests/support/random_graph.h"
#include "tests/support/shrink_graph.h"

namespace ingot {
namespace {

// Tolerance of f32 results, relative to the largest magnitude of the result, and at least to 10, as terms may cancel.
constexpr double kTolerance = 3e-5, kLeastMagnitude = 10;

// How a program is compiled, beside as a whole.
struct Trial {
  int64_t parts = 1;
  std::string skipped = {};  // a pass
};

Trial trial_of(uint64_t seed) {
  static const std::vector<std::string> kSkipped = {
      "", "", "", "chain_kernels", "unroll_loops", "mark_triangles", "roll_loops"};
  Random random(seed ^ 0xA5A5);
  return {2 + random.below(7), random.one_of(kSkipped)};
}

// A bf16 result that is converted to f32 at once is not rounded (widen_results); all else is as the program says.
std::vector<RefTensor> expected_results(const Module& graph) {
  const std::unique_ptr<Module> module = copy_module(graph);
  PassContext context;
  widen_results(*module, context);
  return evaluate(*module->functions[0], examples(*graph.functions[0]));
}

std::string difference(const RefTensor& actual, const RefTensor& expected) {
  for (size_t k = 0; k < expected.i.size(); ++k) {
    if (actual.i[k] != expected.i[k]) return fmt::format("element {}: {} is not {}", k, actual.i[k], expected.i[k]);
  }
  double allowed = 0;
  if (expected.type.dtype == DType::kF32) {
    double magnitude = kLeastMagnitude;
    for (const double x : expected.f) magnitude = std::max(magnitude, std::abs(x));
    allowed = kTolerance * magnitude;
  }
  for (size_t k = 0; k < expected.f.size(); ++k) {
    if (!(std::abs(actual.f[k] - expected.f[k]) <= allowed))
      return fmt::format("element {}: {} is not {}", k, actual.f[k], expected.f[k]);
  }
  return "";
}

constexpr const char* kWays[] = {"as a whole", "in parts", "in the least memory"};

// The graph as three entry points, each compiled in its way. An entry whose batch has no parts stays whole.
CompiledProgram compiled(const Module& program, const Trial& trial) {
  CompileOptions options;
  options.pipeline.skip = trial.skipped.empty() ? std::vector<std::string>{} : std::vector{trial.skipped};
  options.jobs = 1;
  options.memory_limits = {{entry_name(2), kLeastBytes}};
  options.micro_batches = {{entry_name(1), trial.parts, true}};
  try {
    return CompiledProgram(program, options);
  } catch (const CannotSplit&) {
    options.micro_batches.clear();
    return CompiledProgram(program, options);
  }
}

// The first difference or error, or "" if there is none.
std::string complaint(const Module& graph, const Trial& trial) try {
  const std::vector<RefTensor> expected = expected_results(graph);
  const std::unique_ptr<Module> program = joined({&graph, &graph, &graph});
  CompiledProgram code = compiled(*program, trial);
  std::vector<RefTensor> arguments;
  for (const RefTensor& example : examples(*graph.functions[0])) arguments.push_back(in_memory(example));
  for (size_t way = 0; way < std::size(kWays); ++way) {
    const Function& entry = *program->functions[way];
    const std::vector<RefTensor> results = results_by_name(
        entry, arguments,
        [&](NamedTensors& state, const NamedTensors& inputs) { return code.run(entry.name, 1, state, inputs); });
    for (size_t r = 0; r < results.size(); ++r) {
      const std::string wrong = difference(from_memory(expected[r].type, results[r]), expected[r]);
      if (!wrong.empty()) return fmt::format("{}: result {}: {}", kWays[way], r, wrong);
    }
  }
  return "";
} catch (const std::exception& error) {
  return error.what();
}

void report(const Module& graph, int64_t seed, const Trial& trial, const std::string& wrong) {
  const auto kind_of = [](const std::string& text) { return text.substr(0, text.find_first_of("0123456789")); };
  const std::unique_ptr<Module> small = shrink_graph(
      graph, [&](const Module& candidate) { return kind_of(complaint(candidate, trial)) == kind_of(wrong); }, 300);
  const std::string path = write_graph(*small, fmt::format("narrow_program_{}.mlir", seed), complaint(*small, trial));
  ADD_FAILURE() << "seed " << seed << ", parts " << trial.parts << ", without '" << trial.skipped << "': " << wrong
                << "\nsmaller, in " << path << ": " << complaint(*small, trial) << "\n"
                << print(*small);
}

TEST(NarrowPositions, CompiledProgramsAgree) {
  constexpr int64_t kProgress = 1000;
  const int64_t first = number_from_environment("INGOT_NARROW_SEED", 0);
  const int64_t count = number_from_environment("INGOT_NARROW_PROGRAMS", 75);
  for (int64_t seed = first; seed < first + count; ++seed) {
    if (seed > first && (seed - first) % kProgress == 0) std::cout << "  " << seed << std::endl;
    const std::unique_ptr<Module> graph = narrow_program(seed);
    const Trial trial = trial_of(seed);
    if (const std::string wrong = complaint(*graph, trial); !wrong.empty()) report(*graph, seed, trial, wrong);
  }
}

// Programs that failed once.
TEST(NarrowPositions, FilesAgree) {
  for (const auto& file : std::filesystem::directory_iterator(INGOT_SOURCE_DIR "/tests/positions")) {
    const std::string path = file.path().string();
    EXPECT_EQ(complaint(*parse_module(file_text(path), path, all_ops()), {.parts = 4}), "") << path;
  }
}

}  // namespace
}  // namespace ingot
