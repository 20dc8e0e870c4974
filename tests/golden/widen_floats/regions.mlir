// run: widen_floats
// A region of one op sums up in f32; in others each op rounds. What loops carry are bits.
func.func @sum(%x: tensor<4xf6E3M2FN>, %init: tensor<f6E3M2FN>) -> tensor<f6E3M2FN> {
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [0] : (tensor<4xf6E3M2FN>, tensor<f6E3M2FN>) -> tensor<f6E3M2FN>
  return %0 : tensor<f6E3M2FN>
}
func.func @double_then_add(%x: tensor<4xf6E3M2FN>, %init: tensor<f6E3M2FN>) -> tensor<f6E3M2FN> {
  %0 = "stablehlo.reduce"(%x, %init) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f6E3M2FN>, %b: tensor<f6E3M2FN>):
    %d = stablehlo.add %b, %b : tensor<f6E3M2FN>
    %s = stablehlo.add %a, %d : tensor<f6E3M2FN>
    stablehlo.return %s : tensor<f6E3M2FN>
  }) : (tensor<4xf6E3M2FN>, tensor<f6E3M2FN>) -> tensor<f6E3M2FN>
  return %0 : tensor<f6E3M2FN>
}
func.func @carried(%x: tensor<4xf6E3M2FN>, %n: tensor<i32>) -> tensor<4xf6E3M2FN> {
  %0:2 = stablehlo.while(%i = %n, %v = %x) : tensor<i32>, tensor<4xf6E3M2FN>
  cond {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %c = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.subtract %i, %one : tensor<i32>
    %w = stablehlo.reverse %v, dims = [0] : tensor<4xf6E3M2FN>
    stablehlo.return %j, %w : tensor<i32>, tensor<4xf6E3M2FN>
  }
  return %0#1 : tensor<4xf6E3M2FN>
}
// ---- expect
module {
  func.func @sum(%x: tensor<4xui8>, %init: tensor<ui8>) -> tensor<ui8> {
    %0 = stablehlo.convert %x : (tensor<4xui8>) -> tensor<4xui32>
    %1 = stablehlo.constant dense<31> : tensor<4xui32>
    %2 = stablehlo.and %0, %1 : tensor<4xui32>
    %3 = stablehlo.constant dense<21> : tensor<4xui32>
    %4 = stablehlo.shift_left %2, %3 : tensor<4xui32>
    %5 = stablehlo.constant dense<1040187392> : tensor<4xui32>
    %6 = stablehlo.add %4, %5 : tensor<4xui32>
    %7 = stablehlo.convert %2 : (tensor<4xui32>) -> tensor<4xf32>
    %8 = stablehlo.constant dense<6.250000e-02> : tensor<4xf32>
    %9 = stablehlo.multiply %7, %8 : tensor<4xf32>
    %10 = stablehlo.bitcast_convert %9 : (tensor<4xf32>) -> tensor<4xui32>
    %11 = stablehlo.constant dense<4> : tensor<4xui32>
    %12 = stablehlo.compare LT, %2, %11 : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi1>
    %13 = stablehlo.select %12, %10, %6 : tensor<4xi1>, tensor<4xui32>
    %14 = stablehlo.constant dense<32> : tensor<4xui32>
    %15 = stablehlo.and %0, %14 : tensor<4xui32>
    %16 = stablehlo.constant dense<26> : tensor<4xui32>
    %17 = stablehlo.shift_left %15, %16 : tensor<4xui32>
    %18 = stablehlo.or %13, %17 : tensor<4xui32>
    %19 = stablehlo.bitcast_convert %18 : (tensor<4xui32>) -> tensor<4xf32>
    %20 = stablehlo.convert %init : (tensor<ui8>) -> tensor<ui32>
    %21 = stablehlo.constant dense<31> : tensor<ui32>
    %22 = stablehlo.and %20, %21 : tensor<ui32>
    %23 = stablehlo.constant dense<21> : tensor<ui32>
    %24 = stablehlo.shift_left %22, %23 : tensor<ui32>
    %25 = stablehlo.constant dense<1040187392> : tensor<ui32>
    %26 = stablehlo.add %24, %25 : tensor<ui32>
    %27 = stablehlo.convert %22 : (tensor<ui32>) -> tensor<f32>
    %28 = stablehlo.constant dense<6.250000e-02> : tensor<f32>
    %29 = stablehlo.multiply %27, %28 : tensor<f32>
    %30 = stablehlo.bitcast_convert %29 : (tensor<f32>) -> tensor<ui32>
    %31 = stablehlo.constant dense<4> : tensor<ui32>
    %32 = stablehlo.compare LT, %22, %31 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    %33 = stablehlo.select %32, %30, %26 : tensor<i1>, tensor<ui32>
    %34 = stablehlo.constant dense<32> : tensor<ui32>
    %35 = stablehlo.and %20, %34 : tensor<ui32>
    %36 = stablehlo.constant dense<26> : tensor<ui32>
    %37 = stablehlo.shift_left %35, %36 : tensor<ui32>
    %38 = stablehlo.or %33, %37 : tensor<ui32>
    %39 = stablehlo.bitcast_convert %38 : (tensor<ui32>) -> tensor<f32>
    %40 = stablehlo.reduce(%19 init: %39) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %42 = stablehlo.abs %40 : tensor<f32>
    %43 = stablehlo.bitcast_convert %42 : (tensor<f32>) -> tensor<ui32>
    %44 = stablehlo.constant dense<21> : tensor<ui32>
    %45 = stablehlo.shift_right_logical %43, %44 : tensor<ui32>
    %46 = stablehlo.constant dense<1> : tensor<ui32>
    %47 = stablehlo.and %45, %46 : tensor<ui32>
    %48 = stablehlo.constant dense<1048575> : tensor<ui32>
    %49 = stablehlo.add %47, %48 : tensor<ui32>
    %50 = stablehlo.add %43, %49 : tensor<ui32>
    %51 = stablehlo.constant dense<21> : tensor<ui32>
    %52 = stablehlo.shift_right_logical %50, %51 : tensor<ui32>
    %53 = stablehlo.constant dense<496> : tensor<ui32>
    %54 = stablehlo.subtract %52, %53 : tensor<ui32>
    %55 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %56 = stablehlo.multiply %42, %55 : tensor<f32>
    %57 = stablehlo.round_nearest_even %56 : tensor<f32>
    %58 = stablehlo.convert %57 : (tensor<f32>) -> tensor<ui32>
    %59 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %60 = stablehlo.compare LT, %42, %59 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %61 = stablehlo.select %60, %58, %54 : tensor<i1>, tensor<ui32>
    %62 = stablehlo.constant dense<31> : tensor<ui32>
    %63 = stablehlo.compare LE, %61, %62 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    %64 = stablehlo.constant dense<31> : tensor<ui32>
    %65 = stablehlo.constant dense<32> : tensor<ui32>
    %66 = stablehlo.bitcast_convert %40 : (tensor<f32>) -> tensor<ui32>
    %67 = stablehlo.constant dense<31> : tensor<ui32>
    %68 = stablehlo.shift_right_logical %66, %67 : tensor<ui32>
    %69 = stablehlo.constant dense<5> : tensor<ui32>
    %70 = stablehlo.shift_left %68, %69 : tensor<ui32>
    %71 = stablehlo.select %63, %61, %64 : tensor<i1>, tensor<ui32>
    %72 = stablehlo.or %71, %70 : tensor<ui32>
    %73 = stablehlo.compare EQ, %40, %40 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %74 = stablehlo.select %73, %72, %65 : tensor<i1>, tensor<ui32>
    %75 = stablehlo.convert %74 : (tensor<ui32>) -> tensor<ui8>
    return %75 : tensor<ui8>
  }
  func.func @double_then_add(%x: tensor<4xui8>, %init: tensor<ui8>) -> tensor<ui8> {
    %0 = stablehlo.convert %x : (tensor<4xui8>) -> tensor<4xui32>
    %1 = stablehlo.constant dense<31> : tensor<4xui32>
    %2 = stablehlo.and %0, %1 : tensor<4xui32>
    %3 = stablehlo.constant dense<21> : tensor<4xui32>
    %4 = stablehlo.shift_left %2, %3 : tensor<4xui32>
    %5 = stablehlo.constant dense<1040187392> : tensor<4xui32>
    %6 = stablehlo.add %4, %5 : tensor<4xui32>
    %7 = stablehlo.convert %2 : (tensor<4xui32>) -> tensor<4xf32>
    %8 = stablehlo.constant dense<6.250000e-02> : tensor<4xf32>
    %9 = stablehlo.multiply %7, %8 : tensor<4xf32>
    %10 = stablehlo.bitcast_convert %9 : (tensor<4xf32>) -> tensor<4xui32>
    %11 = stablehlo.constant dense<4> : tensor<4xui32>
    %12 = stablehlo.compare LT, %2, %11 : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi1>
    %13 = stablehlo.select %12, %10, %6 : tensor<4xi1>, tensor<4xui32>
    %14 = stablehlo.constant dense<32> : tensor<4xui32>
    %15 = stablehlo.and %0, %14 : tensor<4xui32>
    %16 = stablehlo.constant dense<26> : tensor<4xui32>
    %17 = stablehlo.shift_left %15, %16 : tensor<4xui32>
    %18 = stablehlo.or %13, %17 : tensor<4xui32>
    %19 = stablehlo.bitcast_convert %18 : (tensor<4xui32>) -> tensor<4xf32>
    %20 = stablehlo.convert %init : (tensor<ui8>) -> tensor<ui32>
    %21 = stablehlo.constant dense<31> : tensor<ui32>
    %22 = stablehlo.and %20, %21 : tensor<ui32>
    %23 = stablehlo.constant dense<21> : tensor<ui32>
    %24 = stablehlo.shift_left %22, %23 : tensor<ui32>
    %25 = stablehlo.constant dense<1040187392> : tensor<ui32>
    %26 = stablehlo.add %24, %25 : tensor<ui32>
    %27 = stablehlo.convert %22 : (tensor<ui32>) -> tensor<f32>
    %28 = stablehlo.constant dense<6.250000e-02> : tensor<f32>
    %29 = stablehlo.multiply %27, %28 : tensor<f32>
    %30 = stablehlo.bitcast_convert %29 : (tensor<f32>) -> tensor<ui32>
    %31 = stablehlo.constant dense<4> : tensor<ui32>
    %32 = stablehlo.compare LT, %22, %31 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    %33 = stablehlo.select %32, %30, %26 : tensor<i1>, tensor<ui32>
    %34 = stablehlo.constant dense<32> : tensor<ui32>
    %35 = stablehlo.and %20, %34 : tensor<ui32>
    %36 = stablehlo.constant dense<26> : tensor<ui32>
    %37 = stablehlo.shift_left %35, %36 : tensor<ui32>
    %38 = stablehlo.or %33, %37 : tensor<ui32>
    %39 = stablehlo.bitcast_convert %38 : (tensor<ui32>) -> tensor<f32>
    %40 = stablehlo.reduce(%19 init: %39) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
      reducer(%a: tensor<f32>, %b: tensor<f32>) {
      %41 = stablehlo.add %b, %b : tensor<f32>
      %42 = stablehlo.abs %41 : tensor<f32>
      %43 = stablehlo.bitcast_convert %42 : (tensor<f32>) -> tensor<ui32>
      %44 = stablehlo.constant dense<21> : tensor<ui32>
      %45 = stablehlo.shift_right_logical %43, %44 : tensor<ui32>
      %46 = stablehlo.constant dense<1> : tensor<ui32>
      %47 = stablehlo.and %45, %46 : tensor<ui32>
      %48 = stablehlo.constant dense<1048575> : tensor<ui32>
      %49 = stablehlo.add %47, %48 : tensor<ui32>
      %50 = stablehlo.add %43, %49 : tensor<ui32>
      %51 = stablehlo.constant dense<21> : tensor<ui32>
      %52 = stablehlo.shift_right_logical %50, %51 : tensor<ui32>
      %53 = stablehlo.constant dense<496> : tensor<ui32>
      %54 = stablehlo.subtract %52, %53 : tensor<ui32>
      %55 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
      %56 = stablehlo.multiply %42, %55 : tensor<f32>
      %57 = stablehlo.round_nearest_even %56 : tensor<f32>
      %58 = stablehlo.convert %57 : (tensor<f32>) -> tensor<ui32>
      %59 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
      %60 = stablehlo.compare LT, %42, %59 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %61 = stablehlo.select %60, %58, %54 : tensor<i1>, tensor<ui32>
      %62 = stablehlo.constant dense<31> : tensor<ui32>
      %63 = stablehlo.compare LE, %61, %62 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      %64 = stablehlo.constant dense<31> : tensor<ui32>
      %65 = stablehlo.constant dense<32> : tensor<ui32>
      %66 = stablehlo.bitcast_convert %41 : (tensor<f32>) -> tensor<ui32>
      %67 = stablehlo.constant dense<31> : tensor<ui32>
      %68 = stablehlo.shift_right_logical %66, %67 : tensor<ui32>
      %69 = stablehlo.constant dense<5> : tensor<ui32>
      %70 = stablehlo.shift_left %68, %69 : tensor<ui32>
      %71 = stablehlo.select %63, %61, %64 : tensor<i1>, tensor<ui32>
      %72 = stablehlo.or %71, %70 : tensor<ui32>
      %73 = stablehlo.compare EQ, %41, %41 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %74 = stablehlo.select %73, %72, %65 : tensor<i1>, tensor<ui32>
      %75 = stablehlo.convert %74 : (tensor<ui32>) -> tensor<ui8>
      %76 = stablehlo.convert %75 : (tensor<ui8>) -> tensor<ui32>
      %77 = stablehlo.constant dense<31> : tensor<ui32>
      %78 = stablehlo.and %76, %77 : tensor<ui32>
      %79 = stablehlo.constant dense<21> : tensor<ui32>
      %80 = stablehlo.shift_left %78, %79 : tensor<ui32>
      %81 = stablehlo.constant dense<1040187392> : tensor<ui32>
      %82 = stablehlo.add %80, %81 : tensor<ui32>
      %83 = stablehlo.convert %78 : (tensor<ui32>) -> tensor<f32>
      %84 = stablehlo.constant dense<6.250000e-02> : tensor<f32>
      %85 = stablehlo.multiply %83, %84 : tensor<f32>
      %86 = stablehlo.bitcast_convert %85 : (tensor<f32>) -> tensor<ui32>
      %87 = stablehlo.constant dense<4> : tensor<ui32>
      %88 = stablehlo.compare LT, %78, %87 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      %89 = stablehlo.select %88, %86, %82 : tensor<i1>, tensor<ui32>
      %90 = stablehlo.constant dense<32> : tensor<ui32>
      %91 = stablehlo.and %76, %90 : tensor<ui32>
      %92 = stablehlo.constant dense<26> : tensor<ui32>
      %93 = stablehlo.shift_left %91, %92 : tensor<ui32>
      %94 = stablehlo.or %89, %93 : tensor<ui32>
      %d = stablehlo.bitcast_convert %94 : (tensor<ui32>) -> tensor<f32>
      %95 = stablehlo.add %a, %d : tensor<f32>
      %96 = stablehlo.abs %95 : tensor<f32>
      %97 = stablehlo.bitcast_convert %96 : (tensor<f32>) -> tensor<ui32>
      %98 = stablehlo.constant dense<21> : tensor<ui32>
      %99 = stablehlo.shift_right_logical %97, %98 : tensor<ui32>
      %100 = stablehlo.constant dense<1> : tensor<ui32>
      %101 = stablehlo.and %99, %100 : tensor<ui32>
      %102 = stablehlo.constant dense<1048575> : tensor<ui32>
      %103 = stablehlo.add %101, %102 : tensor<ui32>
      %104 = stablehlo.add %97, %103 : tensor<ui32>
      %105 = stablehlo.constant dense<21> : tensor<ui32>
      %106 = stablehlo.shift_right_logical %104, %105 : tensor<ui32>
      %107 = stablehlo.constant dense<496> : tensor<ui32>
      %108 = stablehlo.subtract %106, %107 : tensor<ui32>
      %109 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
      %110 = stablehlo.multiply %96, %109 : tensor<f32>
      %111 = stablehlo.round_nearest_even %110 : tensor<f32>
      %112 = stablehlo.convert %111 : (tensor<f32>) -> tensor<ui32>
      %113 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
      %114 = stablehlo.compare LT, %96, %113 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %115 = stablehlo.select %114, %112, %108 : tensor<i1>, tensor<ui32>
      %116 = stablehlo.constant dense<31> : tensor<ui32>
      %117 = stablehlo.compare LE, %115, %116 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      %118 = stablehlo.constant dense<31> : tensor<ui32>
      %119 = stablehlo.constant dense<32> : tensor<ui32>
      %120 = stablehlo.bitcast_convert %95 : (tensor<f32>) -> tensor<ui32>
      %121 = stablehlo.constant dense<31> : tensor<ui32>
      %122 = stablehlo.shift_right_logical %120, %121 : tensor<ui32>
      %123 = stablehlo.constant dense<5> : tensor<ui32>
      %124 = stablehlo.shift_left %122, %123 : tensor<ui32>
      %125 = stablehlo.select %117, %115, %118 : tensor<i1>, tensor<ui32>
      %126 = stablehlo.or %125, %124 : tensor<ui32>
      %127 = stablehlo.compare EQ, %95, %95 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %128 = stablehlo.select %127, %126, %119 : tensor<i1>, tensor<ui32>
      %129 = stablehlo.convert %128 : (tensor<ui32>) -> tensor<ui8>
      %130 = stablehlo.convert %129 : (tensor<ui8>) -> tensor<ui32>
      %131 = stablehlo.constant dense<31> : tensor<ui32>
      %132 = stablehlo.and %130, %131 : tensor<ui32>
      %133 = stablehlo.constant dense<21> : tensor<ui32>
      %134 = stablehlo.shift_left %132, %133 : tensor<ui32>
      %135 = stablehlo.constant dense<1040187392> : tensor<ui32>
      %136 = stablehlo.add %134, %135 : tensor<ui32>
      %137 = stablehlo.convert %132 : (tensor<ui32>) -> tensor<f32>
      %138 = stablehlo.constant dense<6.250000e-02> : tensor<f32>
      %139 = stablehlo.multiply %137, %138 : tensor<f32>
      %140 = stablehlo.bitcast_convert %139 : (tensor<f32>) -> tensor<ui32>
      %141 = stablehlo.constant dense<4> : tensor<ui32>
      %142 = stablehlo.compare LT, %132, %141 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      %143 = stablehlo.select %142, %140, %136 : tensor<i1>, tensor<ui32>
      %144 = stablehlo.constant dense<32> : tensor<ui32>
      %145 = stablehlo.and %130, %144 : tensor<ui32>
      %146 = stablehlo.constant dense<26> : tensor<ui32>
      %147 = stablehlo.shift_left %145, %146 : tensor<ui32>
      %148 = stablehlo.or %143, %147 : tensor<ui32>
      %s = stablehlo.bitcast_convert %148 : (tensor<ui32>) -> tensor<f32>
      stablehlo.return %s : tensor<f32>
    }
    %149 = stablehlo.abs %40 : tensor<f32>
    %150 = stablehlo.bitcast_convert %149 : (tensor<f32>) -> tensor<ui32>
    %151 = stablehlo.constant dense<21> : tensor<ui32>
    %152 = stablehlo.shift_right_logical %150, %151 : tensor<ui32>
    %153 = stablehlo.constant dense<1> : tensor<ui32>
    %154 = stablehlo.and %152, %153 : tensor<ui32>
    %155 = stablehlo.constant dense<1048575> : tensor<ui32>
    %156 = stablehlo.add %154, %155 : tensor<ui32>
    %157 = stablehlo.add %150, %156 : tensor<ui32>
    %158 = stablehlo.constant dense<21> : tensor<ui32>
    %159 = stablehlo.shift_right_logical %157, %158 : tensor<ui32>
    %160 = stablehlo.constant dense<496> : tensor<ui32>
    %161 = stablehlo.subtract %159, %160 : tensor<ui32>
    %162 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %163 = stablehlo.multiply %149, %162 : tensor<f32>
    %164 = stablehlo.round_nearest_even %163 : tensor<f32>
    %165 = stablehlo.convert %164 : (tensor<f32>) -> tensor<ui32>
    %166 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %167 = stablehlo.compare LT, %149, %166 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %168 = stablehlo.select %167, %165, %161 : tensor<i1>, tensor<ui32>
    %169 = stablehlo.constant dense<31> : tensor<ui32>
    %170 = stablehlo.compare LE, %168, %169 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    %171 = stablehlo.constant dense<31> : tensor<ui32>
    %172 = stablehlo.constant dense<32> : tensor<ui32>
    %173 = stablehlo.bitcast_convert %40 : (tensor<f32>) -> tensor<ui32>
    %174 = stablehlo.constant dense<31> : tensor<ui32>
    %175 = stablehlo.shift_right_logical %173, %174 : tensor<ui32>
    %176 = stablehlo.constant dense<5> : tensor<ui32>
    %177 = stablehlo.shift_left %175, %176 : tensor<ui32>
    %178 = stablehlo.select %170, %168, %171 : tensor<i1>, tensor<ui32>
    %179 = stablehlo.or %178, %177 : tensor<ui32>
    %180 = stablehlo.compare EQ, %40, %40 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %181 = stablehlo.select %180, %179, %172 : tensor<i1>, tensor<ui32>
    %182 = stablehlo.convert %181 : (tensor<ui32>) -> tensor<ui8>
    return %182 : tensor<ui8>
  }
  func.func @carried(%x: tensor<4xui8>, %n: tensor<i32>) -> tensor<4xui8> {
    %0:2 = stablehlo.while(%i = %n, %v = %x) : tensor<i32>, tensor<4xui8>
    cond {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %c = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.subtract %i, %one : tensor<i32>
      %w = stablehlo.reverse %v, dims = [0] : tensor<4xui8>
      stablehlo.return %j, %w : tensor<i32>, tensor<4xui8>
    }
    return %0#1 : tensor<4xui8>
  }
}
