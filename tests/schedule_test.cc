#include <gtest/gtest.h>

#include "aot/ops/build.h"
#include "tests/schedule_fixture.h"

namespace ingot {
namespace {

TensorType f32(Shape shape) { return {DType::kF32, std::move(shape)}; }

TEST(Elementwise, FlatOverAnyShape) {
  for (const Shape& shape :
       std::vector<Shape>{{}, {0}, {1}, {7}, {8}, {3, 5}, {2, 0, 3}, {1000}, {7, 11, 13}, {40, 1}}) {
    check_kernel(
        kernel_function({f32(shape), f32(shape)},
                        [](GraphBuilder& b, const Values& x) {
                          return Values{ops::add(b, ops::multiply(b, x[0], x[1]), ops::unary(b, "tanh", x[0]))};
                        }),
        {.compiled = false});
  }
}

TEST(Elementwise, BiasAlongEachDimension) {
  for (const int64_t dim : {0, 1, 2, 3}) {
    const Shape shape{3, 5, 4, 7};
    check_kernel(kernel_function({f32(shape), f32({shape[dim]})}, [&](GraphBuilder& b, const Values& x) {
      return Values{ops::add(b, x[0], ops::broadcast_in_dim(b, x[1], shape, {dim}))};
    }));
  }
}

TEST(Elementwise, SeveralResultsOfSeveralShapes) {
  check_kernel(kernel_function({f32({6, 10}), f32({10})}, [](GraphBuilder& b, const Values& x) {
    Value* sum = ops::add(b, x[0], ops::broadcast_in_dim(b, x[1], {6, 10}, {1}));
    return Values{sum, ops::multiply(b, sum, x[0]), ops::negate(b, x[1]), x[1], sum};
  }));
}

TEST(Elementwise, ReshapesAndTransposes) {
  check_kernel(kernel_function({f32({6, 35})}, [](GraphBuilder& b, const Values& x) {
    Value* y = ops::reshape(b, ops::negate(b, x[0]), {2, 3, 5, 7});
    return Values{ops::reshape(b, ops::add(b, y, y), {42, 5}), ops::transpose(b, y, {3, 1, 0, 2}),
                  ops::transpose(b, x[0], {1, 0})};
  }));
}

TEST(Elementwise, HalfAndIntegers) {
  for (const DType dtype :
       {DType::kF16, DType::kBF16, DType::kF64, DType::kI8, DType::kI32, DType::kI64, DType::kUI16}) {
    check_kernel(kernel_function({{dtype, {5, 19}}, {dtype, {5, 19}}}, [](GraphBuilder& b, const Values& x) {
      return Values{ops::select(b, ops::compare(b, "LT", x[0], x[1]), ops::add(b, x[0], x[1]), x[1])};
    }));
  }
}

TEST(Reduce, RowsColumnsAndBetween) {
  const std::vector<std::pair<Shape, std::vector<int64_t>>> cases = {
      {{7, 33}, {1}},       {{7, 33}, {0}},   {{7, 33}, {0, 1}}, {{3, 5, 17}, {1}},
      {{3, 5, 17}, {0, 2}}, {{4, 1, 9}, {1}}, {{0, 4}, {0}},     {{4, 0}, {0}},
      {{1}, {0}},           {{5000}, {0}},    {{3000, 5}, {0}},  {{2, 3, 40, 9}, {0, 2, 3}},
      {{5, 1}, {1}},        {{100000}, {0}}};
  for (const auto& [shape, dims] : cases) {
    for (const char* op : {"add", "maximum", "minimum", "multiply"}) {
      Tolerance tolerance;
      if (std::string(op) == "multiply") tolerance = {.relative = 1e-4, .low = 0.9, .high = 1.1};
      check_kernel(kernel_function({f32(shape)},
                                   [&](GraphBuilder& b, const Values& x) {
                                     return Values{ops::reduce(b, op, ops::multiply(b, x[0], x[0]), dims)};
                                   }),
                   tolerance);
    }
  }
}

TEST(Reduce, SiblingsAndEpilogue) {
  for (const std::vector<int64_t>& dims : std::vector<std::vector<int64_t>>{{0}, {1}, {0, 1}}) {
    check_kernel(kernel_function({f32({37, 43})},
                                 [&](GraphBuilder& b, const Values& x) {
                                   Value* sum = ops::reduce(b, "add", x[0], dims);
                                   Value* squares = ops::reduce(b, "add", ops::multiply(b, x[0], x[0]), dims);
                                   return Values{ops::multiply(b, sum, squares), sum};
                                 }),
                 {.relative = 1e-5});
  }
}

TEST(Rows, Softmax) {
  for (const Shape& shape : std::vector<Shape>{{5, 10}, {3, 4, 65}, {2, 300}, {9, 1}}) {
    check_kernel(kernel_function({f32(shape)},
                                 [&](GraphBuilder& b, const Values& x) {
                                   const int64_t last = static_cast<int64_t>(shape.size()) - 1;
                                   std::vector<int64_t> outer;
                                   for (int64_t d = 0; d < last; ++d) outer.push_back(d);
                                   Value* max =
                                       ops::broadcast_in_dim(b, ops::reduce(b, "maximum", x[0], {last}), shape, outer);
                                   Value* e = ops::unary(b, "exponential", ops::subtract(b, x[0], max));
                                   Value* sum = ops::reduce(b, "add", e, {last});
                                   return Values{ops::divide(b, e, ops::broadcast_in_dim(b, sum, shape, outer)),
                                                 ops::unary(b, "log", sum)};
                                 }),
                 {.compiled = false});
  }
}

TEST(Rows, BatchNormOverImages) {
  const Shape shape{4, 3, 5, 6};
  check_kernel(kernel_function(
                   {f32(shape), f32({3})},
                   [&](GraphBuilder& b, const Values& x) {
                     const auto wide = [&](Value* v) { return ops::broadcast_in_dim(b, v, shape, {1}); };
                     const auto mean = [&](Value* v) {
                       return ops::divide(b, ops::reduce(b, "add", v, {0, 2, 3}), ops::constant(b, f32({3}), 120));
                     };
                     Value* centred = ops::subtract(b, x[0], wide(mean(x[0])));
                     Value* variance = mean(ops::multiply(b, centred, centred));
                     return Values{ops::multiply(b, ops::multiply(b, centred, wide(ops::unary(b, "rsqrt", variance))),
                                                 wide(x[1])),
                                   variance};
                   }),
               {.relative = 1e-5, .compiled = false});
}

}  // namespace
}  // namespace ingot
