// Matrix products as kernels, and the operands that they read, through every executor.
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <random>
#include <regex>
#include <set>

#include "aot/base/divide.h"
#include "aot/graph/attributes.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/dimension_numbers.h"
#include "tests/support/contraction_problem.h"
#include "tests/support/random_contraction.h"
#include "tests/support/schedule_fixture.h"

namespace ingot {
namespace {

KernelFunction dot(const Shape& lhs, const Shape& rhs, const ops::DotDims& dims, DType dtype = DType::kF32) {
  return kernel_function({{dtype, lhs}, {dtype, rhs}}, [&](GraphBuilder& b, const Values& x) {
    return Values{ops::dot_general(b, x[0], x[1], dims)};
  });
}

TEST(Contraction, DotShapes) {
  const int64_t sizes[] = {1, 2, 6, 7, 13, 16, 17, 40, 65};
  std::mt19937 random(3);
  for (int round = 0; round < 16; ++round) {
    const int64_t m = sizes[random() % 9], n = sizes[random() % 9], k = round % 10 == 9 ? 0 : sizes[random() % 9];
    const bool lhs_t = random() % 2, rhs_t = random() % 2;
    SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k << " " << lhs_t << rhs_t);
    check_kernel(dot(lhs_t ? Shape{k, m} : Shape{m, k}, rhs_t ? Shape{n, k} : Shape{k, n},
                     {{}, {}, {lhs_t ? 0 : 1}, {rhs_t ? 1 : 0}}),
                 {.relative = 1e-5});
    if (HasFatalFailure() || HasFailure()) return;
  }
}

// A matrix whose elements are 0 where the index along one dimension is greater than that along the other by more than `offset`.
Value* without_triangle(GraphBuilder& b, Value* x, int ahead, int offset) {
  const TensorType index{DType::kI32, x->type.shape};
  Value* const end = ops::add(b, ops::iota(b, index, 1 - ahead), ops::constant(b, index, offset));
  Value* const kept = ops::compare(b, "LE", ops::iota(b, index, ahead), end);
  return ops::select(b, kept, x, ops::constant(b, x->type, 0));
}

TEST(Contraction, TrianglesThatAreNotMultiplied) {
  std::mt19937 random(5);
  const int64_t sizes[] = {1, 7, 16, 33, 50, 70};
  for (int round = 0; round < 24; ++round) {
    const DType dtype = round < 12 ? DType::kF32 : DType::kBF16;
    const int64_t m = sizes[random() % 6], n = sizes[random() % 6], k = sizes[random() % 6];
    const int which = round % 3, ahead = round / 3 % 2, offset = static_cast<int>(random() % 40) - 12;
    SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k << " " << which << ahead << " " << offset);
    const std::array<std::array<int64_t, 2>, 3> dims{{{0, 2}, {2, 1}, {0, 1}}};  // of lhs, rhs and the result
    const std::vector<int64_t> triangle{dims[which][ahead], dims[which][1 - ahead], offset};
    check_kernel(kernel_function({f32_of({m, k}), f32_of({k, n})},
                                 [&](GraphBuilder& b, const Values& x) {
                                   const auto factor = [&](int i) {
                                     Value* const made = which == i ? without_triangle(b, x[i], ahead, offset) : x[i];
                                     return ops::convert(b, made, dtype);
                                   };
                                   const ops::DotDims dims{{}, {}, {1}, {0}};
                                   Value* const product = b.make(kDotGeneral, {factor(0), factor(1)},
                                                                 {{"dot_dimension_numbers", ops::to_attr(dims)},
                                                                  {attributes::kTriangles, Attr(triangle)}},
                                                                 {f32_of({m, n})});
                                   return Values{which == 2 ? without_triangle(b, product, ahead, offset) : product};
                                 }),
                 {.relative = 1e-5});
    if (HasFailure()) return;
  }
}

TEST(Contraction, FewColumnsOfWhichOneStepPacksAll) {
  for (const int64_t columns : {1, 3}) {
    for (const int64_t depth : {8, 40, 67}) {
      check_kernel(kernel_function({f32_of({50, depth})},
                                   [&](GraphBuilder& b, const Values& x) {
                                     Value* const counted = ops::iota(b, f32_of({depth, columns}), 0);
                                     return Values{ops::dot_general(b, x[0], counted, {{}, {}, {1}, {0}})};
                                   }),
                   {.relative = 1e-5});
    }
  }
}

