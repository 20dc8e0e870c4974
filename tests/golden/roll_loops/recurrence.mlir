// run: roll_loops
// Ten steps of h = tanh(x_t + h W), whose rows are read one by one and laid side by side again, and back through them: the
// gradient of W is a sum that starts with its first term, and what would be handed to a step before the first is not made.
// Both become loops. The second reads what the first made, and what it was handed.
func.func @main(%x: tensor<10x2x4xf32>, %w: tensor<4x4xf32>, %h0: tensor<2x4xf32>, %dy: tensor<2x4xf32>) -> (tensor<10x2x4xf32>, tensor<4x4xf32>) {
  %x0r = stablehlo.slice %x [0:1, 0:2, 0:4] : (tensor<10x2x4xf32>) -> tensor<1x2x4xf32>
  %x0 = stablehlo.reshape %x0r : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
  %p0 = stablehlo.dot_general %h0, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %s0 = stablehlo.add %x0, %p0 : tensor<2x4xf32>
  %h1 = stablehlo.tanh %s0 : tensor<2x4xf32>
  %x1r = stablehlo.slice %x [1:2, 0:2, 0:4] : (tensor<10x2x4xf32>) -> tensor<1x2x4xf32>
  %x1 = stablehlo.reshape %x1r : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
  %p1 = stablehlo.dot_general %h1, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %s1 = stablehlo.add %x1, %p1 : tensor<2x4xf32>
  %h2 = stablehlo.tanh %s1 : tensor<2x4xf32>
  %x2r = stablehlo.slice %x [2:3, 0:2, 0:4] : (tensor<10x2x4xf32>) -> tensor<1x2x4xf32>
  %x2 = stablehlo.reshape %x2r : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
  %p2 = stablehlo.dot_general %h2, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %s2 = stablehlo.add %x2, %p2 : tensor<2x4xf32>
  %h3 = stablehlo.tanh %s2 : tensor<2x4xf32>
  %x3r = stablehlo.slice %x [3:4, 0:2, 0:4] : (tensor<10x2x4xf32>) -> tensor<1x2x4xf32>
  %x3 = stablehlo.reshape %x3r : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
  %p3 = stablehlo.dot_general %h3, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %s3 = stablehlo.add %x3, %p3 : tensor<2x4xf32>
  %h4 = stablehlo.tanh %s3 : tensor<2x4xf32>
  %x4r = stablehlo.slice %x [4:5, 0:2, 0:4] : (tensor<10x2x4xf32>) -> tensor<1x2x4xf32>
  %x4 = stablehlo.reshape %x4r : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
  %p4 = stablehlo.dot_general %h4, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %s4 = stablehlo.add %x4, %p4 : tensor<2x4xf32>
  %h5 = stablehlo.tanh %s4 : tensor<2x4xf32>
  %x5r = stablehlo.slice %x [5:6, 0:2, 0:4] : (tensor<10x2x4xf32>) -> tensor<1x2x4xf32>
  %x5 = stablehlo.reshape %x5r : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
  %p5 = stablehlo.dot_general %h5, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %s5 = stablehlo.add %x5, %p5 : tensor<2x4xf32>
  %h6 = stablehlo.tanh %s5 : tensor<2x4xf32>
  %x6r = stablehlo.slice %x [6:7, 0:2, 0:4] : (tensor<10x2x4xf32>) -> tensor<1x2x4xf32>
  %x6 = stablehlo.reshape %x6r : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
  %p6 = stablehlo.dot_general %h6, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %s6 = stablehlo.add %x6, %p6 : tensor<2x4xf32>
  %h7 = stablehlo.tanh %s6 : tensor<2x4xf32>
  %x7r = stablehlo.slice %x [7:8, 0:2, 0:4] : (tensor<10x2x4xf32>) -> tensor<1x2x4xf32>
  %x7 = stablehlo.reshape %x7r : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
  %p7 = stablehlo.dot_general %h7, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %s7 = stablehlo.add %x7, %p7 : tensor<2x4xf32>
  %h8 = stablehlo.tanh %s7 : tensor<2x4xf32>
  %x8r = stablehlo.slice %x [8:9, 0:2, 0:4] : (tensor<10x2x4xf32>) -> tensor<1x2x4xf32>
  %x8 = stablehlo.reshape %x8r : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
  %p8 = stablehlo.dot_general %h8, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %s8 = stablehlo.add %x8, %p8 : tensor<2x4xf32>
  %h9 = stablehlo.tanh %s8 : tensor<2x4xf32>
  %x9r = stablehlo.slice %x [9:10, 0:2, 0:4] : (tensor<10x2x4xf32>) -> tensor<1x2x4xf32>
  %x9 = stablehlo.reshape %x9r : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
  %p9 = stablehlo.dot_general %h9, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %s9 = stablehlo.add %x9, %p9 : tensor<2x4xf32>
  %h10 = stablehlo.tanh %s9 : tensor<2x4xf32>
  %y0 = stablehlo.reshape %h1 : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
  %y1 = stablehlo.reshape %h2 : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
  %y2 = stablehlo.reshape %h3 : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
  %y3 = stablehlo.reshape %h4 : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
  %y4 = stablehlo.reshape %h5 : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
  %y5 = stablehlo.reshape %h6 : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
  %y6 = stablehlo.reshape %h7 : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
  %y7 = stablehlo.reshape %h8 : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
  %y8 = stablehlo.reshape %h9 : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
  %y9 = stablehlo.reshape %h10 : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
  %ys = stablehlo.concatenate %y0, %y1, %y2, %y3, %y4, %y5, %y6, %y7, %y8, %y9, dim = 0 : (tensor<1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<10x2x4xf32>
  %q9 = stablehlo.multiply %dy, %h10 : tensor<2x4xf32>
  %g9 = stablehlo.multiply %q9, %h10 : tensor<2x4xf32>
  %e9 = stablehlo.subtract %dy, %g9 : tensor<2x4xf32>
  %u9 = stablehlo.dot_general %h9, %e9, contracting_dims = [0] x [0] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %d9 = stablehlo.dot_general %e9, %w, contracting_dims = [1] x [1] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %q8 = stablehlo.multiply %d9, %h9 : tensor<2x4xf32>
  %g8 = stablehlo.multiply %q8, %h9 : tensor<2x4xf32>
  %e8 = stablehlo.subtract %d9, %g8 : tensor<2x4xf32>
  %u8 = stablehlo.dot_general %h8, %e8, contracting_dims = [0] x [0] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %a8 = stablehlo.add %u9, %u8 : tensor<4x4xf32>
  %d8 = stablehlo.dot_general %e8, %w, contracting_dims = [1] x [1] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %q7 = stablehlo.multiply %d8, %h8 : tensor<2x4xf32>
  %g7 = stablehlo.multiply %q7, %h8 : tensor<2x4xf32>
  %e7 = stablehlo.subtract %d8, %g7 : tensor<2x4xf32>
  %u7 = stablehlo.dot_general %h7, %e7, contracting_dims = [0] x [0] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %a7 = stablehlo.add %a8, %u7 : tensor<4x4xf32>
  %d7 = stablehlo.dot_general %e7, %w, contracting_dims = [1] x [1] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %q6 = stablehlo.multiply %d7, %h7 : tensor<2x4xf32>
  %g6 = stablehlo.multiply %q6, %h7 : tensor<2x4xf32>
  %e6 = stablehlo.subtract %d7, %g6 : tensor<2x4xf32>
  %u6 = stablehlo.dot_general %h6, %e6, contracting_dims = [0] x [0] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %a6 = stablehlo.add %a7, %u6 : tensor<4x4xf32>
  %d6 = stablehlo.dot_general %e6, %w, contracting_dims = [1] x [1] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %q5 = stablehlo.multiply %d6, %h6 : tensor<2x4xf32>
  %g5 = stablehlo.multiply %q5, %h6 : tensor<2x4xf32>
  %e5 = stablehlo.subtract %d6, %g5 : tensor<2x4xf32>
  %u5 = stablehlo.dot_general %h5, %e5, contracting_dims = [0] x [0] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %a5 = stablehlo.add %a6, %u5 : tensor<4x4xf32>
  %d5 = stablehlo.dot_general %e5, %w, contracting_dims = [1] x [1] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %q4 = stablehlo.multiply %d5, %h5 : tensor<2x4xf32>
  %g4 = stablehlo.multiply %q4, %h5 : tensor<2x4xf32>
  %e4 = stablehlo.subtract %d5, %g4 : tensor<2x4xf32>
  %u4 = stablehlo.dot_general %h4, %e4, contracting_dims = [0] x [0] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %a4 = stablehlo.add %a5, %u4 : tensor<4x4xf32>
  %d4 = stablehlo.dot_general %e4, %w, contracting_dims = [1] x [1] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %q3 = stablehlo.multiply %d4, %h4 : tensor<2x4xf32>
  %g3 = stablehlo.multiply %q3, %h4 : tensor<2x4xf32>
  %e3 = stablehlo.subtract %d4, %g3 : tensor<2x4xf32>
  %u3 = stablehlo.dot_general %h3, %e3, contracting_dims = [0] x [0] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %a3 = stablehlo.add %a4, %u3 : tensor<4x4xf32>
  %d3 = stablehlo.dot_general %e3, %w, contracting_dims = [1] x [1] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %q2 = stablehlo.multiply %d3, %h3 : tensor<2x4xf32>
  %g2 = stablehlo.multiply %q2, %h3 : tensor<2x4xf32>
  %e2 = stablehlo.subtract %d3, %g2 : tensor<2x4xf32>
  %u2 = stablehlo.dot_general %h2, %e2, contracting_dims = [0] x [0] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %a2 = stablehlo.add %a3, %u2 : tensor<4x4xf32>
  %d2 = stablehlo.dot_general %e2, %w, contracting_dims = [1] x [1] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %q1 = stablehlo.multiply %d2, %h2 : tensor<2x4xf32>
  %g1 = stablehlo.multiply %q1, %h2 : tensor<2x4xf32>
  %e1 = stablehlo.subtract %d2, %g1 : tensor<2x4xf32>
  %u1 = stablehlo.dot_general %h1, %e1, contracting_dims = [0] x [0] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %a1 = stablehlo.add %a2, %u1 : tensor<4x4xf32>
  %d1 = stablehlo.dot_general %e1, %w, contracting_dims = [1] x [1] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %q0 = stablehlo.multiply %d1, %h1 : tensor<2x4xf32>
  %g0 = stablehlo.multiply %q0, %h1 : tensor<2x4xf32>
  %e0 = stablehlo.subtract %d1, %g0 : tensor<2x4xf32>
  %u0 = stablehlo.dot_general %h0, %e0, contracting_dims = [0] x [0] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %a0 = stablehlo.add %a1, %u0 : tensor<4x4xf32>
  return %ys, %a0 : tensor<10x2x4xf32>, tensor<4x4xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<10x2x4xf32>, %w: tensor<4x4xf32>, %h0: tensor<2x4xf32>, %dy: tensor<2x4xf32>) -> (tensor<10x2x4xf32>, tensor<4x4xf32>) {
    %0 = stablehlo.constant dense<0.000000e+00> : tensor<10x2x4xf32>
    %1 = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.constant dense<0.000000e+00> : tensor<10x2x4xf32>
    %3:4 = stablehlo.while(%arg0 = %h0, %arg1 = %0, %arg2 = %1, %arg3 = %2) : tensor<2x4xf32>, tensor<10x2x4xf32>, tensor<i32>, tensor<10x2x4xf32>
    cond {
      %4 = stablehlo.constant dense<10> : tensor<i32>
      %5 = stablehlo.compare LT, %arg2, %4 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %5 : tensor<i1>
    } do {
      %6 = stablehlo.constant dense<0> : tensor<i32>
      %7 = stablehlo.constant dense<0> : tensor<i32>
      %8 = stablehlo.dynamic_slice %x, %arg2, %6, %7, sizes = [1, 2, 4] : (tensor<10x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x4xf32>
      %x5 = stablehlo.reshape %8 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
      %p5 = stablehlo.dot_general %arg0, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
      %s5 = stablehlo.add %x5, %p5 : tensor<2x4xf32>
      %h6 = stablehlo.tanh %s5 : tensor<2x4xf32>
      %9 = stablehlo.reshape %h6 : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
      %10 = stablehlo.constant dense<0> : tensor<i32>
      %11 = stablehlo.constant dense<0> : tensor<i32>
      %12 = stablehlo.dynamic_update_slice %arg1, %9, %arg2, %10, %11 : (tensor<10x2x4xf32>, tensor<1x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<10x2x4xf32>
      %13 = stablehlo.constant dense<1> : tensor<i32>
      %14 = stablehlo.add %arg2, %13 : tensor<i32>
      %15 = stablehlo.reshape %arg0 : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
      %16 = stablehlo.dynamic_update_slice %arg3, %15, %arg2, %10, %11 : (tensor<10x2x4xf32>, tensor<1x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<10x2x4xf32>
      stablehlo.return %h6, %12, %14, %16 : tensor<2x4xf32>, tensor<10x2x4xf32>, tensor<i32>, tensor<10x2x4xf32>
    }
    %17 = stablehlo.slice %3#1 [8:9, 0:2, 0:4] : (tensor<10x2x4xf32>) -> tensor<1x2x4xf32>
    %18 = stablehlo.reshape %17 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
    %19 = stablehlo.slice %3#1 [9:10, 0:2, 0:4] : (tensor<10x2x4xf32>) -> tensor<1x2x4xf32>
    %20 = stablehlo.reshape %19 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
    %21 = stablehlo.reshape %3#1 : (tensor<10x2x4xf32>) -> tensor<10x1x2x4xf32>
    %22 = stablehlo.transpose %21, dims = [0, 1, 2, 3] : (tensor<10x1x2x4xf32>) -> tensor<10x1x2x4xf32>
    %ys = stablehlo.reshape %22 : (tensor<10x1x2x4xf32>) -> tensor<10x2x4xf32>
    %q9 = stablehlo.multiply %dy, %20 : tensor<2x4xf32>
    %g9 = stablehlo.multiply %q9, %20 : tensor<2x4xf32>
    %e9 = stablehlo.subtract %dy, %g9 : tensor<2x4xf32>
    %u9 = stablehlo.dot_general %18, %e9, contracting_dims = [0] x [0] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
    %23 = stablehlo.constant dense<0> : tensor<i32>
    %24:3 = stablehlo.while(%arg4 = %e9, %arg5 = %u9, %arg6 = %23) : tensor<2x4xf32>, tensor<4x4xf32>, tensor<i32>
    cond {
      %25 = stablehlo.constant dense<9> : tensor<i32>
      %26 = stablehlo.compare LT, %arg6, %25 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %26 : tensor<i1>
    } do {
      %d5 = stablehlo.dot_general %arg4, %w, contracting_dims = [1] x [1] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
      %27 = stablehlo.constant dense<8> : tensor<i32>
      %28 = stablehlo.subtract %27, %arg6 : tensor<i32>
      %29 = stablehlo.constant dense<0> : tensor<i32>
      %30 = stablehlo.constant dense<0> : tensor<i32>
      %31 = stablehlo.dynamic_slice %3#1, %28, %29, %30, sizes = [1, 2, 4] : (tensor<10x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x4xf32>
      %32 = stablehlo.reshape %31 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
      %q4 = stablehlo.multiply %d5, %32 : tensor<2x4xf32>
      %33 = stablehlo.constant dense<8> : tensor<i32>
      %34 = stablehlo.subtract %33, %arg6 : tensor<i32>
      %35 = stablehlo.constant dense<0> : tensor<i32>
      %36 = stablehlo.constant dense<0> : tensor<i32>
      %37 = stablehlo.dynamic_slice %3#1, %34, %35, %36, sizes = [1, 2, 4] : (tensor<10x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x4xf32>
      %38 = stablehlo.reshape %37 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
      %g4 = stablehlo.multiply %q4, %38 : tensor<2x4xf32>
      %e4 = stablehlo.subtract %d5, %g4 : tensor<2x4xf32>
      %39 = stablehlo.constant dense<8> : tensor<i32>
      %40 = stablehlo.subtract %39, %arg6 : tensor<i32>
      %41 = stablehlo.constant dense<0> : tensor<i32>
      %42 = stablehlo.constant dense<0> : tensor<i32>
      %43 = stablehlo.dynamic_slice %3#3, %40, %41, %42, sizes = [1, 2, 4] : (tensor<10x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x4xf32>
      %44 = stablehlo.reshape %43 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
      %u4 = stablehlo.dot_general %44, %e4, contracting_dims = [0] x [0] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
      %a4 = stablehlo.add %arg5, %u4 : tensor<4x4xf32>
      %45 = stablehlo.constant dense<1> : tensor<i32>
      %46 = stablehlo.add %arg6, %45 : tensor<i32>
      stablehlo.return %e4, %a4, %46 : tensor<2x4xf32>, tensor<4x4xf32>, tensor<i32>
    }
    return %ys, %24#1 : tensor<10x2x4xf32>, tensor<4x4xf32>
  }
}
