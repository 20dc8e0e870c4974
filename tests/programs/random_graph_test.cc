// Random programs over the whole op table: evaluated, interpreted and compiled, on one thread and several, they agree.
//   INGOT_GRAPHS, INGOT_GRAPH_SEED   how many, from which seed
//   INGOT_GRAPH_OPS                  the most recipes that one follows
//   INGOT_GRAPH_FILE                 a program, as a failure left it
#include "tests/support/random_graph.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "aot/analysis/walk.h"
#include "aot/graph/text/parse.h"
#include "aot/graph/text/print.h"
#include "aot/graph/verify.h"
#include "aot/ops/support/build.h"
#include "tests/support/environment.h"
#include "tests/support/file_text.h"
#include "tests/support/shrink_graph.h"
#include "tests/support/try_graphs.h"

namespace ingot {
namespace {

// What kind of complaint it is: the words before the first number or name.
std::string kind_of(const std::string& complaint) {
  return complaint.substr(0, complaint.find_first_of("0123456789'@%:"));
}

// Fails the test, with a program that is as small as could be found.
void report(const Module& graph, int64_t seed, const std::string& complaint) {
  const auto fails = [&](const Module& candidate) {
    const std::string other = try_graph(candidate).complaint;
    return !other.empty() && kind_of(other) == kind_of(complaint);
  };
  const std::unique_ptr<Module> small = shrink_graph(graph, fails);
  const std::string found = try_graph(*small).complaint;
  const std::string path = write_graph(*small, fmt::format("random_graph_{}.mlir", seed), found);
  ADD_FAILURE() << "seed " << seed << ": " << complaint << "\nsmaller, in " << path << ": " << found << "\n"
                << print(*small);
}

TEST(RandomGraph, ExecutorsAgree) {
  constexpr int64_t kBatch = 25, kProgress = 5000, kLargeEach = 40;
  constexpr double kMostLeftOut = 0.3;
  const RandomGraphOptions options{.op_count_max = static_cast<int>(number_from_environment("INGOT_GRAPH_OPS", 8))};
  const int64_t first = number_from_environment("INGOT_GRAPH_SEED", 0);
  const int64_t end = first + number_from_environment("INGOT_GRAPHS", 500);
  int64_t elements = 0, judged_elements = 0;
  std::map<std::string_view, int64_t> graphs_of, left_out_of;  // whose code was run, and was not
  for (int64_t seed = first; seed < end; seed += kBatch) {
    if (seed > first && (seed - first) % kProgress == 0) std::cout << "  " << seed << std::endl;
    std::vector<std::unique_ptr<Module>> graphs;
    std::vector<const Module*> tried;
    for (int64_t s = seed; s < std::min(seed + kBatch, end); ++s) {
      graphs.push_back(s % kLargeEach == 0 ? random_graph(s, kLargeTensors) : random_graph(s, options));
      verify(*graphs.back());
      tried.push_back(graphs.back().get());
    }
    const std::vector<GraphTrial> trials = try_graphs(tried);
    for (size_t k = 0; k < trials.size(); ++k) {
      elements += trials[k].elements;
      judged_elements += trials[k].judged_elements;
      for (const std::string_view target : trials[k].targets) ++graphs_of[target];
      for (const std::string_view target : trials[k].left_out) ++left_out_of[target];
      if (!trials[k].complaint.empty()) report(*tried[k], seed + static_cast<int64_t>(k), trials[k].complaint);
    }
  }
  fmt::print("  {} graphs, {} elements, {} judged\n", end - first, elements, judged_elements);
  for (const auto& [target, graphs] : graphs_of) {
    const int64_t left_out = left_out_of[target];
    fmt::print("  {}: the code of {}, without {} that would stop the emulator\n", target, graphs, left_out);
    EXPECT_LT(left_out, kMostLeftOut * (graphs + left_out)) << target;
  }
  EXPECT_GT(judged_elements, elements * 9 / 10) << "rounding explains too much";
}

// Ops that do something elsewhere, that only exist in others, or that name other functions.
bool cannot_take_part(std::string_view op) {
  for (const std::string_view prefix : {"check.", "interpreter.", "ingot.", "func."}) {
    if (op.starts_with(prefix)) return true;
  }
  return op == "stablehlo.composite";
}

TEST(RandomGraph, EveryOpTakesPart) {
  constexpr int kGraphsMax = 20000;
  std::set<std::string_view> missing;
  for (const OpDef* def : all_ops().all()) {
    if (!cannot_take_part(def->name)) missing.insert(def->name);
  }
  for (int seed = 0; seed < kGraphsMax && !missing.empty(); ++seed) {
    for_each_block(*random_graph(seed), [&](Block& block) {
      for (const auto& op : block.ops) missing.erase(op->name());
    });
  }
  EXPECT_TRUE(missing.empty()) << fmt::format("{}", fmt::join(missing, " "));
}

void expect_agreement(const std::filesystem::path& path) {
  EXPECT_EQ(try_graph(*parse_module(file_text(path), path.string(), all_ops())).complaint, "") << path;
}

// Programs that failed once.
TEST(RandomGraph, FilesAgree) {
  for (const auto& file : std::filesystem::directory_iterator(INGOT_SOURCE_DIR "/tests/graphs")) {
    expect_agreement(file.path());
  }
}

TEST(RandomGraph, AskedForFileAgrees) {
  const char* path = std::getenv("INGOT_GRAPH_FILE");
  if (!path) GTEST_SKIP() << "INGOT_GRAPH_FILE names none";
  expect_agreement(path);
}

}  // namespace
}  // namespace ingot