// Columns that are packed once: the next block of them is fetched beside each tile, unless rows are few or very many.
TEST(Contraction, PreparedColumnsAreFetchedAhead) {
  const auto product = [](int64_t rows) {
    KernelFunction f = dot({rows, 96}, {96, 200}, {{}, {}, {1}, {0}});
    const_cast<Op*>(f.kernel)->attr_map[attributes::kInvariantOperands] = Attr(std::vector<int64_t>{1});
    return f;
  };
  std::set<std::string_view> targets;
  for (const int64_t rows : {1, 16, 4000}) {
    const KernelFunction problem = product(rows);
    for (const loops::Target& target : loops::all_targets()) {
      const Lowering lowering = lower(*problem.kernel, target);
      const bool is_prepared = lowering.choices.at(0).find("packed once") != std::string::npos;
      const loops::Kernel& kernel = lowering.steps.back().kernel;
      const bool fetches = loops::print(kernel).find("prefetch partial[") != std::string::npos;
      const bool has_reason = rows == 16 || (rows > 16 && target.machine.packed_steps_ahead > 0);
      EXPECT_EQ(fetches, is_prepared && kernel.lanes() > 1 && has_reason) << rows << " rows for " << target.name;
      if (fetches) targets.insert(target.name);
    }
  }
  EXPECT_GT(targets.size(), 3);
  check_kernel(product(16), {.relative = 1e-5});
}

// Columns that are packed beside the products of the block before, or only fetched where they have to be transposed: rows
// that are no whole tiles, a last block of columns that is shorter, several blocks of the depth, and batches.
TEST(Contraction, ColumnsArePackedAhead) {
  const KernelFunction problems[] = {
      dot({99, 256}, {256, 500}, {{}, {}, {1}, {0}}), dot({100, 256}, {485, 256}, {{}, {}, {1}, {1}}),
      dot({520, 96}, {520, 350}, {{}, {}, {0}, {0}}), dot({2, 97, 256}, {2, 256, 330}, {{0}, {0}, {2}, {1}})};
  constexpr int kRanks = 40, kEach = 2;  // candidates, and how many of these that pack ahead are run for a problem
  int copied = 0, fetched = 0;
  for (const KernelFunction& problem : problems) {
    const std::vector<RefTensor> operands = random_arguments(*problem.function, 7);
    const std::vector<RefTensor> expected = evaluate(*problem.function, operands);
    for (const char* name : {"x86-64-v3", "x86-64-v4"}) {
      loops::Target target = loops::find_target(name);
      target.machine.l2_bytes = 64 << 10;  // columns come from an outer cache
      int runs = 0;
      for (int rank = 0; rank < kRanks && runs < kEach; ++rank) {
        const Lowering lowering = lower(*problem.kernel, target, {.contraction_rank = rank});
        if (lowering.choices.at(0).find("each ahead") == std::string::npos) continue;
        SCOPED_TRACE(std::string(name) + ": " + lowering.choices.at(0));
        const bool transposes = loops::print(lowering.steps.back().kernel).find("transpose ") != std::string::npos;
        ++(transposes ? fetched : copied);
        ++runs;
        LoweringRun run(*problem.kernel, lowering);
        run.set_operands(operands);
        run.interpret(/*descending_tasks=*/true);
        expect_equal(run.results(), expected, {.absolute = 2e-4});
      }
    }
  }
  EXPECT_GE(copied, 4);
  EXPECT_GE(fetched, 2);
}

