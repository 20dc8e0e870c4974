// Small kernels that several judges use.
#pragma once

#include "aot/base/divide.h"
#include "aot/loops/builder.h"

namespace ingot::loops {

// y = 2 * x in tasks of 256 elements, with a masked edge.
inline Kernel scale_kernel(int64_t elements, int lanes) {
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

struct MicroKernelShape {
  int64_t m, n, k;
  int64_t rows = 6;     // of the register tile
  int64_t vectors = 2;  // its columns, in vectors
  int lanes = 8;
  int64_t k_unroll = 4;
};

// The contraction micro-kernel: h[m, n] = max(sum over k of x[m, k] * w[k, n] + bias[n], 0) in register tiles. Whole
// tiles run without a mask; the last rows and columns have loops of their own.
inline Kernel dot_bias_relu(const MicroKernelShape& s) {
  KernelBuilder b("dot_bias_relu", s.lanes);
  const BufferId x = b.input("x", DType::kF32, s.m * s.k);
  const BufferId w = b.input("w", DType::kF32, s.k * s.n);
  const BufferId bias = b.input("b", DType::kF32, s.n);
  const BufferId h = b.output("h", DType::kF32, s.m * s.n);
  const TileId acc = b.tile("acc", DType::kF32, s.lanes, {s.rows, s.vectors});
  b.set_task_count(divide_up(s.m, s.rows));
  const Index m = b.task() * s.rows;
  const auto tile = [&](Index n, int64_t rows) {
    const auto each = [&](const std::function<void(Index, Index)>& body) {
      b.unrolled("r", rows, [&](Index r) { b.unrolled("v", s.vectors, [&](Index v) { body(r, v); }); });
    };
    const auto column = [&](const Index& v) { return n + v * s.lanes + b.lane(); };
    const auto step = [&](Index k) {
      std::vector<Expr> columns;
      for (int64_t v = 0; v < s.vectors; ++v) {
        columns.push_back(b.let("b", b.load(w, k * s.n + column(v), b.in_range(column(v), 0, s.n))));
      }
      b.unrolled("r", rows, [&](Index r) {
        const Expr a = b.let("a", b.load(x, (m + r) * s.k + k));
        for (int64_t v = 0; v < s.vectors; ++v) {
          b.set(acc, {r, v}, b.apply(ScalarOp::kFma, {a, columns[v], b.read(acc, {r, v})}));
        }
      });
    };
    each([&](Index r, Index v) { b.set(acc, {r, v}, b.constant(DType::kF32, 0)); });
    const int64_t whole = s.k / s.k_unroll * s.k_unroll;
    b.loop("k", 0, whole, s.k_unroll, [&](Index k) { b.unrolled("u", s.k_unroll, [&](Index u) { step(k + u); }); });
    b.loop("k", whole, s.k, 1, step);
    each([&](Index r, Index v) {
      const Expr mask = b.in_range(column(v), 0, s.n);
      const Expr sum = b.apply(ScalarOp::kAdd, {b.read(acc, {r, v}), b.load(bias, column(v), mask)});
      b.store(h, (m + r) * s.n + column(v), b.apply(ScalarOp::kMaximum, {sum, b.constant(DType::kF32, 0)}), mask);
    });
  };
  const auto columns = [&](int64_t rows) {
    const int64_t width = s.vectors * s.lanes;
    const int64_t whole = s.n / width * width;
    b.loop("n", 0, whole, width, [&](Index n) { tile(n, rows); });
    if (whole < s.n) tile(whole, rows);
  };
  if (s.m % s.rows == 0) {
    columns(s.rows);
  } else {
    b.if_then(b.in_range(b.task(), 0, s.m / s.rows), [&] { columns(s.rows); }, [&] { columns(s.m % s.rows); });
  }
  return b.finish();
}

// Adam on `elements` parameters in tasks of 4096, each new value in place of the old one where the plan wants that.
inline Kernel adam(int64_t elements) {
  constexpr int kLanes = 8;
  KernelBuilder b("adam", kLanes);
  const auto f = [&](double value) { return b.constant(DType::kF32, value); };
  const auto multiply = [&](Expr x, Expr y) { return b.apply(ScalarOp::kMultiply, {x, y}); };
  const BufferId gradient = b.input("gradient", DType::kF32, elements);
  const BufferId rate = b.input("rate", DType::kF32, 1);
  std::vector<BufferId> in, out;
  for (const char* const name : {"p", "m", "v"}) in.push_back(b.input(name, DType::kF32, elements));
  for (const char* const name : {"p.new", "m.new", "v.new"}) {
    out.push_back(b.output(name, DType::kF32, elements, in[out.size()]));
  }
  b.set_task_count((elements + 4095) / 4096);
  b.loop("i", b.task() * 4096, elements, kLanes,
         [&](Index i) {
           const Index at = i + b.lane();
           const Expr mask = b.in_range(at, 0, elements);
           const Expr g = b.load(gradient, at, mask);
           const Expr m = b.apply(ScalarOp::kFma, {f(0.9), b.load(in[1], at, mask), multiply(f(0.1), g)});
           const Expr v =
               b.apply(ScalarOp::kFma, {f(0.999), b.load(in[2], at, mask), multiply(f(0.001), multiply(g, g))});
           const Expr root = b.apply(ScalarOp::kAdd, {b.apply(ScalarOp::kSqrt, {v}), f(1e-8)});
           const Expr step = b.apply(ScalarOp::kDivide, {multiply(b.load(rate, 0), m), root});
           b.store(out[0], at, b.apply(ScalarOp::kSubtract, {b.load(in[0], at, mask), step}), mask);
           b.store(out[1], at, m, mask);
           b.store(out[2], at, v, mask);
         },
         {b.task() * 4096 + 4096});
  return b.finish();
}

}  // namespace ingot::loops
