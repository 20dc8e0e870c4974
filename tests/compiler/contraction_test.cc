// dot_general and convolution with random dimensions: summing over the iteration space of their contraction column,
// point by point, gives what evaluate gives, and their gradients are adjoint.
#include "aot/loops/contraction.h"

#include <gtest/gtest.h>

#include <numeric>

#include "aot/graph/evaluate.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/index.h"
#include "tests/support/random_contraction.h"

namespace ingot {
namespace {

using loops::Contraction;
using Kind = loops::ContractionDim::Kind;

// Small integers, so that sums are exact.
RefTensor integers(const TensorType& type, RandomContraction& random) {
  RefTensor result(type);
  for (double& value : result.f) value = static_cast<double>(random.between(-4, 4));
  return result;
}

// The linear index of the element at `point`, or -1 where there is none.
// Where the access claims `always`, there is one.
int64_t locate(const std::vector<AxisMap>& accesses, const Shape& point, const Shape& shape) {
  const Shape strides = row_major_strides(shape);
  int64_t index = 0;
  for (size_t d = 0; d < accesses.size(); ++d) {
    const AxisMap& access = accesses[d];
    const int64_t at = access.constant + linear_index(point, access.coefficients);
    const bool exists = at % access.divisor == 0 && at >= 0 && at / access.divisor < shape[d];
    EXPECT_TRUE(exists || !access.always);
    if (!exists) return -1;
    index += at / access.divisor * strides[d];
  }
  return index;
}

void expect_contraction_is_definition(const Op& op, RandomContraction& random) {
  const std::vector<RefTensor> inputs{integers(op.operand(0)->type, random), integers(op.operand(1)->type, random)};
  const RefTensor expected = evaluate(op, inputs)[0];
  const Contraction c = op.def->contraction(op);

  for (size_t d = 0; d < c.dims.size(); ++d) {
    for (const AxisMap& access : c.lhs) EXPECT_TRUE(c.dims[d].kind != Kind::kN || access.coefficients[d] == 0);
    for (const AxisMap& access : c.rhs) EXPECT_TRUE(c.dims[d].kind != Kind::kM || access.coefficients[d] == 0);
    for (const AxisMap& access : c.out) EXPECT_TRUE(c.dims[d].kind != Kind::kK || access.coefficients[d] == 0);
  }

  Shape space;
  int64_t sums = 1;  // points that make one result element
  for (const loops::ContractionDim& dim : c.dims) {
    space.push_back(dim.extent);
    if (dim.kind == Kind::kK) sums *= dim.extent;
  }
  RefTensor actual(expected.type);
  std::vector<int64_t> visits(actual.f.size());
  ops::for_each_index(space, [&](const Shape& point, int64_t) {
    const int64_t out = locate(c.out, point, actual.type.shape);
    ASSERT_GE(out, 0);
    ++visits[out];
    const int64_t lhs = locate(c.lhs, point, inputs[0].type.shape), rhs = locate(c.rhs, point, inputs[1].type.shape);
    if (lhs >= 0 && rhs >= 0) actual.f[out] += inputs[0].f[lhs] * inputs[1].f[rhs];
  });
  EXPECT_EQ(actual.f, expected.f);
  if (sums > 0) {
    EXPECT_EQ(visits, std::vector<int64_t>(visits.size(), sums)) << "the result must be covered exactly";
  }
}

// A function of the two operands and a builder at its end.
struct Bench {
  Module module;
  Function& function = *module.add_function("main");
  GraphBuilder b;
  Value* lhs;
  Value* rhs;

  Bench(TensorType x, TensorType y) {
    b.at_end(function.body);
    lhs = function.body.add_argument(std::move(x));
    rhs = function.body.add_argument(std::move(y));
  }
};

// The product is linear in each operand: <dlhs, lhs> = <dy, y> = <drhs, rhs>, exactly for small integers.
void expect_gradients_are_adjoint(Bench& bench, Op& op, RandomContraction& random) {
  Value* dy = bench.function.body.add_argument(op.result()->type);
  const Values result_gradients{dy};
  const bool needed[] = {true, true};
  GradientArgs args{bench.b, op, result_gradients, needed};
  const Values gradients = op.def->gradient(args);
  EXPECT_EQ(gradients[0]->type, bench.lhs->type);
  EXPECT_EQ(gradients[1]->type, bench.rhs->type);
  bench.b.create(kFuncReturn, {op.result(), gradients[0], gradients[1]});
  const std::vector<RefTensor> inputs{integers(bench.lhs->type, random), integers(bench.rhs->type, random),
                                      integers(dy->type, random)};
  const std::vector<RefTensor> results = evaluate(bench.function, inputs);
  const auto inner_product = [](const RefTensor& a, const RefTensor& b) {
    return std::inner_product(a.f.begin(), a.f.end(), b.f.begin(), 0.0);
  };
  EXPECT_EQ(inner_product(results[1], inputs[0]), inner_product(inputs[2], results[0]));
  EXPECT_EQ(inner_product(results[2], inputs[1]), inner_product(inputs[2], results[0]));
}

TEST(ContractionOps, RandomDotGenerals) {
  RandomContraction random(1, {0, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4});
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    const RandomContraction::Dot dot = random.dot();
    Bench bench({DType::kF64, dot.lhs}, {DType::kF64, dot.rhs});
    Op& op = *ops::dot_general(bench.b, bench.lhs, bench.rhs, dot.dims)->op;
    expect_contraction_is_definition(op, random);
    expect_gradients_are_adjoint(bench, op, random);
  }
}

TEST(ContractionOps, RandomConvolutions) {
  RandomContraction random(2, {1, 2, 3, 4, 5});
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    const RandomContraction::Convolved it = random.convolution();
    Bench bench({DType::kF64, it.input}, {DType::kF64, it.kernel});
    Op& op = *ops::convolution(bench.b, bench.lhs, bench.rhs, it.conv)->op;
    expect_contraction_is_definition(op, random);
    expect_gradients_are_adjoint(bench, op, random);
  }
}

TEST(ContractionOps, AccumulatesWide) {
  for (const auto& [operand, sum] : {std::pair{DType::kBF16, DType::kF32},
                                     {DType::kF16, DType::kF32},
                                     {DType::kF64, DType::kF64},
                                     {DType::kI8, DType::kI32},
                                     {DType::kUI8, DType::kUI32},
                                     {DType::kI64, DType::kI64}}) {
    Bench bench({operand, {2, 3}}, {operand, {3, 4}});
    const Op& op = *ops::dot_general(bench.b, bench.lhs, bench.rhs, {{}, {}, {1}, {0}})->op;
    EXPECT_EQ(op.def->contraction(op).accumulate, sum) << to_string(operand);
  }
}

}  // namespace
}  // namespace ingot
