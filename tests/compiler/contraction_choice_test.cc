// Which way each of contraction_problems is computed on each target: tests/golden/contraction_choice/TARGET.txt, a line
// each. INGOT_BLESS=1 writes them anew; read the diff.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "aot/graph/op.h"
#include "aot/graph/text/parse.h"
#include "aot/ops/ops.h"
#include "aot/pipeline/passes.h"
#include "aot/schedule/contraction/choose.h"
#include "aot/schedule/contraction/contraction_plan.h"
#include "aot/schedule/contraction/tasks.h"
#include "tests/support/contraction_suite.h"
#include "tests/support/file_text.h"

namespace ingot {
namespace {

// Calls `look` for every contraction that a problem's program has when it is lowered, with the draft of its kernel.
void for_contractions(Module& module, const loops::Target& target,
                      const std::function<void(const schedule::Draft&, const Op&)>& look) {
  PassContext context;
  context.math = Math::kExact;  // convolutions stay
  run_passes(compile_passes(), module, context);
  for (const auto& kernel : module.functions[0]->body.ops) {
    if (!kernel->is(kKernel)) continue;
    for (const auto& op : kernel->region().ops) {
      if (op->def->contraction) look(schedule::Draft(*kernel, target, {}), *op);
    }
  }
}

std::string choices(const loops::Target& target) {
  std::string text;
  for (const ContractionProblem& problem : contraction_problems()) {
    text += problem.name + "\n";
    for_contractions(*problem.module, target, [&](const schedule::Draft& draft, const Op& op) {
      const schedule::ContractionProblem read = schedule::read_problem(draft, op, target);
      text += fmt::format("    {}\n", schedule::to_string(read, schedule::choose_candidate(read, target)));
    });
  }
  return text;
}

// A kernel of PyTorch's order is packed: what lies in vectors is decided by what it is multiplied with.
TEST(ContractionOrientation, ChannelsApartRunAlongTheBatchHoweverTheirKernelLies) {
  const auto module = parse_module(R"(func.func @main(%x: tensor<1x56x56x96xf32>, %w: tensor<96x1x3x3xf32>)
      -> tensor<1x56x56x96xf32> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[o, i, 0, 1]->[b, 0, 1, f],
      window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 96 : i64}
      : (tensor<1x56x56x96xf32>, tensor<96x1x3x3xf32>) -> tensor<1x56x56x96xf32>
    return %0 : tensor<1x56x56x96xf32>
  })",
                                   "text", all_ops());
  const loops::Target& target = loops::find_target("x86-64-v3");
  int seen = 0;
  for_contractions(*module, target, [&](const schedule::Draft& draft, const Op& op) {
    const schedule::ContractionProblem problem = schedule::read_problem(draft, op, target);
    const schedule::Candidate chosen = schedule::choose_candidate(problem, target);
    EXPECT_TRUE(problem.ways[chosen.way].has_own_rows) << schedule::to_string(problem, chosen);
    ++seen;
  });
  EXPECT_EQ(seen, 1);
}

class ContractionChoice : public testing::TestWithParam<const char*> {};

TEST_P(ContractionChoice, IsTheGoldenOne) {
  const std::filesystem::path path =
      std::filesystem::path(INGOT_SOURCE_DIR) / "tests/golden/contraction_choice" / (std::string(GetParam()) + ".txt");
  const std::string actual = choices(loops::find_target(GetParam()));
  if (std::getenv("INGOT_BLESS")) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << actual;
  }
  EXPECT_EQ(actual, file_text(path))
      << "to accept: INGOT_BLESS=1 build/release/tests/compiler/test_compiler contraction_choice_test";
}

INSTANTIATE_TEST_SUITE_P(Targets, ContractionChoice,
                         testing::Values("x86-64-v3", "x86-64-v4", "x86-64-v4-bf16", "aarch64", "riscv64", "riscv64-v",
                                         "cortex-m7"));

// Keys that a query is multiplied by, as one stream of memory: either operand may be what is packed.
TEST(ContractionOrientation, ShortRowsThatAreReadOnceAreOneStream) {
  for (const char* const first : {"%k, %q", "%q, %k"}) {
    const bool is_turned = first[1] == 'q';
    const std::string keys = "tensor<12x128x64xf32>", queries = "tensor<12x1x64xf32>";
    const std::string result = is_turned ? "tensor<12x1x128xf32>" : "tensor<12x128x1xf32>";
    const auto module =
        parse_module(fmt::format(R"(func.func @main(%x: tensor<12x1x192xf32>, %k: {0}) -> {2} {{
    %q = stablehlo.slice %x [0:12, 0:1, 64:128] : (tensor<12x1x192xf32>) -> {1}
    %0 = stablehlo.dot_general {3}, batching_dims = [0] x [0], contracting_dims = [2] x [2] : ({4}, {5}) -> {2}
    return %0 : {2}
  }})",
                                 keys, queries, result, first, is_turned ? queries : keys, is_turned ? keys : queries),
                     "text", all_ops());
    const loops::Target& target = loops::find_target("x86-64-v4");
    int seen = 0;
    for_contractions(*module, target, [&](const schedule::Draft& draft, const Op& op) {
      const schedule::ContractionProblem problem = schedule::read_problem(draft, op, target);
      const schedule::Candidate chosen = schedule::choose_candidate(problem, target);
      const schedule::Orientation& way = problem.ways[chosen.way];
      EXPECT_TRUE(way.is_along_depth()) << schedule::to_string(problem, chosen);
      EXPECT_EQ(std::max(chosen.tile_rows, chosen.tile_vectors), 1) << schedule::to_string(problem, chosen);
      ++seen;
    });
    EXPECT_EQ(seen, 1);
  }
}

