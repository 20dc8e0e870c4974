// stablehlo.sort: the rows along one dimension, put in the order that a comparator says. Always stable.
#include "aot/ops/support/sort.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/ops/support/build.h"
#include "aot/ops/support/complex/split.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/region.h"
#include "aot/ops/support/samples.h"

namespace ingot::ops {

int64_t sort_dimension(const Op& sort) {
  const int rank = sort.operand(0)->type.rank();
  const int64_t dimension = sort.attrs().integer("dimension", -1);
  return dimension < 0 ? dimension + rank : dimension;
}

}  // namespace ingot::ops

namespace ingot::sort_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  if (args.operands.empty()) args.fail("needs an operand");
  const TensorType& x = args.operands[0];
  const int64_t dimension = args.attrs().integer("dimension", -1);
  if (dimension < -x.rank() || dimension >= x.rank()) {
    args.fail(fmt::format("dimension = {}: {} has no such dimension", dimension, to_string(x)));
  }
  const Block& comparator = ops::check_scalar_region(args, 0, 2 * args.operands.size());
  for (size_t k = 0; k < args.operands.size(); ++k) {
    const TensorType& operand = args.operands[k];
    if (operand.shape != x.shape) {
      args.fail(fmt::format("the operands {} and {} must have one shape", to_string(x), to_string(operand)));
    }
    for (const size_t argument : {2 * k, 2 * k + 1}) {
      if (comparator.arguments[argument]->type.dtype == operand.dtype) continue;
      args.fail(fmt::format("argument {} of the comparator must be an element of {}", argument, to_string(operand)));
    }
  }
  const TensorType truth{DType::kI1, {}};
  ops::check_returns(args, 0, std::span(&truth, 1));
  return {args.operands.begin(), args.operands.end()};
}

// Whether the elements at `x` of all inputs come before those at `y`.
bool comes_before(const EvaluateArgs& args, const ops::RegionRunner& comparator, int64_t x, int64_t y) {
  if (args.inputs.size() == 1) return comparator.test(args.inputs[0], x, args.inputs[0], y);
  std::vector<RefTensor> elements;
  for (const RefTensor& input : args.inputs) {
    for (const int64_t at : {x, y}) {
      elements.emplace_back(TensorType{input.type.dtype, {}});
      elements.back().copy_element(0, input, at);
    }
  }
  return args.run(args.op.region(), std::move(elements))[0].i[0] != 0;
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const Shape& shape = args.inputs[0].type.shape;
  const std::vector<int64_t> along = {ops::sort_dimension(args.op)};
  const std::vector<int64_t> rows = ops::offsets(shape, ops::other_dims(static_cast<int>(shape.size()), along));
  const std::vector<int64_t> steps = ops::offsets(shape, along);
  const ops::RegionRunner comparator(args, args.op.region());
  std::vector<RefTensor> results(args.inputs.begin(), args.inputs.end());
  for (const int64_t row : rows) {
    const auto before = [&](size_t x, size_t y) {
      return comes_before(args, comparator, row + steps[x], row + steps[y]);
    };
    // Each goes behind all before which it does not come.
    std::vector<size_t> order;
    for (size_t i = 0; i < steps.size(); ++i) order.insert(std::ranges::upper_bound(order, i, before), i);
    for (size_t k = 0; k < results.size(); ++k) {
      for (size_t i = 0; i < order.size(); ++i) {
        results[k].copy_element(row + steps[i], args.inputs[k], row + steps[order[i]]);
      }
    }
  }
  return results;
}

// The comparator with one more operand, which it does not look at.
std::unique_ptr<Block> with_passenger(const Block& comparator, DType dtype) {
  ValueMap map;
  std::unique_ptr<Block> block = copy_block(comparator, map);
  for (int i = 0; i < 2; ++i) block->add_argument({dtype, {}});
  return block;
}

