// run: count_trips
// A counter that starts, steps and ends at constants is counted; a bound that is data is not, nor another comparison.
func.func @main(%x: tensor<f32>, %n: tensor<i32>) -> (tensor<f32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %0:2 = stablehlo.while(%a = %x, %i = %zero) : tensor<f32>, tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.add %a, %a : tensor<f32>
    %3 = stablehlo.add %three, %i : tensor<i32>
    stablehlo.return %2, %3 : tensor<f32>, tensor<i32>
  }
  %4:2 = stablehlo.while(%a = %x, %i = %zero) : tensor<f32>, tensor<i32>
  cond {
    %5 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %5 : tensor<i1>
  } do {
    %6 = stablehlo.add %a, %a : tensor<f32>
    %7 = stablehlo.add %i, %three : tensor<i32>
    stablehlo.return %6, %7 : tensor<f32>, tensor<i32>
  }
  %8:2 = stablehlo.while(%a = %x, %i = %zero) : tensor<f32>, tensor<i32>
  cond {
    %9 = stablehlo.compare NE, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %9 : tensor<i1>
  } do {
    %10 = stablehlo.add %i, %ten : tensor<i32>
    stablehlo.return %a, %10 : tensor<f32>, tensor<i32>
  }
  return %0#0, %4#0 : tensor<f32>, tensor<f32>
}
// ---- expect
module {
  func.func @main(%x: tensor<f32>, %n: tensor<i32>) -> (tensor<f32>, tensor<f32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %three = stablehlo.constant dense<3> : tensor<i32>
    %ten = stablehlo.constant dense<10> : tensor<i32>
    %0:2 = stablehlo.while(%a = %x, %i = %zero) : tensor<f32>, tensor<i32> attributes {ingot.trip_count = 4 : i64}
    cond {
      %1 = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %2 = stablehlo.add %a, %a : tensor<f32>
      %3 = stablehlo.add %three, %i : tensor<i32>
      stablehlo.return %2, %3 : tensor<f32>, tensor<i32>
    }
    %4:2 = stablehlo.while(%a_0 = %x, %i_0 = %zero) : tensor<f32>, tensor<i32>
    cond {
      %5 = stablehlo.compare LT, %i_0, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %5 : tensor<i1>
    } do {
      %6 = stablehlo.add %a_0, %a_0 : tensor<f32>
      %7 = stablehlo.add %i_0, %three : tensor<i32>
      stablehlo.return %6, %7 : tensor<f32>, tensor<i32>
    }
    %8:2 = stablehlo.while(%a_1 = %x, %i_1 = %zero) : tensor<f32>, tensor<i32>
    cond {
      %9 = stablehlo.compare NE, %i_1, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    } do {
      %10 = stablehlo.add %i_1, %ten : tensor<i32>
      stablehlo.return %a_1, %10 : tensor<f32>, tensor<i32>
    }
    return %0#0, %4#0 : tensor<f32>, tensor<f32>
  }
}
