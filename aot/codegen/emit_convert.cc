// Types, conversions and rounding.
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/PatternMatch.h>

#include <cmath>

#include "aot/base/error.h"
#include "aot/codegen/emit_scalar.h"
#include "aot/codegen/fences.h"

namespace ingot::codegen {
namespace {

using llvm::ConstantFP;
using llvm::ConstantInt;
using llvm::Type;
using llvm::Value;

Type* with_lanes(Type* element, int lanes) { return lanes == 1 ? element : llvm::FixedVectorType::get(element, lanes); }

// `like` with another element type.
Type* same_lanes(const Value* like, Type* element) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(like->getType());
  return vector ? llvm::FixedVectorType::get(element, vector->getNumElements()) : element;
}

Type* scalar_type(llvm::LLVMContext& context, DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return Type::getFloatTy(context);
    case DType::kF64:
      return Type::getDoubleTy(context);
    case DType::kF16:
    case DType::kBF16:
      throw_bug(to_string(dtype) + " is held in no register");
    default:
      return Type::getIntNTy(context, info(dtype).bits);
  }
}

// Between floats, fenced: see fences.h.
Value* cast_float(Builder& b, Value* value, Type* type) {
  Value* const cast = b.CreateFPCast(value, type);
  return cast == value || llvm::isa<llvm::Constant>(cast) ? cast : fence(b, cast);
}

// f32 to the upper half of its bits, rounded to nearest even; a NaN stays one.
Value* bf16_bits(Builder& b, Value* value) {
  Type* const i32 = same_lanes(value, b.getInt32Ty());
  Value* const bits = b.CreateBitCast(value, i32);
  Value* const odd = b.CreateAnd(b.CreateLShr(bits, 16), 1);
  Value* const rounded = b.CreateLShr(b.CreateAdd(b.CreateAdd(bits, ConstantInt::get(i32, 0x7FFF)), odd), 16);
  Value* const quiet = b.CreateOr(b.CreateLShr(bits, 16), 0x40);
  Value* const is_nan = b.CreateFCmpUNO(value, value);
  return b.CreateTrunc(b.CreateSelect(is_nan, quiet, rounded), same_lanes(value, b.getInt16Ty()));
}

Value* float_of_bf16(Builder& b, Value* bits) {
  Value* const wide = b.CreateZExt(bits, same_lanes(bits, b.getInt32Ty()));
  return b.CreateBitCast(b.CreateShl(wide, 16), same_lanes(bits, b.getFloatTy()));
}

Value* float_of_f16(Builder& b, Value* bits) {
  Value* const half = b.CreateBitCast(bits, same_lanes(bits, b.getHalfTy()));
  return cast_float(b, half, same_lanes(bits, b.getFloatTy()));
}

// What was only read from memory is written as it was read.
Value* f16_bits(Builder& b, Value* value) {
  using namespace llvm::PatternMatch;
  Type* const i16 = same_lanes(value, b.getInt16Ty());
  Value* read = nullptr;
  const auto copy = m_Intrinsic<llvm::Intrinsic::arithmetic_fence>(m_FPExt(m_BitCast(m_Value(read))));
  if (match(value, copy) && read->getType() == i16) return read;
  return b.CreateBitCast(b.CreateFPTrunc(value, same_lanes(value, b.getHalfTy())), i16);
}

// f64 to f32 rounded to odd: truncated, with the last bit set when anything was lost. A second rounding to a format
// with at least two bits less then gives what one rounding would (Boldo and Melquiond, "Emulation of FMA and correctly
// rounded sums: proved algorithms using rounding to odd", 2008).
Value* float_rounded_to_odd(Builder& b, Value* value) {
  Type* const f32 = same_lanes(value, b.getFloatTy());
  Type* const i32 = same_lanes(value, b.getInt32Ty());
  Value* const nearest = b.CreateFPTrunc(value, f32);
  Value* const back = b.CreateFPExt(nearest, value->getType());
  Value* const bits = b.CreateBitCast(nearest, i32);
  Value* const is_beyond = b.CreateFCmpOGT(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back),
                                           b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value));
  Value* const is_inexact = b.CreateFCmpONE(back, value);
  Value* const truncated = b.CreateSub(bits, b.CreateZExt(is_beyond, i32));
  return b.CreateBitCast(b.CreateOr(truncated, b.CreateZExt(is_inexact, i32)), f32);
}

