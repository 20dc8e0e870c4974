#include "aot/loops/probe_kernels.h"

#include "aot/loops/builder.h"

namespace ingot::loops {

Kernel multiply_adds(DType dtype, int lanes, int64_t chains, int64_t trips) {
  KernelBuilder b("multiply_adds", lanes);
  const BufferId x = b.input("x", dtype, lanes);
  const BufferId y = b.output("y", dtype, chains * lanes);
  const TileId acc = b.tile("acc", dtype, lanes, {chains});
  const Expr a = b.let("a", b.load(x, b.lane()));
  b.unrolled("c", chains, [&](Index c) { b.set(acc, {c}, b.index_value(c + b.lane(), dtype)); });
  b.loop("i", 0, trips, 4, [&](Index) {
    b.unrolled("u", 4, [&](Index) {
      b.unrolled("c", chains, [&](Index c) { b.set(acc, {c}, b.apply(ScalarOp::kFma, {a, a, b.read(acc, {c})})); });
    });
  });
  b.unrolled("c", chains, [&](Index c) { b.store(y, c * lanes + b.lane(), b.read(acc, {c})); });
  return b.finish();
}

Kernel add_arrays(int lanes, int64_t elements, int64_t repeats) {
  KernelBuilder b("add_arrays", lanes);
  const BufferId x = b.input("x", DType::kF32, elements);
  const BufferId y = b.output("y", DType::kF32, elements);
  b.loop("repeat", 0, repeats, 1, [&](Index) {
    b.loop("i", 0, elements, 4 * lanes, [&](Index i) {
      b.unrolled("u", 4, [&](Index u) {
        const Index at = i + u * lanes + b.lane();
        b.store(y, at, b.apply(ScalarOp::kAdd, {b.load(x, at), b.load(y, at)}));
      });
    });
  });
  return b.finish();
}

Kernel read_array(int lanes, int64_t elements, int64_t repeats) {
  KernelBuilder b("read_array", lanes);
  const BufferId x = b.input("x", DType::kF32, elements);
  const BufferId y = b.output("y", DType::kF32, 8 * lanes);
  const TileId sum = b.tile("sum", DType::kF32, lanes, {8});
  b.unrolled("u", 8, [&](Index u) { b.set(sum, {u}, b.constant_int(DType::kF32, 0)); });
  b.loop("repeat", 0, repeats, 1, [&](Index) {
    b.loop("i", 0, elements, 8 * lanes, [&](Index i) {
      b.unrolled("u", 8, [&](Index u) {
        const Expr element = b.load(x, i + u * lanes + b.lane());
        b.set(sum, {u}, b.apply(ScalarOp::kAdd, {b.read(sum, {u}), element}));
      });
    });
  });
  b.unrolled("u", 8, [&](Index u) { b.store(y, u * lanes + b.lane(), b.read(sum, {u})); });
  return b.finish();
}

Kernel fill_array(int lanes, int64_t elements, int64_t repeats) {
  KernelBuilder b("fill_array", lanes);
  const BufferId x = b.input("x", DType::kF32, lanes);
  const BufferId y = b.output("y", DType::kF32, elements);
  const Expr element = b.let("element", b.load(x, b.lane()));
  b.loop("repeat", 0, repeats, 1, [&](Index) {
    b.loop("i", 0, elements, 8 * lanes,
           [&](Index i) { b.unrolled("u", 8, [&](Index u) { b.store(y, i + u * lanes + b.lane(), element); }); });
  });
  return b.finish();
}

}  // namespace ingot::loops
