#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include "aot/ops/support/build.h"
#include "aot/ops/support/dimension_numbers.h"
#include "tests/support/contraction_problem.h"
#include "tests/support/random_contraction.h"
#include "tests/support/random_tensor.h"
#include "tests/support/schedule_fixture.h"

namespace ingot {
namespace {

TEST(ElementwiseKernels, FlatOverAnyShape) {
  for (const Shape& shape :
       std::vector<Shape>{{}, {0}, {1}, {7}, {8}, {3, 5}, {2, 0, 3}, {1000}, {7, 11, 13}, {40, 1}}) {
    check_kernel(kernel_function({f32_of(shape), f32_of(shape)},
                                 [](GraphBuilder& b, const Values& x) {
                                   return Values{ops::add(b, ops::multiply(b, x[0], x[1]), ops::unary(b, kTanh, x[0]))};
                                 }),
                 {});
  }
}

TEST(ElementwiseKernels, BiasAlongEachDimension) {
  for (const int64_t dim : {0, 1, 2, 3}) {
    const Shape shape{3, 5, 4, 7};
    check_kernel(kernel_function({f32_of(shape), f32_of({shape[dim]})}, [&](GraphBuilder& b, const Values& x) {
      return Values{ops::add(b, x[0], ops::broadcast_in_dim(b, x[1], shape, {dim}))};
    }));
  }
}

TEST(ElementwiseKernels, SeveralResultsOfSeveralShapes) {
  check_kernel(kernel_function({f32_of({6, 10}), f32_of({10})}, [](GraphBuilder& b, const Values& x) {
    Value* sum = ops::add(b, x[0], ops::broadcast_in_dim(b, x[1], {6, 10}, {1}));
    return Values{sum, ops::multiply(b, sum, x[0]), ops::negate(b, x[1]), x[1], sum};
  }));
}

TEST(ElementwiseKernels, ReshapesAndTransposes) {
  check_kernel(kernel_function({f32_of({6, 35})}, [](GraphBuilder& b, const Values& x) {
    Value* y = ops::reshape(b, ops::negate(b, x[0]), {2, 3, 5, 7});
    return Values{ops::reshape(b, ops::add(b, y, y), {42, 5}), ops::transpose(b, y, {3, 1, 0, 2}),
                  ops::transpose(b, x[0], {1, 0})};
  }));
}

// Of whole squares of vectors and with a rest of either dimension, of neighbours that are walked as one, of views below
// and above, and beside a dimension that is repeated.
TEST(ElementwiseKernels, TransposesInSquares) {
  const auto moved = [](const TensorType& type, const std::function<Value*(GraphBuilder & b, Value * x)>& move) {
    check_kernel(kernel_function({type}, [&](GraphBuilder& b, const Values& x) { return Values{move(b, x[0])}; }));
  };
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kBF16, DType::kI8}) {
    for (const Shape& shape : {Shape{2, 5, 7, 48}, Shape{1, 37, 3, 70}, Shape{3, 16, 1, 35}}) {
      for (const std::vector<int64_t>& order : {std::vector<int64_t>{0, 3, 1, 2}, {0, 2, 3, 1}, {3, 2, 1, 0}})
        moved({dtype, shape}, [&](GraphBuilder& b, Value* x) { return ops::transpose(b, x, order); });
    }
  }
  moved(f32_of({40, 42}),
        [](GraphBuilder& b, Value* x) { return ops::transpose(b, ops::reshape(b, x, {40, 6, 7}), {1, 2, 0}); });
  moved(f32_of({40, 50}), [](GraphBuilder& b, Value* x) {
    return ops::transpose(b, ops::slice(b, x, {3, 5}, {38, 45}, {1, 2}), {1, 0});
  });
  moved(f32_of({40, 50}), [](GraphBuilder& b, Value* x) {
    return ops::reverse(b, ops::transpose(b, ops::slice(b, x, {3, 5}, {38, 45}, {1, 1}), {1, 0}), {0});
  });
  moved(f32_of({20, 33}), [](GraphBuilder& b, Value* x) { return ops::broadcast_in_dim(b, x, {33, 3, 20}, {2, 0}); });
}

