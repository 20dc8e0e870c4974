// run: mark_triangles
// Constants, differences of indices that are added as -inf, windows, slices and transposes are seen through. Not marked are
// masks by data, results that others read, and such that go where 0 makes no number: %log and %quotient.
func.func @constant(%x: tensor<4x6xf32>, %y: tensor<6x4xf32>) -> tensor<4x4xf32> {
  %m = stablehlo.constant dense<[[1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1.0, 1.0]]> : tensor<4x4xf32>
  %product = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<4x4xf32>
  %lower = stablehlo.multiply %product, %m : tensor<4x4xf32>
  %square = stablehlo.dot_general %lower, %lower, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %square : tensor<4x4xf32>
}
func.func @added(%x: tensor<3x8x6xf32>, %y: tensor<3x6x8xf32>) -> tensor<3x1x8x8xf32> {
  %j = stablehlo.iota dim = 1 : tensor<8x8xi64>
  %i = stablehlo.iota dim = 0 : tensor<8x8xi64>
  %ahead = stablehlo.subtract %j, %i : tensor<8x8xi64>
  %two = stablehlo.constant dense<2> : tensor<8x8xi64>
  %seen = stablehlo.compare LE, %ahead, %two : (tensor<8x8xi64>, tensor<8x8xi64>) -> tensor<8x8xi1>
  %zero = stablehlo.constant dense<0.0> : tensor<8x8xf32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<8x8xf32>
  %bias = stablehlo.select %seen, %zero, %least : tensor<8x8xi1>, tensor<8x8xf32>
  %biases = stablehlo.broadcast_in_dim %bias, dims = [2, 3] : (tensor<8x8xf32>) -> tensor<3x1x8x8xf32>
  %product = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x6xf32>, tensor<3x6x8xf32>) -> tensor<3x8x8xf32>
  %scores = stablehlo.reshape %product : (tensor<3x8x8xf32>) -> tensor<3x1x8x8xf32>
  %masked = stablehlo.add %scores, %biases : tensor<3x1x8x8xf32>
  return %masked : tensor<3x1x8x8xf32>
}
func.func @window(%x: tensor<8x6xf32>, %y: tensor<6x8xf32>) -> tensor<8x8xf32> {
  %i = stablehlo.iota dim = 0 : tensor<8x8xi32>
  %j = stablehlo.iota dim = 1 : tensor<8x8xi32>
  %two = stablehlo.constant dense<2> : tensor<8x8xi32>
  %past = stablehlo.subtract %i, %j : tensor<8x8xi32>
  %is_near = stablehlo.compare LT, %past, %two : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
  %is_past = stablehlo.compare GE, %i, %j : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
  %seen = stablehlo.and %is_near, %is_past : tensor<8x8xi1>
  %zeros = stablehlo.constant dense<0.0> : tensor<8x8xf32>
  %product = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<8x6xf32>, tensor<6x8xf32>) -> tensor<8x8xf32>
  %seen_of = stablehlo.select %seen, %product, %zeros : tensor<8x8xi1>, tensor<8x8xf32>
  return %seen_of : tensor<8x8xf32>
}
func.func @slice(%x: tensor<6x8xf32>, %y: tensor<8x4xf32>) -> tensor<5x4xf32> {
  %i = stablehlo.iota dim = 0 : tensor<6x8xi32>
  %j = stablehlo.iota dim = 1 : tensor<6x8xi32>
  %seen = stablehlo.compare GT, %j, %i : (tensor<6x8xi32>, tensor<6x8xi32>) -> tensor<6x8xi1>
  %zeros = stablehlo.constant dense<0.0> : tensor<6x8xf32>
  %upper = stablehlo.select %seen, %x, %zeros : tensor<6x8xi1>, tensor<6x8xf32>
  %rows = stablehlo.slice %upper [1:6, 0:8] : (tensor<6x8xf32>) -> tensor<5x8xf32>
  %across = stablehlo.transpose %rows, dims = [1, 0] : (tensor<5x8xf32>) -> tensor<8x5xf32>
  %product = stablehlo.dot_general %across, %y, contracting_dims = [0] x [0] : (tensor<8x5xf32>, tensor<8x4xf32>) -> tensor<5x4xf32>
  return %product : tensor<5x4xf32>
}
func.func @unmarked(%x: tensor<8x6xf32>, %y: tensor<6x8xf32>, %first: tensor<i32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %i = stablehlo.iota dim = 0 : tensor<8x8xi32>
  %j = stablehlo.iota dim = 1 : tensor<8x8xi32>
  %is_past = stablehlo.compare GE, %i, %j : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
  %ones = stablehlo.constant dense<1.0> : tensor<8x8xf32>
  %zeros = stablehlo.constant dense<0.0> : tensor<8x8xf32>
  %lower = stablehlo.select %is_past, %ones, %zeros : tensor<8x8xi1>, tensor<8x8xf32>
  %starts = stablehlo.broadcast_in_dim %first, dims = [] : (tensor<i32>) -> tensor<8x8xi32>
  %after = stablehlo.add %i, %starts : tensor<8x8xi32>
  %is_known = stablehlo.compare GE, %after, %j : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
  %by_data = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<8x6xf32>, tensor<6x8xf32>) -> tensor<8x8xf32>
  %cached = stablehlo.select %is_known, %by_data, %zeros : tensor<8x8xi1>, tensor<8x8xf32>
  %read = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0], precision = [HIGH, HIGH] : (tensor<8x6xf32>, tensor<6x8xf32>) -> tensor<8x8xf32>
  %hidden = stablehlo.select %is_past, %read, %zeros : tensor<8x8xi1>, tensor<8x8xf32>
  %logged = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<8x6xf32>, tensor<6x8xf32>) -> tensor<8x8xf32>
  %log = stablehlo.log %logged : tensor<8x8xf32>
  %log_seen = stablehlo.multiply %log, %lower : tensor<8x8xf32>
  %divisor = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<8x6xf32>, tensor<6x8xf32>) -> tensor<8x8xf32>
  %quotient = stablehlo.divide %ones, %divisor : tensor<8x8xf32>
  %quotient_seen = stablehlo.multiply %quotient, %lower : tensor<8x8xf32>
  return %cached, %read, %hidden, %log_seen, %quotient_seen : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}
