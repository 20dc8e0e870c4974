// Copies that take turns: when they do, and that they compute what they did one after the other.
#include <gtest/gtest.h>

#include <random>

#include "aot/codegen/compile.h"
#include "aot/loops/builder.h"
#include "tests/support/kernel_agreement.h"

namespace ingot::codegen {
namespace {

using namespace loops;  // NOLINT

constexpr int kCopies = 7, kSteps = 30;

// How a copy's chain begins and ends.
struct Ends {
  bool is_in_place = false;        // it is stored in the place of what it begins with
  bool reads_stored = false;       // it begins with what the copy before stored
  bool sums_up = false;            // it is added to a sum of the copy's own
  bool shares_sum = false;         // ... of all copies
  bool stores_neighbours = false;  // it is stored where the next copy stores a value of an earlier step
};

Expr long_chain(KernelBuilder& b, Expr x, std::mt19937_64& random) {
  constexpr ScalarOp kOps[] = {ScalarOp::kAdd, ScalarOp::kMultiply, ScalarOp::kMaximum, ScalarOp::kSubtract};
  for (int k = 0; k < kSteps; ++k) {
    const Expr constant =
        b.splat(b.constant(DType::kF32, static_cast<double>(random() % 9) / 4 - 0.9), b.vector_lanes());
    x = b.let("x", b.apply(kOps[random() % std::size(kOps)], {x, constant}));
  }
  return x;
}

Kernel chains(const Ends& ends, int lanes, uint64_t seed) {
  std::mt19937_64 random(seed);
  constexpr int64_t kTurns = 3;
  const int64_t elements = kTurns * kCopies * lanes;
  KernelBuilder b("chains", lanes);
  const BufferId x = b.input("x", DType::kF32, elements), y = b.input("y", DType::kF32, kCopies * lanes);
  const BufferId out = b.output("out", DType::kF32, elements + lanes, -1);
  const BufferId replaced = b.output("replaced", DType::kF32, elements, ends.is_in_place ? x : BufferId{-1});
  const BufferId sums = b.output("sums", DType::kF32, kCopies * lanes);
  const TileId sum = b.tile("sum", DType::kF32, lanes, {kCopies});
  b.unrolled("c", kCopies, [&](Index c) { b.set(sum, {c}, b.load(y, c * lanes + b.lane())); });
  b.store(out, b.lane(), b.load(y, b.lane()));
  b.loop("i", 0, kTurns, 1, [&](Index i) {
    b.unrolled("c", kCopies, [&](Index c) {
      const Index at = i * (kCopies * lanes) + c * lanes + b.lane();
      const Expr first = ends.reads_stored ? b.load(out, at) : b.load(x, at);
      const Expr early = b.let("early", b.apply(ScalarOp::kAdd, {first, first}));
      const Expr chain = long_chain(b, early, random);
      b.store(replaced, at, b.apply(ScalarOp::kAdd, {chain, b.load(x, at)}));
      if (ends.stores_neighbours) b.store(out, at, early);
      b.store(out, at + lanes, chain, b.in_range(at, 1, elements));
      if (!ends.sums_up) return;
      const Index own = ends.shares_sum ? Index(0) : c;
      b.set(sum, {own}, b.apply(ScalarOp::kAdd, {b.read(sum, {own}), chain}));
    });
  });
  b.unrolled("c", kCopies, [&](Index c) { b.store(sums, c * lanes + b.lane(), b.read(sum, {c})); });
  return b.finish();
}

// How many vectors the loop loads before it stores one, as LLVM gets it. A copy by itself loads two.
size_t loads_before_stores(const Ends& ends) {
  const Kernel kernel = chains(ends, 8, 1);
  std::string text;
  CodegenOptions options;
  options.dump = [&](std::string_view stage, std::string_view dumped) {
    if (stage == "llvm") text = dumped;
  };
  compile(std::span(&kernel, 1), find_target("x86-64-v3"), options);
  size_t count = 0;
  const size_t first = text.find("\nloop"), end = text.find("store <8 x float>", first);
  for (size_t at = first; (at = text.find("load <8 x float>", at)) < end; ++at) ++count;
  return count;
}

TEST(Interleave, CopiesTakeTurns) {
  for (const Ends& ends : {Ends{}, Ends{.is_in_place = true}, Ends{.sums_up = true}})
    EXPECT_GT(loads_before_stores(ends), 4u);
}

TEST(Interleave, CopiesThatNeedEachOtherDoNot) {
  EXPECT_EQ(loads_before_stores({.reads_stored = true}), 2u);
  EXPECT_EQ(loads_before_stores({.sums_up = true, .shares_sum = true}), 2u);
}

TEST(Interleave, CopiesComputeTheSame) {
  std::vector<Kernel> kernels;
  uint64_t seed = 0;
  for (const Ends& ends : {Ends{.is_in_place = true, .sums_up = true}, Ends{.reads_stored = true},
                           Ends{.sums_up = true, .shares_sum = true}, Ends{.stores_neighbours = true}}) {
    for (const int lanes : {1, 8}) kernels.push_back(chains(ends, lanes, ++seed));
  }
  expect_same(kernels);
}

}  // namespace
}  // namespace ingot::codegen
