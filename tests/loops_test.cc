#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "aot/base/error.h"
#include "aot/loops/builder.h"
#include "aot/loops/interpret.h"
#include "aot/loops/scalar.h"

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

Kernel scale_kernel(int64_t elements, int lanes) {
  KernelBuilder b("scale", lanes);
  const BufferId x = b.input("x", DType::kF32, elements);
  const BufferId y = b.output("y", DType::kF32, elements);
  b.set_task_count((elements + 255) / 256);
  b.loop("i", b.task() * 256, elements, lanes,
         [&](Index i) {
           const Expr mask = b.in_range(i + b.lane(), 0, elements);
           const Expr value = b.load(x, i + b.lane(), mask);
           b.store(y, i + b.lane(), b.apply(ScalarOp::kMultiply, {value, b.constant(DType::kF32, 2)}), mask);
         },
         {b.task() * 256 + 256});
  return b.finish();
}

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

// The contraction micro-kernel: h[m, n] = max(sum over k of x[m, k] * w[k, n] + b[n], 0), in tiles of 6 x 16.
Kernel dot_bias_relu(int64_t m_extent, int64_t n_extent, int64_t k_extent) {
  constexpr int64_t kRows = 6, kColumns = 2, kLanes = 8;
  KernelBuilder b("f32_dot_bias_relu", kLanes);
  const BufferId x = b.input("x", DType::kF32, m_extent * k_extent);
  const BufferId w = b.input("w", DType::kF32, k_extent * n_extent);
  const BufferId bias = b.input("b", DType::kF32, n_extent);
  const BufferId h = b.output("h", DType::kF32, m_extent * n_extent);
  const TileId acc = b.tile("acc", DType::kF32, kLanes, {kRows, kColumns});
  b.set_task_count((m_extent + kRows - 1) / kRows);
  const Index m = b.task() * kRows;
  const auto rows = [&](const std::function<void(Index)>& body) {
    b.unrolled("r", kRows, [&](Index r) { b.if_then(b.in_range(m + r, 0, m_extent), [&] { body(r); }); });
  };
  b.loop("n", 0, n_extent, kColumns * kLanes, [&](Index n) {
    rows([&](Index r) { b.unrolled("v", kColumns, [&](Index v) { b.set(acc, {r, v}, b.constant(DType::kF32, 0)); }); });
    b.loop("k", 0, k_extent, 1, [&](Index k) {
      Expr columns[kColumns];
      for (int64_t v = 0; v < kColumns; ++v) {
        const Index at = n + v * kLanes + b.lane();
        columns[v] = b.let("b", b.load(w, k * n_extent + at, b.in_range(at, 0, n_extent)));
      }
      rows([&](Index r) {
        const Expr a = b.let("a", b.load(x, (m + r) * k_extent + k));
        for (int64_t v = 0; v < kColumns; ++v) {
          b.set(acc, {r, v}, b.apply(ScalarOp::kFma, {a, columns[v], b.read(acc, {r, v})}));
        }
      });
    });
    rows([&](Index r) {
      b.unrolled("v", kColumns, [&](Index v) {
        const Index at = n + v * kLanes + b.lane();
        const Expr mask = b.in_range(at, 0, n_extent);
        const Expr sum = b.apply(ScalarOp::kAdd, {b.read(acc, {r, v}), b.load(bias, at, mask)});
        b.store(h, (m + r) * n_extent + at, b.apply(ScalarOp::kMaximum, {sum, b.constant(DType::kF32, 0)}), mask);
      });
    });
  });
  return b.finish();
}

TEST(Interpret, ContractionMicroKernel) {
  constexpr int64_t kM = 32, kN = 21, kK = 13;
  const Kernel kernel = dot_bias_relu(kM, kN, kK);
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

TEST(Verify, NamesTheMistake) {
  const auto message = [](const std::function<void(KernelBuilder&)>& build) -> std::string {
    KernelBuilder b("bad", 8);
    build(b);
    try {
      b.finish();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBug);
      return error.message();
    }
    return "";
  };
  EXPECT_NE(message([](KernelBuilder& b) {
              const BufferId y = b.output("y", DType::kF32, 10);
              b.store(y, b.lane() + 8, b.constant(DType::kF32, 0));
            }).find("elements 8 to 15 leave the buffer's 10"),
            std::string::npos);
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