// Columns that the first tile of rows packs as it multiplies by them: rows that are no whole tiles, ragged columns and tasks,
// batches, and panels that all rows pass one after the other.
TEST(Contraction, ColumnsArePackedWithTheFirstRows) {
  const KernelFunction problems[] = {
      dot({99, 256}, {256, 500}, {{}, {}, {1}, {0}}), dot({448, 96}, {448, 350}, {{}, {}, {0}, {0}}),
      dot({2, 448, 101}, {2, 448, 170}, {{0}, {0}, {1}, {1}}), dot({1024, 130}, {1024, 200}, {{}, {}, {0}, {0}})};
  constexpr int kRanks = 60, kEach = 3;  // candidates, and how many of each kind are run for a problem
  loops::Target target = loops::find_target("x86-64-v4");
  target.machine.l2_bytes_per_ns /= 4;  // panels that stay in the first-level cache gain much
  int blocks = 0, panels = 0;
  for (const KernelFunction& problem : problems) {
    const std::vector<RefTensor> operands = random_arguments(*problem.function, 8);
    const std::vector<RefTensor> expected = evaluate(*problem.function, operands);
    int block_runs = 0, panel_runs = 0;
    for (int rank = 0; rank < kRanks; ++rank) {
      const Lowering lowering = lower(*problem.kernel, target, {.contraction_rank = rank});
      const bool is_panel = lowering.choices.at(0).find("panel by panel") != std::string::npos;
      int& runs = is_panel ? panel_runs : block_runs;
      const auto packs = [](const auto& step) {
        return std::regex_search(loops::print(step.kernel), std::regex("store columns\\[[^\n]*= column"));
      };
      if (runs >= kEach || std::ranges::none_of(lowering.steps, packs)) continue;
      SCOPED_TRACE(lowering.choices.at(0));
      ++runs;
      LoweringRun run(*problem.kernel, lowering);
      run.set_operands(operands);
      run.interpret(/*descending_tasks=*/true);
      expect_equal(run.results(), expected, {.absolute = 4e-4});
    }
    blocks += block_runs;
    panels += panel_runs;
  }
  EXPECT_GE(blocks, 8);
  EXPECT_GE(panels, 4);
}

// An optimizer behind the gradient of large weights streams from memory: blocks have more of each line of it.
TEST(Contraction, WhatFollowsFromMemoryIsReadInLine) {
  const auto block_columns = [](int arrays) {
    std::vector<TensorType> types{f32_of({256, 768}), f32_of({256, 3072})};
    types.resize(2 + arrays, f32_of({768, 3072}));
    const KernelFunction problem = kernel_function(types, [](GraphBuilder& b, const Values& x) {
      Value* sum = ops::dot_general(b, x[0], x[1], {{}, {}, {0}, {0}});
      for (size_t k = 2; k < x.size(); ++k) sum = ops::add(b, sum, x[k]);
      return Values{sum};
    });
    const std::string choice = lower(*problem.kernel, loops::find_target("x86-64-v4")).choices.at(0);
    std::smatch columns;
    EXPECT_TRUE(std::regex_search(choice, columns, std::regex("columns \\d+ x (\\d+)"))) << choice;
    return std::stoi(columns[1]);
  };
  EXPECT_GT(block_columns(5), block_columns(0));
}

// The same of batches whose columns are read where they lie, one behind the other, if they are more than a cache holds.
TEST(Contraction, NextBatchIsFetchedAhead) {
  const auto fetches = [](int64_t batches) {  // columns of a batch have 6144 elements
    const KernelFunction problem = dot({batches, 40, 96}, {batches, 96, 64}, {{0}, {0}, {2}, {1}});
    const Lowering lowering = lower(*problem.kernel, loops::find_target("x86-64-v4"));
    const std::string text = loops::print(lowering.steps.back().kernel);
    return std::regex_search(text, std::regex("prefetch a1\\[[^\n]*\\+ 6144\\]"));
  };
  EXPECT_TRUE(fetches(64));
  EXPECT_FALSE(fetches(4));
}

TEST(Contraction, LongDepthAndManyRows) {
  check_kernel(dot({100, 1100}, {1100, 37}, {{}, {}, {1}, {0}}), {.relative = 1e-5});
  check_kernel(dot({9000, 5}, {9000, 9}, {{}, {}, {0}, {0}}), {.relative = 2e-5});
  check_kernel(dot({1031, 8}, {8, 20}, {{}, {}, {1}, {0}}), {.relative = 1e-5});
}

TEST(Contraction, ColumnsThatAreWidenedWhereTheyAreMultiplied) {
  for (const auto& [rows, depth] : {std::pair<int64_t, int64_t>{1, 72}, {3, 131}, {20, 16}}) {
    check_kernel(kernel_function({f32_of({rows, depth}), {DType::kI8, {19, depth}}},
                                 [&](GraphBuilder& b, const Values& x) {
                                   Value* const w = ops::convert(b, x[1], DType::kF32);
                                   return Values{ops::dot_general(b, x[0], w, {{}, {}, {1}, {1}})};
                                 }),
                 {.relative = 1e-5});
  }
}