// ---- expect
module {
  func.func @constant(%x: tensor<4x6xf32>, %y: tensor<6x4xf32>) -> tensor<4x4xf32> {
    %m = stablehlo.constant dense<[[1.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00], [1.000000e+00, 1.000000e+00, 0.000000e+00, 0.000000e+00], [1.000000e+00, 1.000000e+00, 1.000000e+00, 0.000000e+00], [1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00]]> : tensor<4x4xf32>
    %product = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] {ingot.triangles = array<i64: 1, 0, 0>} : (tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<4x4xf32>
    %lower = stablehlo.multiply %product, %m : tensor<4x4xf32>
    %square = stablehlo.dot_general %lower, %lower, contracting_dims = [1] x [0] {ingot.triangles = array<i64: 2, 0, 0, 1, 2, 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %square : tensor<4x4xf32>
  }
  func.func @added(%x: tensor<3x8x6xf32>, %y: tensor<3x6x8xf32>) -> tensor<3x1x8x8xf32> {
    %j = stablehlo.iota dim = 1 : tensor<8x8xi64>
    %i = stablehlo.iota dim = 0 : tensor<8x8xi64>
    %ahead = stablehlo.subtract %j, %i : tensor<8x8xi64>
    %two = stablehlo.constant dense<2> : tensor<8x8xi64>
    %seen = stablehlo.compare LE, %ahead, %two : (tensor<8x8xi64>, tensor<8x8xi64>) -> tensor<8x8xi1>
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<8x8xf32>
    %least = stablehlo.constant dense<0xFF800000> : tensor<8x8xf32>
    %bias = stablehlo.select %seen, %zero, %least : tensor<8x8xi1>, tensor<8x8xf32>
    %biases = stablehlo.broadcast_in_dim %bias, dims = [2, 3] : (tensor<8x8xf32>) -> tensor<3x1x8x8xf32>
    %product = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1] {ingot.triangles = array<i64: 2, 1, 2>} : (tensor<3x8x6xf32>, tensor<3x6x8xf32>) -> tensor<3x8x8xf32>
    %scores = stablehlo.reshape %product : (tensor<3x8x8xf32>) -> tensor<3x1x8x8xf32>
    %masked = stablehlo.add %scores, %biases : tensor<3x1x8x8xf32>
    return %masked : tensor<3x1x8x8xf32>
  }
  func.func @window(%x: tensor<8x6xf32>, %y: tensor<6x8xf32>) -> tensor<8x8xf32> {
    %i = stablehlo.iota dim = 0 : tensor<8x8xi32>
    %j = stablehlo.iota dim = 1 : tensor<8x8xi32>
    %two = stablehlo.constant dense<2> : tensor<8x8xi32>
    %past = stablehlo.subtract %i, %j : tensor<8x8xi32>
    %is_near = stablehlo.compare LT, %past, %two : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
    %is_past = stablehlo.compare GE, %i, %j : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
    %seen = stablehlo.and %is_near, %is_past : tensor<8x8xi1>
    %zeros = stablehlo.constant dense<0.000000e+00> : tensor<8x8xf32>
    %product = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] {ingot.triangles = array<i64: 0, 1, 1, 1, 0, 0>} : (tensor<8x6xf32>, tensor<6x8xf32>) -> tensor<8x8xf32>
    %seen_of = stablehlo.select %seen, %product, %zeros : tensor<8x8xi1>, tensor<8x8xf32>
    return %seen_of : tensor<8x8xf32>
  }
  func.func @slice(%x: tensor<6x8xf32>, %y: tensor<8x4xf32>) -> tensor<5x4xf32> {
    %i = stablehlo.iota dim = 0 : tensor<6x8xi32>
    %j = stablehlo.iota dim = 1 : tensor<6x8xi32>
    %seen = stablehlo.compare GT, %j, %i : (tensor<6x8xi32>, tensor<6x8xi32>) -> tensor<6x8xi1>
    %zeros = stablehlo.constant dense<0.000000e+00> : tensor<6x8xf32>
    %upper = stablehlo.select %seen, %x, %zeros : tensor<6x8xi1>, tensor<6x8xf32>
    %rows = stablehlo.slice %upper [1:6, 0:8] : (tensor<6x8xf32>) -> tensor<5x8xf32>
    %across = stablehlo.transpose %rows, dims = [1, 0] : (tensor<5x8xf32>) -> tensor<8x5xf32>
    %product = stablehlo.dot_general %across, %y, contracting_dims = [0] x [0] {ingot.triangles = array<i64: 0, 2, -2>} : (tensor<8x5xf32>, tensor<8x4xf32>) -> tensor<5x4xf32>
    return %product : tensor<5x4xf32>
  }
  func.func @unmarked(%x: tensor<8x6xf32>, %y: tensor<6x8xf32>, %first: tensor<i32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
    %i = stablehlo.iota dim = 0 : tensor<8x8xi32>
    %j = stablehlo.iota dim = 1 : tensor<8x8xi32>
    %is_past = stablehlo.compare GE, %i, %j : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
    %ones = stablehlo.constant dense<1.000000e+00> : tensor<8x8xf32>
    %zeros = stablehlo.constant dense<0.000000e+00> : tensor<8x8xf32>
    %lower = stablehlo.select %is_past, %ones, %zeros : tensor<8x8xi1>, tensor<8x8xf32>
    %starts = stablehlo.broadcast_in_dim %first, dims = [] : (tensor<i32>) -> tensor<8x8xi32>
    %after = stablehlo.add %i, %starts : tensor<8x8xi32>
    %is_known = stablehlo.compare GE, %after, %j : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
    %by_data = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<8x6xf32>, tensor<6x8xf32>) -> tensor<8x8xf32>
    %cached = stablehlo.select %is_known, %by_data, %zeros : tensor<8x8xi1>, tensor<8x8xf32>
    %read = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0], precision = [HIGH, HIGH] : (tensor<8x6xf32>, tensor<6x8xf32>) -> tensor<8x8xf32>
    %hidden = stablehlo.select %is_past, %read, %zeros : tensor<8x8xi1>, tensor<8x8xf32>
    %logged = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<8x6xf32>, tensor<6x8xf32>) -> tensor<8x8xf32>
    %log = stablehlo.log %logged : tensor<8x8xf32>
    %log_seen = stablehlo.multiply %log, %lower : tensor<8x8xf32>
    %divisor = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<8x6xf32>, tensor<6x8xf32>) -> tensor<8x8xf32>
    %quotient = stablehlo.divide %ones, %divisor : tensor<8x8xf32>
    %quotient_seen = stablehlo.multiply %quotient, %lower : tensor<8x8xf32>
    return %cached, %read, %hidden, %log_seen, %quotient_seen : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
}
