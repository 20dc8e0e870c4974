#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "aot/loops/interpret.h"
#include "aot/loops/scalar.h"
#include "tests/support/error_of.h"
#include "tests/support/random_kernel.h"
#include "tests/support/sample_kernels.h"

namespace ingot::loops {
namespace {

std::vector<float> random_floats(int64_t count, int seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> values(-1, 1);
  std::vector<float> result(count);
  for (float& value : result) value = values(random);
  return result;
}

std::byte* bytes(std::vector<float>& values) { return reinterpret_cast<std::byte*>(values.data()); }

TEST(Interpret, ScalesWithMaskedEdge) {
  for (const int64_t elements : {1, 7, 8, 256, 1001}) {
    for (const int lanes : {1, 8}) {
      const Kernel kernel = scale_kernel(elements, lanes);
      std::vector<float> x = random_floats(elements, 1);
      std::vector<float> y(elements);
      std::byte* const buffers[] = {bytes(x), bytes(y)};
      interpret_all(kernel, buffers);
      for (int64_t i = 0; i < elements; ++i) ASSERT_EQ(y[i], 2 * x[i]);
    }
  }
}

TEST(Interpret, ContractionMicroKernel) {
  constexpr int64_t kM = 32, kN = 21, kK = 13;
  const Kernel kernel = dot_bias_relu({.m = kM, .n = kN, .k = kK});
  std::vector<float> x = random_floats(kM * kK, 1), w = random_floats(kK * kN, 2), bias = random_floats(kN, 3);
  std::vector<float> h(kM * kN);
  std::byte* const buffers[] = {bytes(x), bytes(w), bytes(bias), bytes(h)};
  interpret_all(kernel, buffers);
  for (int64_t m = 0; m < kM; ++m) {
    for (int64_t n = 0; n < kN; ++n) {
      float sum = 0;
      for (int64_t k = 0; k < kK; ++k) sum = std::fma(x[m * kK + k], w[k * kN + n], sum);
      ASSERT_EQ(h[m * kN + n], std::max(sum + bias[n], 0.0F));
    }
  }
}

// Kernels as texts are verified; these become wrong afterwards.
Kernel one_that(const std::string& body) {
  return parse_kernel("kernel k lanes 1 tasks 2 (x: f32[4], y: f32[4] out) {\n" + body + "\n}\n");
}

TEST(Interpret, NamesWhatIsReachedOutside) {
  Kernel kernel = one_that("  store y[2*task] = load x[task + 2]");
  std::vector<float> x(4), y(4);
  std::byte* const buffers[] = {bytes(x), bytes(y)};
  const auto error = [&] { return error_of([&] { interpret_all(kernel, buffers); }); };
  EXPECT_EQ(error(), "");
  kernel.buffers[0].elements = 3;
  EXPECT_NE(error().find("'k' reaches element 3 of x, which has 3"), std::string::npos) << error();
  kernel.buffers[0].elements = 4;
  kernel.buffers[1].elements = 2;
  EXPECT_NE(error().find("'k' reaches element 2 of y, which has 2"), std::string::npos) << error();
}

TEST(Interpret, NamesWhatTwoTasksWrite) {
  std::vector<float> x(4), y(4);
  std::byte* const buffers[] = {bytes(x), bytes(y)};
  const auto error = [&](const Kernel& kernel) {
    Writers writers(kernel);
    Interpreter interpreter(kernel);
    interpreter.run(buffers, 0, &writers);
    return error_of([&] { interpreter.run(buffers, 1, &writers); });
  };
  EXPECT_EQ(error(one_that("  store y[2*task] = load x[0]\n  store y[2*task] = load x[1]")), "");
  const std::string twice = error(one_that("  store y[3] = load x[task]"));
  EXPECT_NE(twice.find("'k': two tasks write element 3 of y"), std::string::npos) << twice;
}

// What a task leaves in tiles and scratch is not there for the next.
TEST(Interpret, TasksStartUndefined) {
  KernelBuilder b("tasks", 1);
  const BufferId y = b.output("y", DType::kI32, 4);
  const BufferId scratch = b.scratch("scratch", DType::kI32, 1);
  const TileId tile = b.tile("tile", DType::kI32, 1);
  b.set_task_count(2);
  b.store(y, b.task() * 2, b.load(scratch, 0));
  b.store(y, b.task() * 2 + 1, b.read(tile));
  b.store(scratch, 0, b.constant_int(DType::kI32, 1));
  b.set(tile, {}, b.constant_int(DType::kI32, 2));
  std::vector<int32_t> values(4);
  std::byte* const buffers[] = {reinterpret_cast<std::byte*>(values.data())};
  interpret_all(b.finish(), buffers);
  constexpr auto kUndefined = static_cast<int32_t>(0xA5A5A5A5);
  EXPECT_EQ(values, std::vector<int32_t>(4, kUndefined));
}

// Every quotient and remainder of an affine index in two loops and lanes, against C++.
TEST(Builder, DivideAndModulo) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const int lanes = round % 2 == 0 ? 8 : 1;
    const auto pick = [&](int64_t low, int64_t high) {
      return std::uniform_int_distribution<int64_t>(low, high)(random);
    };
    KernelBuilder b("divide", lanes);
    const int64_t outer = pick(1, 5), inner = pick(1, 20), step = pick(1, 2) == 1 ? 8 : pick(1, 9);
    const int64_t by = pick(0, 1) == 0 ? int64_t{1} << pick(0, 7) : pick(1, 50);
    const int64_t c0 = pick(-40, 40), c1 = pick(-3, 3) * (pick(0, 1) == 0 ? 8 : 1), c2 = pick(-1, 2);
    const int64_t cells = outer * inner * lanes;
    const BufferId quotients = b.output("q", DType::kI64, cells);
    const BufferId remainders = b.output("r", DType::kI64, cells);
    b.loop("i", 0, outer, 1, [&](Index i) {
      b.loop("j", 0, inner * step, step, [&](Index j) {
        const Index index = i * c1 + j * c2 + b.lane() + c0;
        Index cell = i * inner * lanes + b.lane();
        // j / step, which is exact.
        cell = cell + b.divide(j, step) * lanes;
        b.store(quotients, cell, b.index_value(b.divide(index, by)));
        b.store(remainders, cell, b.index_value(b.modulo(index, by)));
      });
    });
    const Kernel kernel = b.finish();
    std::vector<int64_t> q(cells), r(cells);
    std::byte* const buffers[] = {reinterpret_cast<std::byte*>(q.data()), reinterpret_cast<std::byte*>(r.data())};
    interpret_all(kernel, buffers);
    for (int64_t i = 0; i < outer; ++i) {
      for (int64_t j = 0; j < inner; ++j) {
        for (int64_t lane = 0; lane < lanes; ++lane) {
          const int64_t index = i * c1 + j * step * c2 + lane + c0;
          const int64_t cell = (i * inner + j) * lanes + lane;
          const int64_t quotient = index >= 0 ? index / by : -((-index + by - 1) / by);
          ASSERT_EQ(q[cell], quotient) << index << " / " << by;
          ASSERT_EQ(r[cell], index - quotient * by) << index << " % " << by;
        }
      }
    }
  }
}