TEST(ElementwiseKernels, HalfAndIntegers) {
  for (const DType dtype :
       {DType::kF16, DType::kBF16, DType::kF64, DType::kI8, DType::kI32, DType::kI64, DType::kUI16}) {
    check_kernel(kernel_function({{dtype, {5, 19}}, {dtype, {5, 19}}}, [](GraphBuilder& b, const Values& x) {
      return Values{ops::select(b, ops::compare(b, "LT", x[0], x[1]), ops::add(b, x[0], x[1]), x[1])};
    }));
  }
}

TEST(Reduce, RowsColumnsAndBetween) {
  const std::vector<std::pair<Shape, std::vector<int64_t>>> cases = {
      {{7, 33}, {1}},       {{7, 33}, {0}},   {{7, 33}, {0, 1}},      {{3, 5, 17}, {1}},
      {{3, 5, 17}, {0, 2}}, {{4, 1, 9}, {1}}, {{0, 4}, {0}},          {{4, 0}, {0}},
      {{1}, {0}},           {{5000}, {0}},    {{3000, 5}, {0}},       {{2, 3, 40, 9}, {0, 2, 3}},
      {{5, 1}, {1}},        {{100000}, {0}},  {{16, 65, 96}, {0, 1}}, {{6, 700, 8}, {0, 1}}};
  for (const auto& [shape, dims] : cases) {
    for (const OpDef* op : {&kAdd, &kMaximum, &kMinimum, &kMultiply}) {
      KernelTolerance tolerance;
      if (op == &kMultiply) tolerance = {.relative = 1e-4, .low = 0.9, .high = 1.1};
      check_kernel(kernel_function({f32_of(shape)},
                                   [&](GraphBuilder& b, const Values& x) {
                                     return Values{ops::reduce(b, *op, ops::multiply(b, x[0], x[0]), dims)};
                                   }),
                   tolerance);
    }
  }
}

// A sum taken element after element would be off by about 1e-6 here: long sums must be cut into blocks.
TEST(Reduce, LongSumsOfOneSignStayAccurate) {
  struct Case {
    Shape shape;
    std::vector<int64_t> dims;
    double relative;
  };
  const std::vector<Case> cases = {{{1 << 20}, {0}, 1.5e-7},
                                   {{2, 200000}, {1}, 1.5e-7},
                                   {{32, 4, 32, 32}, {0, 2, 3}, 1.5e-7},
                                   {{100000, 8}, {0}, 3e-7},
                                   {{2, 9000, 8}, {0, 1}, 3e-7}};
  for (const auto& [shape, dims, relative] : cases) {
    check_kernel(
        kernel_function({f32_of(shape)},
                        [&](GraphBuilder& b, const Values& x) { return Values{ops::reduce(b, kAdd, x[0], dims)}; }),
        {.relative = relative, .low = 0.5, .high = 1.5});
  }
}

// A region of a narrow type rounds each partial sum. Down columns the sums are of blocks of 32 in order, as in XLA:
// what the rows lack of three blocks is missing at both ends.
TEST(Reduce, NarrowSumsAreRoundedBlockByBlock) {
  constexpr int64_t kRows = 70, kColumns = 24, kBlock = 32, kBlocks = 3;
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    const TensorType type{dtype, {kRows, kColumns}};
    const KernelFunction f = kernel_function({type}, [&](GraphBuilder& b, const Values& x) {
      std::vector<std::unique_ptr<Block>> regions;
      regions.push_back(ops::binary_region(b, kAdd, dtype));
      Value* start = ops::constant(b, {dtype, {}}, 0);
      const std::vector<int64_t> dims{0};
      return Values{b.create(kReduce, {x[0], start}, {{"dimensions", dims}}, {}, std::move(regions))->result()};
    });
    const RefTensor x = random_tensor(type, 1);
    RefTensor expected({dtype, {kColumns}});
    for (int64_t column = 0; column < kColumns; ++column) {
      double& total = expected.f[column];
      for (int64_t block = -(kBlocks * kBlock - kRows) / 2; block < kRows; block += kBlock) {
        double sum = 0;
        for (int64_t row = std::max<int64_t>(block, 0); row < std::min(block + kBlock, kRows); ++row)
          sum = round_to(dtype, sum + x.f[row * kColumns + column]);
        total = round_to(dtype, total + sum);
      }
    }
    for (const loops::Target& target : loops::all_targets()) {
      const Lowering lowering = lower(*f.kernel, target);
      LoweringRun run(*f.kernel, lowering);
      run.set_operands({x});
      run.interpret(false);
      EXPECT_EQ(run.results()[0].f, expected.f) << target.name;
    }
  }
}

