// stablehlo.dot_general: sums of products over contracting dimensions, for each pair of free and each batch index.
#include <fmt/format.h>

#include "aot/graph/attributes.h"
#include "aot/loops/contraction.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/complex/complex_term.h"
#include "aot/ops/support/contraction.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/samples.h"

namespace ingot::dot_general_op {
namespace {

using ops::DotDims;

std::vector<int64_t> joined(std::vector<int64_t> a, const std::vector<int64_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<int64_t> free_dims(int rank, const std::vector<int64_t>& batch, const std::vector<int64_t>& contract) {
  return ops::other_dims(rank, joined(batch, contract));
}

void check_pairs(const InferArgs& args, std::string_view what, const std::vector<int64_t>& lhs,
                 const std::vector<int64_t>& rhs) {
  const TensorType& x = args.operands[0];
  const TensorType& y = args.operands[1];
  if (lhs.size() != rhs.size()) {
    args.fail(fmt::format("{} dimensions {} and {} must pair up", what, ops::to_string(lhs), ops::to_string(rhs)));
  }
  for (size_t k = 0; k < lhs.size(); ++k) {
    if (x.shape[lhs[k]] == y.shape[rhs[k]]) continue;
    args.fail(fmt::format("{} dimensions {} of {} and {} of {} have {} and {} elements", what, lhs[k], to_string(x),
                          rhs[k], to_string(y), x.shape[lhs[k]], y.shape[rhs[k]]));
  }
}

std::vector<TensorType> infer(const InferArgs& args) {
  // The third, where there is one, is added to the offset of the triangles that need not be multiplied.
  if (args.operands.size() != 3 || !args.attrs().has(attributes::kTriangles)) ops::check_operand_count(args, 2);
  if (args.operands.size() == 3) ops::check_scalar(args, "what is added to the offset of triangles", args.operands[2]);
  ops::check_unsigned_bytes(args);
  const TensorType& x = args.operands[0];
  const TensorType& y = args.operands[1];
  const DotDims dims = ops::read_dot_dims(args.attrs());
  ops::check_dims(args, "lhs batching and contracting dimensions", joined(dims.lhs_batch, dims.lhs_contract), x.rank());
  ops::check_dims(args, "rhs batching and contracting dimensions", joined(dims.rhs_batch, dims.rhs_contract), y.rank());
  check_pairs(args, "batching", dims.lhs_batch, dims.rhs_batch);
  check_pairs(args, "contracting", dims.lhs_contract, dims.rhs_contract);
  ops::check_triangles(args, x.rank() + y.rank() - static_cast<int>(dims.lhs_batch.size() + dims.lhs_contract.size()));
  TensorType result{ops::product_dtype(args), ops::extents(x.shape, dims.lhs_batch)};
  result.shape = joined(result.shape, ops::extents(x.shape, free_dims(x.rank(), dims.lhs_batch, dims.lhs_contract)));
  result.shape = joined(result.shape, ops::extents(y.shape, free_dims(y.rank(), dims.rhs_batch, dims.rhs_contract)));
  return {result};
}

// out[b, m, n] = sum over k of lhs[b, m, k] * rhs[b, k, n], with each letter a list of dimensions.
template <typename T, typename Sum>
void multiply(const EvaluateArgs& args, const std::vector<T>& lhs, const std::vector<T>& rhs, std::vector<Sum>& out) {
  const Shape& x = args.inputs[0].type.shape;
  const Shape& y = args.inputs[1].type.shape;
  const DotDims dims = ops::read_dot_dims(args.attrs());
  const auto lhs_b = ops::offsets(x, dims.lhs_batch), rhs_b = ops::offsets(y, dims.rhs_batch);
  const auto lhs_k = ops::offsets(x, dims.lhs_contract), rhs_k = ops::offsets(y, dims.rhs_contract);
  const auto lhs_m = ops::offsets(x, free_dims(args.inputs[0].type.rank(), dims.lhs_batch, dims.lhs_contract));
  const auto rhs_n = ops::offsets(y, free_dims(args.inputs[1].type.rank(), dims.rhs_batch, dims.rhs_contract));
  const ops::MultiplyAdd multiply_add(args);
  Sum* row = out.data();
  for (size_t b = 0; b < lhs_b.size(); ++b) {
    for (int64_t m : lhs_m) {
      for (size_t k = 0; k < lhs_k.size(); ++k) {
        const T a = lhs[lhs_b[b] + m + lhs_k[k]];
        const int64_t from = rhs_b[b] + rhs_k[k];
        for (size_t n = 0; n < rhs_n.size(); ++n) multiply_add(row[n], a, rhs[from + rhs_n[n]]);
      }
      row += rhs_n.size();
    }
  }
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  return ops::sums_of_products(args, [](auto&&... operands) { multiply(operands...); });
}

loops::Contraction contraction(const Op& op) {
  using Kind = loops::ContractionDim::Kind;
  const TensorType& x = op.operand(0)->type;
  const TensorType& y = op.operand(1)->type;
  const DotDims dims = ops::read_dot_dims(op.attrs());
  loops::Contraction c;
  c.accumulate = ops::accumulate_dtype(op.result()->type.dtype);
  c.unsigned_bytes = ops::unsigned_bytes(op);
  c.multiplies_pairs = ops::multiplies_pairs(op);
  c.triangles = ops::triangles(op);
  c.lhs.resize(x.rank());
  c.rhs.resize(y.rank());
  c.out.resize(op.result()->type.rank());
  size_t out = 0;
  for (size_t k = 0; k < dims.lhs_batch.size(); ++k) {
    const int i = ops::add_dim(c, Kind::kBatch, x.shape[dims.lhs_batch[k]]);
    c.lhs[dims.lhs_batch[k]].coefficients = c.rhs[dims.rhs_batch[k]].coefficients = c.out[out++].coefficients =
        ops::unit(i);
  }
  for (int64_t dim : free_dims(x.rank(), dims.lhs_batch, dims.lhs_contract)) {
    const int i = ops::add_dim(c, Kind::kM, x.shape[dim]);
    c.lhs[dim].coefficients = c.out[out++].coefficients = ops::unit(i);
  }
  for (int64_t dim : free_dims(y.rank(), dims.rhs_batch, dims.rhs_contract)) {
    const int i = ops::add_dim(c, Kind::kN, y.shape[dim]);
    c.rhs[dim].coefficients = c.out[out++].coefficients = ops::unit(i);
  }
  for (size_t k = 0; k < dims.lhs_contract.size(); ++k) {
    const int i = ops::add_dim(c, Kind::kK, x.shape[dims.lhs_contract[k]]);
    c.lhs[dims.lhs_contract[k]].coefficients = c.rhs[dims.rhs_contract[k]].coefficients = ops::unit(i);
  }
  ops::finish(c, x.shape, y.shape, op.result()->type.shape);
  return c;
}

// The gradient of one operand ("this"): dy contracted with the other operand over the other's free dimensions.
// dot_general gives batch dims, then the free dims of its left, then of its right operand: of the two orders of
// operands, the one that needs no transpose is taken.
//   y[b, m, n] = sum_k lhs[b, m, k] rhs[b, k, n]:   dlhs[b, m, k] = sum_n dy[b, m, n] rhs[b, k, n]
//                                                   drhs[b, k, n] = sum_m lhs[b, m, k] dy[b, m, n]
Value* operand_gradient(GradientArgs& args, bool is_lhs) {
  GraphBuilder& b = args.b;
  const DotDims dims = ops::read_dot_dims(args.op.attrs());
  const TensorType& self = args.operand(is_lhs ? 0 : 1)->type;
  Value* other = ops::convert(b, args.operand(is_lhs ? 1 : 0), args.dy()->type.dtype);
  const auto& self_batch = is_lhs ? dims.lhs_batch : dims.rhs_batch;
  const auto& self_contract = is_lhs ? dims.lhs_contract : dims.rhs_contract;
  const auto& other_batch = is_lhs ? dims.rhs_batch : dims.lhs_batch;
  const auto& other_contract = is_lhs ? dims.rhs_contract : dims.lhs_contract;
  const std::vector<int64_t> self_free = free_dims(self.rank(), self_batch, self_contract);
  const std::vector<int64_t> other_free = free_dims(other->type.rank(), other_batch, other_contract);

  const int batch_count = static_cast<int>(self_batch.size());
  const int lhs_free_count = static_cast<int>(is_lhs ? self_free.size() : other_free.size());
  const std::vector<int64_t> dy_batch = ops::iota_dims(batch_count);
  std::vector<int64_t> dy_other;  // dy's dimensions that are free dimensions of the other operand
  for (size_t k = 0; k < other_free.size(); ++k) {
    dy_other.push_back(batch_count + (is_lhs ? lhs_free_count : 0) + static_cast<int64_t>(k));
  }

  // self's dimensions in the order in which each product gives them; the other's contracting dims come out ascending.
  std::vector<int64_t> contracted;
  for (int64_t dim : ops::other_dims(other->type.rank(), joined(other_batch, other_free))) {
    contracted.push_back(self_contract[ops::position_of(other_contract, dim)]);
  }
  const std::vector<int64_t> dy_first = joined(joined(self_batch, self_free), contracted);
  const std::vector<int64_t> other_first = joined(joined(self_batch, contracted), self_free);
  const bool swap = dy_first != ops::iota_dims(self.rank()) && other_first == ops::iota_dims(self.rank());
  Value* product = swap ? ops::dot_general(b, other, args.dy(), {other_batch, dy_batch, other_free, dy_other})
                        : ops::dot_general(b, args.dy(), other, {dy_batch, other_batch, dy_other, other_free});
  const std::vector<int64_t> order = ops::inverse_permutation(swap ? other_first : dy_first);
  if (order != ops::iota_dims(self.rank())) product = ops::transpose(b, product, order);
  return ops::convert(b, product, self.dtype);
}

Values gradient(GradientArgs& args) {
  return {args.needed[0] ? operand_gradient(args, true) : nullptr,
          args.needed[1] ? operand_gradient(args, false) : nullptr};
}

// For each term of the sums, the elements of one operand that are in it: along dimension `axis` of `shape`, which is
// [batch, rows, columns], and the same along the other.
std::vector<Term> terms_of(GraphBuilder& b, Value* x, const std::vector<int64_t>& batch,
                           const std::vector<int64_t>& contract, const Shape& shape, int64_t axis) {
  const std::vector<int64_t> free = free_dims(x->type.rank(), batch, contract);
  const int64_t count = element_count(ops::extents(x->type.shape, contract));
  Value* ordered = ops::transpose(b, x, joined(joined(batch, free), contract));
  Value* flat = ops::reshape(b, ordered, {shape[0], shape[axis], count});
  std::vector<Term> terms;
  for (int64_t k = 0; k < count; ++k) {
    Value* slice = ops::slice(b, flat, {0, 0, k}, {shape[0], shape[axis], k + 1}, {1, 1, 1});
    slice = ops::reshape(b, slice, {shape[0], shape[axis]});
    terms.emplace_back(b, ops::broadcast_in_dim(b, slice, shape, {0, axis}));
  }
  return terms;
}

// Few terms make one elementwise kernel instead of four contractions.
std::vector<Parts> split(SplitArgs& args) {
  constexpr int64_t kFewTerms = 4;
  const TensorType& x = args.op.operand(0)->type;
  const TensorType& y = args.op.operand(1)->type;
  const TensorType& z = args.op.result()->type;
  const DotDims dims = ops::read_dot_dims(args.attrs());
  const int64_t count = element_count(ops::extents(x.shape, dims.lhs_contract));
  if (count == 0 || count > kFewTerms || x.dtype != z.dtype || y.dtype != z.dtype) return ops::split_product(args);
  const Shape shape{element_count(ops::extents(x.shape, dims.lhs_batch)),
                    element_count(ops::extents(x.shape, free_dims(x.rank(), dims.lhs_batch, dims.lhs_contract))),
                    element_count(ops::extents(y.shape, free_dims(y.rank(), dims.rhs_batch, dims.rhs_contract)))};
  const auto lhs = [&](Value* part) { return terms_of(args.b, part, dims.lhs_batch, dims.lhs_contract, shape, 1); };
  const auto rhs = [&](Value* part) { return terms_of(args.b, part, dims.rhs_batch, dims.rhs_contract, shape, 2); };
  const std::vector<Term> a = lhs(args.re(0)), b = lhs(args.im(0)), c = rhs(args.re(1)), d = rhs(args.im(1));
  Term re = a[0] * c[0] - b[0] * d[0], im = a[0] * d[0] + b[0] * c[0];
  for (int64_t k = 1; k < count; ++k) {
    re = re + (a[k] * c[k] - b[k] * d[k]);
    im = im + (a[k] * d[k] + b[k] * c[k]);
  }
  Value* real = ops::reshape(args.b, re, z.shape);
  return {{real, ops::reshape(args.b, im, z.shape)}};
}

std::vector<Sample> samples() {
  const auto dot = [](const std::string& x, const std::string& y, const std::string& dims, const std::string& to) {
    return Sample{.text = ops::single_op("%x: " + x + ", %y: " + y,
                                         "stablehlo.dot_general %x, %y, " + dims + " : (" + x + ", " + y + ") -> " + to,
                                         to)};
  };
  const auto dot_of_bytes = [&](const std::string& x, const std::string& y, int unsigned_operand,
                                const std::string& to) {
    const std::string dims =
        fmt::format("contracting_dims = [1] x [0] {{ingot.unsigned_bytes = {} : i64}}", unsigned_operand);
    Sample sample = dot(x, y, dims, to);
    sample.integer_low = std::numeric_limits<int32_t>::min();
    sample.integer_high = std::numeric_limits<int32_t>::max();
    return sample;
  };
  const auto dot_of_pairs = [&](const std::string& x, const std::string& y, const std::string& to) {
    Sample sample = dot(x, y, "contracting_dims = [1] x [0] {ingot.pairs}", to);
    sample.integer_low = 0x3E003E00;  // the upper number of each is 0.125, the lower from there to 2
    sample.integer_high = 0x3E003FFF;
    sample.differentiable = false;
    return sample;
  };
  return {
      dot("tensor<3x5xf32>", "tensor<5x4xf32>", "contracting_dims = [1] x [0]", "tensor<3x4xf32>"),
      dot("tensor<17x33xf32>", "tensor<33x19xf32>", "contracting_dims = [1] x [0]", "tensor<17x19xf32>"),
      dot("tensor<5x3xf32>", "tensor<4x5xf32>", "contracting_dims = [0] x [1]", "tensor<3x4xf32>"),
      dot("tensor<7x64xf64>", "tensor<9x64xf64>", "contracting_dims = [1] x [1]", "tensor<7x9xf64>"),
      dot("tensor<5xf32>", "tensor<5xf32>", "contracting_dims = [0] x [0]", "tensor<f32>"),
      dot("tensor<3xf32>", "tensor<4xf32>", "contracting_dims = [] x []", "tensor<3x4xf32>"),
      dot("tensor<6x5xf32>", "tensor<5xf32>", "contracting_dims = [1] x [0]", "tensor<6xf32>"),
      dot("tensor<2x3x4xf32>", "tensor<2x4x5xf32>", "batching_dims = [0] x [0], contracting_dims = [2] x [1]",
          "tensor<2x3x5xf32>"),
      dot("tensor<3x2x4x5xf32>", "tensor<5x6x2x3xf32>", "batching_dims = [1, 0] x [2, 3], contracting_dims = [3] x [0]",
          "tensor<2x3x4x6xf32>"),
      dot("tensor<2x3x4xf32>", "tensor<4x5x3xf32>", "contracting_dims = [1, 2] x [2, 0]", "tensor<2x5xf32>"),
      dot("tensor<2x3x4xf32>", "tensor<4x6xf32>", "contracting_dims = [2] x [0]", "tensor<2x3x6xf32>"),
      dot("tensor<3x0xf32>", "tensor<0x4xf32>", "contracting_dims = [1] x [0]", "tensor<3x4xf32>"),
      dot("tensor<0x3xf32>", "tensor<3x4xf32>", "contracting_dims = [1] x [0]", "tensor<0x4xf32>"),
      dot("tensor<3x5xbf16>", "tensor<5x4xbf16>", "contracting_dims = [1] x [0]", "tensor<3x4xbf16>"),
      dot("tensor<3x5xbf16>", "tensor<5x4xbf16>", "contracting_dims = [1] x [0]", "tensor<3x4xf32>"),
      dot("tensor<3x5xf16>", "tensor<5x4xf16>", "contracting_dims = [1] x [0]", "tensor<3x4xf16>"),
      dot("tensor<3x5xi32>", "tensor<5x4xi32>", "contracting_dims = [1] x [0]", "tensor<3x4xi32>"),
      dot("tensor<3x5xcomplex<f32>>", "tensor<5x4xcomplex<f32>>", "contracting_dims = [1] x [0]",
          "tensor<3x4xcomplex<f32>>"),
      dot("tensor<3x2x7x4xcomplex<f32>>", "tensor<4x6x2x3xcomplex<f32>>",
          "batching_dims = [1, 0] x [2, 3], contracting_dims = [3] x [0]", "tensor<2x3x7x6xcomplex<f32>>"),
      dot("tensor<2x3x4xcomplex<f64>>", "tensor<2x4x5xcomplex<f64>>",
          "batching_dims = [0] x [0], contracting_dims = [2] x [1]", "tensor<2x3x5xcomplex<f64>>"),
      dot("tensor<3x5xi8>", "tensor<5x4xi8>", "contracting_dims = [1] x [0]", "tensor<3x4xi32>"),
      dot_of_bytes("tensor<3x5xi32>", "tensor<5x4xi32>", 0, "tensor<3x4xi32>"),
      dot_of_bytes("tensor<17x33xi32>", "tensor<33x19xi32>", 1, "tensor<17x19xi32>"),
      dot_of_pairs("tensor<3x5xi32>", "tensor<5x4xi32>", "tensor<3x4xf32>"),
      dot_of_pairs("tensor<17x33xi32>", "tensor<33x19xi32>", "tensor<17x19xbf16>"),
  };
}

}  // namespace

extern const OpDef kDotGeneral = {
    .name = "stablehlo.dot_general",
    .doc =
        "Sums over the contracting dimensions of products; batching dimensions go along. Result: batch, lhs free, rhs "
        "free.",
    .assembly = "operands `,` custom(dot_dims) custom(precision) attr-dict :functional",
    .infer = infer,
    .evaluate = evaluate,
    .gradient = gradient,
    .split = split,
    .samples = samples,
    .root = KernelRoot::kContraction,
    .contraction = contraction,
    .ulp = {.f32 = 4, .f64 = 2},
    .mixes_float_and_quantized = true,
};

}  // namespace ingot::dot_general_op
