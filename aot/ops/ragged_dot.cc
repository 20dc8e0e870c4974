// chlo.ragged_dot: a dot_general one of whose dimensions is cut into groups of rows, as a mixture of experts needs it.
#include <fmt/format.h>

#include <algorithm>

#include "aot/ops/support/build.h"
#include "aot/ops/support/contraction.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/samples.h"

namespace ingot::ragged_dot_op {
namespace {

using Dims = std::vector<int64_t>;

// What is cut into groups: rows of the lhs, each group of which meets its own rhs; the sums, each part of which is a
// result of its own; or the batch, where the groups mean nothing.
enum class Cut { kRows, kSums, kBatch };

struct RaggedDims {
  ops::DotDims dot;
  int64_t ragged = 0;  // the lhs dimension that is cut
  Dims group;          // kRows: the rhs dimension with one entry for each group
  Cut cut = Cut::kRows;
  Dims lhs_free, rhs_free;
  Dims prefix;  // lhs dimensions that group sizes may be given for, one by one
};

RaggedDims read_dims(const Attrs& attrs, int lhs_rank, int rhs_rank) {
  const Attrs numbers = attrs.dict("ragged_dot_dimension_numbers");
  RaggedDims dims;
  dims.dot = {numbers.ints("lhs_batching_dimensions", {}), numbers.ints("rhs_batching_dimensions", {}),
              numbers.ints("lhs_contracting_dimensions", {}), numbers.ints("rhs_contracting_dimensions", {})};
  const Dims ragged = numbers.ints("lhs_ragged_dimensions", {});
  dims.ragged = ragged.size() == 1 ? ragged[0] : -1;
  dims.group = numbers.ints("rhs_group_dimensions", {});
  const auto joined = [](Dims a, const Dims& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  dims.lhs_free = ops::other_dims(lhs_rank, joined(dims.dot.lhs_batch, dims.dot.lhs_contract));
  dims.rhs_free = ops::other_dims(rhs_rank, joined(joined(dims.dot.rhs_batch, dims.dot.rhs_contract), dims.group));
  const auto has_ragged = [&](const Dims& list) { return ops::position_of(list, dims.ragged) >= 0; };
  dims.cut = has_ragged(dims.dot.lhs_batch) ? Cut::kBatch : has_ragged(dims.dot.lhs_contract) ? Cut::kSums : Cut::kRows;
  const Dims& cut = dims.cut == Cut::kRows ? dims.lhs_free : dims.dot.lhs_contract;
  dims.prefix = dims.cut == Cut::kBatch ? dims.dot.lhs_batch : joined(dims.dot.lhs_batch, cut);
  dims.prefix.erase(std::ranges::find(dims.prefix, dims.ragged), dims.prefix.end());
  return dims;
}

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 3);
  const TensorType &x = args.operands[0], &y = args.operands[1], &sizes = args.operands[2];
  const RaggedDims dims = read_dims(args.attrs(), x.rank(), y.rank());
  const ops::DotDims& dot = dims.dot;
  const auto check_pairs = [&](std::string_view what, const Dims& lhs, const Dims& rhs) {
    if (ops::extents(x.shape, lhs) == ops::extents(y.shape, rhs)) return;
    args.fail(fmt::format("{} dimensions {} of {} and {} of {} must pair up", what, ops::to_string(lhs), to_string(x),
                          ops::to_string(rhs), to_string(y)));
  };
  Dims lhs = dot.lhs_batch, rhs = dot.rhs_batch;
  lhs.insert(lhs.end(), dot.lhs_contract.begin(), dot.lhs_contract.end());
  rhs.insert(rhs.end(), dot.rhs_contract.begin(), dot.rhs_contract.end());
  rhs.insert(rhs.end(), dims.group.begin(), dims.group.end());
  ops::check_dims(args, "lhs batching and contracting dimensions", lhs, x.rank());
  ops::check_dims(args, "rhs batching, contracting and group dimensions", rhs, y.rank());
  check_pairs("batching", dot.lhs_batch, dot.rhs_batch);
  check_pairs("contracting", dot.lhs_contract, dot.rhs_contract);
  if (dims.ragged < 0 || dims.ragged >= x.rank()) args.fail("lhs_ragged_dimensions must be one dimension of the lhs");
  if (dims.group.size() != (dims.cut == Cut::kRows ? 1 : 0)) {
    args.fail("rhs_group_dimensions must be one dimension where the ragged one is a free one of the lhs, else none");
  }
  Shape prefix = ops::extents(x.shape, dims.prefix);
  const int64_t groups = sizes.rank() == 0 ? -1 : sizes.shape.back();
  prefix.push_back(groups);
  if (!is_integer(sizes.dtype) || (sizes.rank() != 1 && sizes.shape != prefix) ||
      (dims.cut == Cut::kRows && groups != y.shape[dims.group[0]])) {
    args.fail(
        fmt::format("{} cannot be the sizes of the groups: they are integers, one for each group, or such a row "
                    "for each index of dimensions {} of {}",
                    to_string(sizes), ops::to_string(dims.prefix), to_string(x)));
  }
  TensorType result{ops::product_dtype(args), {}};
  if (dims.cut == Cut::kSums) result.shape.push_back(groups);
  for (const Dims* list : {&dot.lhs_batch, &dims.lhs_free}) {
    for (const int64_t d : *list) result.shape.push_back(x.shape[d]);
  }
  for (const int64_t d : dims.rhs_free) result.shape.push_back(y.shape[d]);
  return {result};
}

// The group of an index of the lhs; -1 behind the last.
int64_t group_of(const RefTensor& sizes, const RaggedDims& dims, const Shape& lhs, const Shape& at) {
  const int64_t count = sizes.type.shape.back();
  int64_t row = 0;
  if (sizes.type.rank() > 1) {
    for (const int64_t d : dims.prefix) row = row * lhs[d] + at[d];
  }
  int64_t end = 0;
  for (int64_t g = 0; g < count; ++g) {
    end += std::max<int64_t>(sizes.i[row * count + g], 0);
    if (at[dims.ragged] < end) return g;
  }
  return -1;
}

template <typename T, typename Sum>
void multiply(const EvaluateArgs& args, const std::vector<T>& lhs, const std::vector<T>& rhs, std::vector<Sum>& out) {
  const Shape &x = args.inputs[0].type.shape, &y = args.inputs[1].type.shape;
  const RaggedDims dims = read_dims(args.attrs(), args.inputs[0].type.rank(), args.inputs[1].type.rank());
  const auto lhs_b = ops::offsets(x, dims.dot.lhs_batch), rhs_b = ops::offsets(y, dims.dot.rhs_batch);
  const auto lhs_k = ops::offsets(x, dims.dot.lhs_contract), rhs_k = ops::offsets(y, dims.dot.rhs_contract);
  const auto lhs_m = ops::offsets(x, dims.lhs_free), rhs_n = ops::offsets(y, dims.rhs_free);
  const auto rhs_g = ops::offsets(y, dims.group);
  std::vector<int64_t> groups;
  ops::for_each_index(x, [&](const Shape& at, int64_t) { groups.push_back(group_of(args.inputs[2], dims, x, at)); });
  const ops::MultiplyAdd multiply_add(args);
  const size_t rows = lhs_b.size() * lhs_m.size();
  for (size_t row = 0; row < rows; ++row) {
    const size_t b = row / lhs_m.size(), m = row % lhs_m.size();
    for (size_t k = 0; k < lhs_k.size(); ++k) {
      const int64_t from = lhs_b[b] + lhs_m[m] + lhs_k[k], group = dims.cut == Cut::kBatch ? 0 : groups[from];
      if (group < 0) continue;
      const int64_t rhs_from = rhs_b[b] + rhs_k[k] + (dims.cut == Cut::kRows ? rhs_g[group] : 0);
      const size_t to = (row + (dims.cut == Cut::kSums ? group * rows : 0)) * rhs_n.size();
      for (size_t n = 0; n < rhs_n.size(); ++n) multiply_add(out[to + n], lhs[from], rhs[rhs_from + rhs_n[n]]);
    }
  }
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  return ops::sums_of_products(args, [](auto&&... operands) { multiply(operands...); });
}

// [group, lhs dims ...]: the lhs where it belongs to the group, else zeros.
Value* lhs_by_group(ExpandArgs& args, const RaggedDims& dims) {
  GraphBuilder& b = args.b;
  Value* x = args.operand(0);
  Value* sizes = ops::convert(b, args.operand(2), DType::kI64);
  sizes = ops::binary(b, kMaximum, sizes, ops::zeros_like(b, sizes));
  const int64_t groups = sizes->type.shape.back();
  Shape shape{groups};
  shape.insert(shape.end(), x->type.shape.begin(), x->type.shape.end());
  ops::Window up_to(sizes->type.rank());
  up_to.back() = {.size = std::max<int64_t>(groups, 1), .low = groups - 1};
  Value* end = ops::reduce_window(b, kAdd, sizes, up_to);
  Value* start = ops::subtract(b, end, sizes);
  Dims where;  // the dimensions of the sizes in `shape`
  if (sizes->type.rank() > 1) {
    for (const int64_t d : dims.prefix) where.push_back(d + 1);
  }
  where.push_back(0);
  Value* at = ops::iota(b, {DType::kI64, shape}, dims.ragged + 1);
  Value* starts = ops::compare(b, "GE", at, ops::broadcast_in_dim(b, start, shape, where));
  Value* ends = ops::compare(b, "LT", at, ops::broadcast_in_dim(b, end, shape, where));
  Dims behind = ops::iota_dims(x->type.rank());
  for (int64_t& d : behind) ++d;
  Value* all = ops::broadcast_in_dim(b, x, shape, behind);
  return ops::select(b, ops::binary(b, kAnd, starts, ends), all, ops::zeros_like(b, all));
}

// Rows: the groups are one more contracting dimension. Sums: one more free dimension, which then leads.
Values expand(ExpandArgs& args) {
  GraphBuilder& b = args.b;
  const RaggedDims dims = read_dims(args.attrs(), args.operand(0)->type.rank(), args.operand(1)->type.rank());
  const TensorType& result = args.op.result()->type;
  ops::DotDims dot = dims.dot;
  const auto product = [&](Value* lhs, const Shape& shape) {
    return b.make(kDotGeneral, {lhs, args.operand(1)}, {{"dot_dimension_numbers", ops::to_attr(dot)}},
                  {{result.dtype, shape}});
  };
  if (dims.cut == Cut::kBatch) return {product(args.operand(0), result.shape)};
  for (Dims* list : {&dot.lhs_batch, &dot.lhs_contract}) {
    for (int64_t& d : *list) ++d;
  }
  Value* lhs = lhs_by_group(args, dims);
  if (dims.cut == Cut::kRows) {
    dot.lhs_contract.insert(dot.lhs_contract.begin(), 0);
    dot.rhs_contract.insert(dot.rhs_contract.begin(), dims.group[0]);
    return {product(lhs, result.shape)};
  }
  const auto batches = static_cast<int64_t>(dot.lhs_batch.size());
  Shape shape(result.shape.begin() + 1, result.shape.end());
  shape.insert(shape.begin() + batches, result.shape[0]);
  Dims order = ops::other_dims(static_cast<int>(shape.size()), {batches});
  order.insert(order.begin(), batches);
  return {ops::transpose(b, product(lhs, shape), order)};
}

std::vector<Sample> samples() {
  const auto sample = [](const std::string& x, const std::string& y, const std::string& sizes, const std::string& dims,
                         const std::string& to) {
    return Sample{.text = ops::single_op("%x: " + x + ", %y: " + y + ", %sizes: " + sizes,
                                         "\"chlo.ragged_dot\"(%x, %y, %sizes) {ragged_dot_dimension_numbers = "
                                         "#chlo.ragged_dot<" +
                                             dims + ">} : (" + x + ", " + y + ", " + sizes + ") -> " + to,
                                         to),
                  .integer_low = -1,
                  .integer_high = 6,
                  .differentiable = false};
  };
  const std::string rows =
      "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], "
      "rhs_group_dimensions = [0]";
  const std::string batched_rows =
      "lhs_batching_dimensions = [1], rhs_batching_dimensions = [2], lhs_contracting_dimensions = [2], "
      "rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [0], rhs_group_dimensions = [1]";
  const std::string rows_of_rows =
      "lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [1], "
      "rhs_group_dimensions = [0]";
  const std::string sums =
      "lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], "
      "rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [2]";
  const std::string sums_of_sums =
      "lhs_contracting_dimensions = [1, 2], rhs_contracting_dimensions = [0, 1], lhs_ragged_dimensions = [2]";
  const std::string batch =
      "lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], "
      "rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0]";
  return {
      sample("tensor<11x5xf32>", "tensor<3x5x7xf32>", "tensor<3xi32>", rows, "tensor<11x7xf32>"),
      sample("tensor<40x33xf64>", "tensor<9x33x17xf64>", "tensor<9xi64>", rows, "tensor<40x17xf64>"),
      sample("tensor<11x5xbf16>", "tensor<3x5x7xbf16>", "tensor<3xui8>", rows, "tensor<11x7xf32>"),
      sample("tensor<11x5xi32>", "tensor<3x5x7xi32>", "tensor<3xi32>", rows, "tensor<11x7xi32>"),
      sample("tensor<11x2x5xf32>", "tensor<5x3x2x7xf32>", "tensor<3xi32>", batched_rows, "tensor<2x11x7xf32>"),
      sample("tensor<11x2x5xf32>", "tensor<5x3x2x7xf32>", "tensor<2x3xi32>", batched_rows, "tensor<2x11x7xf32>"),
      sample("tensor<4x11x5xf32>", "tensor<3x5x7xf32>", "tensor<4x3xi64>", rows_of_rows, "tensor<4x11x7xf32>"),
      sample("tensor<2x3x13xf32>", "tensor<2x13x7xf32>", "tensor<4xi32>", sums, "tensor<4x2x3x7xf32>"),
      sample("tensor<2x3x13xf32>", "tensor<2x13x7xf32>", "tensor<2x4xi32>", sums, "tensor<4x2x3x7xf32>"),
      sample("tensor<5x4x6xf32>", "tensor<4x6x7xf32>", "tensor<4x3xi32>", sums_of_sums, "tensor<3x5x7xf32>"),
      sample("tensor<6x3x5xf32>", "tensor<6x5x7xf32>", "tensor<4xi32>", batch, "tensor<6x3x7xf32>"),
      sample("tensor<5x4xcomplex<f32>>", "tensor<3x4x2xcomplex<f32>>", "tensor<3xi32>", rows,
             "tensor<5x2xcomplex<f32>>"),
      sample("tensor<0x5xf32>", "tensor<3x5x7xf32>", "tensor<3xi32>", rows, "tensor<0x7xf32>"),
      sample("tensor<4x5xf32>", "tensor<0x5x7xf32>", "tensor<0xi32>", rows, "tensor<4x7xf32>"),
  };
}

}  // namespace

extern const OpDef kRaggedDot = {
    .name = "chlo.ragged_dot",
    .doc =
        "dot_general whose lhs is cut into groups of given sizes along a dimension: each meets a matrix of its own, or "
        "gives one.",
    .infer = infer,
    .evaluate = evaluate,
    .expand = expand,
    .samples = samples,
    .root = KernelRoot::kNone,
    .ulp = {.f32 = 4, .f64 = 2},
};

}  // namespace ingot::ragged_dot_op
