// chlo.top_k: the greatest elements of each row, and where they are.
#include <fmt/format.h>

#include <algorithm>

#include "aot/ops/support/build.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/samples.h"
#include "aot/ops/support/total_order.h"

namespace ingot::top_k_op {
namespace {

constexpr int64_t kKeptMax = 512;  // so many elements are kept while a row goes by; for more of them it is sorted

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 1);
  const TensorType& x = args.operands[0];
  const int64_t k = args.attrs().integer("k");
  if (x.rank() == 0) args.fail("needs a dimension");
  if (is_complex(x.dtype)) args.fail(fmt::format("{} has no order", to_string(x)));
  if (k < 0 || k > x.shape.back()) {
    args.fail(fmt::format("k = {}: there are {} elements along the last dimension", k, x.shape.back()));
  }
  Shape shape = x.shape;
  shape.back() = k;
  return {{x.dtype, shape}, {DType::kI32, shape}};
}

// Orders like the values; floats in their total order, where NaN is above infinity and -NaN below all.
int64_t key(const RefTensor& x, int64_t at) {
  if (x.is_float()) return ops::total_order_key(x.f[at]);
  return x.type.dtype == DType::kUI64 ? x.i[at] ^ INT64_MIN : x.i[at];
}

// Of equal elements the first comes first.
std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const RefTensor& x = args.inputs[0];
  RefTensor values(args.result_type(0)), indices(args.result_type(1));
  const int64_t extent = x.type.shape.back(), k = values.type.shape.back();
  if (k == 0) return {values, indices};
  for (int64_t row = 0; row < x.elements() / extent; ++row) {
    const auto is_greater = [&](int64_t a, int64_t b) { return key(x, a) > key(x, b); };
    std::vector<int64_t> order;
    for (int64_t at = row * extent; at < (row + 1) * extent; ++at) {
      order.insert(std::ranges::upper_bound(order, at, is_greater), at);
      if (std::ssize(order) > k) order.pop_back();
    }
    for (int64_t i = 0; i < k; ++i) {
      values.copy_element(row * k + i, x, order[i]);
      indices.i[row * k + i] = order[i] - row * extent;
    }
  }
  return {values, indices};
}

// dx[index[i]] = dy[i]
Values gradient(GradientArgs& args) {
  const int last = args.operand(0)->type.rank() - 1;
  ops::IndexedDims to;
  to.dropped_dims = to.index_map = {last};
  to.operand_batch = to.indices_batch = ops::iota_dims(last);
  to.index_vector_dim = last + 1;
  Value* zeros = ops::zeros_like(args.b, args.operand(0));
  return {ops::scatter(args.b, nullptr, zeros, args.result(1), args.dy(), to)};
}

// The comparator (a, b, i, j) -> a > b in total order.
std::unique_ptr<Block> descending(GraphBuilder& outer, DType dtype) {
  auto block = std::make_unique<Block>();
  for (const DType of : {dtype, dtype, DType::kI32, DType::kI32}) block->add_argument({of, {}});
  GraphBuilder b;
  b.at_end(*block);
  b.location = outer.location;
  AttrMap attrs{{"comparison_direction", EnumAttr{"comparison_direction", "GT"}}};
  if (is_float(dtype)) attrs.emplace("compare_type", EnumAttr{"comparison_type", "TOTALORDER"});
  b.create(kStablehloReturn, {b.make(kCompare, {block->argument(0), block->argument(1)}, attrs)});
  return block;
}

Values expand(ExpandArgs& args) {
  GraphBuilder& b = args.b;
  Value* x = args.operand(0);
  const TensorType& result = args.op.result()->type;
  if (result.shape.back() <= kKeptMax) return {};
  const int64_t last = x->type.rank() - 1;
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(descending(b, x->type.dtype));
  const Op* sort = b.create(kSort, {x, ops::iota(b, {DType::kI32, x->type.shape}, last)},
                            {{"dimension", IntAttr{last}}, {"is_stable", true}}, {}, std::move(regions));
  const auto first = [&](int i) {
    return ops::slice(b, sort->result(i), Shape(last + 1, 0), result.shape, Shape(last + 1, 1));
  };
  return {first(0), first(1)};
}

std::vector<Sample> samples() {
  const auto sample = [](const std::string& rows, int64_t extent, int64_t k, const std::string& dtype) {
    const std::string x = fmt::format("tensor<{}{}x{}>", rows, extent, dtype);
    const std::string types = fmt::format("tensor<{0}{1}x{2}>, tensor<{0}{1}xi32>", rows, k, dtype);
    return Sample{.text = fmt::format("func.func @main(%x: {0}) -> ({1}) {{\n  %values, %indices = chlo.top_k(%x, k = "
                                      "{2}) : {0} -> ({1})\n  return %values, %indices : {1}\n}}\n",
                                      x, types, k),
                  .integer_low = -9,
                  .integer_high = 9};
  };
  std::vector<Sample> samples = {
      sample("", 1, 1, "f32"),     sample("", 5, 2, "f32"),     sample("64x", 4, 2, "f32"),
      sample("5x", 3, 3, "f64"),   sample("2x3x", 9, 4, "f32"), sample("", 100, 7, "f32"),
      sample("3x", 300, 1, "f32"), sample("2x", 77, 70, "f32"), sample("9x", 40, 3, "i32"),
      sample("2x", 200, 5, "i8"),  sample("2x", 60, 2, "ui32"), sample("3x", 50, 6, "i64"),
      sample("2x", 40, 9, "i1"),   sample("4x", 6, 0, "f32"),   sample("0x", 6, 2, "f32"),
      sample("2x", 90, 90, "i32"), sample("30x", 21, 17, "i8"), sample("7x", 129, 4, "bf16"),
      sample("2x", 65, 64, "f32"), sample("", 600, 530, "f32"),
  };
  for (const std::string dtype : {"f16", "f32", "f64", "i32"}) {
    for (const int64_t extent : {12, 150}) {
      samples.push_back(sample("3x", extent, 8, dtype));
      samples.back().specials = true;
      samples.back().differentiable = false;
    }
  }
  return samples;
}

}  // namespace

extern const OpDef kTopK = {
    .name = "chlo.top_k",
    .doc = "The k greatest elements along the last dimension, in descending order, and their positions.",
    .assembly = "`(` operands `,` `k` `=` int(k) `)` attr-dict :arrow",
    .infer = infer,
    .evaluate = evaluate,
    .gradient = gradient,
    .expand = expand,
    .samples = samples,
    .root = KernelRoot::kTopK,
};

}  // namespace ingot::top_k_op
