// Products by concatenations mean the same once they are products by the parts, whichever dimension that is.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "aot/base/contains.h"
#include "aot/graph/evaluate.h"
#include "aot/graph/text/print.h"
#include "aot/ops/support/build.h"
#include "aot/passes/pass.h"
#include "tests/support/random_contraction.h"
#include "tests/support/random_tensor.h"

namespace ingot {
namespace {

// A dot_general whose operand `joined` is a concatenation along `dim`, at a random place.
std::unique_ptr<Module> product_by_concatenation(const RandomContraction::Dot& dot, int joined, int64_t dim,
                                                 RandomContraction& random) {
  auto module = std::make_unique<Module>();
  Function& function = *module->add_function("main");
  GraphBuilder b;
  b.at_end(function.body);
  Values operands;
  for (int i = 0; i < 2; ++i) {
    const Shape& whole = i == 0 ? dot.lhs : dot.rhs;
    Values parts;
    for (int64_t left = whole[i == joined ? dim : 0]; left > 0;) {
      Shape shape = whole;
      if (i == joined) shape[dim] = parts.size() < 3 ? random.between(1, left) : left;
      left = i == joined ? left - shape[dim] : 0;
      function.argument_attrs.emplace_back();
      parts.push_back(function.body.add_argument({DType::kI64, shape}, fmt::format("x{}.{}", i, parts.size())));
    }
    operands.push_back(i == joined ? ops::concatenate(b, parts, dim) : parts[0]);
  }
  Value* result = ops::dot_general(b, operands[0], operands[1], dot.dims);
  function.results.push_back({result->type, {}});
  b.create(kFuncReturn, {result});
  return module;
}

TEST(SplitProducts, KeepsTheMeaningOfRandomProducts) {
  constexpr int kChangedMin = 25;
  RandomContraction random(5, {1, 2, 3, 16, 40});
  int changed_count = 0, depth_count = 0;
  for (int round = 0; changed_count < kChangedMin; ++round) {
    SCOPED_TRACE(round);
    ASSERT_LT(round, 20000) << "it applies to " << changed_count << " products";
    const RandomContraction::Dot dot = random.dot();
    const int joined = static_cast<int>(random.between(0, 1));
    const Shape& whole = joined == 0 ? dot.lhs : dot.rhs;
    if (dot.lhs.empty() || dot.rhs.empty() || element_count(dot.lhs) > 20000 || element_count(dot.rhs) > 20000)
      continue;
    const int64_t dim = random.between(0, std::ssize(whole) - 1);
    if (whole[dim] < 2) continue;
    const auto before = product_by_concatenation(dot, joined, dim, random);
    const auto after = copy_module(*before);
    PassContext context;
    if (!split_products(*after, context)) continue;
    ++changed_count;
    depth_count += contains(joined == 0 ? dot.dims.lhs_contract : dot.dims.rhs_contract, dim);
    const std::vector<RefTensor> arguments = random_arguments(*before->functions[0], round);
    expect_equal(evaluate(*after->functions[0], arguments), evaluate(*before->functions[0], arguments), {});
    EXPECT_FALSE(split_products(*after, context)) << "not idempotent";
    if (HasFailure()) FAIL() << print(*before) << "became\n" << print(*after);
  }
  EXPECT_GT(depth_count, 0);
  EXPECT_LT(depth_count, changed_count);
}

}  // namespace
}  // namespace ingot
