// The kernel that measures the machine's peak of multiply-adds.
#pragma once

#include "aot/loops/builder.h"

namespace ingot {

// Independent chains of multiply-adds on registers alone: `chains` of them hide the latency. x: f32[lanes],
// y: f32[chains * lanes] out; 2 * chains * lanes * trips flops.
inline loops::Kernel multiply_adds(int lanes, int64_t chains, int64_t trips) {
  using loops::Index;
  loops::KernelBuilder b("multiply_adds", lanes);
  const loops::BufferId x = b.input("x", DType::kF32, lanes);
  const loops::BufferId y = b.output("y", DType::kF32, chains * lanes);
  const loops::TileId acc = b.tile("acc", DType::kF32, lanes, {chains});
  const loops::Expr a = b.let("a", b.load(x, b.lane()));
  b.unrolled("c", chains, [&](Index c) { b.set(acc, {c}, b.index_value(c + b.lane(), DType::kF32)); });
  b.loop("i", 0, trips, 4, [&](Index) {
    b.unrolled("u", 4, [&](Index) {
      b.unrolled("c", chains,
                 [&](Index c) { b.set(acc, {c}, b.apply(loops::ScalarOp::kFma, {a, a, b.read(acc, {c})})); });
    });
  });
  b.unrolled("c", chains, [&](Index c) { b.store(y, c * lanes + b.lane(), b.read(acc, {c})); });
  return b.finish();
}

}  // namespace ingot
