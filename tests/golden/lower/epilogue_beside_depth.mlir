// run: loops for x86-64-v4
// What an epilogue reads of a large tensor is asked for beside the depth of each tile: a row of it every 48 steps.
func.func @main(%x: tensor<240x400xf32>, %w: tensor<400x1152xf32>, %y: tensor<240x1152xf32>) -> tensor<240x1152xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<240x400xf32>, tensor<400x1152xf32>) -> tensor<240x1152xf32>
  %1 = stablehlo.add %0, %y : tensor<240x1152xf32>
  return %1 : tensor<240x1152xf32>
}
// ---- expect
// after loops for x86-64-v4: 000.f32_dot_general_240x1152x400_add
kernel f32_dot_general_240x1152x400_add lanes 16 tasks 4 (x: f32[96000], w: f32[460800], y: f32[276480], out: f32[276480] out aliases y, columns: f32[38416] scratch) {
  tile sum: f32x16[8, 3]
  tile column: f32x16[3]
  for k in 0 .. 400 {
    prefetch w[288*task + 1152*k + 9216]
    prefetch w[288*task + 1152*k + 9232]
    prefetch w[288*task + 1152*k + 9248]
    for v in 0 .. 3 unroll {
      store columns[16*k + 6400*v + lane] = load w[288*task + 1152*k + 16*v + lane]
    }
  }
  for block in 6*task .. 6*task + 6 {
    let q = divide(ui32[block], ui32(2)) in 0 .. 11
    let r = i32[block - 2*q] in 0 .. 1
    let q.1 = divide(ui32[block + 1], ui32(2)) in 0 .. 12
    let r.1 = i32[block - 2*q.1 + 1] in 0 .. 1
    for rows in 0 .. 240 by 96 {
      for row in rows .. min(rows + 89, 233) by 8 {
        for r.2 in 0 .. 8 unroll {
          for v.1 in 0 .. 3 unroll {
            sum[r.2, v.1] = splat(f32(0))
          }
        }
        for r.3 in 0 .. 8 {
          prefetch y[48*block + 1152*row + 1152*r.3]
          prefetch y[48*block + 1152*row + 1152*r.3 + 16]
          prefetch y[48*block + 1152*row + 1152*r.3 + 32]
          for part in 0 .. 3 {
            if and(lt(i32[block + 1], i32(24)), ge(i32[6*task - block + 5], i32(1))) {
              let q.2 = divide(ui32[row], ui32(8)) in 0 .. 29
              for k.1 in 3*r.3 + part .. min(3*r.3 + part + 1, 14, -14*q.2 + 400) {
                prefetch w[48*block + 16128*q.2 + 1152*k.1 + 2352]
                prefetch w[48*block + 16128*q.2 + 1152*k.1 + 2368]
                prefetch w[48*block + 16128*q.2 + 1152*k.1 + 2384]
                for v.2 in 0 .. 3 unroll {
                  store columns[19200*r.1 + 224*q.2 + 16*k.1 + 6400*v.2 + lane] = load w[48*block + 16128*q.2 + 1152*k.1 + 16*v.2 + lane + 48]
                }
              }
            }
            for r.4 in 0 .. 8 unroll {
              prefetch x[400*row + 48*r.3 + 16*part + 400*r.4 + 3200]
            }
            for k.2 in 48*r.3 + 16*part .. 48*r.3 + 16*part + 16 by 4 {
              for u in 0 .. 4 unroll {
                for l in 0 .. 3 unroll {
                  prefetch columns[19200*r + 16*k.2 + 16*u + 6400*l + 128]
                }
                for v.3 in 0 .. 3 unroll {
                  column[v.3] = load columns[19200*r + 16*k.2 + 16*u + 6400*v.3 + lane]
                }
                for r.5 in 0 .. 8 unroll {
                  let row.1 = splat(load x[400*row + k.2 + u + 400*r.5])
                  for v.4 in 0 .. 3 unroll {
                    sum[r.5, v.4] = fma(row.1, column[v.4], sum[r.5, v.4])
                  }
                }
              }
            }
          }
        }
        for r.6 in 0 .. 8 unroll {
          prefetch x[400*row + 400*r.6 + 3584]
        }
        for k.3 in 384 .. 400 by 4 {
          for u.1 in 0 .. 4 unroll {
            for l.1 in 0 .. 3 unroll {
              prefetch columns[19200*r + 16*k.3 + 16*u.1 + 6400*l.1 + 128]
            }
            for v.5 in 0 .. 3 unroll {
              column[v.5] = load columns[19200*r + 16*k.3 + 16*u.1 + 6400*v.5 + lane]
            }
            for r.7 in 0 .. 8 unroll {
              let row.2 = splat(load x[400*row + k.3 + u.1 + 400*r.7])
              for v.6 in 0 .. 3 unroll {
                sum[r.7, v.6] = fma(row.2, column[v.6], sum[r.7, v.6])
              }
            }
          }
        }
        for r.8 in 0 .. 8 unroll {
          for v.7 in 0 .. 3 unroll {
            let sum.1 = sum[r.8, v.7]
            store out[48*block + 1152*row + 1152*r.8 + 16*v.7 + lane] = add(sum.1, load y[48*block + 1152*row + 1152*r.8 + 16*v.7 + lane])
          }
        }
      }
    }
  }
}
