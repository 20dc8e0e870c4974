#include "tests/support/contraction_problem.h"

#include <algorithm>

#include "aot/graph/attributes.h"
#include "aot/ops/support/build.h"
#include "tests/support/random_contraction.h"

namespace ingot {
namespace {

constexpr int64_t kEpilogueOps = 9;  // more than what the template spells out for each row of a tile

std::vector<int64_t> edge_extents() {
  std::vector<int64_t> extents{1, 1, 1, 1, 1, 2, 3, 5, 7};
  for (const int64_t unit : {4, 6, 8, 12, 16, 32, 48, 64, 96, 128, 256, 512, 768, 1024, 2048}) {
    for (const int64_t multiple : {1, 2, 3}) {
      for (const int64_t beside : {-1, 0, 1}) extents.push_back(unit * multiple + beside);
    }
  }
  return extents;
}

// A tensor that a kernel makes of arguments.
struct Made {
  std::vector<TensorType> arguments;
  std::function<Value*(GraphBuilder& b, const Values& arguments)> make;
};

using Random = RandomContraction;

// The next `count` values.
Values take(const Values& values, size_t& next, size_t count) {
  next += count;
  return {values.begin() + static_cast<int64_t>(next - count), values.begin() + static_cast<int64_t>(next)};
}

Made plain(const TensorType& type, Random&) {
  return {{type}, [](GraphBuilder&, const Values& a) { return a[0]; }};
}

Made doubled(const TensorType& type, Random&) {
  return {{type}, [](GraphBuilder& b, const Values& a) { return ops::add(b, a[0], a[0]); }};
}

Made reshaped(const TensorType& type, Random&) {
  return {{{type.dtype, {type.elements()}}},
          [type](GraphBuilder& b, const Values& a) { return ops::reshape(b, a[0], type.shape); }};
}

Made transposed(const TensorType& type, Random& random) {
  const std::vector<int64_t> order = random.permutation(type.rank());
  Shape shape(type.shape.size());
  for (size_t d = 0; d < order.size(); ++d) shape[order[d]] = type.shape[d];
  return {{{type.dtype, shape}}, [order](GraphBuilder& b, const Values& a) { return ops::transpose(b, a[0], order); }};
}

Made sliced(const TensorType& type, Random& random) {
  Shape whole, start, limit, steps;
  for (const int64_t extent : type.shape) {
    steps.push_back(random.between(1, 2));
    start.push_back(random.between(0, 3));
    limit.push_back(start.back() + (extent == 0 ? 0 : (extent - 1) * steps.back() + 1));
    whole.push_back(limit.back() + random.between(0, 3));
  }
  return {{{type.dtype, whole}},
          [=](GraphBuilder& b, const Values& a) { return ops::slice(b, a[0], start, limit, steps); }};
}

Made padded(const TensorType& type, Random& random) {
  Shape inside, low, high;
  for (const int64_t extent : type.shape) {
    low.push_back(std::min(extent, random.between(0, 2)));
    high.push_back(std::min(extent - low.back(), random.between(0, 2)));
    inside.push_back(extent - low.back() - high.back());
  }
  return {{{type.dtype, inside}}, [=](GraphBuilder& b, const Values& a) {
            Value* zero = ops::constant(b, {type.dtype, {}}, 0);
            return ops::pad(b, a[0], zero, low, high, Shape(low.size(), 0));
          }};
}

Made joined(const TensorType& type, Random& random) {
  if (type.rank() == 0) return plain(type, random);
  const int64_t dim = random.between(0, type.rank() - 1);
  std::vector<TensorType> parts;
  for (int64_t left = type.shape[dim], count = random.between(2, 3); count > 0; --count) {
    TensorType& part = parts.emplace_back(type);
    part.shape[dim] = count == 1 ? left : random.between(0, left);
    left -= part.shape[dim];
  }
  return {parts, [dim](GraphBuilder& b, const Values& a) { return ops::concatenate(b, a, dim); }};
}

constexpr Made (*kOperands[])(const TensorType&, Random&) = {plain,      plain,  plain,  doubled, reshaped,
                                                             transposed, sliced, padded, joined};

Made operand(const TensorType& type, Random& random) {
  return kOperands[random.between(0, std::ssize(kOperands) - 1)](type, random);
}

// In two steps: what it is made of is made itself.
Made operand_in_steps(const TensorType& type, Random& random) {
  const Made outer = operand(type, random);
  std::vector<Made> parts;
  Made result;
  for (const TensorType& argument : outer.arguments) {
    parts.push_back(operand(argument, random));
    result.arguments.insert(result.arguments.end(), parts.back().arguments.begin(), parts.back().arguments.end());
  }
  result.make = [outer, parts](GraphBuilder& b, const Values& a) {
    size_t next = 0;
    Values made;
    for (const Made& part : parts) made.push_back(part.make(b, take(a, next, part.arguments.size())));
    return outer.make(b, made);
  };
  return result;
}

// What is done with a result: nothing, a bias and an activation, or much.
Made followed(const TensorType& type, Random& random) {
  if (type.rank() == 0 || random.chance(50)) return {{}, {}};
  const bool is_long = random.chance(50);
  return {{{type.dtype, {type.shape.back()}}}, [=](GraphBuilder& b, const Values& a) {
            Value* result = a[0];
            Value* bias = ops::broadcast_in_dim(b, a[1], type.shape, {type.rank() - 1});
            for (int64_t k = 0; k < (is_long ? kEpilogueOps : 1); ++k) result = ops::add(b, result, bias);
            return ops::binary(b, kMaximum, result, ops::zeros_like(b, result));
          }};
}

struct Product {
  TensorType lhs, rhs, result;
  int64_t terms = 1;  // of each sum
  std::function<Value*(GraphBuilder& b, Value* lhs, Value* rhs)> make;