// One row and several, panels that are filled and such that are not, blocks of a word up to the whole depth, with and without
// zeros, weights on either side.
TEST(Contraction, ColumnsOfNibbles) {
  struct Words {
    int64_t rows, columns, words, blocks;
    bool has_zeros, are_left;
  };
  for (const Words& w :
       {Words{1, 16, 48, 12, false, false}, Words{1, 35, 24, 6, true, false}, Words{5, 1, 6, 6, true, false},
        Words{3, 48, 18, 9, false, true}, Words{1, 20, 36, 1, true, true}, Words{20, 33, 16, 8, false, false}}) {
    SCOPED_TRACE(testing::Message() << w.rows << " x " << w.columns << " x " << w.words << " x " << w.blocks);
    const int64_t panels = divide_up(w.columns, 16);
    std::vector<TensorType> types{
        f32_of({w.rows, 8 * w.words}), {DType::kI32, {panels, w.words, 16}}, f32_of({panels, w.blocks, 16})};
    if (w.has_zeros) types.push_back({DType::kI8, types[2].shape});
    check_kernel(kernel_function(types,
                                 [&](GraphBuilder& b, const Values& x) {
                                   Value* const weights = b.make(kUnpackNibbles, {x.begin() + 1, x.end()},
                                                                 {{"columns", IntAttr{w.columns}}});
                                   return Values{w.are_left ? ops::dot_general(b, weights, x[0], {{}, {}, {0}, {1}})
                                                            : ops::dot_general(b, x[0], weights, {{}, {}, {1}, {0}})};
                                 }),
                 {.relative = 2e-5, .integer_low = -(int64_t{1} << 31), .integer_high = (int64_t{1} << 31) - 1});
  }
}

TEST(Contraction, PairsOfBF16) {
  const auto product = [](int64_t depth) { return dot({13, depth}, {depth, 40}, {{}, {}, {1}, {0}}, DType::kBF16); };
  for (const int64_t depth : {8, 9, 65, 601}) check_kernel(product(depth), sums_of(depth, DType::kBF16));
  const KernelFunction even = product(64);
  const auto multiplies_pairs = [&](const loops::Target& target) {
    const Lowering lowering = lower(*even.kernel, target);
    return std::ranges::any_of(lowering.steps, [](const LoweredKernel& step) {
      return loops::print(step.kernel).find("dot_pairs") != std::string::npos;
    });
  };
  for (const loops::Target& target : loops::all_targets()) {
    EXPECT_EQ(multiplies_pairs(target), target.pair_products != loops::PairProducts::kNone) << target.name;
    EXPECT_FALSE(multiplies_pairs(loops::strict_row(target))) << target.name;
  }
}

// The first block of columns is one tile wide and the last one is narrower: for each target, one row or many.
TEST(Contraction, RaggedBlocksOfOneTile) {
  for (const int64_t columns : {48, 96}) check_kernel(dot({1, 1024}, {1024, columns}, {{}, {}, {1}, {0}}));
  check_kernel(dot({13, 1024}, {1024, 48}, {{}, {}, {1}, {0}}));
  for (const int64_t columns : {24, 48})
    check_kernel(dot({1, 1024}, {1024, columns}, {{}, {}, {1}, {0}}, DType::kF64), {.relative = 1e-13});
}

// Few rows that pass one panel of columns after the other, with a last block of columns and one of the depth that are
// shorter, rows that lie across, and batches.
TEST(Contraction, FewRowsPanelByPanel) {
  const KernelFunction problems[] = {
      dot({32, 512}, {512, 1024}, {{}, {}, {1}, {0}}), dot({29, 490}, {490, 1000}, {{}, {}, {1}, {0}}),
      dot({490, 27}, {490, 1030}, {{}, {}, {0}, {0}}), dot({2, 32, 500}, {2, 500, 1024}, {{0}, {0}, {2}, {1}})};
  std::set<std::string_view> targets;
  for (const KernelFunction& problem : problems) {
    check_kernel(problem, {.relative = 1e-5});
    for (const loops::Target& target : loops::all_targets()) {
      const std::vector<std::string> choices = lower(*problem.kernel, target).choices;
      if (choices.at(0).find("panel by panel") != std::string::npos) targets.insert(target.name);
    }
  }
  EXPECT_TRUE(targets.contains("x86-64-v3"));
  EXPECT_GT(targets.size(), 1);
}

