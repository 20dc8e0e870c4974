#include "aot/codegen/expand_library.h"

#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

#include "aot/codegen/rewrite.h"

namespace ingot::codegen {
namespace {

using llvm::BasicBlock;
using llvm::ConstantFP;
using llvm::Function;
using llvm::Type;
using llvm::Value;

constexpr double kWord = 4294967296.0;  // 2^32

// --- Functions of floats ---------------------------------------------------------------------------------------------

llvm::Intrinsic::ID intrinsic(const llvm::Instruction& instruction) {
  const auto* const call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call ? call->getIntrinsicID() : llvm::Intrinsic::not_intrinsic;
}

bool is_saturating_conversion(const llvm::Instruction& instruction) {
  const llvm::Intrinsic::ID id = intrinsic(instruction);
  return id == llvm::Intrinsic::fptosi_sat || id == llvm::Intrinsic::fptoui_sat;
}

// Of values within the integers, the plain instructions are the saturating functions.
bool is_conversion_from_float(const llvm::Instruction& instruction) {
  const unsigned opcode = instruction.getOpcode();
  return opcode == llvm::Instruction::FPToSI || opcode == llvm::Instruction::FPToUI ||
         is_saturating_conversion(instruction);
}

bool is_float_function(const llvm::Instruction& instruction) {
  const llvm::Intrinsic::ID id = intrinsic(instruction);
  return id == llvm::Intrinsic::maximum || id == llvm::Intrinsic::minimum || id == llvm::Intrinsic::roundeven ||
         (is_saturating_conversion(instruction) && instruction.getType()->getScalarSizeInBits() < 32);
}

// Of equal numbers only zeros can have other bits than each other: the greater one is positive if any is.
Value* settled_extremum(Builder& b, bool greatest, Value* x, Value* y) {
  Type* const integers = x->getType()->getWithNewType(b.getIntNTy(x->getType()->getScalarSizeInBits()));
  Value* const x_bits = b.CreateBitCast(x, integers);
  Value* const y_bits = b.CreateBitCast(y, integers);
  Value* const same = greatest ? b.CreateAnd(x_bits, y_bits) : b.CreateOr(x_bits, y_bits);
  Value* const other = b.CreateSelect(greatest ? b.CreateFCmpOGT(x, y) : b.CreateFCmpOLT(x, y), x, y);
  Value* const number = b.CreateSelect(b.CreateFCmpOEQ(x, y), b.CreateBitCast(same, x->getType()), other);
  return b.CreateSelect(b.CreateFCmpUNO(x, y), b.CreateFAdd(x, y), number);
}

// By 32 bits, clamped as integers: LLVM would clamp the float by vmaxnm and vminnm, which make the most of a signalling NaN.
Value* short_integer(Builder& b, llvm::Instruction& conversion) {
  Value* const x = conversion.getOperand(0);
  Type* const words = conversion.getType()->getWithNewType(b.getInt32Ty());
  Value* const word = b.CreateIntrinsic(intrinsic(conversion), {words, x->getType()}, {x});
  const unsigned bits = conversion.getType()->getScalarSizeInBits();
  const auto clamp = [&](llvm::Intrinsic::ID id, Value* value, const llvm::APInt& end) {
    return b.CreateBinaryIntrinsic(id, value, llvm::ConstantInt::get(words, end));
  };
  Value* inside = nullptr;
  if (intrinsic(conversion) == llvm::Intrinsic::fptoui_sat) {
    inside = clamp(llvm::Intrinsic::umin, word, llvm::APInt::getMaxValue(bits).zext(32));
  } else {
    Value* const below = clamp(llvm::Intrinsic::smin, word, llvm::APInt::getSignedMaxValue(bits).sext(32));
    inside = clamp(llvm::Intrinsic::smax, below, llvm::APInt::getSignedMinValue(bits).sext(32));
  }
  return b.CreateTrunc(inside, conversion.getType());
}

// Kernels run in the mode that rounds to nearest even.
Value* expand_float_function(llvm::Instruction& call) {
  Builder b(&call);
  const llvm::Intrinsic::ID id = intrinsic(call);
  if (is_saturating_conversion(call)) return short_integer(b, call);
  if (id == llvm::Intrinsic::roundeven) return b.CreateUnaryIntrinsic(llvm::Intrinsic::nearbyint, call.getOperand(0));
  return settled_extremum(b, id == llvm::Intrinsic::maximum, call.getOperand(0), call.getOperand(1));
}

// --- Division --------------------------------------------------------------------------------------------------------

// x / y. In one instruction where both are short; else bit by bit:
//   for (q = 0, part = y << n; n >= 0; part >>= 1, --n) { q <<= 1; if (x >= part) x -= part, ++q; }
// where n is what the first bits of x and y are apart.
void emit_quotient(Function& function) {
  llvm::LLVMContext& context = function.getContext();
  const auto block = [&](const char* name) { return BasicBlock::Create(context, name, &function); };
  BasicBlock *const entry = block("entry"), *const brief = block("brief"), *const test = block("test"),
                    *const zero = block("zero"), *const start = block("start"), *const loop = block("loop"),
                    *const done = block("done");
  Value *const x = function.getArg(0), *const y = function.getArg(1);
  Builder b(entry);
  b.CreateCondBr(b.CreateICmpULT(b.CreateOr(x, y), b.getInt64(uint64_t{1} << 32)), brief, test);

  b.SetInsertPoint(brief);
  Value* const quotient = b.CreateUDiv(b.CreateTrunc(x, b.getInt32Ty()), b.CreateTrunc(y, b.getInt32Ty()));
  b.CreateRet(b.CreateZExt(quotient, b.getInt64Ty()));

  b.SetInsertPoint(test);
  b.CreateCondBr(b.CreateICmpULT(x, y), zero, start);
  b.SetInsertPoint(zero);
  b.CreateRet(b.getInt64(0));

  b.SetInsertPoint(start);
  const auto zeros = [&](Value* v) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, v, b.getTrue()); };
  Value* const apart = b.CreateSub(zeros(y), zeros(x));
  Value* const first_part = b.CreateShl(y, apart);
  b.CreateBr(loop);