TEST(Reduce, SiblingsAndEpilogue) {
  for (const std::vector<int64_t>& dims : std::vector<std::vector<int64_t>>{{0}, {1}, {0, 1}}) {
    check_kernel(kernel_function({f32_of({37, 43})},
                                 [&](GraphBuilder& b, const Values& x) {
                                   Value* sum = ops::reduce(b, kAdd, x[0], dims);
                                   Value* squares = ops::reduce(b, kAdd, ops::multiply(b, x[0], x[0]), dims);
                                   return Values{ops::multiply(b, sum, squares), sum};
                                 }),
                 {.relative = 1e-5});
  }
}

TEST(Rows, Softmax) {
  for (const Shape& shape : std::vector<Shape>{{5, 10}, {3, 4, 65}, {2, 300}, {9, 1}}) {
    check_kernel(kernel_function({f32_of(shape)},
                                 [&](GraphBuilder& b, const Values& x) {
                                   const int64_t last = static_cast<int64_t>(shape.size()) - 1;
                                   std::vector<int64_t> outer;
                                   for (int64_t d = 0; d < last; ++d) outer.push_back(d);
                                   Value* max =
                                       ops::broadcast_in_dim(b, ops::reduce(b, kMaximum, x[0], {last}), shape, outer);
                                   Value* e = ops::unary(b, kExponential, ops::subtract(b, x[0], max));
                                   Value* sum = ops::reduce(b, kAdd, e, {last});
                                   return Values{ops::divide(b, e, ops::broadcast_in_dim(b, sum, shape, outer)),
                                                 ops::unary(b, kLog, sum)};
                                 }),
                 {});
  }
}

TEST(Rows, BatchNormOverImages) {
  const Shape shape{4, 3, 5, 6};
  check_kernel(
      kernel_function({f32_of(shape), f32_of({3})},
                      [&](GraphBuilder& b, const Values& x) {
                        const auto wide = [&](Value* v) { return ops::broadcast_in_dim(b, v, shape, {1}); };
                        const auto mean = [&](Value* v) {
                          return ops::divide(b, ops::reduce(b, kAdd, v, {0, 2, 3}), ops::constant(b, f32_of({3}), 120));
                        };
                        Value* centred = ops::subtract(b, x[0], wide(mean(x[0])));
                        Value* variance = mean(ops::multiply(b, centred, centred));
                        return Values{ops::multiply(b, ops::multiply(b, centred, wide(ops::unary(b, kRsqrt, variance))),
                                                    wide(x[1])),
                                      variance};
                      }),
      {.relative = 1e-5});
}

TEST(Window, PoolsForwardAndBackward) {
  const ops::Window same{
      {}, {}, {.size = 3, .stride = 2, .low = 1, .high = 1}, {.size = 3, .stride = 2, .low = 1, .high = 1}};
  const ops::Window apart{{}, {}, {.size = 2, .stride = 2}, {.size = 2, .stride = 2}};
  const ops::Window overlapping{
      {}, {}, {.size = 3, .low = 1, .high = 0, .base_dilation = 2}, {.size = 2, .dilation = 2}};
  for (const ops::Window& window : {same, apart, overlapping}) {
    for (const OpDef* op : {&kMaximum, &kAdd}) {
      const Shape x{2, 3, 8, 9};
      const Shape y = ops::positions(window, x);
      check_kernel(kernel_function({f32_of(x), f32_of(y)}, [&](GraphBuilder& b, const Values& a) {
        std::vector<std::unique_ptr<Block>> regions;
        regions.push_back(ops::binary_region(b, *op, DType::kF32));
        Value* start = ops::constant(b, f32_of({}), op == &kMaximum ? -INFINITY : 0);
        Op* pool = b.create(kReduceWindow, {a[0], start}, ops::window_attrs(window), {}, std::move(regions));
        return Values{ops::add(b, pool->result(), a[1])};
      }));
    }
  }
}