TEST(Builder, MultiplesOfTheDivisorLeaveNoRemainder) {
  KernelBuilder b("blocks", 8);
  const BufferId y = b.output("y", DType::kI64, 8);
  b.loop("i", 0, 224, 56, [&](Index i) {
    EXPECT_EQ(b.modulo(i, 28), Index(0));
    EXPECT_EQ(b.modulo(i, 56), Index(0));
    EXPECT_EQ(b.modulo(i + b.lane(), 56), b.lane());
    EXPECT_NE(b.modulo(i, 112), Index(0));
    EXPECT_EQ(b.modulo(i * 3 + 31, 28), Index(3));
    EXPECT_EQ(b.modulo(b.divide(i, 28) - 3, 2), Index(1)) << "a quotient of multiples is a multiple";
    b.store(y, b.lane(), b.index_value(b.modulo(i, 56) + b.lane()));
  });
  b.finish();
}

TEST(Builder, ContiguousAccessSurvivesReshape) {
  KernelBuilder b("reshape", 8);
  const BufferId x = b.input("x", DType::kF32, 64 * 24);
  const BufferId y = b.output("y", DType::kF32, 64 * 24);
  b.loop("i", 0, 64 * 24, 8, [&](Index i) {
    const Index row = b.divide(i + b.lane(), 24);
    const Index column = b.modulo(i + b.lane(), 24);
    EXPECT_FALSE(b.has_lanes(row));
    EXPECT_TRUE(b.kernel().is_contiguous(row * 24 + column));
    b.store(y, i + b.lane(), b.load(x, row * 24 + column));
  });
  b.finish();
}