  b.SetInsertPoint(loop);
  llvm::PHINode *const rest = b.CreatePHI(b.getInt64Ty(), 2), *const part = b.CreatePHI(b.getInt64Ty(), 2),
                       *const sum = b.CreatePHI(b.getInt64Ty(), 2), *const left = b.CreatePHI(b.getInt64Ty(), 2);
  Value* const fits = b.CreateICmpUGE(rest, part);
  Value* const next_sum = b.CreateOr(b.CreateShl(sum, 1), b.CreateZExt(fits, b.getInt64Ty()));
  const struct {
    llvm::PHINode* value;
    Value *first, *next;
  } carried[] = {{rest, x, b.CreateSelect(fits, b.CreateSub(rest, part), rest)},
                 {part, first_part, b.CreateLShr(part, 1)},
                 {sum, b.getInt64(0), next_sum},
                 {left, apart, b.CreateSub(left, b.getInt64(1))}};
  for (const auto& it : carried) {
    it.value->addIncoming(it.first, start);
    it.value->addIncoming(it.next, loop);
  }
  b.CreateCondBr(b.CreateICmpEQ(left, b.getInt64(0)), done, loop);
  b.SetInsertPoint(done);
  b.CreateRet(next_sum);
}

Value* quotient(Builder& b, Value* x, Value* y) {
  return call_shared(b, "divide.i64", b.getInt64Ty(), {x, y}, emit_quotient);
}

// Towards zero, as of magnitudes; the remainder has the sign of x.
Value* divide_wide(Builder& b, unsigned opcode, Value* x, Value* y) {
  using Binary = llvm::Instruction::BinaryOps;
  const bool is_remainder = opcode == Binary::URem || opcode == Binary::SRem;
  const auto magnitude = [&](Value* v) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, v, b.getFalse()); };
  Value* result = nullptr;
  if (opcode == Binary::UDiv || opcode == Binary::URem) {
    result = quotient(b, x, y);
  } else {
    Value* const size = quotient(b, magnitude(x), magnitude(y));
    Value* const is_negative = b.CreateICmpSLT(b.CreateXor(x, y), b.getInt64(0));
    result = b.CreateSelect(is_negative, b.CreateNeg(size), size);
  }
  return is_remainder ? b.CreateSub(x, b.CreateMul(result, y)) : result;
}

// --- Conversions -----------------------------------------------------------------------------------------------------

// As f64 the words of x add up with one rounding. For f32 that must not be a first one of two: what f64 has no room for
// becomes one bit, set if any was (rounding to odd, as in emit_convert.cc).
void emit_to_float(Function& function, bool is_signed) {
  Builder b(BasicBlock::Create(function.getContext(), "entry", &function));
  constexpr int kFractionBits = 53, kLostBits = 64 - kFractionBits;
  constexpr uint64_t kLost = (uint64_t{1} << kLostBits) - 1, kExact = uint64_t{1} << kFractionBits;
  Value* x = function.getArg(0);
  Type* const type = function.getReturnType();
  if (type->isFloatTy()) {
    Value* const sticky = b.CreateAnd(b.CreateOr(x, b.CreateAdd(b.CreateAnd(x, kLost), b.getInt64(kLost))), ~kLost);
    Value* const is_exact = is_signed ? b.CreateICmpULT(b.CreateAdd(x, b.getInt64(kExact)), b.getInt64(2 * kExact))
                                      : b.CreateICmpULT(x, b.getInt64(kExact));
    x = b.CreateSelect(is_exact, x, sticky);
  }
  Value* const high = b.CreateTrunc(b.CreateLShr(x, 32), b.getInt32Ty());
  Value* const low = b.CreateUIToFP(b.CreateTrunc(x, b.getInt32Ty()), b.getDoubleTy());
  Value* const upper = is_signed ? b.CreateSIToFP(high, b.getDoubleTy()) : b.CreateUIToFP(high, b.getDoubleTy());
  Value* const sum =
      b.CreateIntrinsic(llvm::Intrinsic::fma, {b.getDoubleTy()}, {upper, ConstantFP::get(b.getDoubleTy(), kWord), low});
  b.CreateRet(b.CreateFPCast(sum, type));
}

