#include "aot/codegen/expand_conversions.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>

#include <cmath>

#include "aot/codegen/rewrite.h"

namespace ingot::codegen {
namespace {

using llvm::Value;

// The bits of f16 and of f32 (IEEE 754).
constexpr uint32_t kHalfSign = 0x8000, kHalfRest = 0x7FFF, kHalfInfinity = 0x7C00, kHalfQuiet = 0x7E00;
constexpr uint32_t kRest = 0x7FFFFFFF, kInfinity = 0x7F800000, kQuiet = 0x00400000;
constexpr int kDroppedBits = 13;                          // of the fraction
constexpr uint32_t kBias = uint32_t{127 - 15} << 23;      // between their exponents
constexpr uint32_t kScale = (127 + uint32_t{112}) << 23;  // 2^112, which is that bias as a factor
constexpr uint32_t kLeastNormal = kBias + (1u << 23);     // 2^-14
constexpr uint32_t kBeyond = (127 + uint32_t{16}) << 23;  // 2^16
constexpr uint32_t kHalfOne = (127 - uint32_t{1}) << 23;  // 0.5, whose last bit is that of the least f16

class HalfConversion {
 public:
  explicit HalfConversion(llvm::Instruction& conversion) : b_(&conversion), value_(conversion.getOperand(0)) {}

  // A finite f16 is its bits with the exponent moved, times 2^112: exact, also where it is subnormal.
  Value* to_float() {
    Value* const bits = b_.CreateZExt(b_.CreateBitCast(value_, integers(16)), integers(32));
    Value* const rest = b_.CreateAnd(bits, number(kHalfRest));
    Value* const moved = b_.CreateShl(rest, kDroppedBits);
    Value* const finite = as_bits(b_.CreateFMul(as_float(moved), as_float(number(kScale))));
    Value* const is_nan = b_.CreateICmpUGT(rest, number(kHalfInfinity));
    Value* const special = b_.CreateOr(moved, b_.CreateSelect(is_nan, number(kInfinity | kQuiet), number(kInfinity)));
    Value* const is_finite = b_.CreateICmpULT(rest, number(kHalfInfinity));
    Value* const sign = b_.CreateShl(b_.CreateAnd(bits, number(kHalfSign)), 16);
    return as_float(b_.CreateOr(b_.CreateSelect(is_finite, finite, special), sign));
  }

  // A normal result is rounded by adding half of its last bit, less one where the bit before is even; it may carry into
  // the exponent, up to infinity. A subnormal one is rounded by an addition whose last bit is its own.
  Value* to_half() {
    Value* const bits = as_bits(value_);
    Value* const rest = b_.CreateAnd(bits, number(kRest));
    Value* const odd = b_.CreateAnd(b_.CreateLShr(rest, kDroppedBits), number(1));
    Value* const half_less_one = number((1u << (kDroppedBits - 1)) - 1 - kBias);
    Value* const normal = b_.CreateLShr(b_.CreateAdd(b_.CreateAdd(rest, half_less_one), odd), kDroppedBits);
    Value* const aligned = as_bits(b_.CreateFAdd(as_float(rest), as_float(number(kHalfOne))));
    Value* const subnormal = b_.CreateSub(aligned, number(kHalfOne));
    Value* const is_nan = b_.CreateICmpUGT(rest, number(kInfinity));
    Value* const special = b_.CreateSelect(is_nan, number(kHalfQuiet), number(kHalfInfinity));
    Value* const small = b_.CreateSelect(b_.CreateICmpULT(rest, number(kLeastNormal)), subnormal, normal);
    Value* const result = b_.CreateSelect(b_.CreateICmpULT(rest, number(kBeyond)), small, special);
    Value* const sign = b_.CreateAnd(b_.CreateLShr(bits, 16), number(kHalfSign));
    return b_.CreateBitCast(b_.CreateTrunc(b_.CreateOr(result, sign), integers(16)), like(b_.getHalfTy()));
  }

 private:
  llvm::Type* like(llvm::Type* element) { return value_->getType()->getWithNewType(element); }
  llvm::Type* integers(unsigned bits) { return like(b_.getIntNTy(bits)); }
  Value* number(uint32_t bits) { return llvm::ConstantInt::get(integers(32), bits); }
  Value* as_float(Value* bits) { return b_.CreateBitCast(bits, like(b_.getFloatTy())); }
  Value* as_bits(Value* value) { return b_.CreateBitCast(value, integers(32)); }

  llvm::IRBuilder<> b_;
  Value* value_;
};

bool is_half(const Value* value) { return value->getType()->getScalarType()->isHalfTy(); }

bool converts_half(const llvm::Instruction& instruction) {
  const unsigned opcode = instruction.getOpcode();
  return (opcode == llvm::Instruction::FPExt && is_half(instruction.getOperand(0))) ||
         (opcode == llvm::Instruction::FPTrunc && is_half(&instruction));
}

bool changes_width(const llvm::Instruction& instruction) {
  const auto* const call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!call || !call->getType()->isVectorTy()) return false;
  const bool is_conversion =
      call->getIntrinsicID() == llvm::Intrinsic::fptosi_sat || call->getIntrinsicID() == llvm::Intrinsic::fptoui_sat;
  return is_conversion &&
         call->getType()->getScalarSizeInBits() != call->getOperand(0)->getType()->getScalarSizeInBits();
}

Value* expand_half(llvm::Instruction& conversion) {
  HalfConversion expansion(conversion);
  return conversion.getOpcode() == llvm::Instruction::FPExt ? expansion.to_float() : expansion.to_half();
}

// To integers of more bits: by f64. To fewer: clamped to their ends, which the floats have exactly, and cut off; a NaN is
// not clamped, and becomes 0.
Value* expand_width(llvm::Instruction& conversion) {
  llvm::IRBuilder<> b(&conversion);
  Value* const value = conversion.getOperand(0);
  llvm::Type* const floats = value->getType();
  const unsigned bits = conversion.getType()->getScalarSizeInBits();
  const llvm::Intrinsic::ID id = llvm::cast<llvm::IntrinsicInst>(conversion).getIntrinsicID();
  if (bits > floats->getScalarSizeInBits()) {
    Value* const exact = b.CreateFPExt(value, floats->getWithNewType(b.getDoubleTy()));
    return b.CreateIntrinsic(id, {conversion.getType(), exact->getType()}, {exact});
  }
  const bool is_signed = id == llvm::Intrinsic::fptosi_sat;
  const double end = std::ldexp(1.0, static_cast<int>(is_signed ? bits - 1 : bits));
  llvm::Constant* const least = llvm::ConstantFP::get(floats, is_signed ? -end : 0);
  llvm::Constant* const most = llvm::ConstantFP::get(floats, end - 1);
  Value* const above = b.CreateSelect(b.CreateFCmpOLT(value, least), least, value);
  Value* const inside = b.CreateSelect(b.CreateFCmpOGT(above, most), most, above);
  llvm::Type* const wide = floats->getWithNewType(b.getIntNTy(floats->getScalarSizeInBits()));
  return b.CreateTrunc(b.CreateIntrinsic(llvm::Intrinsic::fptosi_sat, {wide, floats}, {inside}), conversion.getType());
}

}  // namespace

void expand_half_conversions(llvm::Module& module) { replace_instructions(module, converts_half, expand_half); }

void expand_width_conversions(llvm::Module& module) { replace_instructions(module, changes_width, expand_width); }

}  // namespace ingot::codegen