// Elements multiplied apart, in blocks of columns of which the last is no whole number of vectors.
TEST(Contraction, RaggedBlocksOfElementsApart) {
  for (const int64_t elements : {1535, 3069}) {
    for (const DType dtype : {DType::kF16, DType::kF32})
      check_kernel(dot({elements}, {elements}, {{0}, {0}, {}, {}}, dtype), {.relative = 1e-3});
  }
}

TEST(Contraction, BatchesAndVectors) {
  check_kernel(dot({3, 4, 5, 6}, {3, 4, 6, 7}, {{0, 1}, {0, 1}, {3}, {2}}), {.relative = 1e-5});
  check_kernel(dot({5, 3, 4}, {4, 3, 9}, {{1}, {1}, {2}, {0}}), {.relative = 1e-5});
  check_kernel(dot({20}, {20}, {{}, {}, {0}, {0}}), {.relative = 1e-5});
  check_kernel(dot({20, 30}, {30}, {{}, {}, {1}, {0}}), {.relative = 1e-5});
  check_kernel(dot({4, 5, 6}, {6, 5, 3}, {{}, {}, {1, 2}, {1, 0}}), {.relative = 1e-5});
  check_kernel(dot({4}, {5}, {{}, {}, {}, {}}), {.relative = 1e-5});
}

TEST(Contraction, OtherTypes) {
  for (const DType dtype : {DType::kF64, DType::kF16, DType::kBF16, DType::kI32, DType::kI64}) {
    check_kernel(dot({13, 21}, {21, 19}, {{}, {}, {1}, {0}}, dtype), {.relative = 1e-2});
  }
}

TEST(Contraction, Epilogue) {
  check_kernel(kernel_function({f32_of({13, 21}), f32_of({21, 19}), f32_of({19}), f32_of({13, 19})},
                               [](GraphBuilder& b, const Values& x) {
                                 Value* sum = ops::dot_general(b, x[0], x[1], {{}, {}, {1}, {0}});
                                 Value* biased = ops::add(b, sum, ops::broadcast_in_dim(b, x[2], {13, 19}, {1}));
                                 return Values{ops::binary(b, kMaximum, biased, ops::zeros_like(b, biased)),
                                               ops::multiply(b, biased, x[3])};
                               }),
               {.relative = 1e-5});
}

// Sums along the depth, and many operations behind them, are steps: a result of the second goes over what the first left.
TEST(Contraction, EpilogueOfSumsAlongTheDepth) {
  const KernelFunction f =
      kernel_function({f32_of({3, 256}), f32_of({40, 256}), f32_of({40})}, [](GraphBuilder& b, const Values& x) {
        Value* sum = ops::dot_general(b, x[0], x[1], {{}, {}, {1}, {1}});
        Value* biased = ops::add(b, sum, ops::broadcast_in_dim(b, x[2], {3, 40}, {1}));
        return Values{biased, ops::multiply(b, biased, ops::unary(b, kErf, scaled(b, biased, 0.7)))};
      });
  check_kernel(f, {.relative = 1e-5});
  const Lowering lowering = lower(*f.kernel, loops::find_target("x86-64-v3"));
  ASSERT_EQ(lowering.steps.size(), 2);
  const std::vector<loops::Buffer>& buffers = lowering.steps[1].kernel.buffers;
  const auto sums = std::ranges::find(buffers, "partial", &loops::Buffer::name) - buffers.begin();
  ASSERT_LT(sums, std::ssize(buffers));
  EXPECT_EQ(std::ranges::count(buffers, sums, &loops::Buffer::may_alias), 1);
}