// y[i] = x[from[i]] along the dimension, so dx[from[i]] = dy[i]. `from` is an iota that was sorted along.
Values gradient(GradientArgs& args) {
  GraphBuilder& b = args.b;
  const Shape& shape = args.operand(0)->type.shape;
  const int rank = static_cast<int>(shape.size());
  const int64_t dimension = ops::sort_dimension(args.op);
  Values operands = args.op.operands;
  operands.push_back(ops::iota(b, {DType::kI32, shape}, dimension));
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(with_passenger(args.op.region(), DType::kI32));
  const Op* sort = b.create(*args.op.def, operands, args.op.attr_map, {}, std::move(regions));
  ops::IndexedDims to;
  to.dropped_dims = to.index_map = {dimension};
  to.operand_batch = to.indices_batch = ops::other_dims(rank, {dimension});
  to.index_vector_dim = rank;
  Values gradients(args.op.operands.size());
  for (size_t k = 0; k < gradients.size(); ++k) {
    Value* dy = args.dy(static_cast<int>(k));
    if (dy && args.needed[k])
      gradients[k] = ops::scatter(b, nullptr, ops::zeros_like(b, dy), sort->results.back().get(), dy, to);
  }
  return gradients;
}

// The comparator's arguments come in pairs of one operand's elements, so that those of the parts must change places.
std::vector<Parts> split(SplitArgs& args) {
  std::vector<bool> is_pair;
  for (const Parts& operand : args.operands) is_pair.push_back(operand.im != nullptr);
  return ops::split_doubled(args, [&](Block& comparator) {
    size_t at = 0;
    for (const bool is_complex : is_pair) {
      // a.re, a.im, b.re, b.im: the middle ones
      if (is_complex) std::swap(comparator.arguments[at + 1], comparator.arguments[at + 2]);
      at += is_complex ? 4 : 2;
    }
    for (size_t i = 0; i < comparator.arguments.size(); ++i) comparator.arguments[i]->index = static_cast<int>(i);
  });
}

// Sorts `shape` tensors of `dtypes`; `comparator` is written over %a0, %b0, %a1, ... and gives %r.
Sample sample(const std::string& shape, const std::vector<std::string>& dtypes, int dimension,
              const std::string& comparator) {
  std::string arguments, operands, types, scalars, results;
  for (size_t k = 0; k < dtypes.size(); ++k) {
    const std::string comma = k == 0 ? "" : ", ", type = "tensor<" + shape + "x" + dtypes[k] + ">";
    arguments += fmt::format("{}%x{}: {}", comma, k, type);
    operands += fmt::format("{}%x{}", comma, k);
    types += comma + type;
    scalars += fmt::format("{}%a{}: tensor<{}>, %b{}: tensor<{}>", comma, k, dtypes[k], k, dtypes[k]);
    results += fmt::format("{}%0{}", comma, dtypes.size() == 1 ? "" : fmt::format("#{}", k));
  }
  const std::string count = dtypes.size() == 1 ? "" : fmt::format(":{}", dtypes.size());
  return {.text = fmt::format(
              "func.func @main({}) -> ({}) {{\n  %0{} = \"stablehlo.sort\"({}) <{{dimension = {} : i64, "
              "is_stable = true}}> ({{\n  ^bb0({}):\n{}    stablehlo.return %r : tensor<i1>\n  }}) : "
              "({}) -> ({})\n  return {} : {}\n}}\n",
              arguments, types, count, operands, dimension, scalars, comparator, types, types, results, types),
          .integer_low = -9,
          .integer_high = 9};
}

std::string compare(const std::string& direction, const std::string& dtype, int operand = 0,
                    const std::string& order = "") {
  return fmt::format("    %r = stablehlo.compare {0}, %a{2}, %b{2}{3} : (tensor<{1}>, tensor<{1}>) -> tensor<i1>\n",
                     direction, dtype, operand, order);
}

