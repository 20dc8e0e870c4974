// Kernels that are made block by block: attention, forward and backward, in the forms in which programs write it.
#include <gtest/gtest.h>

#include <random>

#include "aot/analysis/block_region.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/dimension_numbers.h"
#include "aot/ops/support/tiles.h"
#include "tests/support/schedule_fixture.h"

namespace ingot {
namespace {

using Body = std::function<Values(GraphBuilder& b, const Values& arguments)>;
using Axis = KernelBlocks::Axis;

// The kernel in blocks: that it can be, that a task is a block, and that numbers are right.
void check_blocks(const std::vector<TensorType>& arguments, const Body& body, const KernelBlocks& blocks,
                  const KernelTolerance& tolerance = {}, const KernelChecks& checks = {}) {
  const KernelFunction f = kernel_function(arguments, body);
  std::string why;
  ASSERT_TRUE(block_region(*f.kernel, blocks, &why)) << why;
  set_blocks(const_cast<Op&>(*f.kernel), blocks);
  EXPECT_EQ(blocks_of(*f.kernel)->axes, blocks.axes);
  for (const loops::Target& target : loops::all_targets()) {
    const Lowering lowering = lower(*f.kernel, target);
    ASSERT_EQ(lowering.steps.size(), 1u);
    EXPECT_TRUE(lowering.temporaries.empty());
    EXPECT_EQ(lowering.steps[0].kernel.task_count, blocks.count());
  }
  check_kernel(f, tolerance, 1, checks);
}

// softmax(scores) along the last dimension.
Value* softmax(GraphBuilder& b, Value* scores) {
  const Shape& shape = scores->type.shape;
  const int64_t last = scores->type.rank() - 1;
  std::vector<int64_t> rows;
  for (int64_t d = 0; d < last; ++d) rows.push_back(d);
  Value* maximum = ops::broadcast_in_dim(b, ops::reduce(b, kMaximum, scores, {last}), shape, rows);
  Value* terms = ops::unary(b, kExponential, ops::subtract(b, scores, maximum));
  return ops::divide(b, terms, ops::broadcast_in_dim(b, ops::reduce(b, kAdd, terms, {last}), shape, rows));
}

Value* scaled(GraphBuilder& b, Value* x, double scale) { return ops::multiply(b, x, ops::constant_like(b, x, scale)); }

// Places that a query may not look at get a low score.
Value* causal(GraphBuilder& b, Value* scores) {
  const Shape& shape = scores->type.shape;
  const int64_t rank = scores->type.rank();
  const TensorType square{DType::kI32, {shape[rank - 2], shape[rank - 1]}};
  Value* seen = ops::compare(b, "GE", ops::iota(b, square, 0), ops::iota(b, square, 1));
  return ops::select(b, ops::broadcast_in_dim(b, seen, shape, {rank - 2, rank - 1}), scores,
                     ops::constant_like(b, scores, -1e9));
}

struct Attention {
  int64_t batch, heads, queries, keys, depth;

