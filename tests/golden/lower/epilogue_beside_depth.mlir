// run: loops for x86-64-v4
// What an epilogue reads of a large tensor is asked for beside the depth of each tile: a row of it every 48 steps.
func.func @main(%x: tensor<240x400xf32>, %w: tensor<400x1152xf32>, %y: tensor<240x1152xf32>) -> tensor<240x1152xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<240x400xf32>, tensor<400x1152xf32>) -> tensor<240x1152xf32>
  %1 = stablehlo.add %0, %y : tensor<240x1152xf32>
  return %1 : tensor<240x1152xf32>
}
// ---- expect
// after loops for x86-64-v4: 000.f32_dot_general_240x1152x400_add
kernel f32_dot_general_240x1152x400_add lanes 16 tasks 4 (x: f32[96000], w: f32[460800], y: f32[276480], out: f32[276480] out aliases y, columns: f32[19216] scratch) {
  tile sum: f32x16[8, 3]
  tile column: f32x16[3]
  for block in 6*task .. 6*task + 6 {
    for k in 0 .. 400 {
      prefetch w[48*block + 1152*k + 9216]
      prefetch w[48*block + 1152*k + 9232]
      prefetch w[48*block + 1152*k + 9248]
      for v in 0 .. 3 unroll {
        store columns[16*k + 6400*v + lane] = load w[48*block + 1152*k + 16*v + lane]
      }
    }
    for rows in 0 .. 240 by 96 {
      for row in rows .. min(rows + 89, 233) by 8 {
        for r in 0 .. 8 unroll {
          for v.1 in 0 .. 3 unroll {
            sum[r, v.1] = splat(f32(0))
          }
        }
        for r.1 in 0 .. 8 {
          prefetch y[48*block + 1152*row + 1152*r.1]
          prefetch y[48*block + 1152*row + 1152*r.1 + 16]
          prefetch y[48*block + 1152*row + 1152*r.1 + 32]
          for k.1 in 48*r.1 .. 48*r.1 + 48 by 16 {
            for r.2 in 0 .. 8 unroll {
              prefetch x[400*row + k.1 + 400*r.2 + 3200]
            }
            for k.2 in k.1 .. k.1 + 16 by 4 {
              for u in 0 .. 4 unroll {
                for v.2 in 0 .. 3 unroll {
                  column[v.2] = load columns[16*k.2 + 16*u + 6400*v.2 + lane]
                }
                for r.3 in 0 .. 8 unroll {
                  let row.1 = splat(load x[400*row + k.2 + u + 400*r.3])
                  for v.3 in 0 .. 3 unroll {
                    sum[r.3, v.3] = fma(row.1, column[v.3], sum[r.3, v.3])
                  }
                }
              }
            }
          }
        }
        for r.4 in 0 .. 8 unroll {
          prefetch x[400*row + 400*r.4 + 3584]
        }
        for k.3 in 384 .. 400 by 4 {
          for u.1 in 0 .. 4 unroll {
            for v.4 in 0 .. 3 unroll {
              column[v.4] = load columns[16*k.3 + 16*u.1 + 6400*v.4 + lane]
            }
            for r.5 in 0 .. 8 unroll {
              let row.2 = splat(load x[400*row + k.3 + u.1 + 400*r.5])
              for v.5 in 0 .. 3 unroll {
                sum[r.5, v.5] = fma(row.2, column[v.5], sum[r.5, v.5])
              }
            }
          }
        }
        for r.6 in 0 .. 8 unroll {
          for v.6 in 0 .. 3 unroll {
            let sum.1 = sum[r.6, v.6]
            store out[48*block + 1152*row + 1152*r.6 + 16*v.6 + lane] = add(sum.1, load y[48*block + 1152*row + 1152*r.6 + 16*v.6 + lane])
          }
        }
      }
    }
  }
}