std::vector<Sample> samples() {
  const std::string by_two_keys =
      "    %1 = stablehlo.compare LT, %a1, %b1 : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "    %2 = stablehlo.compare GT, %a0, %b0 : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "    %3 = stablehlo.compare EQ, %a0, %b0 : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "    %4 = stablehlo.and %3, %1 : tensor<i1>\n"
      "    %r = stablehlo.or %2, %4 : tensor<i1>\n";
  const std::string never = "    %r = stablehlo.constant dense<false> : tensor<i1>\n";
  const std::string by_magnitude =
      "    %1 = stablehlo.abs %a0 : tensor<f32>\n    %2 = stablehlo.abs %b0 : tensor<f32>\n"
      "    %r = stablehlo.compare LT, %1, %2 : (tensor<f32>, tensor<f32>) -> tensor<i1>\n";
  const std::string by_imaginary_part =
      "    %1 = stablehlo.imag %a0 : (tensor<complex<f64>>) -> tensor<f64>\n"
      "    %2 = stablehlo.imag %b0 : (tensor<complex<f64>>) -> tensor<f64>\n"
      "    %r = stablehlo.compare GT, %1, %2 : (tensor<f64>, tensor<f64>) -> tensor<i1>\n";
  std::vector<Sample> samples = {
      sample("1", {"f32"}, 0, compare("LT", "f32")),
      sample("3x16", {"f32", "complex<f32>", "i32"}, 1, compare("LT", "f32")),
      sample("40", {"complex<f64>", "i32"}, 0, by_imaginary_part),
      sample("5x2", {"f32"}, 1, compare("LT", "f32")),
      sample("5x7", {"f32"}, 0, compare("LT", "f32")),
      sample("10", {"f32"}, -1, compare("GT", "f32")),
      sample("3x16", {"f32", "f64"}, 1, compare("LT", "f32")),
      sample("2x3x4", {"i32", "i32"}, 2, by_two_keys),
      sample("2x3x11", {"i32", "f32", "i8"}, 1, compare("LT", "i32")),
      sample("17", {"f32"}, 0, compare("LT", "f32")),
      sample("3x40", {"f32", "i32"}, 1, by_magnitude),
      sample("40x3", {"f32", "i32"}, 0, compare("LT", "i32", 1)),
      sample("100", {"i32", "i32"}, 0, by_two_keys),
      sample("2x70x2", {"f32", "f32", "i8", "i32"}, 1, compare("GT", "f32")),
      sample("65", {"i8"}, 0, compare("LT", "i8")),
      sample("129", {"i32", "f64"}, 0, compare("LT", "i32")),
      sample("300", {"f64"}, 0, compare("LT", "f64")),
      sample("33", {"i1", "i32"}, 0, compare("LT", "i1")),
      sample("20", {"ui16", "i32"}, 0, compare("GT", "ui16")),
      sample("30", {"bf16", "i32"}, 0, compare("LT", "bf16")),
      sample("24", {"f32", "i32", "i32"}, 0, never),
      sample("0x3", {"f32"}, 1, compare("LT", "f32")),
      sample("3x0", {"f32"}, 1, compare("LT", "f32")),
  };
  for (const std::string dtype : {"f16", "f32", "f64"}) {
    for (const std::string shape : {"3x15", "3x49"}) {
      samples.push_back(sample(shape, {dtype}, 1, compare("LT", dtype, 0, ", TOTALORDER")));
      samples.back().specials = true;
      samples.back().differentiable = false;
    }
  }
  return samples;
}

}  // namespace

extern const OpDef kSort = {
    .name = "stablehlo.sort",
    .doc = "The rows along a dimension of all operands together, in the order of a comparator of elements; stable.",
    .infer = infer,
    .evaluate = evaluate,
    .gradient = gradient,
    .split = split,
    .samples = samples,
    .root = KernelRoot::kSort,
};

}  // namespace ingot::sort_op