  TensorType q(DType dtype = DType::kF32) const { return {dtype, {batch, heads, queries, depth}}; }
  TensorType k(DType dtype = DType::kF32) const { return {dtype, {batch, heads, keys, depth}}; }
  KernelBlocks blocks(int64_t rows) const { return {{{batch, 1}, {heads, 1}, {queries, rows}}, {{0, 1, 2, -1}}}; }
};

const ops::DotDims kScores{.lhs_batch = {0, 1}, .rhs_batch = {0, 1}, .lhs_contract = {3}, .rhs_contract = {3}};
const ops::DotDims kTimesValues{.lhs_batch = {0, 1}, .rhs_batch = {0, 1}, .lhs_contract = {3}, .rhs_contract = {2}};
const ops::DotDims kOfQueries{.lhs_batch = {0, 1}, .rhs_batch = {0, 1}, .lhs_contract = {2}, .rhs_contract = {2}};

Values attend(GraphBuilder& b, const Values& x) {
  Value* scores = scaled(b, ops::dot_general(b, x[0], x[1], kScores), 0.25);
  return {ops::dot_general(b, softmax(b, causal(b, scores)), x[2], kTimesValues)};
}

TEST(Blocks, AttentionByRows) {
  for (const auto& [it, rows] : std::vector<std::pair<Attention, int64_t>>{
           {{2, 3, 24, 24, 16}, 12}, {{1, 2, 7, 7, 5}, 7}, {{2, 1, 20, 33, 8}, 4}, {{1, 2, 40, 19, 3}, 1}}) {
    check_blocks({it.q(), it.k(), it.k()}, attend, it.blocks(rows));
  }
}

TEST(Blocks, AttentionInOtherTypes) {
  const Attention it{1, 2, 16, 16, 8};
  check_blocks({it.q(DType::kBF16), it.k(DType::kBF16), it.k(DType::kBF16)}, attend, it.blocks(8), {.relative = 2e-2});
  check_blocks({it.q(DType::kF64), it.k(DType::kF64), it.k(DType::kF64)}, attend, it.blocks(8), {.relative = 1e-6});
}

// A block's first position may have no value in the type: it is counted, and what comes of it is rounded.
TEST(Blocks, PositionsOfNarrowTypesAreRoundedOnce) {
  const Attention it{1, 1, 333, 5, 4};
  for (const DType dtype : {DType::kBF16, DType::kUI8, DType::kI8, DType::kI32, DType::kF32}) {
    const auto attend_by_position = [&](GraphBuilder& b, const Values& x) {
      Value* scores = ops::dot_general(b, x[0], x[1], kScores);
      const TensorType square{dtype, {it.queries, it.keys}};
      Value* row = ops::convert(b, ops::iota(b, square, 0), DType::kF32);
      Value* column = ops::convert(b, ops::iota(b, square, 1), DType::kF32);
      Value* bias = scaled(b, ops::multiply(b, row, column), 0.01);
      Value* biased = ops::add(b, scores, ops::broadcast_in_dim(b, bias, scores->type.shape, {2, 3}));
      return Values{ops::dot_general(b, softmax(b, biased), x[2], kTimesValues)};
    };
    check_blocks({it.q(), it.k(), it.k()}, attend_by_position, it.blocks(37));
  }
}

// Queries, keys and values side by side in one tensor, heads inside: [batch, time, 3 x heads x depth]. The values come
// first in their product, and the result has its rows last.
TEST(Blocks, AttentionThroughViews) {
  const int64_t batch = 2, time = 12, heads = 3, depth = 8, width = heads * depth;
  const auto head = [&](GraphBuilder& b, Value* x, int64_t k) {
    Value* part = ops::slice(b, x, {0, 0, k * width}, {batch, time, (k + 1) * width}, {1, 1, 1});
    return ops::reshape(b, part, {batch, time, heads, depth});
  };
  const ops::DotDims scores{.lhs_batch = {0, 2}, .rhs_batch = {0, 2}, .lhs_contract = {3}, .rhs_contract = {3}};
  const ops::DotDims values{.lhs_batch = {0, 2}, .rhs_batch = {0, 1}, .lhs_contract = {1}, .rhs_contract = {3}};
  for (const int64_t rows : {4, 12}) {
    check_blocks({{DType::kF32, {batch, time, 3 * width}}},
                 [&](GraphBuilder& b, const Values& x) {
                   Value* s = ops::dot_general(b, head(b, x[0], 0), head(b, x[0], 1), scores);
                   return Values{ops::dot_general(b, head(b, x[0], 2), softmax(b, causal(b, s)), values)};
                 },
                 {{{batch, 1}, {heads, 1}, {time, rows}}, {{0, 1, -1, 2}}});
  }
}

// Batch and heads as one dimension, which reshapes make and take apart; a bias for each head.
TEST(Blocks, AttentionOfMergedHeads) {
  const int64_t batch = 2, heads = 3, time = 10, depth = 4, all = batch * heads;
  const ops::DotDims scores{.lhs_batch = {0}, .rhs_batch = {0}, .lhs_contract = {2}, .rhs_contract = {2}};
  const ops::DotDims values{.lhs_batch = {0}, .rhs_batch = {0}, .lhs_contract = {2}, .rhs_contract = {1}};
  const TensorType type{DType::kF32, {batch, time, heads, depth}}, bias{DType::kF32, {heads, time, time}};
  check_blocks({type, type, type, bias},
               [&](GraphBuilder& b, const Values& x) {
                 const auto merged = [&](Value* it) {
                   return ops::reshape(b, ops::transpose(b, it, {0, 2, 1, 3}), {all, time, depth});
                 };
                 Value* s = ops::dot_general(b, merged(x[0]), merged(x[1]), scores);
                 const Shape apart{batch, heads, time, time};
                 s = ops::add(b, ops::reshape(b, s, apart), ops::broadcast_in_dim(b, x[3], apart, {1, 2, 3}));
                 Value* p = ops::reshape(b, softmax(b, s), {all, time, time});
                 return Values{ops::dot_general(b, p, merged(x[2]), values)};
               },
               {{{all, 1}, {time, 5}}, {{0, 1, -1}}});
}

// Several heads of queries for one of keys.
TEST(Blocks, GroupedQueries) {
  const int64_t groups = 2, heads = 3, time = 9, depth = 8;
  const ops::DotDims scores{.lhs_batch = {0}, .rhs_batch = {0}, .lhs_contract = {3}, .rhs_contract = {2}};
  const ops::DotDims values{.lhs_batch = {0}, .rhs_batch = {0}, .lhs_contract = {3}, .rhs_contract = {1}};
  const TensorType q{DType::kF32, {groups, heads, time, depth}}, k{DType::kF32, {groups, time, depth}};
  for (const int64_t rows : {3, 9}) {
    check_blocks({q, k, k},
                 [&](GraphBuilder& b, const Values& x) {
                   Value* s = ops::dot_general(b, x[0], x[1], scores);
                   return Values{ops::dot_general(b, softmax(b, causal(b, s)), x[2], values)};
                 },
                 {{{groups, 1}, {heads, 1}, {time, rows}}, {{0, 1, 2, -1}}});
  }
}

// Gradients with respect to queries, keys and values; the last two are sums over rows.
TEST(Blocks, Backward) {
  const Attention it{2, 2, 12, 12, 8};
  const KernelBlocks blocks{{{2, 1}, {2, 1}}, {{0, 1, -1, -1}, {0, 1, -1, -1}, {0, 1, -1, -1}}};
  check_blocks({it.q(), it.k(), it.k(), it.q()},
               [&](GraphBuilder& b, const Values& x) {
                 Value* p = softmax(b, causal(b, ops::dot_general(b, x[0], x[1], kScores)));
                 Value* dp = ops::dot_general(b, x[3], x[2], kScores);
                 Value* sum = ops::reduce(b, kAdd, ops::multiply(b, p, dp), {3});
                 Value* ds =
                     ops::multiply(b, p, ops::subtract(b, dp, ops::broadcast_in_dim(b, sum, p->type.shape, {0, 1, 2})));
                 return Values{ops::dot_general(b, ds, x[1], kTimesValues), ops::dot_general(b, ds, x[0], kOfQueries),
                               ops::dot_general(b, p, x[3], kOfQueries)};
               },
               blocks, {.relative = 1e-5});
}

// A result goes over an operand that its block alone reads, once it is read.
TEST(Blocks, ResultsGoOverOperands) {
  const TensorType type{DType::kF32, {6, 4}};
  const auto overwritten = [&](const Body& body) {
    const KernelBlocks blocks{{{6, 2}}, {{0, -1}}};
    check_blocks({type, type}, body, blocks);
    const KernelFunction f = kernel_function({type, type}, body);
    set_blocks(const_cast<Op&>(*f.kernel), blocks);
    return lower(*f.kernel, loops::all_targets()[0]).steps[0].kernel.buffers.back().may_alias;
  };
  EXPECT_EQ(overwritten([](GraphBuilder& b, const Values& x) {
              return Values{ops::add(b, ops::unary(b, kExponential, x[0]), x[1])};
            }),
            0);
  const auto less_its_mean = [](GraphBuilder& b, Value* x) {
    Value* sum = ops::reduce(b, kAdd, x, {0});
    return ops::subtract(b, x, ops::broadcast_in_dim(b, scaled(b, sum, 1.0 / 6), x->type.shape, {1}));
  };
  EXPECT_EQ(overwritten([&](GraphBuilder& b, const Values& x) {
              return Values{ops::add(b, less_its_mean(b, x[0]), ops::reverse(b, x[1], {1}))};
            }),
            -1);
}

// What a block cannot be told apart of is refused, with the reason.
TEST(Blocks, WhatMixesPartsIsRefused) {
  const TensorType type{DType::kF32, {6, 4}};
  const auto why = [&](const Body& body) {
    const KernelFunction f = kernel_function({type}, body);
    std::string why;
    EXPECT_FALSE(block_region(*f.kernel, {{{6, 2}}, {{0, -1}}}, &why));
    return why;
  };
  EXPECT_EQ(why([](GraphBuilder& b, const Values& x) { return Values{ops::reverse(b, x[0], {0})}; }),
            "stablehlo.reverse: mixes what is cut with what is not");
  EXPECT_EQ(why([](GraphBuilder& b, const Values& x) {
              return Values{ops::reshape(b, ops::transpose(b, x[0], {1, 0}), {6, 4})};
            }),
            "stablehlo.reshape: mixes what is cut with what is not");
  EXPECT_EQ(why([](GraphBuilder& b, const Values& x) {
              Value* square = ops::dot_general(
                  b, x[0], x[0], {.lhs_batch = {}, .rhs_batch = {}, .lhs_contract = {1}, .rhs_contract = {1}});
              Value* half = ops::slice(b, square, {0, 0}, {6, 4}, {1, 1});
              Value* turned = ops::slice(b, ops::transpose(b, square, {1, 0}), {0, 0}, {6, 4}, {1, 1});
              return Values{ops::add(b, half, turned)};
            }),
            "stablehlo.dot_general: would be computed for several parts");
}

// What a stage makes for later ones.
Value* staged(Value* value, int64_t number) {
  value->op->attr_map.insert_or_assign(kStage, Attr(IntAttr{number}));
  return value;
}

TEST(Blocks, ConvolutionByTiles) {
  const auto body = [](int64_t outputs, int64_t extent) {
    return [=](GraphBuilder& b, const Values& a) -> Values {
      Value* zero = ops::constant(b, {DType::kF32, {}}, 0);
      const int64_t high = (extent + outputs - 1) / outputs * outputs + 1 - extent;
      Value* x = staged(ops::pad(b, a[0], zero, {0, 1, 1, 0}, {0, high, high, 0}, {0, 0, 0, 0}), 0);
      x = ops::split_tiles(b, ops::split_tiles(b, x, 1, "input", outputs), 3, "input", outputs);
      Value* y = ops::dot_general(b, staged(x, 1), a[1], {{0, 1}, {0, 1}, {5}, {2}});
      y = ops::join_tiles(b, staged(y, 2), 3, "result", outputs, extent);
      y = ops::join_tiles(b, y, 1, "result", outputs, extent);
      return {ops::multiply(b, y, a[2])};
    };
  };
  for (const auto& [outputs, extent, channels] :
       std::vector<std::array<int64_t, 3>>{{2, 6, 5}, {4, 8, 16}, {4, 6, 17}, {2, 5, 33}}) {
    const Shape images = {4, extent, extent, channels};
    const Shape weights = {outputs + 2, outputs + 2, channels, 19};
    check_blocks({{DType::kF32, images}, {DType::kF32, weights}, {DType::kF32, {4, extent, extent, 19}}},
                 body(outputs, extent), {{{4, 2}}, {{0, -1, -1, -1}}}, {.relative = 1e-5});
  }
}

TEST(Blocks, KernelGradientByTiles) {
  const auto body = [](int64_t outputs) {
    return [=](GraphBuilder& b, const Values& a) -> Values {
      const auto in_blocks = [&](Value* x) {
        Shape shape = x->type.shape;
        shape[0] = 2;
        shape.insert(shape.begin(), x->type.shape[0] / 2);
        return ops::reshape(b, x, shape);
      };
      Value* x = ops::split_tiles(b, in_blocks(a[0]), 2, "input", outputs);
      Value* dy = ops::split_tiles(b, in_blocks(a[1]), 2, "result", outputs);
      x = staged(ops::split_tiles(b, x, 4, "input", outputs), 0);
      dy = staged(ops::split_tiles(b, dy, 4, "result", outputs), 1);
      return {staged(ops::dot_general(b, x, dy, {{2, 0, 1}, {2, 0, 1}, {3, 4, 5}, {3, 4, 5}}), 2)};
    };
  };
  for (const int64_t outputs : {2, 4}) {
    const int64_t extent = 2 * outputs;
    check_blocks({{DType::kF32, {6, extent + 2, extent + 2, 17}}, {DType::kF32, {6, extent, extent, 5}}}, body(outputs),
                 {{{3, 1}}, {{0, -1, -1, -1, -1}}}, {.relative = 1e-5});
  }
}

}  // namespace
}  // namespace ingot
