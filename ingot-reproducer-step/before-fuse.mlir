module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @step(%arg0: tensor<i32> {ingot.name = "state.opt.0.count", ingot.state = "state.opt.0.count"}, %arg1: tensor<256xf32> {ingot.name = "state.opt.0.mu.b", ingot.state = "state.opt.0.mu.b"}, %arg2: tensor<10xf32> {ingot.name = "state.opt.0.mu.fc.b", ingot.state = "state.opt.0.mu.fc.b"}, %arg3: tensor<64x10xf32> {ingot.name = "state.opt.0.mu.fc.w", ingot.state = "state.opt.0.mu.fc.w"}, %arg4: tensor<64x256xf32> {ingot.name = "state.opt.0.mu.wh", ingot.state = "state.opt.0.mu.wh"}, %arg5: tensor<28x256xf32> {ingot.name = "state.opt.0.mu.wx", ingot.state = "state.opt.0.mu.wx"}, %arg6: tensor<256xf32> {ingot.name = "state.opt.0.nu.b", ingot.state = "state.opt.0.nu.b"}, %arg7: tensor<10xf32> {ingot.name = "state.opt.0.nu.fc.b", ingot.state = "state.opt.0.nu.fc.b"}, %arg8: tensor<64x10xf32> {ingot.name = "state.opt.0.nu.fc.w", ingot.state = "state.opt.0.nu.fc.w"}, %arg9: tensor<64x256xf32> {ingot.name = "state.opt.0.nu.wh", ingot.state = "state.opt.0.nu.wh"}, %arg10: tensor<28x256xf32> {ingot.name = "state.opt.0.nu.wx", ingot.state = "state.opt.0.nu.wx"}, %arg11: tensor<256xf32> {ingot.name = "state.params.b", ingot.state = "state.params.b"}, %arg12: tensor<10xf32> {ingot.name = "state.params.fc.b", ingot.state = "state.params.fc.b"}, %arg13: tensor<64x10xf32> {ingot.name = "state.params.fc.w", ingot.state = "state.params.fc.w"}, %arg14: tensor<64x256xf32> {ingot.name = "state.params.wh", ingot.state = "state.params.wh"}, %arg15: tensor<28x256xf32> {ingot.name = "state.params.wx", ingot.state = "state.params.wx"}, %arg16: tensor<32x28x28xf32> {ingot.name = "batch.x"}, %arg17: tensor<32xi32> {ingot.name = "batch.y"}) -> (tensor<i32> {ingot.name = "state.opt.0.count", ingot.state = "state.opt.0.count"}, tensor<256xf32> {ingot.name = "state.opt.0.mu.b", ingot.state = "state.opt.0.mu.b"}, tensor<10xf32> {ingot.name = "state.opt.0.mu.fc.b", ingot.state = "state.opt.0.mu.fc.b"}, tensor<64x10xf32> {ingot.name = "state.opt.0.mu.fc.w", ingot.state = "state.opt.0.mu.fc.w"}, tensor<64x256xf32> {ingot.name = "state.opt.0.mu.wh", ingot.state = "state.opt.0.mu.wh"}, tensor<28x256xf32> {ingot.name = "state.opt.0.mu.wx", ingot.state = "state.opt.0.mu.wx"}, tensor<256xf32> {ingot.name = "state.opt.0.nu.b", ingot.state = "state.opt.0.nu.b"}, tensor<10xf32> {ingot.name = "state.opt.0.nu.fc.b", ingot.state = "state.opt.0.nu.fc.b"}, tensor<64x10xf32> {ingot.name = "state.opt.0.nu.fc.w", ingot.state = "state.opt.0.nu.fc.w"}, tensor<64x256xf32> {ingot.name = "state.opt.0.nu.wh", ingot.state = "state.opt.0.nu.wh"}, tensor<28x256xf32> {ingot.name = "state.opt.0.nu.wx", ingot.state = "state.opt.0.nu.wx"}, tensor<256xf32> {ingot.name = "state.params.b", ingot.state = "state.params.b"}, tensor<10xf32> {ingot.name = "state.params.fc.b", ingot.state = "state.params.fc.b"}, tensor<64x10xf32> {ingot.name = "state.params.fc.w", ingot.state = "state.params.fc.w"}, tensor<64x256xf32> {ingot.name = "state.params.wh", ingot.state = "state.params.wh"}, tensor<28x256xf32> {ingot.name = "state.params.wx", ingot.state = "state.params.wx"}, tensor<f32> {ingot.name = "loss"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.constant dense<0.000000e+00> : tensor<32x64xf32>
    %1 = stablehlo.transpose %arg16, dims = [1, 0, 2] : (tensor<32x28x28xf32>) -> tensor<28x32x28xf32>
    %2 = stablehlo.constant dense<0.000000e+00> : tensor<28x32x64xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %3:10 = stablehlo.while(%iterArg_70 = %c, %iterArg_71 = %0, %iterArg_72 = %0, %iterArg_73 = %2, %iterArg_75 = %2, %iterArg_76 = %2, %iterArg_78 = %2, %iterArg_80 = %2, %iterArg_82 = %2, %iterArg_84 = %2) : tensor<i32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<28x32x64xf32>, tensor<28x32x64xf32>, tensor<28x32x64xf32>, tensor<28x32x64xf32>, tensor<28x32x64xf32>, tensor<28x32x64xf32>, tensor<28x32x64xf32> attributes {ingot.trip_count = 28 : i64}
    cond {
      %c_85 = stablehlo.constant dense<28> : tensor<i32>
      %4 = stablehlo.compare LT, %iterArg_70, %c_85, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    } do {
      %5 = stablehlo.constant dense<0> : tensor<i32>
      %6 = stablehlo.dynamic_slice %1, %iterArg_70, %5, %5, sizes = [1, 32, 28] : (tensor<28x32x28xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x28xf32>
      %7 = stablehlo.reshape %6 : (tensor<1x32x28xf32>) -> tensor<32x28xf32>
      %8 = stablehlo.dot_general %7, %arg15, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x28xf32>, tensor<28x256xf32>) -> tensor<32x256xf32>
      %9 = stablehlo.dot_general %iterArg_71, %arg14, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x256xf32>) -> tensor<32x256xf32>
      %10 = stablehlo.add %8, %9 : tensor<32x256xf32>
      %11 = stablehlo.broadcast_in_dim %arg11, dims = [1] : (tensor<256xf32>) -> tensor<32x256xf32>
      %12 = stablehlo.add %10, %11 : tensor<32x256xf32>
      %13 = stablehlo.slice %12 [0:32, 0:64] : (tensor<32x256xf32>) -> tensor<32x64xf32>
      %14 = stablehlo.slice %12 [0:32, 64:128] : (tensor<32x256xf32>) -> tensor<32x64xf32>
      %15 = stablehlo.slice %12 [0:32, 128:192] : (tensor<32x256xf32>) -> tensor<32x64xf32>
      %16 = stablehlo.slice %12 [0:32, 192:256] : (tensor<32x256xf32>) -> tensor<32x64xf32>
      %17 = stablehlo.negate %14 : tensor<32x64xf32>
      %18 = stablehlo.exponential %17 : tensor<32x64xf32>
      %19 = stablehlo.constant dense<1.000000e+00> : tensor<32x64xf32>
      %20 = stablehlo.add %18, %19 : tensor<32x64xf32>
      %21 = stablehlo.divide %19, %20 : tensor<32x64xf32>
      %22 = stablehlo.multiply %21, %iterArg_72 : tensor<32x64xf32>
      %23 = stablehlo.negate %13 : tensor<32x64xf32>
      %24 = stablehlo.exponential %23 : tensor<32x64xf32>
      %25 = stablehlo.add %24, %19 : tensor<32x64xf32>
      %26 = stablehlo.divide %19, %25 : tensor<32x64xf32>
      %27 = stablehlo.tanh %15 : tensor<32x64xf32>
      %28 = stablehlo.multiply %26, %27 : tensor<32x64xf32>
      %29 = stablehlo.add %22, %28 : tensor<32x64xf32>
      %30 = stablehlo.negate %16 : tensor<32x64xf32>
      %31 = stablehlo.exponential %30 : tensor<32x64xf32>
      %32 = stablehlo.add %31, %19 : tensor<32x64xf32>
      %33 = stablehlo.divide %19, %32 : tensor<32x64xf32>
      %34 = stablehlo.tanh %29 : tensor<32x64xf32>
      %35 = stablehlo.multiply %33, %34 : tensor<32x64xf32>
      %36 = stablehlo.reshape %iterArg_71 : (tensor<32x64xf32>) -> tensor<1x32x64xf32>
      %37 = stablehlo.dynamic_update_slice %iterArg_73, %36, %iterArg_70, %5, %5 : (tensor<28x32x64xf32>, tensor<1x32x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<28x32x64xf32>
      %38 = stablehlo.reshape %iterArg_72 : (tensor<32x64xf32>) -> tensor<1x32x64xf32>
      %39 = stablehlo.dynamic_update_slice %iterArg_75, %38, %iterArg_70, %5, %5 : (tensor<28x32x64xf32>, tensor<1x32x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<28x32x64xf32>
      %40 = stablehlo.reshape %21 : (tensor<32x64xf32>) -> tensor<1x32x64xf32>
      %41 = stablehlo.dynamic_update_slice %iterArg_76, %40, %iterArg_70, %5, %5 : (tensor<28x32x64xf32>, tensor<1x32x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<28x32x64xf32>
      %42 = stablehlo.reshape %27 : (tensor<32x64xf32>) -> tensor<1x32x64xf32>
      %43 = stablehlo.dynamic_update_slice %iterArg_78, %42, %iterArg_70, %5, %5 : (tensor<28x32x64xf32>, tensor<1x32x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<28x32x64xf32>
      %44 = stablehlo.reshape %26 : (tensor<32x64xf32>) -> tensor<1x32x64xf32>
      %45 = stablehlo.dynamic_update_slice %iterArg_80, %44, %iterArg_70, %5, %5 : (tensor<28x32x64xf32>, tensor<1x32x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<28x32x64xf32>
      %46 = stablehlo.reshape %34 : (tensor<32x64xf32>) -> tensor<1x32x64xf32>
      %47 = stablehlo.dynamic_update_slice %iterArg_82, %46, %iterArg_70, %5, %5 : (tensor<28x32x64xf32>, tensor<1x32x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<28x32x64xf32>
      %48 = stablehlo.reshape %33 : (tensor<32x64xf32>) -> tensor<1x32x64xf32>
      %49 = stablehlo.dynamic_update_slice %iterArg_84, %48, %iterArg_70, %5, %5 : (tensor<28x32x64xf32>, tensor<1x32x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<28x32x64xf32>
      %c_85_0 = stablehlo.constant dense<1> : tensor<i32>
      %50 = stablehlo.add %iterArg_70, %c_85_0 : tensor<i32>
      stablehlo.return %50, %35, %29, %37, %39, %41, %43, %45, %47, %49 : tensor<i32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<28x32x64xf32>, tensor<28x32x64xf32>, tensor<28x32x64xf32>, tensor<28x32x64xf32>, tensor<28x32x64xf32>, tensor<28x32x64xf32>, tensor<28x32x64xf32>
    }
    %51 = stablehlo.dot_general %3#1, %arg13, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x10xf32>) -> tensor<32x10xf32>
    %52 = stablehlo.broadcast_in_dim %arg12, dims = [1] : (tensor<10xf32>) -> tensor<32x10xf32>
    %53 = stablehlo.add %51, %52 : tensor<32x10xf32>
    %54 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %55 = stablehlo.reduce(%53 init: %54) applies stablehlo.maximum across dimensions = [1] : (tensor<32x10xf32>, tensor<f32>) -> tensor<32xf32>
    %57 = stablehlo.broadcast_in_dim %55, dims = [0] : (tensor<32xf32>) -> tensor<32x10xf32>
    %58 = stablehlo.subtract %53, %57 : tensor<32x10xf32>
    %59 = stablehlo.exponential %58 : tensor<32x10xf32>
    %60 = stablehlo.reduce(%59 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<32x10xf32>, tensor<f32>) -> tensor<32xf32>
    %62 = stablehlo.log %60 : tensor<32xf32>
    %63 = stablehlo.broadcast_in_dim %62, dims = [0] : (tensor<32xf32>) -> tensor<32x10xf32>
    %64 = stablehlo.subtract %58, %63 : tensor<32x10xf32>
    %65 = stablehlo.constant dense<0> : tensor<32xi32>
    %66 = stablehlo.compare LT, %arg17, %65, SIGNED : (tensor<32xi32>, tensor<32xi32>) -> tensor<32xi1>
    %67 = stablehlo.constant dense<10> : tensor<32xi32>
    %68 = stablehlo.add %arg17, %67 : tensor<32xi32>
    %69 = stablehlo.select %66, %68, %arg17 : tensor<32xi1>, tensor<32xi32>
    %70 = stablehlo.reshape %69 : (tensor<32xi32>) -> tensor<32x1x1xi32>
    %71 = stablehlo.compare GE, %69, %65, SIGNED : (tensor<32xi32>, tensor<32xi32>) -> tensor<32xi1>
    %72 = stablehlo.constant dense<9> : tensor<32xi32>
    %73 = stablehlo.compare LE, %69, %72, SIGNED : (tensor<32xi32>, tensor<32xi32>) -> tensor<32xi1>
    %74 = stablehlo.and %71, %73 : tensor<32xi1>
    %75 = stablehlo.reshape %74 : (tensor<32xi1>) -> tensor<32x1xi1>
    %76 = "stablehlo.gather"(%64, %70) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], index_vector_dim = 2, operand_batching_dims = [0], start_index_map = [1], start_indices_batching_dims = [0]>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<32x10xf32>, tensor<32x1x1xi32>) -> tensor<32x1xf32>
    %77 = stablehlo.constant dense<0x7FC00000> : tensor<32x1xf32>
    %78 = stablehlo.select %75, %76, %77 : tensor<32x1xi1>, tensor<32x1xf32>
    %79 = stablehlo.reshape %78 : (tensor<32x1xf32>) -> tensor<32xf32>
    %80 = stablehlo.reduce(%79 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<32xf32>, tensor<f32>) -> tensor<f32>
    %82 = stablehlo.constant dense<3.125000e-02> : tensor<f32>
    %83 = stablehlo.multiply %80, %82 : tensor<f32>
    %84 = stablehlo.negate %83 : tensor<f32>
    %cst_16 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %85 = stablehlo.constant dense<0.000000e+00> : tensor<32x10xf32>
    %86 = stablehlo.iota dim = 1 : tensor<32x10xi32>
    %87 = stablehlo.broadcast_in_dim %69, dims = [0] : (tensor<32xi32>) -> tensor<32x10xi32>
    %88 = stablehlo.compare EQ, %86, %87 : (tensor<32x10xi32>, tensor<32x10xi32>) -> tensor<32x10xi1>
    %89 = stablehlo.constant dense<-3.125000e-02> : tensor<32x10xf32>
    %90 = stablehlo.select %88, %89, %85 : tensor<32x10xi1>, tensor<32x10xf32>
    %91 = stablehlo.negate %90 : tensor<32x10xf32>
    %92 = stablehlo.reduce(%91 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<32x10xf32>, tensor<f32>) -> tensor<32xf32>
    %94 = stablehlo.divide %92, %60 : tensor<32xf32>
    %95 = stablehlo.broadcast_in_dim %94, dims = [0] : (tensor<32xf32>) -> tensor<32x10xf32>
    %96 = stablehlo.multiply %95, %59 : tensor<32x10xf32>
    %97 = stablehlo.add %90, %96 : tensor<32x10xf32>
    %98 = stablehlo.reduce(%97 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<32x10xf32>, tensor<f32>) -> tensor<10xf32>
    %100 = stablehlo.dot_general %3#1, %97, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<32x10xf32>) -> tensor<64x10xf32>
    %101 = stablehlo.dot_general %97, %arg13, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x10xf32>, tensor<64x10xf32>) -> tensor<32x64xf32>
    %102 = stablehlo.constant dense<0.000000e+00> : tensor<28x256xf32>
    %103 = stablehlo.constant dense<0.000000e+00> : tensor<64x256xf32>
    %104 = stablehlo.constant dense<0.000000e+00> : tensor<256xf32>
    %105:6 = stablehlo.while(%iterArg_80_0 = %c, %iterArg_81 = %102, %iterArg_82_0 = %103, %iterArg_83 = %104, %iterArg_84_0 = %101, %iterArg_85 = %0) : tensor<i32>, tensor<28x256xf32>, tensor<64x256xf32>, tensor<256xf32>, tensor<32x64xf32>, tensor<32x64xf32> attributes {ingot.trip_count = 28 : i64}
    cond {
      %c_86 = stablehlo.constant dense<28> : tensor<i32>
      %106 = stablehlo.compare LT, %iterArg_80_0, %c_86, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %106 : tensor<i1>
    } do {
      %c_86_0 = stablehlo.constant dense<28> : tensor<i32>
      %107 = stablehlo.subtract %c_86_0, %iterArg_80_0 : tensor<i32>
      %c_87 = stablehlo.constant dense<1> : tensor<i32>
      %108 = stablehlo.subtract %107, %c_87 : tensor<i32>
      %109 = stablehlo.constant dense<0> : tensor<i32>
      %110 = stablehlo.dynamic_slice %1, %108, %109, %109, sizes = [1, 32, 28] : (tensor<28x32x28xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x28xf32>
      %111 = stablehlo.reshape %110 : (tensor<1x32x28xf32>) -> tensor<32x28xf32>
      %112 = stablehlo.dynamic_slice %3#3, %108, %109, %109, sizes = [1, 32, 64] : (tensor<28x32x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x64xf32>
      %113 = stablehlo.reshape %112 : (tensor<1x32x64xf32>) -> tensor<32x64xf32>
      %114 = stablehlo.dynamic_slice %3#5, %108, %109, %109, sizes = [1, 32, 64] : (tensor<28x32x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x64xf32>
      %115 = stablehlo.reshape %114 : (tensor<1x32x64xf32>) -> tensor<32x64xf32>
      %116 = stablehlo.constant dense<1.000000e+00> : tensor<1x32x64xf32>
      %117 = stablehlo.subtract %116, %114 : tensor<1x32x64xf32>
      %118 = stablehlo.multiply %114, %117 : tensor<1x32x64xf32>
      %119 = stablehlo.reshape %118 : (tensor<1x32x64xf32>) -> tensor<32x64xf32>
      %120 = stablehlo.dynamic_slice %3#4, %108, %109, %109, sizes = [1, 32, 64] : (tensor<28x32x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x64xf32>
      %121 = stablehlo.reshape %120 : (tensor<1x32x64xf32>) -> tensor<32x64xf32>
      %122 = stablehlo.dynamic_slice %3#7, %108, %109, %109, sizes = [1, 32, 64] : (tensor<28x32x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x64xf32>
      %123 = stablehlo.reshape %122 : (tensor<1x32x64xf32>) -> tensor<32x64xf32>
      %124 = stablehlo.subtract %116, %122 : tensor<1x32x64xf32>
      %125 = stablehlo.multiply %122, %124 : tensor<1x32x64xf32>
      %126 = stablehlo.reshape %125 : (tensor<1x32x64xf32>) -> tensor<32x64xf32>
      %127 = stablehlo.dynamic_slice %3#6, %108, %109, %109, sizes = [1, 32, 64] : (tensor<28x32x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x64xf32>
      %128 = stablehlo.reshape %127 : (tensor<1x32x64xf32>) -> tensor<32x64xf32>
      %129 = stablehlo.subtract %116, %127 : tensor<1x32x64xf32>
      %130 = stablehlo.reshape %129 : (tensor<1x32x64xf32>) -> tensor<32x64xf32>
      %131 = stablehlo.dynamic_slice %3#9, %108, %109, %109, sizes = [1, 32, 64] : (tensor<28x32x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x64xf32>
      %132 = stablehlo.reshape %131 : (tensor<1x32x64xf32>) -> tensor<32x64xf32>
      %133 = stablehlo.subtract %116, %131 : tensor<1x32x64xf32>
      %134 = stablehlo.multiply %131, %133 : tensor<1x32x64xf32>
      %135 = stablehlo.reshape %134 : (tensor<1x32x64xf32>) -> tensor<32x64xf32>
      %136 = stablehlo.dynamic_slice %3#8, %108, %109, %109, sizes = [1, 32, 64] : (tensor<28x32x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x64xf32>
      %137 = stablehlo.reshape %136 : (tensor<1x32x64xf32>) -> tensor<32x64xf32>
      %138 = stablehlo.subtract %116, %136 : tensor<1x32x64xf32>
      %139 = stablehlo.reshape %138 : (tensor<1x32x64xf32>) -> tensor<32x64xf32>
      %140 = stablehlo.multiply %132, %iterArg_84_0 : tensor<32x64xf32>
      %141 = stablehlo.multiply %iterArg_84_0, %137 : tensor<32x64xf32>
      %142 = stablehlo.multiply %140, %139 : tensor<32x64xf32>
      %143 = stablehlo.add %iterArg_85, %142 : tensor<32x64xf32>
      %144 = stablehlo.multiply %142, %137 : tensor<32x64xf32>
      %145 = stablehlo.add %143, %144 : tensor<32x64xf32>
      %146 = stablehlo.multiply %141, %135 : tensor<32x64xf32>
      %147 = stablehlo.multiply %123, %145 : tensor<32x64xf32>
      %148 = stablehlo.multiply %145, %128 : tensor<32x64xf32>
      %149 = stablehlo.multiply %147, %130 : tensor<32x64xf32>
      %150 = stablehlo.multiply %149, %128 : tensor<32x64xf32>
      %151 = stablehlo.add %149, %150 : tensor<32x64xf32>
      %152 = stablehlo.multiply %148, %126 : tensor<32x64xf32>
      %153 = stablehlo.multiply %115, %145 : tensor<32x64xf32>
      %154 = stablehlo.multiply %145, %121 : tensor<32x64xf32>
      %155 = stablehlo.multiply %154, %119 : tensor<32x64xf32>
      %156 = stablehlo.concatenate %152, %155, %151, %146, dim = 1 : (tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x256xf32>
      %157 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %158 = stablehlo.reduce(%156 init: %157) applies stablehlo.add across dimensions = [0] : (tensor<32x256xf32>, tensor<f32>) -> tensor<256xf32>
      %160 = stablehlo.add %iterArg_83, %158 : tensor<256xf32>
      %161 = stablehlo.dot_general %113, %156, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<32x256xf32>) -> tensor<64x256xf32>
      %162 = stablehlo.add %iterArg_82_0, %161 : tensor<64x256xf32>
      %163 = stablehlo.dot_general %156, %arg14, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x256xf32>, tensor<64x256xf32>) -> tensor<32x64xf32>
      %164 = stablehlo.dot_general %111, %156, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x28xf32>, tensor<32x256xf32>) -> tensor<28x256xf32>
      %165 = stablehlo.add %iterArg_81, %164 : tensor<28x256xf32>
      %166 = stablehlo.add %iterArg_80_0, %c_87 : tensor<i32>
      stablehlo.return %166, %165, %162, %160, %163, %153 : tensor<i32>, tensor<28x256xf32>, tensor<64x256xf32>, tensor<256xf32>, tensor<32x64xf32>, tensor<32x64xf32>
    }
    %167 = stablehlo.constant dense<1.000000e-01> : tensor<256xf32>
    %168 = stablehlo.multiply %105#3, %167 : tensor<256xf32>
    %cst_26 = stablehlo.constant dense<9.000000e-01> : tensor<f32>
    %169 = stablehlo.constant dense<9.000000e-01> : tensor<256xf32>
    %170 = stablehlo.multiply %arg1, %169 : tensor<256xf32>
    %171 = stablehlo.add %168, %170 : tensor<256xf32>
    %172 = stablehlo.constant dense<1.000000e-01> : tensor<10xf32>
    %173 = stablehlo.multiply %98, %172 : tensor<10xf32>
    %174 = stablehlo.constant dense<9.000000e-01> : tensor<10xf32>
    %175 = stablehlo.multiply %arg2, %174 : tensor<10xf32>
    %176 = stablehlo.add %173, %175 : tensor<10xf32>
    %177 = stablehlo.constant dense<1.000000e-01> : tensor<64x10xf32>
    %178 = stablehlo.multiply %100, %177 : tensor<64x10xf32>
    %179 = stablehlo.constant dense<9.000000e-01> : tensor<64x10xf32>
    %180 = stablehlo.multiply %arg3, %179 : tensor<64x10xf32>
    %181 = stablehlo.add %178, %180 : tensor<64x10xf32>
    %182 = stablehlo.constant dense<1.000000e-01> : tensor<64x256xf32>
    %183 = stablehlo.multiply %105#2, %182 : tensor<64x256xf32>
    %184 = stablehlo.constant dense<9.000000e-01> : tensor<64x256xf32>
    %185 = stablehlo.multiply %arg4, %184 : tensor<64x256xf32>
    %186 = stablehlo.add %183, %185 : tensor<64x256xf32>
    %187 = stablehlo.constant dense<1.000000e-01> : tensor<28x256xf32>
    %188 = stablehlo.multiply %105#1, %187 : tensor<28x256xf32>
    %189 = stablehlo.constant dense<9.000000e-01> : tensor<28x256xf32>
    %190 = stablehlo.multiply %arg5, %189 : tensor<28x256xf32>
    %191 = stablehlo.add %188, %190 : tensor<28x256xf32>
    %192 = stablehlo.multiply %105#3, %105#3 : tensor<256xf32>
    %193 = stablehlo.constant dense<1.000000e-03> : tensor<256xf32>
    %194 = stablehlo.multiply %192, %193 : tensor<256xf32>
    %cst_36 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %195 = stablehlo.constant dense<9.990000e-01> : tensor<256xf32>
    %196 = stablehlo.multiply %arg6, %195 : tensor<256xf32>
    %197 = stablehlo.add %194, %196 : tensor<256xf32>
    %198 = stablehlo.multiply %98, %98 : tensor<10xf32>
    %199 = stablehlo.constant dense<1.000000e-03> : tensor<10xf32>
    %200 = stablehlo.multiply %198, %199 : tensor<10xf32>
    %201 = stablehlo.constant dense<9.990000e-01> : tensor<10xf32>
    %202 = stablehlo.multiply %arg7, %201 : tensor<10xf32>
    %203 = stablehlo.add %200, %202 : tensor<10xf32>
    %204 = stablehlo.multiply %100, %100 : tensor<64x10xf32>
    %205 = stablehlo.constant dense<1.000000e-03> : tensor<64x10xf32>
    %206 = stablehlo.multiply %204, %205 : tensor<64x10xf32>
    %207 = stablehlo.constant dense<9.990000e-01> : tensor<64x10xf32>
    %208 = stablehlo.multiply %arg8, %207 : tensor<64x10xf32>
    %209 = stablehlo.add %206, %208 : tensor<64x10xf32>
    %210 = stablehlo.multiply %105#2, %105#2 : tensor<64x256xf32>
    %211 = stablehlo.constant dense<1.000000e-03> : tensor<64x256xf32>
    %212 = stablehlo.multiply %210, %211 : tensor<64x256xf32>
    %213 = stablehlo.constant dense<9.990000e-01> : tensor<64x256xf32>
    %214 = stablehlo.multiply %arg9, %213 : tensor<64x256xf32>
    %215 = stablehlo.add %212, %214 : tensor<64x256xf32>
    %216 = stablehlo.multiply %105#1, %105#1 : tensor<28x256xf32>
    %217 = stablehlo.constant dense<1.000000e-03> : tensor<28x256xf32>
    %218 = stablehlo.multiply %216, %217 : tensor<28x256xf32>
    %219 = stablehlo.constant dense<9.990000e-01> : tensor<28x256xf32>
    %220 = stablehlo.multiply %arg10, %219 : tensor<28x256xf32>
    %221 = stablehlo.add %218, %220 : tensor<28x256xf32>
    %c_45 = stablehlo.constant dense<2147483647> : tensor<i32>
    %222 = stablehlo.compare LT, %arg0, %c_45, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_46 = stablehlo.constant dense<1> : tensor<i32>
    %223 = stablehlo.add %arg0, %c_46 : tensor<i32>
    %224 = stablehlo.select %222, %223, %c_45 : tensor<i1>, tensor<i32>
    %225 = stablehlo.convert %224 : (tensor<i32>) -> tensor<f32>
    %226 = stablehlo.power %cst_26, %225 : tensor<f32>
    %227 = stablehlo.subtract %cst_16, %226 : tensor<f32>
    %228 = stablehlo.broadcast_in_dim %227, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %229 = stablehlo.divide %171, %228 : tensor<256xf32>
    %230 = stablehlo.broadcast_in_dim %227, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %231 = stablehlo.divide %176, %230 : tensor<10xf32>
    %232 = stablehlo.broadcast_in_dim %227, dims = [] : (tensor<f32>) -> tensor<64x10xf32>
    %233 = stablehlo.divide %181, %232 : tensor<64x10xf32>
    %234 = stablehlo.broadcast_in_dim %227, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %235 = stablehlo.divide %186, %234 : tensor<64x256xf32>
    %236 = stablehlo.broadcast_in_dim %227, dims = [] : (tensor<f32>) -> tensor<28x256xf32>
    %237 = stablehlo.divide %191, %236 : tensor<28x256xf32>
    %238 = stablehlo.power %cst_36, %225 : tensor<f32>
    %239 = stablehlo.subtract %cst_16, %238 : tensor<f32>
    %240 = stablehlo.broadcast_in_dim %239, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %241 = stablehlo.divide %197, %240 : tensor<256xf32>
    %242 = stablehlo.broadcast_in_dim %239, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %243 = stablehlo.divide %203, %242 : tensor<10xf32>
    %244 = stablehlo.broadcast_in_dim %239, dims = [] : (tensor<f32>) -> tensor<64x10xf32>
    %245 = stablehlo.divide %209, %244 : tensor<64x10xf32>
    %246 = stablehlo.broadcast_in_dim %239, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %247 = stablehlo.divide %215, %246 : tensor<64x256xf32>
    %248 = stablehlo.broadcast_in_dim %239, dims = [] : (tensor<f32>) -> tensor<28x256xf32>
    %249 = stablehlo.divide %221, %248 : tensor<28x256xf32>
    %250 = stablehlo.add %241, %104 : tensor<256xf32>
    %251 = stablehlo.sqrt %250 : tensor<256xf32>
    %252 = stablehlo.constant dense<1.000000e-08> : tensor<256xf32>
    %253 = stablehlo.add %251, %252 : tensor<256xf32>
    %254 = stablehlo.divide %229, %253 : tensor<256xf32>
    %255 = stablehlo.constant dense<0.000000e+00> : tensor<10xf32>
    %256 = stablehlo.add %243, %255 : tensor<10xf32>
    %257 = stablehlo.sqrt %256 : tensor<10xf32>
    %258 = stablehlo.constant dense<1.000000e-08> : tensor<10xf32>
    %259 = stablehlo.add %257, %258 : tensor<10xf32>
    %260 = stablehlo.divide %231, %259 : tensor<10xf32>
    %261 = stablehlo.constant dense<0.000000e+00> : tensor<64x10xf32>
    %262 = stablehlo.add %245, %261 : tensor<64x10xf32>
    %263 = stablehlo.sqrt %262 : tensor<64x10xf32>
    %264 = stablehlo.constant dense<1.000000e-08> : tensor<64x10xf32>
    %265 = stablehlo.add %263, %264 : tensor<64x10xf32>
    %266 = stablehlo.divide %233, %265 : tensor<64x10xf32>
    %267 = stablehlo.add %247, %103 : tensor<64x256xf32>
    %268 = stablehlo.sqrt %267 : tensor<64x256xf32>
    %269 = stablehlo.constant dense<1.000000e-08> : tensor<64x256xf32>
    %270 = stablehlo.add %268, %269 : tensor<64x256xf32>
    %271 = stablehlo.divide %235, %270 : tensor<64x256xf32>
    %272 = stablehlo.add %249, %102 : tensor<28x256xf32>
    %273 = stablehlo.sqrt %272 : tensor<28x256xf32>
    %274 = stablehlo.constant dense<1.000000e-08> : tensor<28x256xf32>
    %275 = stablehlo.add %273, %274 : tensor<28x256xf32>
    %276 = stablehlo.divide %237, %275 : tensor<28x256xf32>
    %277 = stablehlo.constant dense<-1.000000e-02> : tensor<256xf32>
    %278 = stablehlo.multiply %254, %277 : tensor<256xf32>
    %279 = stablehlo.constant dense<-1.000000e-02> : tensor<10xf32>
    %280 = stablehlo.multiply %260, %279 : tensor<10xf32>
    %281 = stablehlo.constant dense<-1.000000e-02> : tensor<64x10xf32>
    %282 = stablehlo.multiply %266, %281 : tensor<64x10xf32>
    %283 = stablehlo.constant dense<-1.000000e-02> : tensor<64x256xf32>
    %284 = stablehlo.multiply %271, %283 : tensor<64x256xf32>
    %285 = stablehlo.constant dense<-1.000000e-02> : tensor<28x256xf32>
    %286 = stablehlo.multiply %276, %285 : tensor<28x256xf32>
    %287 = stablehlo.add %arg11, %278 : tensor<256xf32>
    %288 = stablehlo.add %arg12, %280 : tensor<10xf32>
    %289 = stablehlo.add %arg13, %282 : tensor<64x10xf32>
    %290 = stablehlo.add %arg14, %284 : tensor<64x256xf32>
    %291 = stablehlo.add %arg15, %286 : tensor<28x256xf32>
    return %224, %171, %176, %181, %186, %191, %197, %203, %209, %215, %221, %287, %288, %289, %290, %291, %84 : tensor<i32>, tensor<256xf32>, tensor<10xf32>, tensor<64x10xf32>, tensor<64x256xf32>, tensor<28x256xf32>, tensor<256xf32>, tensor<10xf32>, tensor<64x10xf32>, tensor<64x256xf32>, tensor<28x256xf32>, tensor<256xf32>, tensor<10xf32>, tensor<64x10xf32>, tensor<64x256xf32>, tensor<28x256xf32>, tensor<f32>
  }
}
