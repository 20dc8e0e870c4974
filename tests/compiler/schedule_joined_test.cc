// Kernels that read joined pieces: concatenations along outer dimensions and along vectors.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "aot/ops/support/build.h"
#include "tests/support/schedule_fixture.h"

namespace ingot {
namespace {

// Each operand is walked by itself, of any length (also none, and one that is made), where vectors are of one operand;
// two concatenations with other joints.
TEST(JoinedPieces, JoinedOperands) {
  for (const int64_t unit : {1, 3, 16}) {
    for (const int64_t dim : {0, 1, 2}) {
      const auto part = [&](int64_t extent) {
        Shape shape{5, 7, 24};
        shape[dim] = extent * unit;
        return f32_of(shape);
      };
      const std::vector<TensorType> types = {part(1), part(0), part(4), part(2), part(3), part(4)};
      check_kernel(kernel_function(types, [&](GraphBuilder& b, const Values& x) {
        Value* four = ops::concatenate(b, {x[0], x[1], ops::multiply(b, x[2], x[2]), x[3]}, dim);
        return Values{ops::add(b, ops::unary(b, kNegate, four), ops::concatenate(b, {x[4], x[5]}, dim))};
      }));
    }
  }
}

// Nor is a vector asked along the last dimension, also behind a slice and a reshape of a joined line, but where it has
// elements of two operands.
TEST(JoinedPieces, JoinedOperandsAlongVectors) {
  const auto joined = [](const std::vector<int64_t>& extents, int64_t first, const Shape& shape) {
    std::vector<TensorType> arguments{f32_of(shape)};
    for (const int64_t extent : extents) arguments.push_back(f32_of({extent}));
    return kernel_function(arguments, [&](GraphBuilder& b, const Values& a) {
      Value* line = ops::negate(b, ops::concatenate(b, {a.begin() + 1, a.end()}, 0));
      Value* part = ops::slice(b, line, {first}, {first + element_count(shape)}, {1});
      return Values{ops::multiply(b, ops::reshape(b, part, shape), a[0])};
    });
  };
  const KernelFunction of_whole_vectors[] = {joined({64, 64}, 0, {4, 32}), joined({64, 40, 200}, 24, {2, 100}),
                                             joined({40000, 8000, 32000}, 0, {80000})};
  for (const KernelFunction& f : of_whole_vectors) {
    check_kernel(f);
    const std::string text = print(lower(*f.kernel, loops::find_target("x86-64-v3")).steps[0].kernel);
    EXPECT_EQ(text.find("select"), std::string::npos) << text;
  }
  check_kernel(joined({100, 100, 100, 100}, 0, {397}));
  check_kernel(joined({33, 70, 90}, 5, {2, 3, 30}));
  check_kernel(joined({30001, 20003, 0, 9000}, 7, {100, 500}));
  check_kernel(joined({1, 2, 3}, 1, {5}));
}

// A vector asks the pieces that it has elements of, and no others, however many there are and however short.
TEST(JoinedPieces, ManyShortPieces) {
  for (const int64_t extent : {1, 5, 28}) {
    const std::vector<TensorType> types(20, f32_of({3, extent}));
    const KernelFunction f = kernel_function(types, [&](GraphBuilder& b, const Values& x) {
      Values pieces;
      for (Value* piece : x) pieces.push_back(ops::multiply(b, piece, piece));
      return Values{ops::concatenate(b, pieces, 1)};
    });
    check_kernel(f);
    const Lowering lowering = lower(*f.kernel, loops::find_target("x86-64-v3"));
    std::istringstream text(print(lowering.steps[0].kernel));
    int64_t loads = 0;  // since the last store
    for (std::string line; std::getline(text, line);) {
      loads = line.find("store ") == line.npos ? loads + (line.find("load ") != line.npos) : 0;
      EXPECT_LE(loads, 8 / extent + 2) << line;
    }
  }
}

}  // namespace
}  // namespace ingot