// A result beside the product that shares a transcendental function with what follows it is made along with it.
TEST(Contraction, EpilogueSharesFunctions) {
  const auto kernel = [](bool shares) {
    return kernel_function(
        {f32_of({13, 20}), f32_of({20, 33}), f32_of({13, 33})}, [&](GraphBuilder& b, const Values& x) {
          Value* activation = ops::unary(b, kTanh, x[2]);
          Value* product = ops::dot_general(b, x[0], x[1], {{}, {}, {1}, {0}});
          return Values{ops::multiply(b, product, shares ? activation : x[2]), ops::multiply(b, activation, x[2])};
        });
  };
  check_kernel(kernel(true), {.relative = 1e-5});
  EXPECT_EQ(lower(*kernel(true).kernel, loops::find_target("x86-64-v3")).steps.size(), 1);
  EXPECT_EQ(lower(*kernel(false).kernel, loops::find_target("x86-64-v3")).steps.size(), 2);
}

// Slices are read where they lie, in steps and backwards.
TEST(Contraction, OperandsThatAreSlices) {
  for (const int64_t step : {1, 2}) {
    check_kernel(kernel_function({f32_of({40, 50}), f32_of({50, 60})},
                                 [&](GraphBuilder& b, const Values& x) {
                                   Value* lhs = ops::slice(b, x[0], {3, 5}, {40, 45}, {1, step});
                                   Value* rhs = ops::slice(b, x[1], {10, 2}, {50, 58}, {step, step});
                                   return Values{ops::dot_general(b, lhs, rhs, {{}, {}, {1}, {0}})};
                                 }),
                 {.relative = 1e-5});
    const ops::Window window{{.size = 2, .high = 1, .reversed = true}, {.size = 2, .high = 1, .reversed = true}};
    check_kernel(kernel_function({f32_of({8, 20, 2, 2}), f32_of({9, 20, 3, 3})},
                                 [&](GraphBuilder& b, const Values& x) {
                                   Value* w = ops::slice(b, x[1], {0, 0, 0, 1}, {9, 20, 1 + step, 3}, {1, 1, step, 1});
                                   return Values{ops::convolution(b, x[0], w, nchw(window))};
                                 }),
                 {.relative = 1e-5});
  }
}

// Reshapes of what is in memory are read where it lies, too: as if they were not there.
TEST(Contraction, OperandsThatAreReshapes) {
  for (const bool is_across : {false, true}) {
    const Shape lhs = is_across ? Shape{70, 40} : Shape{40, 70}, rhs = is_across ? Shape{33, 70} : Shape{70, 33};
    const ops::DotDims dims{{}, {}, {is_across ? 0 : 1}, {is_across ? 1 : 0}};
    const KernelFunction reshaped =
        kernel_function({f32_of({4, 10, 70}), f32_of({7, 10, 33})}, [&](GraphBuilder& b, const Values& x) {
          return Values{ops::dot_general(b, ops::reshape(b, x[0], lhs), ops::reshape(b, x[1], rhs), dims)};
        });
    check_kernel(reshaped, {.relative = 1e-5});
    for (const loops::Target& target : loops::all_targets()) {
      EXPECT_EQ(lower(*reshaped.kernel, target).choices, lower(*dot(lhs, rhs, dims).kernel, target).choices);
    }
  }
  check_kernel(kernel_function({f32_of({2, 9, 10, 3}), f32_of({20, 27})},
                               [&](GraphBuilder& b, const Values& x) {
                                 Value* image = ops::reshape(b, x[0], {2, 3, 10, 9});
                                 return Values{ops::convolution(b, image, ops::reshape(b, x[1], {20, 3, 3, 3}),
                                                                nchw({{.size = 3}, {.size = 3}}))};
                               }),
               {.relative = 1e-5});
}

TEST(Contraction, RandomDotGenerals) {
  RandomContraction random(1, kSmallExtents);
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(round);
    const RandomContraction::Dot it = random.dot();
    int64_t terms = 1;
    for (const int64_t dim : it.dims.lhs_contract) terms *= it.lhs[dim];
    if (element_count(it.lhs) > 20000 || element_count(it.rhs) > 20000) continue;
    const bool is_float = round % 4 != 3;
    check_kernel(dot(it.lhs, it.rhs, it.dims, is_float ? DType::kF32 : DType::kI32),
                 is_float ? sums_of(terms) : kWrapping);
    if (HasFailure()) return;
  }
}