// The words of the float's whole part, which are exact; what is beyond the ends saturates, and a NaN gives 0.
void emit_from_float(Function& function, bool is_signed) {
  Builder b(BasicBlock::Create(function.getContext(), "entry", &function));
  Type* const f64 = b.getDoubleTy();
  const auto number = [&](double value) { return ConstantFP::get(f64, value); };
  Value* const x = b.CreateFPCast(function.getArg(0), f64);
  Value* const whole = b.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, x);
  Value* const upper = b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, b.CreateFMul(whole, number(1 / kWord)));
  Value* const lower = b.CreateIntrinsic(llvm::Intrinsic::fma, {f64}, {upper, number(-kWord), whole});
  const auto word = [&](llvm::Intrinsic::ID id, Value* part) {
    return b.CreateZExt(b.CreateIntrinsic(id, {b.getInt32Ty(), f64}, {part}), b.getInt64Ty());
  };
  Value* const high = word(is_signed ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat, upper);
  Value* const inside = b.CreateOr(b.CreateShl(high, 32), word(llvm::Intrinsic::fptoui_sat, lower));
  constexpr uint64_t kSign = uint64_t{1} << 63;
  const double end = is_signed ? kWord / 2 * kWord : kWord * kWord;
  Value* const above =
      b.CreateSelect(b.CreateFCmpOGE(x, number(end)), b.getInt64(is_signed ? ~kSign : ~uint64_t{0}), inside);
  Value* const least = b.getInt64(is_signed ? kSign : 0);
  b.CreateRet(b.CreateSelect(b.CreateFCmpOLT(x, number(is_signed ? -end : 0)), least, above));
}

bool is_conversion_to_float(unsigned opcode) {
  return opcode == llvm::Instruction::SIToFP || opcode == llvm::Instruction::UIToFP;
}

Value* convert_wide(Builder& b, const llvm::Instruction& conversion, Value* x) {
  Type* const result = conversion.getType()->getScalarType();
  const auto name_of = [](const Type* type) {
    return type->isFloatTy() ? std::string("f32") : type->isDoubleTy() ? std::string("f64") : std::string("64");
  };
  const bool to_float = is_conversion_to_float(conversion.getOpcode());
  const unsigned opcode = conversion.getOpcode();
  const bool is_signed = opcode == llvm::Instruction::SIToFP || opcode == llvm::Instruction::FPToSI ||
                         intrinsic(conversion) == llvm::Intrinsic::fptosi_sat;
  const std::string name = name_of(x->getType()) + ".to." + name_of(result) + (is_signed ? ".signed" : ".unsigned");
  return call_shared(b, name, result, {x}, [&](Function& function) {
    to_float ? emit_to_float(function, is_signed) : emit_from_float(function, is_signed);
  });
}

// --- Both ------------------------------------------------------------------------------------------------------------

bool is_i64(const Value* value) { return value->getType()->isIntOrIntVectorTy(64); }

// By a power of two LLVM shifts.
bool is_division(const llvm::Instruction& instruction) {
  using namespace llvm::PatternMatch;
  return instruction.isIntDivRem() && !match(instruction.getOperand(1), m_CombineOr(m_Power2(), m_NegatedPower2()));
}

bool is_wide(const llvm::Instruction& instruction) {
  if (is_conversion_to_float(instruction.getOpcode())) return is_i64(instruction.getOperand(0));
  return is_i64(&instruction) && (is_division(instruction) || is_conversion_from_float(instruction));
}

Value* expand_wide(llvm::Instruction& instruction) {
  Builder b(&instruction);
  const auto lane_of = [&](unsigned operand, unsigned lane) {
    Value* const value = instruction.getOperand(operand);
    return value->getType()->isVectorTy() ? b.CreateExtractElement(value, lane) : value;
  };
  const auto one = [&](unsigned lane) {
    Value* const x = lane_of(0, lane);
    return instruction.isIntDivRem() ? divide_wide(b, instruction.getOpcode(), x, lane_of(1, lane))
                                     : convert_wide(b, instruction, x);
  };
  const auto* const vector = llvm::dyn_cast<llvm::FixedVectorType>(instruction.getType());
  if (!vector) return one(0);
  Value* result = llvm::PoisonValue::get(instruction.getType());
  for (unsigned lane = 0; lane < vector->getNumElements(); ++lane) {
    result = b.CreateInsertElement(result, one(lane), lane);
  }
  return result;
}

}  // namespace

void expand_float_functions(llvm::Module& module) {
  replace_instructions(module, is_float_function, expand_float_function);
}

void expand_i64_division(llvm::Module& module) { replace_instructions(module, is_wide, expand_wide); }

}  // namespace ingot::codegen