// Vectors of channels, of windows, of windows apart; windows over little and over nothing; ties.
TEST(Window, SendsSourcesToWinners) {
  const ops::WindowDim pool{.size = 3, .stride = 2, .low = 1, .high = 1}, apart{.size = 2, .stride = 2};
  const ops::WindowDim holes{.size = 3, .low = 1, .base_dilation = 2}, wide{.size = 2, .low = -1, .dilation = 2};
  const ops::WindowDim beyond{.size = 2, .low = 3, .high = 2}, whole{.size = 7};
  const std::vector<std::pair<Shape, ops::Window>> cases = {
      {{}, {}},
      {{1}, {beyond}},
      {{37}, {pool}},
      {{4, 16, 24, 25}, {{}, {}, pool, pool}},
      {{3, 25, 24, 20}, {{}, pool, pool, {}}},
      {{2, 3, 8, 9}, {{}, {}, apart, apart}},
      {{2, 9, 8, 3}, {{}, apart, apart, {}}},
      {{2, 3, 8, 9}, {{}, {}, holes, wide}},
      {{2, 8, 9, 10}, {{}, wide, holes, {}}},
      {{2, 3, 17, 3}, {beyond, {}, wide, apart}},
      {{5, 20, 7, 7}, {{}, {}, whole, whole}},
      {{7, 6, 5, 2, 3}, {pool, {}, pool, {}, {}}},
      {{6, 0, 5}, {pool, {}, pool}},
      {{6, 4}, {{.size = 9}, {}}},
  };
  for (const auto& [x, window] : cases) {
    for (const auto& [key, direction] : {std::pair(DType::kF32, "GE"), std::pair(DType::kI8, "GT")}) {
      const TensorType sources{key == DType::kI8 ? DType::kF64 : DType::kF32, ops::positions(window, x)};
      SCOPED_TRACE(to_string(TensorType{key, x}) + " " + direction);
      check_kernel(kernel_function({{key, x}, sources}, [&](GraphBuilder& b, const Values& a) {
        std::vector<std::unique_ptr<Block>> regions;
        regions.push_back(ops::compare_region(b, direction, key));
        regions.push_back(ops::binary_region(b, kAdd, sources.dtype));
        Value* start = ops::constant(b, {sources.dtype, {}}, 1);
        const Op* sent = b.create(kSelectAndScatter, {a[0], ops::negate(b, a[1]), start}, ops::window_attrs(window), {},
                                  std::move(regions));
        return Values{sent->result(), ops::negate(b, sent->result())};
      }));
      if (HasFailure()) return;
    }
  }
}

// Windows of operands, made along with results of the window's shape, behind contractions, and of what they overwrite.
TEST(Update, WritesWindows) {
  const TensorType index{DType::kI32, {}};
  const auto at = [](GraphBuilder& b, Value* start, int rank) {
    Values starts(rank, ops::constant(b, {DType::kI32, {}}, 0));
    starts[0] = start;
    return starts;
  };
  check_kernel(kernel_function(
      {f32_of({5, 3, 17}), f32_of({3, 17}), f32_of({5, 3, 17}), index}, [&](GraphBuilder& b, const Values& a) {
        Value* row = ops::unary(b, kTanh, a[1]);
        Value* first = ops::dynamic_update_slice(b, a[0], ops::reshape(b, row, {1, 3, 17}), at(b, a[3], 3));
        Value* twice = ops::broadcast_in_dim(b, ops::add(b, row, row), {1, 3, 17}, {1, 2});
        return Values{first, ops::negate(b, row), ops::dynamic_update_slice(b, a[2], twice, at(b, a[3], 3))};
      }));
  check_kernel(kernel_function({f32_of({9, 20}), f32_of({2, 20}), index}, [&](GraphBuilder& b, const Values& a) {
    Value* old = ops::dynamic_slice(b, a[0], at(b, a[2], 2), {2, 20});
    return Values{ops::dynamic_update_slice(b, a[0], ops::add(b, old, a[1]), at(b, a[2], 2))};
  }));
  check_kernel(kernel_function({f32_of({9, 20}), f32_of({4, 7}), index, index}, [&](GraphBuilder& b, const Values& a) {
    return Values{ops::dynamic_update_slice(b, a[0], a[1], {a[2], a[3]})};
  }));
  check_kernel(kernel_function(
      {f32_of({6, 30, 40}), f32_of({30, 50}), f32_of({50, 40}), index}, [&](GraphBuilder& b, const Values& a) {
        Value* product = ops::dot_general(b, a[1], a[2], {{}, {}, {1}, {0}});
        return Values{ops::dynamic_update_slice(b, a[0], ops::reshape(b, product, {1, 30, 40}), at(b, a[3], 3))};
      }));
  // Dimensions that stay neighbours are not walked as one in a window that has only a part of them.
  check_kernel(
      kernel_function({f32_of({20, 9, 30}), f32_of({6, 20, 16}), index, index}, [&](GraphBuilder& b, const Values& a) {
        Value* turned = ops::transpose(b, a[1], {2, 0, 1});
        return Values{ops::dynamic_update_slice(b, a[0], turned, {a[2], a[3], a[3]})};
      }));
  // Reversed, what is overwritten is read elsewhere; and the window read at another place: both need a copy.
  for (const bool reversed : {false, true}) {
    check_kernel(kernel_function({f32_of({40}), index, index}, [&](GraphBuilder& b, const Values& a) {
      Value* old = ops::dynamic_slice(b, a[0], {a[reversed ? 1 : 2]}, {16});
      return Values{ops::dynamic_update_slice(b, a[0], reversed ? ops::reverse(b, old, {0}) : old, {a[1]})};
    }));
  }
}

