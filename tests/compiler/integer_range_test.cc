// Ranges hold what elements are: of every value of random programs, and as closely as rules promise.
#include "aot/analysis/integer_range.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "aot/graph/evaluate.h"
#include "aot/graph/text/parse.h"
#include "aot/graph/text/print.h"
#include "aot/ops/ops.h"
#include "tests/support/random_graph.h"
#include "tests/support/random_tensor.h"

namespace ingot {
namespace {

constexpr int kRandomPrograms = 1500;

TEST(IntegerRange, HoldsWhatRandomProgramsCompute) {
  int64_t narrowed = 0;  // values that are known to be less than any of their dtype
  const auto check = [&](const Op& op, std::span<const RefTensor>, std::vector<RefTensor>& results) {
    for (size_t k = 0; k < op.results.size(); ++k) {
      const Value* value = op.results[k].get();
      const std::optional<IntegerRange> range = integer_range(value);
      if (!range) continue;
      narrowed += range != range_of(value->type.dtype);
      for (const int64_t computed : results[k].i) {
        const int64_t element = wrap_to(value->type.dtype, computed);
        ASSERT_TRUE(range->low <= element && element <= range->high)
            << op.def->name << " gives " << element << ", outside of " << range->low << " to " << range->high;
      }
    }
  };
  for (int seed = 0; seed < kRandomPrograms && !HasFatalFailure(); ++seed) {
    const auto module = random_graph(seed);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, print(*module)));
    evaluate(*module->functions[0], random_arguments(*module->functions[0], seed), {.adjust = check});
  }
  EXPECT_GT(narrowed, 30);
}

struct RangeCase {
  const char* body;  // gives %r: tensor<4xi32> of %x: tensor<4xui8> and %y: tensor<4xi8>, as %u and %v in i32
  IntegerRange range;
};

IntegerRange range_of_body(const char* body) {
  const std::string text = fmt::format(R"(func.func @main(%x: tensor<4xui8>, %y: tensor<4xi8>) -> tensor<4xi32> {{
    %u = stablehlo.convert %x : (tensor<4xui8>) -> tensor<4xi32>
    %v = stablehlo.convert %y : (tensor<4xi8>) -> tensor<4xi32>
    %three = stablehlo.constant dense<3> : tensor<4xi32>
    %few = stablehlo.constant dense<[1, -7, 5, 2]> : tensor<4xi32>
    {}
    return %r : tensor<4xi32>
  }})",
                                       body);
  const auto module = parse_module(text, "range.mlir", all_ops());
  return *integer_range(module->functions[0]->body.ops.back()->operand(0));
}

TEST(IntegerRange, IsAsNarrowAsItsOperandsSay) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max(), kLeast = std::numeric_limits<int32_t>::min();
  const RangeCase cases[] = {
      {"%r = stablehlo.subtract %u, %three : tensor<4xi32>", {-3, 252}},
      {"%r = stablehlo.add %u, %few : tensor<4xi32>", {-7, 260}},
      {"%r = stablehlo.multiply %v, %few : tensor<4xi32>", {-889, 896}},
      {"%r = stablehlo.negate %v : tensor<4xi32>", {-127, 128}},
      {"%r = stablehlo.maximum %v, %three : tensor<4xi32>", {3, 127}},
      {"%r = stablehlo.minimum %v, %three : tensor<4xi32>", {-128, 3}},
      {"%r = stablehlo.clamp %three, %u, %three : tensor<4xi32>", {3, 3}},
      {"%r = stablehlo.reverse %few, dims = [0] : tensor<4xi32>", {-7, 5}},
      {"%0 = stablehlo.multiply %u, %u : tensor<4xi32>\n%1 = stablehlo.multiply %0, %0 : tensor<4xi32>\n"
       "%r = stablehlo.add %1, %1 : tensor<4xi32>",
       {kLeast, kMost}},  // what may wrap can be anything
  };
  for (const RangeCase& it : cases) EXPECT_EQ(range_of_body(it.body), it.range) << it.body;
}

}  // namespace
}  // namespace ingot