// Vectors of floats to integers of fewer bits than f32 has digits, saturating; NaN gives 0. LLVM's intrinsics convert one
// lane after the other.
Value* saturate(Builder& b, DType to, Value* value, Type* type) {
  Type* const floats = value->getType();
  Type* const integers = same_lanes(value, b.getIntNTy(floats->getScalarSizeInBits()));
  const double values = std::ldexp(1.0, info(to).bits), least = is_signed(to) ? -values / 2 : 0;
  llvm::Constant* const low = ConstantFP::get(floats, least);
  llvm::Constant* const high = ConstantFP::get(floats, least + values - 1);
  Value* const above = b.CreateSelect(b.CreateFCmpOGT(value, low), value, low);
  Value* const inside = b.CreateSelect(b.CreateFCmpOLT(above, high), above, high);
  Value* const number = b.CreateTrunc(b.CreateFPToSI(inside, integers), type);
  return b.CreateSelect(b.CreateFCmpUNO(value, value), llvm::Constant::getNullValue(type), number);
}

}  // namespace

Type* register_type(llvm::LLVMContext& context, DType dtype, int lanes) {
  return with_lanes(scalar_type(context, dtype), lanes);
}

Type* memory_type(llvm::LLVMContext& context, DType dtype, int lanes) {
  if (dtype == DType::kF32 || dtype == DType::kF64) return register_type(context, dtype, lanes);
  return with_lanes(Type::getIntNTy(context, info(dtype).bytes * 8), lanes);
}

Value* from_memory(Builder& b, DType dtype, Value* value) {
  if (dtype == DType::kF16) return float_of_f16(b, value);
  if (dtype == DType::kBF16) return float_of_bf16(b, value);
  if (is_float(dtype)) return value;
  if (is_bool(dtype)) return b.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
  return b.CreateTrunc(value, same_lanes(value, scalar_type(b.getContext(), dtype)));
}

Value* to_memory(Builder& b, DType dtype, Value* value) {
  if (dtype == DType::kF16) return f16_bits(b, value);
  if (dtype == DType::kBF16) return bf16_bits(b, value);
  if (is_float(dtype)) return value;
  Type* const type = same_lanes(value, Type::getIntNTy(b.getContext(), info(dtype).bytes * 8));
  return is_signed(dtype) ? b.CreateSExt(value, type) : b.CreateZExt(value, type);
}

Value* emit_convert(Builder& b, DType from, DType to, Value* value) {
  Type* const type = same_lanes(value, scalar_type(b.getContext(), to));
  llvm::Constant* const zero = llvm::Constant::getNullValue(value->getType());
  if (from == to) return value;
  if (is_bool(to)) return is_float(from) ? b.CreateFCmpUNE(value, zero) : b.CreateICmpNE(value, zero);
  if (is_float(from)) {
    if (is_float(to)) return cast_float(b, value, type);
    if (value->getType()->isVectorTy() && info(to).bits <= 16) return saturate(b, to, value, type);
    const auto id = is_signed(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    return b.CreateIntrinsic(id, {type, value->getType()}, {value});
  }
  if (is_float(to)) return is_signed(from) ? b.CreateSIToFP(value, type) : b.CreateUIToFP(value, type);
  return b.CreateIntCast(value, type, is_signed(from));
}

Value* emit_round(Builder& b, DType dtype, DType to, Value* value) {
  if (info(to).bits >= info(dtype).bits) return value;
  Type* const wide = value->getType();
  if (to == DType::kF32) return cast_float(b, cast_float(b, value, same_lanes(value, b.getFloatTy())), wide);
  Value* const single = dtype == DType::kF64 ? float_rounded_to_odd(b, value) : value;
  return cast_float(b, from_memory(b, to, to_memory(b, to, single)), wide);
}

}  // namespace ingot::codegen