// Two threads have about as much to do each, the busier one at most an eighth more than half: channels that are
// convolved apart with a stride, whose gradient's rows are one run, among them.
TEST_P(ContractionChoice, SharesLargeOnesEvenly) {
  constexpr double kLargeNs = 1e5;
  const loops::Target& target = loops::find_target(GetParam());
  for (const ContractionProblem& problem : contraction_problems()) {
    for_contractions(*problem.module, target, [&](const schedule::Draft& draft, const Op& op) {
      const schedule::ContractionProblem read = schedule::read_problem(draft, op, target);
      const schedule::RankedCandidate best = schedule::rank_candidates(read, target, 1)[0];
      if (best.cost.total_ns() < kLargeNs) return;
      const schedule::ContractionPlan plan = schedule::arrange(draft, read, best.candidate);
      const schedule::RowRuns* const runs = plan.runs ? &*plan.runs : nullptr;
      const schedule::TaskShares shares(read, {best.candidate, plan.columns, plan.depth, runs});
      EXPECT_EQ(shares.tasks(), plan.batch_count() * plan.depth_parts * plan.row_parts * plan.column_parts);
      EXPECT_NEAR(shares.busiest(1), 1, 1e-12);
      EXPECT_LE(2 * shares.busiest(2), 1.125) << problem.name << ": " << schedule::to_string(read, best.candidate);
    });
  }
}

// The candidates of a problem are what they are ranked by, the best first, and none twice.
TEST(ContractionChoice, RanksAreInOrder) {
  const loops::Target& target = loops::find_target("x86-64-v3");
  for (const ContractionProblem& problem : contraction_problems()) {
    for_contractions(*problem.module, target, [&](const schedule::Draft& draft, const Op& op) {
      const auto ranked = schedule::rank_candidates(schedule::read_problem(draft, op, target), target, 10);
      for (size_t k = 1; k < ranked.size(); ++k) {
        EXPECT_LE(ranked[k - 1].weighted_ns, ranked[k].weighted_ns) << problem.name;
        EXPECT_NE(ranked[k - 1].candidate, ranked[k].candidate) << problem.name;
      }
    });
  }
}

// Rows in place that are a critical stride of the first-level cache apart share a set: fewer of them are multiplied at
// once than of rows that are apart by a line more.
TEST(ContractionChoice, TilesHaveFewRowsOfOneSet) {
  const loops::Target& target = loops::find_target("x86-64-v4-vnni");
  const auto tile_rows = [&](int64_t depth) {
    const auto module = parse_module(fmt::format(R"(func.func @main(%x: tensor<128x{0}xf32>, %w: tensor<256x{0}xf32>)
      -> tensor<128x256xf32> {{
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1]
      : (tensor<128x{0}xf32>, tensor<256x{0}xf32>) -> tensor<128x256xf32>
    return %0 : tensor<128x256xf32>
  }})",
                                                 depth),
                                     "text", all_ops());
    int rows = 0;
    for_contractions(*module, target, [&](const schedule::Draft& draft, const Op& op) {
      const schedule::ContractionProblem problem = schedule::read_problem(draft, op, target);
      const schedule::Candidate chosen = schedule::choose_candidate(problem, target);
      EXPECT_EQ(chosen.pack_rows, schedule::Packing::kNone);
      rows = chosen.tile_rows;
    });
    return rows;
  };
  const int64_t critical = target.machine.l1_critical_stride / 4;
  EXPECT_LT(tile_rows(critical), tile_rows(critical + 16));
  EXPECT_LE(tile_rows(critical), 6);
}

// What all rows pass panel by panel is fetched where it lies: no step before packs it.
TEST(ContractionChoice, KeptPanelsAreNotPreparedBefore) {
  loops::Target target = loops::find_target("x86-64-v4");
  target.machine.l2_bytes_per_ns /= 8;  // panels gain much
  int panels = 0;
  for (const ContractionProblem& problem : contraction_problems()) {
    for_contractions(*problem.module, target, [&](const schedule::Draft& draft, const Op& op) {
      for (const auto& ranked : schedule::rank_candidates(schedule::read_problem(draft, op, target), target, 100)) {
        if (!ranked.candidate.keeps_columns) continue;
        ++panels;
        EXPECT_NE(ranked.candidate.pack_columns, schedule::Packing::kPrepared) << problem.name;
      }
    });
  }
  EXPECT_GT(panels, 50);
}

}  // namespace
}  // namespace ingot