// A product of operands that are concatenated along its depth: both, or one of them, at places of their own. Parts in
// memory are read there; those of a narrow type, or that are made, are packed.
TEST(Contraction, RandomJoinedOperands) {
  RandomContraction random(3, {0, 1, 2, 3, 5, 8, 13, 16, 28, 40, 65});
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE(round);
    const int64_t batch = random.between(0, 1), rows = random.extent(), columns = random.extent();
    const bool lhs_across = random.chance(30), rhs_across = random.chance(30);
    const DType dtype = std::array{DType::kF32, DType::kF32, DType::kF16, DType::kI32}[round % 4];
    // Depths of the parts of each operand.
    Shape lhs, rhs;
    for (int64_t parts = random.between(1, 3); parts > 0; --parts) lhs.push_back(random.extent());
    const int64_t depth = std::accumulate(lhs.begin(), lhs.end(), int64_t{0});
    if (random.chance(50)) rhs = lhs;
    if (rhs.empty()) rhs.push_back(random.between(0, depth));
    if (rhs != lhs) rhs.push_back(depth - rhs[0]);
    const auto shape = [&](int64_t along, int64_t other, bool across) {
      Shape shape = across ? Shape{along, other} : Shape{other, along};
      if (batch) shape.insert(shape.begin(), 3);
      return shape;
    };
    std::vector<TensorType> types;
    for (const int64_t part : lhs) types.push_back({dtype, shape(part, rows, lhs_across)});
    for (const int64_t part : rhs) types.push_back({dtype, shape(part, columns, !rhs_across)});
    const auto joined = [&](GraphBuilder& b, Values x) {
      for (Value*& part : x) part = random.chance(20) ? ops::add(b, part, part) : part;
      const int64_t lhs_dim = batch + (lhs_across ? 0 : 1), rhs_dim = batch + (rhs_across ? 1 : 0);
      const auto middle = x.begin() + std::ssize(lhs);
      ops::DotDims dims{{}, {}, {lhs_dim}, {rhs_dim}};
      if (batch) dims.lhs_batch = dims.rhs_batch = {0};
      Value* left = ops::concatenate(b, {x.begin(), middle}, lhs_dim);
      Value* right = ops::concatenate(b, {middle, x.end()}, rhs_dim);
      return Values{ops::dot_general(b, left, right, dims)};
    };
    check_kernel(kernel_function(types, joined), dtype == DType::kI32   ? kWrapping
                                                 : dtype == DType::kF32 ? sums_of(depth)
                                                                        : KernelTolerance{.relative = 1e-2});
    if (HasFailure()) return;
  }
}

// Parts in memory whose rows lie beside each other are packed in vectors of them: nothing is gathered.
TEST(Contraction, JoinedRowsThatLieAcross) {
  const KernelFunction joined =
      kernel_function({f32_of({32, 512}), f32_of({40, 512}), f32_of({72, 64})}, [&](GraphBuilder& b, const Values& x) {
        return Values{ops::dot_general(b, ops::concatenate(b, {x[0], x[1]}, 0), x[2], {{}, {}, {0}, {0}})};
      });
  const std::regex gathered("load [^\n]*\\*lane");
  for (const loops::Target& target : loops::all_targets()) {
    for (const LoweredKernel& step : lower(*joined.kernel, target).steps) {
      const std::string text = loops::print(step.kernel);
      EXPECT_FALSE(std::regex_search(text, gathered)) << target.name << "\n" << text;
    }
  }
}

// The depth is only a part of what is joined: one of two groups of features, or a slice.
TEST(Contraction, OperandsJoinedAlongMoreThanTheDepth) {
  const ops::Convolution grouped{{0, 1, {}, 0, 1, {}, 0, 1, {}}, {}, 2, 1};
  check_kernel(
      kernel_function({f32_of({1, 7}), f32_of({1, 11}), f32_of({9, 22})}, [&](GraphBuilder& b, const Values& x) {
        return Values{ops::convolution(b, ops::concatenate(b, {x[0], x[1]}, 1), x[2], grouped)};
      }));
  check_kernel(
      kernel_function({f32_of({3, 7}), f32_of({3, 11}), f32_of({9, 22})}, [&](GraphBuilder& b, const Values& x) {
        Value* lhs = ops::slice(b, ops::concatenate(b, {x[0], x[1]}, 1), {0, 5}, {3, 14}, {1, 1});
        return Values{ops::dot_general(b, lhs, x[2], {{}, {}, {1}, {0}})};
      }));
}

}  // namespace
}  // namespace ingot
