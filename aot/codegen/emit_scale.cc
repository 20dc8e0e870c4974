#include "aot/codegen/emit_scale.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>

#include "aot/loops/math/functions.h"

namespace ingot::codegen {
namespace {

using llvm::Value;
using llvm::Intrinsic::ID;

// Vectors of floats, as instructions with a mask take them; those of 512 bits are told how to round.
struct ScaleRow {
  unsigned bits, lanes;
  ID id;
};

constexpr ScaleRow kScaleRows[] = {
    {32, 4, llvm::Intrinsic::x86_avx512_mask_scalef_ps_128},  {32, 8, llvm::Intrinsic::x86_avx512_mask_scalef_ps_256},
    {32, 16, llvm::Intrinsic::x86_avx512_mask_scalef_ps_512}, {64, 2, llvm::Intrinsic::x86_avx512_mask_scalef_pd_128},
    {64, 4, llvm::Intrinsic::x86_avx512_mask_scalef_pd_256},  {64, 8, llvm::Intrinsic::x86_avx512_mask_scalef_pd_512},
};

constexpr unsigned kWidestBits = 512;
constexpr int kAsElsewhere = 4;  // _MM_FROUND_CUR_DIRECTION

const ScaleRow* scale_row(const llvm::FixedVectorType* type) {
  for (const ScaleRow& row : kScaleRows) {
    if (row.bits == type->getScalarSizeInBits() && row.lanes == type->getNumElements()) return &row;
  }
  return nullptr;
}

Value* at_once(Builder& b, const ScaleRow& row, Value* x, Value* n) {
  std::vector<Value*> args{x, n, x, llvm::Constant::getAllOnesValue(b.getIntNTy(std::max(row.lanes, 8u)))};
  if (row.bits * row.lanes == kWidestBits) args.push_back(b.getInt32(kAsElsewhere));
  return b.CreateIntrinsic(row.id, {}, args);
}

// In two steps, so that only the last one rounds: by n/2 and the rest. What n is lifted by makes a logical shift do.
Value* in_steps(Builder& b, const loops::math::Layout& layout, Value* x, Value* shifted) {
  llvm::Type* const type = x->getType();
  llvm::Type* const words = type->getWithNewType(b.getIntNTy(type->getScalarSizeInBits()));
  const int bias = layout.bias;
  const auto number = [&](int64_t value) { return llvm::ConstantInt::get(words, value); };
  const auto bits = [&](Value* value) { return b.CreateBitCast(value, words); };
  const auto power = [&](Value* n) {
    return b.CreateBitCast(b.CreateShl(b.CreateAdd(n, number(bias)), layout.mantissa_bits), type);
  };
  Value* const n = b.CreateSub(bits(shifted), bits(llvm::ConstantFP::get(type, layout.shift)));
  Value* const half = b.CreateLShr(b.CreateAdd(n, number(4 * bias)), 1);
  Value* const rest = b.CreateAdd(b.CreateSub(n, half), number(2 * bias));
  return b.CreateFMul(b.CreateFMul(x, power(b.CreateSub(half, number(2 * bias)))), power(rest));
}

}  // namespace

Value* emit_scale(Builder& b, const loops::Target& target, Value* x, Value* shifted) {
  const bool is_f32 = x->getType()->getScalarType()->isFloatTy();
  const loops::math::Layout& layout = loops::math::layout_of(is_f32 ? DType::kF32 : DType::kF64);
  const auto* const type = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  if (!type || !target.has_scale) return in_steps(b, layout, x, shifted);
  if (const ScaleRow* const row = scale_row(type))
    return at_once(b, *row, x, b.CreateFSub(shifted, llvm::ConstantFP::get(x->getType(), layout.shift)));
  const unsigned lanes = type->getNumElements();
  if (lanes * type->getScalarSizeInBits() < kWidestBits) return in_steps(b, layout, x, shifted);
  const auto half = [&](unsigned first) {
    const auto part = llvm::createSequentialMask(first, lanes / 2, 0);
    return emit_scale(b, target, b.CreateShuffleVector(x, part), b.CreateShuffleVector(shifted, part));
  };
  Value* const halves[] = {half(0), half(lanes / 2)};
  return llvm::concatenateVectors(b, halves);
}

}  // namespace ingot::codegen