TEST(Builder, ExactFolding) {
  KernelBuilder b("fold", 8);
  const BufferId x = b.input("x", DType::kF32, 8);
  const Expr v = b.load(x, b.lane());
  const auto f = [&](double value) { return b.constant(DType::kF32, value); };
  EXPECT_EQ(b.apply(ScalarOp::kAdd, {v, f(-0.0)}), v);
  EXPECT_NE(b.apply(ScalarOp::kAdd, {v, f(0.0)}), v);  // -0 + 0 is +0
  EXPECT_EQ(b.apply(ScalarOp::kSubtract, {v, f(0.0)}), v);
  EXPECT_EQ(b.apply(ScalarOp::kMultiply, {f(1), v}), v);
  EXPECT_NE(b.apply(ScalarOp::kMultiply, {f(0), v})->kind, ExprKind::kConstant);  // NaN, -0
  EXPECT_EQ(b.apply(ScalarOp::kMultiply, {f(3), b.splat(f(4), 8)})->bits, bits_of_float(DType::kF32, 12));
  EXPECT_EQ(b.apply(ScalarOp::kSelect, {b.constant_int(DType::kI1, 1), v, f(2)}), v);
  EXPECT_EQ(b.in_range(b.lane(), 0, 8), nullptr);
  EXPECT_NE(b.in_range(b.lane(), 0, 7), nullptr);
}

TEST(Text, ReadsBackAsItWasWritten) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Kernel kernel = random_kernel(seed, seed % 3 == 0 ? 1 : 8);
    const std::string text = print(kernel);
    const Kernel again = parse_kernel(text);
    ASSERT_EQ(print(again), text);
    ASSERT_EQ(structural_key(again), structural_key(kernel));
    ASSERT_EQ(again.scratch_bytes, kernel.scratch_bytes);
  }
}

TEST(Text, OfAKernel) {
  const char* const text =
      "kernel scale lanes 8 tasks 4 (x: f32[1001], y: f32[1001] out) {\n"
      "  for i in 256*task .. min(1001, 256*task + 256) by 8 {\n"
      "    %0 = lt(i32[i + lane], splat(i32(1001)))\n"
      "    store y[i + lane] = multiply(load x[i + lane where %0], splat(f32(2))) where %0\n"
      "  }\n"
      "}\n";
  EXPECT_EQ(print(scale_kernel(1001, 8)), text);
  EXPECT_EQ(print(parse_kernel(text)), text);
}

TEST(Text, OfALoadInPlace) {
  const auto text = [](const char* index, const char* reload) {
    return fmt::format(
        "kernel k lanes 8 tasks 1 (x: f32[64], y: f32[64] out) {{\n"
        "  store y[lane] = fma({0} x[{1}], load x[lane], {0} x[{1}])\n"
        "}}\n",
        reload, index);
  };
  EXPECT_EQ(print(parse_kernel(text("lane + 8", "reload"))), text("lane + 8", "reload"));
  EXPECT_NE(structural_key(parse_kernel(text("lane", "reload"))), structural_key(parse_kernel(text("lane", "load"))));
  const std::string error = error_of([&] { parse_kernel(text("2*lane", "reload")); });
  EXPECT_NE(error.find("only whole vectors are loaded again"), std::string::npos) << error;
}