TEST(Scatter, RowsOfATableAndSingleElements) {
  ops::IndexedDims rows{.window_dims = {1},
                        .dropped_dims = {0},
                        .operand_batch = {},
                        .indices_batch = {},
                        .index_map = {0},
                        .index_vector_dim = 1};
  ops::IndexedDims points{.window_dims = {},
                          .dropped_dims = {0, 1},
                          .operand_batch = {},
                          .indices_batch = {},
                          .index_map = {0, 1},
                          .index_vector_dim = 1};
  for (const OpDef* op : {&kAdd, &kMaximum}) {
    check_kernel(kernel_function({f32_of({10, 37}), {DType::kI32, {20, 1}}, f32_of({20, 37})},
                                 [&](GraphBuilder& b, const Values& a) {
                                   return Values{ops::negate(b, ops::scatter(b, op, a[0], a[1], a[2], rows))};
                                 }));
    check_kernel(kernel_function(
        {f32_of({6, 7}), {DType::kI64, {20, 2}}, f32_of({20})},
        [&](GraphBuilder& b, const Values& a) { return Values{ops::scatter(b, op, a[0], a[1], a[2], points)}; }));
  }
}

// Targets that sum alike cut large sums of columns into the same parts, however large their caches are.
TEST(Reduce, StrictRowsHavePartsInCommon) {
  for (const int64_t rows : {40, 500, 1000, 6000}) {
    const KernelFunction f = kernel_function({f32_of({rows, 192})}, [](GraphBuilder& b, const Values& a) {
      return Values{ops::reduce(b, kAdd, a[0], {0})};
    });
    std::set<std::vector<Shape>> parts;
    for (const loops::Target& target : loops::all_targets()) {
      std::vector<Shape> shapes;
      for (const TensorType& partial : lower(*f.kernel, loops::strict_row(target)).temporaries)
        shapes.push_back(partial.shape);
      parts.insert(shapes);
    }
    EXPECT_EQ(parts.size(), 1u) << rows;
  }
}

// Rows of tables that no cache holds are asked for before they are read or updated, without a question which of several
// joined tables it is; those of small tables are not.
TEST(RowsAhead, OfFarTables) {
  const ops::IndexedDims rows{.window_dims = {1},
                              .dropped_dims = {0},
                              .operand_batch = {},
                              .indices_batch = {},
                              .index_map = {0},
                              .index_vector_dim = 1};
  const auto gathered = [&](int64_t count) {
    const TensorType table = f32_of({count, 48}), indices{DType::kI32, {20, 1}};
    return kernel_function({table, table, indices, indices}, [&](GraphBuilder& b, const Values& a) {
      const auto first = [&](int k) { return ops::gather(b, a[k], a[k + 2], rows, {1, 48}); };
      return Values{ops::concatenate(b, {first(0), ops::negate(b, first(1))}, 0)};
    });
  };
  const auto scattered = [&](int64_t count) {
    return kernel_function(
        {f32_of({count, 48}), {DType::kI32, {20, 1}}, f32_of({20, 48})},
        [&](GraphBuilder& b, const Values& a) { return Values{ops::scatter(b, &kAdd, a[0], a[1], a[2], rows)}; });
  };
  const auto code = [](const KernelFunction& f) {
    return print(lower(*f.kernel, loops::find_target("x86-64-v3")).steps.back().kernel);
  };
  for (const int64_t count : {20, 6000}) {
    const bool is_far = count == 6000;
    EXPECT_EQ(code(gathered(count)).find("prefetch") != std::string::npos, is_far);
    EXPECT_EQ(code(scattered(count)).find("prefetch") != std::string::npos, is_far);
    EXPECT_EQ(code(gathered(count)).find("select"), std::string::npos) << code(gathered(count));
    check_kernel(gathered(count), {.integer_low = -3, .integer_high = count + 3});
    check_kernel(scattered(count), {.integer_low = -3, .integer_high = count + 3});
  }
}

