; A select of bits by a constant mask, and a choice beside one of its operands: LLVM 19 folds both and the constant's
; broadcast into one masked vpternlogd, with the truth table of other operands.
define hidden <16 x i32> @chosen_bits(<16 x i32> %x, <16 x i32> %y, <16 x i32> %z) {
  %chosen = icmp slt <16 x i32> %x, %z
  %sign = and <16 x i32> %x, splat (i32 u0x80000000)
  %magnitude = and <16 x i32> %y, splat (i32 u0x7FFFFFFF)
  %bits = or disjoint <16 x i32> %sign, %magnitude
  %result = select <16 x i1> %chosen, <16 x i32> %bits, <16 x i32> %x
  ret <16 x i32> %result
}