TEST(Text, ConstantsKeepTheirBits) {
  for (const double value :
       {0.0, -0.0, 0.1, 1e30, 1e-45, -3.5e-310, 1.0 / 3, static_cast<double>(INFINITY), static_cast<double>(NAN)}) {
    KernelBuilder b("constants", 1);
    const BufferId x = b.output("x", DType::kF32, 1), y = b.output("y", DType::kF64, 1),
                   z = b.output("z", DType::kUI64, 1);
    b.store(x, 0, b.constant(DType::kF32, value));
    b.store(y, 0, b.constant(DType::kF64, value));
    b.store(z, 0, b.constant_bits(DType::kUI64, bits_of_float(DType::kF64, value)));
    const Kernel kernel = b.finish();
    const Kernel again = parse_kernel(print(kernel));
    for (size_t k = 0; k < 3; ++k) EXPECT_EQ(again.body[k].value->bits, kernel.body[k].value->bits) << print(kernel);
  }
}

TEST(Text, ConstantsHaveNoBitsBeyondTheirType) {
  KernelBuilder b("mask", 1);
  const BufferId y = b.output("y", DType::kUI16, 1);
  b.store(y, Index(0), b.constant_bits(DType::kUI16, ~uint64_t{1023}));
  const std::string text = print(b.finish());
  EXPECT_NE(text.find("ui16(64512)"), text.npos) << text;
  EXPECT_EQ(print(parse_kernel(text)), text);
}

TEST(Text, MistakesHaveAPlace) {
  const std::string error = error_of(
      [] { parse_kernel("kernel k lanes 1 tasks 1 (y: f32[1] out) {\n  store y[0] = frobnicate(f32(1))\n}\n"); });
  EXPECT_TRUE(error.starts_with("kernel:2:16: error: ")) << error;
  EXPECT_NE(error.find("no operation has this name"), std::string::npos) << error;
}

TEST(LoopsVerify, NamesTheMistake) {
  const auto message = [](const std::function<void(KernelBuilder&)>& build) -> std::string {
    KernelBuilder b("bad", 8);
    build(b);
    const std::string error = error_of([&] { b.finish(); });
    EXPECT_TRUE(error.empty() || error.starts_with("bug: ")) << error;
    return error;
  };
  EXPECT_NE(message([](KernelBuilder& b) {
              const BufferId y = b.output("y", DType::kF32, 10);
              b.store(y, b.lane() + 8, b.constant(DType::kF32, 0));
            }).find("elements 8 to 15 leave the buffer's 10"),
            std::string::npos);
  // A loop that has no trips for the second block keeps it from leaving the buffer; one that has some does not.
  const auto stores_blocks = [&](int64_t end) {
    return message([end](KernelBuilder& b) {
      const BufferId y = b.output("y", DType::kF32, 12);
      b.loop("block", 0, 2, 1, [&](Index block) {
        b.loop("i", 0, Index(end) - block * 8, 8,
               [&](Index) { b.store(y, block * 8 + b.lane(), b.constant(DType::kF32, 0)); });
      });
    });
  };
  EXPECT_EQ(stores_blocks(5), "");
  EXPECT_NE(stores_blocks(12).find("elements 0 to 15 leave the buffer's 12"), std::string::npos);
  EXPECT_NE(message([](KernelBuilder& b) {
              const TileId t = b.tile("t", DType::kF32, 1, {4});
              b.loop("i", 0, 4, 1, [&](Index i) { b.set(t, {i}, b.constant(DType::kF32, 0)); });
            }).find("not constant once loops are unrolled"),
            std::string::npos);
  EXPECT_NE(message([](KernelBuilder& b) {
              b.output("y", DType::kF32, 1);
              b.input("x", DType::kF32, 1);
            }).find("out of order"),
            std::string::npos);
}

}  // namespace
}  // namespace ingot::loops