// ... and so is the row of a far table that is added to a product: a step of a recurrence.
TEST(RowsAhead, BesideAProduct) {
  for (const int64_t count : {3, 300}) {
    const KernelFunction f = kernel_function(
        {f32_of({count, 16, 192}), {DType::kI32, {}}, f32_of({16, 24}), f32_of({24, 192})},
        [](GraphBuilder& b, const Values& a) {
          Value* zero = ops::constant(b, a[1]->type, 0);
          Value* row = ops::reshape(b, ops::dynamic_slice(b, a[0], {a[1], zero, zero}, {1, 16, 192}), {16, 192});
          return Values{ops::add(b, row, ops::dot_general(b, a[2], a[3], {{}, {}, {1}, {0}}))};
        });
    const std::string code = print(lower(*f.kernel, loops::find_target("x86-64-v3")).steps.back().kernel);
    EXPECT_EQ(code.find("prefetch a0[") != std::string::npos, count == 300) << code;
    check_kernel(f, {.integer_low = -3, .integer_high = count + 3});
  }
}

// Many equal keys: their positions, and what else goes along, tell whether the order is stable.
TEST(Sort, RandomShapes) {
  constexpr int64_t kExtents[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 24, 31, 64, 65, 100, 129, 257};
  std::mt19937 random(3);
  const auto pick = [&](size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(random); };
  for (int round = 0; round < 16; ++round) {
    Shape shape(1 + pick(3));
    const auto dimension = static_cast<int64_t>(pick(shape.size()));
    for (int64_t& extent : shape) extent = static_cast<int64_t>(1 + pick(5));
    shape[dimension] = kExtents[pick(std::size(kExtents))];
    const size_t passengers = pick(4);
    SCOPED_TRACE(to_string(f32_of(shape)) + " along " + std::to_string(dimension) + " with " +
                 std::to_string(passengers));
    const auto body = [&](GraphBuilder& b, const Values& x) {
      Values operands{ops::add(b, x[0], x[0]), ops::iota(b, {DType::kI32, shape}, dimension)};
      for (size_t k = 0; k < passengers; ++k) operands.push_back(x[k % x.size()]);
      std::vector<std::unique_ptr<Block>> regions;
      regions.push_back(ops::compare_region(b, round % 2 ? "LT" : "GT", DType::kI32));
      for (size_t k = 1; k < operands.size(); ++k) {
        for (int side = 0; side < 2; ++side) regions[0]->add_argument({operands[k]->type.dtype, {}});
      }
      const Op* sort = b.create(kSort, operands, {{"dimension", IntAttr{dimension}}}, {}, std::move(regions));
      Values results;
      for (const auto& result : sort->results) results.push_back(result.get());
      return results;
    };
    check_kernel(kernel_function({{DType::kI32, shape}, f32_of(shape), {DType::kI8, shape}}, body), {}, round);
  }
}

TEST(TopK, RandomShapes) {
  std::mt19937 random(4);
  const auto pick = [&](int64_t most) { return std::uniform_int_distribution<int64_t>(1, most)(random); };
  for (int round = 0; round < 16; ++round) {
    const Shape shape{pick(3), pick(round % 2 ? 3 : 20), pick(round % 3 ? 40 : 300)};
    const int64_t k = pick(std::min<int64_t>(shape.back(), 50));
    SCOPED_TRACE(to_string(f32_of(shape)) + ", k = " + std::to_string(k));
    const auto body = [&](GraphBuilder& b, const Values& x) {
      const Op* top = b.create(kTopK, {ops::add(b, x[0], x[1])}, {{"k", IntAttr{k}}});
      return Values{top->result(0), top->result(1)};
    };
    const TensorType type{round % 4 ? DType::kI16 : DType::kF32, shape};
    check_kernel(kernel_function({type, type}, body), {}, round);
  }
}

}  // namespace
}  // namespace ingot
