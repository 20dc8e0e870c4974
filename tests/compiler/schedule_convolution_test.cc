// Convolutions as kernels, forward and both gradients, through every executor.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <sstream>

#include "aot/ops/support/build.h"
#include "aot/ops/support/dimension_numbers.h"
#include "tests/support/contraction_problem.h"
#include "tests/support/random_contraction.h"
#include "tests/support/schedule_fixture.h"

namespace ingot {
namespace {

// The convolution's result, or its gradients for its result's gradient as a third argument.
KernelFunction convolution(const Shape& x, const Shape& w, const ops::Convolution& conv, const Shape& y, bool gradients,
                           DType dtype = DType::kF32) {
  return kernel_function({{dtype, x}, {dtype, w}, {dtype, y}}, [&](GraphBuilder& b, const Values& a) {
    Op* op = b.create(kConvolution, {a[0], a[1]}, ops::to_attrs(conv), {{dtype, y}});
    if (!gradients) return Values{ops::add(b, op->result(), a[2])};
    Value* dy[] = {a[2]};
    const bool needed[] = {true, true};
    GradientArgs args{b, *op, dy, needed};
    return op->def->gradient(args);
  });
}

TEST(Convolution, ForwardAndGradients) {
  const ops::Window same{{.size = 3, .low = 1, .high = 1}, {.size = 3, .low = 1, .high = 1}};
  const ops::Window strided{{.size = 3, .stride = 2, .low = 1, .high = 1},
                            {.size = 3, .stride = 2, .low = 1, .high = 1}};
  const ops::Window one{{.size = 1}, {.size = 1}};
  const ops::Window uneven{{.size = 2, .low = 0, .high = 2, .dilation = 2},
                           {.size = 3, .stride = 1, .low = -1, .high = 3, .base_dilation = 2}};
  for (const bool gradients : {false, true}) {
    check_kernel(convolution({2, 3, 9, 10}, {5, 3, 3, 3}, nchw(same), {2, 5, 9, 10}, gradients), {.relative = 1e-5});
    check_kernel(convolution({2, 3, 9, 10}, {5, 3, 3, 3}, nchw(strided), {2, 5, 5, 5}, gradients), {.relative = 1e-5});
    check_kernel(convolution({3, 4, 6, 7}, {9, 4, 1, 1}, nchw(one), {3, 9, 6, 7}, gradients), {.relative = 1e-5});
    check_kernel(convolution({2, 4, 6, 6}, {4, 2, 3, 3}, nchw(same, 2), {2, 4, 6, 6}, gradients), {.relative = 1e-5});
    check_kernel(convolution({2, 3, 6, 5}, {7, 3, 2, 3}, nchw(uneven), {2, 7, 6, 9}, gradients), {.relative = 1e-5});
  }
}

ops::Convolution nhwc(const ops::Window& window, int64_t groups = 1) {
  return {{0, 3, {1, 2}, 2, 3, {0, 1}, 0, 3, {1, 2}}, window, groups, 1};
}

// For every target of which it `is_expected`.
void expect_choice(
    const KernelFunction& f, const std::string& part,
    bool (*is_expected)(const loops::Target&) = [](const loops::Target&) { return true; }) {
  for (const loops::Target& target : loops::all_targets()) {
    if (!is_expected(target)) continue;
    const std::vector<std::string> choices = lower(*f.kernel, target).choices;
    EXPECT_TRUE(std::ranges::any_of(choices, [&](const auto& choice) { return choice.find(part) != choice.npos; }))
        << target.name << ": " << (choices.empty() ? "no choice" : choices[0]);
  }
}

// What windows read is copied once: of an operand in memory, of a narrow type, or that is made; forward and backward,
// in steps and beyond each border.
TEST(Convolution, RowsInBoxes) {
  const ops::Window same{{.size = 3, .low = 1, .high = 1}, {.size = 3, .low = 1, .high = 1}};
  const ops::Window beyond{{.size = 3, .low = 3, .high = 0}, {.size = 3, .low = 0, .high = 4}};
  const ops::Window strided{{.size = 3, .stride = 2, .low = 1, .high = 1},
                            {.size = 5, .stride = 2, .low = 2, .high = 2}};
  const ops::Window backward{{.size = 3, .low = 1, .high = 1, .reversed = true},
                             {.size = 2, .dilation = 2, .reversed = true}};
  for (const int64_t channels : {3, 18}) {
    const Shape x{1, 7, 8, channels};
    for (const bool gradients : {false, true}) {
      check_kernel(convolution(x, {3, 3, channels, 18}, nhwc(same), {1, 7, 8, 18}, gradients), {.relative = 1e-5});
      check_kernel(convolution(x, {3, 3, channels, 18}, nhwc(beyond), {1, 8, 10, 18}, gradients), {.relative = 1e-5});
      check_kernel(convolution(x, {3, 5, channels, 18}, nhwc(strided), {1, 4, 4, 18}, gradients), {.relative = 1e-5});
    }
    check_kernel(convolution(x, {3, 2, channels, 18}, nhwc(backward), {1, 7, 6, 18}, false), {.relative = 1e-5});
  }
  check_kernel(convolution({1, 7, 7, 20}, {3, 3, 20, 16}, nhwc(same), {1, 7, 7, 16}, false, DType::kBF16),
               {.relative = 1e-2});
  check_kernel(
      kernel_function(
          {f32_of({1, 7, 7, 5}), f32_of({3, 3, 5, 18})},
          [&](GraphBuilder& b, const Values& a) {
            Value* made = ops::unary(b, kTanh, a[0]);
            return Values{
                b.create(kConvolution, {made, a[1]}, ops::to_attrs(nhwc(same)), {f32_of({1, 7, 7, 18})})->result()};
          }),
      {.relative = 1e-5});
  expect_choice(convolution({4, 28, 28, 64}, {3, 3, 64, 64}, nhwc(same), {4, 28, 28, 64}, false), "rows in boxes");
}

// What is copied to a box is masked in the vectors at an end alone.
TEST(Convolution, CopiesToBoxesAreMaskedAtEndsAlone) {
  const ops::Window same{{.size = 3, .low = 1, .high = 1}, {.size = 3, .low = 1, .high = 1}};
  const KernelFunction f = convolution({2, 28, 28, 64}, {3, 3, 64, 64}, nhwc(same), {2, 28, 28, 64}, false);
  std::istringstream text(loops::print(lower(*f.kernel, loops::find_target("x86-64-v3")).steps.back().kernel));
  int masked = 0, whole = 0;
  for (std::string line; std::getline(text, line);) {
    if (line.find("store box[") == line.npos || line.find("= load") == line.npos) continue;
    ++(line.find(" where ") == line.npos ? whole : masked);
  }
  EXPECT_EQ(masked, 1) << text.str();
  EXPECT_EQ(whole, 1) << text.str();
}

// Of one line of an image each task has a part, and a box for it.
TEST(Convolution, RowsInBoxesOfAPartOfALine) {
  const ops::Window inside{{.size = 3}};
  for (const Shape& x : {Shape{1, 258, 32}, Shape{2, 130, 32}}) {
    const Shape result{x[0], x[1] - 2, 16};
    const ops::Convolution line{{0, 2, {1}, 1, 2, {0}, 0, 2, {1}}, inside, 1, 1};
    const KernelFunction f = convolution(x, {3, 32, 16}, line, result, false);
    expect_choice(f, "boxes of 64 rows");
    check_kernel(f, {.relative = 1e-5});
  }
}

// Lines of images that a window of one pixel reads where they lie; blocks of them do not divide a task's evenly.
TEST(Convolution, RowsInRuns) {
  const ops::Window strided{{.size = 1, .stride = 2}, {.size = 1, .stride = 2}};
  const KernelFunction f = convolution({1, 21, 21, 128}, {1, 1, 128, 128}, nhwc(strided), {1, 11, 11, 128}, false);
  const Lowering lowering = lower(*f.kernel, loops::find_target("x86-64-v3"));
  EXPECT_NE(lowering.choices.at(0).find("rows where they lie"), std::string::npos) << lowering.choices[0];
  check_kernel(f, {.relative = 1e-5});
}

// Lines of a window, of fewer rows than a tile has: tiles of its gradient have rows of several, in boxes and where they lie.
TEST(Convolution, TilesOfSeveralRuns) {
  const ops::Window same{{.size = 5, .low = 2, .high = 2}, {.size = 5, .low = 2, .high = 2}};
  const ops::Window inside{{.size = 5}, {.size = 5}};
  const ops::Window strided{{.size = 3, .stride = 2, .low = 1, .high = 1}, {.size = 2, .stride = 2}};
  const KernelFunction padded = convolution({8, 14, 14, 1}, {5, 5, 1, 6}, nhwc(same), {8, 14, 14, 6}, true);
  const KernelFunction in_place = convolution({8, 14, 14, 1}, {5, 5, 1, 6}, nhwc(inside), {8, 10, 10, 6}, true);
  for (const KernelFunction* f : {&padded, &in_place}) {
    const std::vector<std::string> choices = lower(*f->kernel, loops::find_target("x86-64-v3")).choices;
    EXPECT_TRUE(std::ranges::any_of(choices, [](const auto& it) { return it.find("tile 9x8") != it.npos; }))
        << choices.back();
    check_kernel(*f, {.relative = 1e-5});
  }
  for (const int64_t channels : {1, 2, 9}) {
    const KernelFunction f =
        convolution({4, 12, 12, channels}, {3, 2, channels, 10}, nhwc(strided), {4, 6, 6, 10}, true);
    check_kernel(f, {.relative = 1e-5});
  }
}

// Vectors run along channels that are convolved apart, also where they are fewer than lanes or not a multiple.
TEST(Convolution, ChannelsConvolvedApart) {
  const ops::Window same{{.size = 3, .low = 1, .high = 1}, {.size = 3, .low = 1, .high = 1}};
  const ops::Window strided{{.size = 3, .stride = 2, .low = 1, .high = 1},
                            {.size = 3, .stride = 2, .low = 1, .high = 1}};
  const ops::Window inside{{.size = 2}, {.size = 2}};
  for (const int64_t channels : {5, 16, 21}) {
    const Shape x{1, 7, 8, channels};
    for (const bool gradients : {false, true}) {
      const auto apart = [&](const ops::Window& window) { return nhwc(window, channels); };
      check_kernel(convolution(x, {3, 3, 1, channels}, apart(same), x, gradients), {.relative = 1e-5});
      check_kernel(convolution(x, {3, 3, 1, channels}, apart(strided), {1, 4, 4, channels}, gradients),
                   {.relative = 1e-5});
      check_kernel(convolution(x, {2, 2, 1, channels}, apart(inside), {1, 6, 7, channels}, gradients),
                   {.relative = 1e-5});
    }
    check_kernel(convolution(x, {3, 3, 1, 2 * channels}, nhwc(same, channels), {1, 7, 8, 2 * channels}, false),
                 {.relative = 1e-5});
  }
  expect_choice(convolution({2, 28, 28, 64}, {3, 3, 1, 64}, nhwc(same, 64), {2, 28, 28, 64}, false), "along the batch");
}

// Channels of an image of one place lie side by side, channels first too; in a box of windows around it they do not.
TEST(Convolution, ChannelsConvolvedApartOfOnePlace) {
  for (const int64_t size : {3, 5}) {
    const ops::Window same(2, {.size = size, .low = size / 2, .high = size / 2});
    for (const int64_t images : {1, 2}) {
      for (const int64_t channels : {5, 16, 21}) {
        const Shape x{images, channels, 1, 1};
        ops::Convolution apart = nchw(same);
        apart.feature_groups = channels;
        for (const bool gradients : {false, true})
          check_kernel(convolution(x, {channels, 1, size, size}, apart, x, gradients), {.relative = 1e-5});
      }
    }
  }
}

// Each window reads where the operand lies, without masks and without a copy of it; past its ends nothing is read.
TEST(Convolution, WindowsInPlaceAreNotMasked) {
  const ops::Window same{{.size = 3, .low = 1, .high = 1}, {.size = 3, .low = 1, .high = 1}};
  const KernelFunction f = convolution({2, 28, 28, 64}, {3, 3, 1, 64}, nhwc(same, 64), {2, 28, 28, 64}, false);
  expect_choice(f, "rows where they lie");
  const auto has_many_registers = [](const loops::Target& target) { return target.vector_registers >= 16; };
  expect_choice(f, "lines at once", has_many_registers);
  const std::string text = loops::print(lower(*f.kernel, loops::find_target("x86-64-v3")).steps[0].kernel);
  EXPECT_EQ(text.find(" where "), text.npos) << text;
  EXPECT_EQ(text.find("scratch"), text.npos) << text;
  expect_choice(convolution({4, 56, 56, 96}, {3, 3, 1, 96}, nhwc(same, 96), {4, 56, 56, 96}, true),
                "of the depth at once", has_many_registers);
}

// Lines that are no multiple of a tile, fewer lines than a tile may have, windows that are larger than the image or lie
// aside of it, and such with gaps.
TEST(Convolution, WindowsInPlaceOfManyShapes) {
  struct Case {
    Shape x;
    ops::Window window;
  };
  const auto dim = [](int64_t size, int64_t low, int64_t high, int64_t stride = 1, int64_t dilation = 1,
                      int64_t base_dilation = 1) {
    return ops::WindowDim{
        .size = size, .stride = stride, .low = low, .high = high, .base_dilation = base_dilation, .dilation = dilation};
  };
  const Case cases[] = {
      {{1, 9, 26, 24}, {dim(3, 1, 1), dim(3, 1, 1)}},
      {{2, 7, 7, 40}, {dim(5, 2, 2), dim(5, 2, 2)}},
      {{1, 4, 30, 16}, {dim(3, 1, 1), dim(9, 4, 4)}},
      {{1, 6, 5, 16}, {dim(7, 3, 3), dim(7, 3, 3)}},
      {{1, 12, 17, 16}, {dim(3, 0, 2, 2), dim(3, 2, 0, 3)}},
      {{2, 8, 14, 16}, {dim(3, 2, 2, 1, 2), dim(2, 3, 1, 1, 3)}},
      {{3, 40, 16}, {dim(4, 1, 2)}},
      {{2, 4, 5, 6, 16}, {dim(3, 1, 1), dim(1, 0, 0), dim(3, 1, 1)}},
      {{1, 10, 10, 16}, {dim(3, -2, 4), dim(3, 5, -3)}},
      {{1, 5, 12, 16}, {dim(3, 1, 1), dim(1, 0, 0)}},
      {{1, 12, 1, 16}, {dim(3, 1, 1), dim(3, 1, 1)}},
      {{2, 1, 9, 16}, {dim(3, 1, 1), dim(3, 1, 1)}},
      {{3, 1, 1, 16}, {dim(5, 2, 2), dim(3, 1, 1)}},
      {{2, 6, 9, 24}, {dim(3, 1, 2, 1, 1, 2), dim(3, 1, 2, 1, 1, 2)}},
      {{1, 5, 6, 16}, {dim(3, 0, 0, 1, 1, 2), dim(3, 1, 1, 1, 1, 2)}},
      {{1, 6, 7, 16}, {dim(2, 1, 3, 1, 1, 3), dim(4, 2, 0, 1, 1, 3)}},
      {{1, 8, 9, 16}, {dim(3, 1, 1), dim(3, -1, 2, 1, 1, 2)}},
      {{2, 9, 16}, {dim(3, 2, 2, 1, 2, 2)}},
      {{1, 7, 8, 16}, {dim(3, 1, 1, 3, 1, 2), dim(3, 1, 2, 2, 1, 2)}},
  };
  for (const auto& [x, window] : cases) {
    const int64_t channels = x.back();
    Shape kernel, result{x[0]};
    std::vector<int64_t> inner;
    for (size_t d = 0; d < window.size(); ++d) {
      const ops::WindowDim& it = window[d];
      kernel.push_back(it.size);
      inner.push_back(static_cast<int64_t>(d) + 1);
      result.push_back(it.positions(x[d + 1]));
    }
    kernel.insert(kernel.end(), {1, channels});
    result.push_back(channels);
    const int64_t rank = std::ssize(window);
    std::vector<int64_t> spatial(window.size());
    std::iota(spatial.begin(), spatial.end(), 0);
    const ops::Convolution apart{
        {0, rank + 1, inner, rank, rank + 1, spatial, 0, rank + 1, inner}, window, channels, 1};
    for (const bool gradients : {false, true})
      check_kernel(convolution(x, kernel, apart, result, gradients), {.relative = 1e-5});
  }
}

// Beyond a border there is zero, also of an operand whose elements are all one scalar that is read.
TEST(Convolution, BordersOfARepeatedScalar) {
  const ops::Window window{{.size = 4, .low = -1, .high = 1}, {.size = 4, .stride = 3}};
  check_kernel(kernel_function({f32_of({}), f32_of({5, 1, 4, 4})}, [&](GraphBuilder& b, const Values& x) {
    return Values{ops::convolution(b, ops::broadcast_scalar(b, x[0], {2, 1, 7, 5}), x[1], nchw(window))};
  }));
}

// Pieces are read where they lie only where the operand's elements follow each other.
TEST(Convolution, SpreadOperandsOfPieces) {
  const ops::Convolution conv{
      {2, 1, {0}, 2, 1, {0}, 2, 1, {0}}, {{.size = 1, .low = 1, .high = -1, .base_dilation = 3}}, 1, 1};
  check_kernel(kernel_function({f32_of({3, 9, 1}), f32_of({3, 4, 1}), f32_of({1, 36, 13})},
                               [&](GraphBuilder& b, const Values& x) {
                                 return Values{ops::convolution(b, ops::concatenate(b, {x[0], x[1]}, 1), x[2], conv)};
                               }),
               {.relative = 1e-5});
}

// The innermost axis of the depth moves from line to line: whether a line is there is asked at each of its places.
TEST(Convolution, LinesThatTheInnermostAxisMoves) {
  const ops::Window window{{.size = 2, .stride = 3, .low = 2},
                           {.size = 3, .stride = 2, .low = -1, .high = 2},
                           {.size = 2, .stride = 3, .low = 2}};
  const ops::Convolution conv{{3, 4, {1, 2, 0}, 4, 3, {1, 0, 2}, 1, 4, {3, 0, 2}}, window, 9, 1};
  check_kernel(convolution({20, 12, 8, 2, 9}, {3, 2, 2, 9, 1}, conv, {4, 2, 7, 5, 9}, false), {.relative = 1e-5});
}

// What windows hold of gaps is known as the kernel is made: nothing is masked or tested for it.
TEST(Convolution, WindowsSkipTheGapsOfSpreadOperands) {
  const ops::WindowDim spread{.size = 3, .low = 1, .high = 2, .base_dilation = 2};
  const ops::Convolution apart = nhwc({spread, spread}, 64);
  const KernelFunction f = convolution({2, 14, 14, 64}, {3, 3, 1, 64}, apart, {2, 28, 28, 64}, false);
  const Lowering lowering = lower(*f.kernel, loops::find_target("x86-64-v3"));
  ASSERT_EQ(lowering.steps.size(), 1u);
  const std::string text = loops::print(lowering.steps[0].kernel);
  for (const std::string_view beside : {" where ", "scratch", "modulo", "eq("})
    EXPECT_EQ(text.find(beside), text.npos) << text;
  // An operand that is made on the way is made once, and then read as any other.
  const KernelFunction made = kernel_function(
      {f32_of({1, 7, 7, 32}), f32_of({3, 3, 1, 32}), f32_of({1, 7, 7, 32})}, [&](GraphBuilder& b, const Values& x) {
        Value* const product = ops::multiply(b, x[0], x[2]);
        return Values{b.create(kConvolution, {product, x[1]}, ops::to_attrs(nhwc({spread, spread}, 32)),
                               {f32_of({1, 14, 14, 32})})
                          ->result()};
      });
  EXPECT_EQ(lower(*made.kernel, loops::find_target("x86-64-v3")).steps.size(), 2u);
  check_kernel(made, {.relative = 1e-5});
}

// A box of the last block of columns has no more than the operand, whose columns are not its innermost dimension.
TEST(Convolution, ColumnsApartThatEndWithinABlock) {
  check_kernel(kernel_function({f32_of({4099}), f32_of({8191, 5})}, [&](GraphBuilder& b, const Values& x) {
    Value* lhs = ops::reshape(b, ops::slice(b, x[0], {1}, {4096}, {1}), {4095, 1, 1});
    Value* rhs = ops::reshape(b, ops::slice(b, x[1], {2, 3}, {8191, 4}, {2, 1}), {4095, 1, 1});
    return Values{ops::dot_general(b, lhs, rhs, {{1, 0}, {1, 0}, {2}, {2}})};
  }));
}

// Images of fewer pixels than a tile has columns: tiles cross images.
TEST(Convolution, ConvolutionsOfTinyImages) {
  const ops::Window same{{.size = 3, .low = 1, .high = 1}, {.size = 3, .low = 1, .high = 1}};
  const ops::Window strided{{.size = 3, .stride = 2, .low = 1, .high = 1},
                            {.size = 3, .stride = 2, .low = 1, .high = 1}};
  for (const bool gradients : {false, true}) {
    check_kernel(convolution({8, 24, 2, 2}, {100, 24, 3, 3}, nchw(same), {8, 100, 2, 2}, gradients),
                 {.relative = 1e-5});
    check_kernel(convolution({5, 90, 4, 4}, {100, 90, 3, 3}, nchw(strided), {5, 100, 2, 2}, gradients),
                 {.relative = 1e-5});
    check_kernel(convolution({3, 8, 4, 4}, {100, 8, 3, 3}, nchw(same), {3, 100, 4, 4}, gradients), {.relative = 1e-5});
  }
}

TEST(Convolution, TasksShareColumnsThatAStepPacks) {
  const ops::Window same{{.size = 3, .low = 1, .high = 1}, {.size = 3, .low = 1, .high = 1}};
  ops::Convolution conv = nhwc(same);
  conv.dims.kernel_output_feature = 0;  // columns lie across
  conv.dims.kernel_input_feature = 1;
  conv.dims.kernel_spatial = {2, 3};
  const KernelFunction it = convolution({8, 4, 4, 16}, {24, 16, 3, 3}, conv, {8, 4, 4, 24}, false);
  check_kernel(it, {.relative = 1e-5});
  EXPECT_EQ(lower(*it.kernel, loops::find_target("x86-64-v3")).steps.size(), 2);
}

TEST(Convolution, OfRandomWindows) {
  RandomContraction random(2, kSmallExtents);
  for (int round = 0; round < 90; ++round) {
    SCOPED_TRACE(round);
    const auto [x, w, conv] = random.convolution();
    if (element_count(x) > 4000 || element_count(w) > 4000) continue;
    const ops::ConvDims& dims = conv.dims;
    Shape y(x.size());
    y[dims.output_batch] = x[dims.input_batch] / conv.batch_groups;
    y[dims.output_feature] = w[dims.kernel_output_feature];
    for (size_t d = 0; d < conv.window.size(); ++d)
      y[dims.output_spatial[d]] = conv.window[d].positions(x[dims.input_spatial[d]]);
    if (element_count(y) > 20000) continue;
    if (round % 4 == 3) {
      check_kernel(convolution(x, w, conv, y, false, DType::kI32), kWrapping);
    } else {
      const bool gradients = round % 4 == 2;
      const int64_t terms = gradients ? std::max(element_count(w), element_count(y))
                                      : 1 + element_count(w) / std::max<int64_t>(w[dims.kernel_output_feature], 1);
      check_kernel(convolution(x, w, conv, y, gradients), sums_of(terms));
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace ingot
