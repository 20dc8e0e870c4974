// dot_general and convolution with random dimensions: summing over the iteration space of their contraction column,
// point by point, gives what evaluate gives, and their gradients are adjoint.
#include "aot/loops/contraction.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "aot/graph/evaluate.h"
#include "aot/ops/build.h"
#include "aot/ops/index.h"

namespace ingot {
namespace {

using loops::Contraction;
using loops::ContractionAccess;
using Kind = loops::ContractionDim::Kind;

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int64_t between(int64_t low, int64_t high) { return low + static_cast<int64_t>(engine_() % (high - low + 1)); }
  bool chance(int percent) { return between(0, 99) < percent; }
  std::vector<int64_t> permutation(int count) {
    std::vector<int64_t> order = ops::iota_dims(count);
    for (int k = count - 1; k > 0; --k) std::swap(order[k], order[between(0, k)]);
    return order;
  }
  // Small integers, so that sums are exact.
  RefTensor tensor(TensorType type) {
    RefTensor result(std::move(type));
    for (double& value : result.f) value = static_cast<double>(between(-4, 4));
    return result;
  }

 private:
  std::mt19937 engine_;
};

// The linear index of the element at `point`, or -1 where there is none. Where the access claims `always`, there is
// one.
int64_t locate(const std::vector<ContractionAccess>& accesses, const Shape& point, const Shape& shape) {
  const Shape strides = row_major_strides(shape);
  int64_t index = 0;
  for (size_t d = 0; d < accesses.size(); ++d) {
    const ContractionAccess& access = accesses[d];
    const int64_t at = access.constant + linear_index(point, access.coefficients);
    const bool exists = at % access.divisor == 0 && at >= 0 && at / access.divisor < shape[d];
    EXPECT_TRUE(exists || !access.always);
    if (!exists) return -1;
    index += at / access.divisor * strides[d];
  }
  return index;
}

void expect_contraction_is_definition(const Op& op, Random& random) {
  const std::vector<RefTensor> inputs{random.tensor(op.operand(0)->type), random.tensor(op.operand(1)->type)};
  const RefTensor expected = evaluate(op, inputs)[0];
  const Contraction c = op.def->contraction(op);

  for (size_t d = 0; d < c.dims.size(); ++d) {
    for (const ContractionAccess& access : c.lhs)
      EXPECT_TRUE(c.dims[d].kind != Kind::kN || access.coefficients[d] == 0);
    for (const ContractionAccess& access : c.rhs)
      EXPECT_TRUE(c.dims[d].kind != Kind::kM || access.coefficients[d] == 0);
    for (const ContractionAccess& access : c.out)
      EXPECT_TRUE(c.dims[d].kind != Kind::kK || access.coefficients[d] == 0);
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
  GraphBuilder b{all_ops()};
  Value* lhs;
  Value* rhs;

  Bench(TensorType x, TensorType y) {
    b.at_end(function.body);
    lhs = function.body.add_argument(std::move(x));
    rhs = function.body.add_argument(std::move(y));
  }
};

// The product is linear in each operand: <dlhs, lhs> = <dy, y> = <drhs, rhs>, exactly for small integers.
void expect_gradients_are_adjoint(Bench& bench, Op& op, Random& random) {
  Value* dy = bench.function.body.add_argument(op.result()->type);
  const Values result_gradients{dy};
  const bool needed[] = {true, true};
  GradientArgs args{bench.b, op, result_gradients, needed};
  const Values gradients = op.def->gradient(args);
  EXPECT_EQ(gradients[0]->type, bench.lhs->type);
  EXPECT_EQ(gradients[1]->type, bench.rhs->type);
  bench.b.create("func.return", {op.result(), gradients[0], gradients[1]});
  const std::vector<RefTensor> inputs{random.tensor(bench.lhs->type), random.tensor(bench.rhs->type),
                                      random.tensor(dy->type)};
  const std::vector<RefTensor> results = evaluate(bench.function, inputs);
  const auto inner_product = [](const RefTensor& a, const RefTensor& b) {
    return std::inner_product(a.f.begin(), a.f.end(), b.f.begin(), 0.0);
  };
  EXPECT_EQ(inner_product(results[1], inputs[0]), inner_product(inputs[2], results[0]));
  EXPECT_EQ(inner_product(results[2], inputs[1]), inner_product(inputs[2], results[0]));
}

TEST(Contraction, RandomDotGenerals) {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    // Extents of the batch, contracting and free dimensions, then each operand's dimensions in a random order.
    const int batch = static_cast<int>(random.between(0, 2)), contract = static_cast<int>(random.between(0, 2));
    Shape common;
    for (int k = 0; k < batch + contract; ++k) common.push_back(random.between(round % 20 == 0 ? 0 : 1, 4));
    ops::DotDims dims;
    const auto operand = [&](std::vector<int64_t>& batch_dims, std::vector<int64_t>& contract_dims) {
      const int rank = batch + contract + static_cast<int>(random.between(0, 2));
      const std::vector<int64_t> place = random.permutation(rank);
      TensorType type{DType::kF64, Shape(rank)};
      for (int k = 0; k < rank; ++k) {
        type.shape[place[k]] = k < batch + contract ? common[k] : random.between(1, 4);
        if (k < batch) batch_dims.push_back(place[k]);
        if (k >= batch && k < batch + contract) contract_dims.push_back(place[k]);
      }
      return type;
    };
    const TensorType x = operand(dims.lhs_batch, dims.lhs_contract);
    const TensorType y = operand(dims.rhs_batch, dims.rhs_contract);
    Bench bench(x, y);
    Op& op = *ops::dot_general(bench.b, bench.lhs, bench.rhs, dims)->op;
    expect_contraction_is_definition(op, random);
    expect_gradients_are_adjoint(bench, op, random);
  }
}

TEST(Contraction, RandomConvolutions) {
  Random random(2);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    const int spatial = static_cast<int>(random.between(0, 3)), rank = spatial + 2;
    ops::Convolution conv;
    (random.chance(50) ? conv.feature_groups : conv.batch_groups) = random.between(1, 3);
    const int64_t groups = conv.feature_groups * conv.batch_groups;
    const std::vector<int64_t> in = random.permutation(rank), kernel = random.permutation(rank),
                               out = random.permutation(rank);
    conv.dims = {.input_batch = in[0],
                 .input_feature = in[1],
                 .input_spatial = {in.begin() + 2, in.end()},
                 .kernel_input_feature = kernel[0],
                 .kernel_output_feature = kernel[1],
                 .kernel_spatial = {kernel.begin() + 2, kernel.end()},
                 .output_batch = out[0],
                 .output_feature = out[1],
                 .output_spatial = {out.begin() + 2, out.end()}};
    TensorType x{DType::kF64, Shape(rank)}, w{DType::kF64, Shape(rank)};
    const int64_t features = random.between(1, 3);
    x.shape[in[0]] = random.between(1, 2) * conv.batch_groups;
    x.shape[in[1]] = features * conv.feature_groups;
    w.shape[kernel[0]] = features;
    w.shape[kernel[1]] = random.between(1, 3) * groups;
    for (int k = 0; k < spatial; ++k) {
      x.shape[in[2 + k]] = random.between(1, 6);
      w.shape[kernel[2 + k]] = random.between(1, 3);
      ops::WindowDim dim{.size = w.shape[kernel[2 + k]], .stride = random.between(1, 3)};
      dim.low = random.between(-1, 3);
      dim.high = random.between(-1, 3);
      dim.base_dilation = random.chance(30) ? random.between(1, 3) : 1;
      dim.dilation = random.chance(30) ? random.between(1, 3) : 1;
      dim.reversed = random.chance(30);
      conv.window.push_back(dim);
    }
    Bench bench(x, w);
    Op& op = *ops::convolution(bench.b, bench.lhs, bench.rhs, conv)->op;
    expect_contraction_is_definition(op, random);
    expect_gradients_are_adjoint(bench, op, random);
  }
}

TEST(Contraction, AccumulatesWide) {
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