  int64_t multiply_adds() const { return result.elements() * terms; }
};

Product draw_dot(DType dtype, Random& random) {
  const Random::Dot dot = random.dot();
  Product product{{dtype, dot.lhs}, {dtype, dot.rhs}, {dtype, {}}, 1, {}};
  for (const int64_t dim : dot.dims.lhs_batch) product.result.shape.push_back(dot.lhs[dim]);
  for (const int64_t dim : dot.dims.lhs_contract) product.terms *= dot.lhs[dim];
  const auto add_free = [&](const Shape& shape, const std::vector<int64_t>& batch,
                            const std::vector<int64_t>& contract) {
    for (int64_t dim = 0; dim < std::ssize(shape); ++dim) {
      if (!std::ranges::count(batch, dim) && !std::ranges::count(contract, dim))
        product.result.shape.push_back(shape[dim]);
    }
  };
  add_free(dot.lhs, dot.dims.lhs_batch, dot.dims.lhs_contract);
  add_free(dot.rhs, dot.dims.rhs_batch, dot.dims.rhs_contract);
  product.make = [dims = dot.dims](GraphBuilder& b, Value* lhs, Value* rhs) {
    return ops::dot_general(b, lhs, rhs, dims);
  };
  return product;
}

Product draw_convolution(DType dtype, Random& random) {
  const auto [input, kernel, conv] = random.convolution();
  const ops::ConvDims& dims = conv.dims;
  Product product{{dtype, input}, {dtype, kernel}, {dtype, Shape(input.size())}, 1, {}};
  Shape& y = product.result.shape;
  y[dims.output_batch] = input[dims.input_batch] / conv.batch_groups;
  y[dims.output_feature] = kernel[dims.kernel_output_feature];
  for (size_t d = 0; d < conv.window.size(); ++d)
    y[dims.output_spatial[d]] = conv.window[d].positions(input[dims.input_spatial[d]]);
  product.terms = element_count(kernel) / kernel[dims.kernel_output_feature];
  product.make = [conv = conv](GraphBuilder& b, Value* lhs, Value* rhs) { return ops::convolution(b, lhs, rhs, conv); };
  return product;
}

// Of the four bytes of each element.
void multiply_bytes(Product& product, int64_t unsigned_operand) {
  product.make = [make = product.make, unsigned_operand](GraphBuilder& b, Value* lhs, Value* rhs) {
    Value* const result = make(b, lhs, rhs);
    result->op->attr_map[attributes::kUnsignedBytes] = IntAttr{unsigned_operand};
    return result;
  };
}

Product draw(int64_t multiply_adds_max, DType dtype, Random& random) {
  for (;;) {
    Product product = random.chance(50) ? draw_dot(dtype, random) : draw_convolution(dtype, random);
    const int64_t most = std::max({product.multiply_adds(), product.lhs.elements(), product.rhs.elements()});
    if (most > multiply_adds_max) continue;
    if (dtype == DType::kI32 && random.chance(60)) multiply_bytes(product, random.between(0, 1));
    return product;
  }
}

DType draw_dtype(Random& random) {
  constexpr DType kDTypes[] = {DType::kF32, DType::kF32, DType::kF32,  DType::kF32, DType::kF32,
                               DType::kF64, DType::kF16, DType::kBF16, DType::kI32};
  return kDTypes[random.between(0, std::ssize(kDTypes) - 1)];
}

KernelFunction forward(const Product& product, Random& random) {
  const Made lhs = operand_in_steps(product.lhs, random), rhs = operand_in_steps(product.rhs, random);
  const Made then = followed(product.result, random);
  std::vector<TensorType> arguments;
  for (const Made* made : {&lhs, &rhs, &then})
    arguments.insert(arguments.end(), made->arguments.begin(), made->arguments.end());
  return kernel_function(arguments, [&](GraphBuilder& b, const Values& a) {
    size_t next = 0;
    Value* left = lhs.make(b, take(a, next, lhs.arguments.size()));
    Value* right = rhs.make(b, take(a, next, rhs.arguments.size()));
    Value* result = product.make(b, left, right);
    return Values{then.make ? then.make(b, {result, a.back()}) : result};
  });
}

// The gradient for one of the operands.
KernelFunction gradient(const Product& product, Random& random) {
  const int of = random.chance(50) ? 0 : 1;
  const Made lhs = operand_in_steps(product.lhs, random), rhs = operand_in_steps(product.rhs, random);
  std::vector<TensorType> arguments = lhs.arguments;
  arguments.insert(arguments.end(), rhs.arguments.begin(), rhs.arguments.end());
  arguments.push_back(product.result);
  return kernel_function(arguments, [&](GraphBuilder& b, const Values& a) {
    size_t next = 0;
    Value* left = lhs.make(b, take(a, next, lhs.arguments.size()));
    Value* right = rhs.make(b, take(a, next, rhs.arguments.size()));
    const Op* op = product.make(b, left, right)->op;
    Value* dy[] = {a.back()};
    const bool needed[] = {of == 0, of == 1};
    GradientArgs args{b, *op, dy, needed};
    return Values{op->def->gradient(args).at(of)};
  });
}

}  // namespace

KernelTolerance sums_of(int64_t n, DType dtype) {
  const bool is_f64 = dtype == DType::kF64;
  const double error = static_cast<double>(n + 1) * (is_f64 ? 0x1p-52 : 0x1p-24);
  KernelTolerance tolerance{.relative = error / (1 - error), .of_terms = true};
  if (dtype == DType::kF32 || is_f64) return tolerance;
  tolerance.relative = dtype == DType::kF16 ? 0.01 : 0.05;
  tolerance.low = -1;
  tolerance.high = 1;
  return tolerance;
}

RandomProblem random_problem(unsigned seed, int64_t multiply_adds_max) {
  static const std::vector<int64_t> kExtents = edge_extents();
  Random random(seed, kExtents);
  const DType dtype = draw_dtype(random);
  const Product product = draw(multiply_adds_max, dtype, random);
  RandomProblem problem;
  problem.multiply_adds = product.multiply_adds();
  const bool is_gradient = is_float(dtype) && random.chance(40);
  problem.function = is_gradient ? gradient(product, random) : forward(product, random);
  const int64_t terms = is_gradient ? std::max(product.result.elements(), product.rhs.elements()) : product.terms;
  problem.tolerance = is_integer(dtype) ? kWrapping : sums_of(terms + 2 * kEpilogueOps, dtype);
  return problem;
}

}  // namespace ingot
