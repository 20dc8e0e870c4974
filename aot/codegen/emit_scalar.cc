#include "aot/codegen/emit_scalar.h"

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Intrinsics.h>

#include "aot/base/error.h"

namespace ingot::codegen {
namespace {

using llvm::Constant;
using llvm::ConstantFP;
using llvm::ConstantInt;
using llvm::Value;
using llvm::Intrinsic::ID;
using loops::ScalarOp;

[[noreturn]] void unsupported(ScalarOp op, DType dtype) {
  throw_bug("code generation meets '" + std::string(loops::info(op).text) + "' of " + to_string(dtype) +
            ", which is no primitive operation");
}

// The value of a constant that is the same in all lanes; null otherwise.
const ConstantFP* uniform_float(const Value* value) {
  const auto* constant = llvm::dyn_cast<Constant>(value);
  if (constant && constant->getType()->isVectorTy()) constant = constant->getSplatValue();
  return constant ? llvm::dyn_cast<ConstantFP>(constant) : nullptr;
}

// A bound that is no NaN, and no zero of the sign which loses against the other zero, needs one comparison: NaN in x is
// kept since the comparison is true when unordered.
Value* extremum(Builder& b, bool greatest, Value* x, Value* y) {
  if (uniform_float(x)) std::swap(x, y);
  if (const ConstantFP* bound = uniform_float(y)) {
    const bool is_losing_zero = bound->isZero() && bound->isNegative() == greatest;
    if (!bound->isNaN() && !is_losing_zero) {
      return b.CreateSelect(greatest ? b.CreateFCmpUGT(x, y) : b.CreateFCmpULT(x, y), x, y);
    }
  }
  return b.CreateBinaryIntrinsic(greatest ? llvm::Intrinsic::maximum : llvm::Intrinsic::minimum, x, y);
}

Value* each_lane(Builder& b, Value* x, Value* y, llvm::function_ref<Value*(Builder&, Value*, Value*)> emit) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  if (!vector) return emit(b, x, y);
  Value* result = llvm::PoisonValue::get(x->getType());
  for (unsigned lane = 0; lane < vector->getNumElements(); ++lane) {
    Value* const one = emit(b, b.CreateExtractElement(x, lane), b.CreateExtractElement(y, lane));
    result = b.CreateInsertElement(result, one, lane);
  }
  return result;
}

Value* emit_float(Builder& b, ScalarOp op, DType dtype, llvm::ArrayRef<Value*> a) {
  const auto unary = [&](ID id) { return b.CreateUnaryIntrinsic(id, a[0]); };
  switch (op) {
    case ScalarOp::kAdd:
      return b.CreateFAdd(a[0], a[1]);
    case ScalarOp::kSubtract:
      return b.CreateFSub(a[0], a[1]);
    case ScalarOp::kMultiply:
      return b.CreateFMul(a[0], a[1]);
    case ScalarOp::kDivide:
      return b.CreateFDiv(a[0], a[1]);
    case ScalarOp::kRemainder:
      return each_lane(b, a[0], a[1], emit_float_remainder);
    case ScalarOp::kMaximum:
      return extremum(b, true, a[0], a[1]);
    case ScalarOp::kMinimum:
      return extremum(b, false, a[0], a[1]);
    case ScalarOp::kFma:
      return b.CreateIntrinsic(llvm::Intrinsic::fma, {a[0]->getType()}, a);
    case ScalarOp::kNegate:
      return b.CreateFNeg(a[0]);
    case ScalarOp::kAbs:
      return unary(llvm::Intrinsic::fabs);
    case ScalarOp::kFloor:
      return unary(llvm::Intrinsic::floor);
    case ScalarOp::kCeil:
      return unary(llvm::Intrinsic::ceil);
    case ScalarOp::kRoundEven:
      return unary(llvm::Intrinsic::roundeven);
    case ScalarOp::kSqrt:
      return unary(llvm::Intrinsic::sqrt);
    case ScalarOp::kIsFinite:
      return b.CreateFCmpOLT(unary(llvm::Intrinsic::fabs), ConstantFP::getInfinity(a[0]->getType()));
    case ScalarOp::kEqual:
      return b.CreateFCmpOEQ(a[0], a[1]);
    case ScalarOp::kNotEqual:
      return b.CreateFCmpUNE(a[0], a[1]);
    case ScalarOp::kLess:
      return b.CreateFCmpOLT(a[0], a[1]);
    case ScalarOp::kLessEqual:
      return b.CreateFCmpOLE(a[0], a[1]);
    case ScalarOp::kGreater:
      return b.CreateFCmpOGT(a[0], a[1]);
    case ScalarOp::kGreaterEqual:
      return b.CreateFCmpOGE(a[0], a[1]);
    default:
      unsupported(op, dtype);
  }
}

// x / 0 is all ones and x % 0 is x; MIN / -1 is MIN. The processor's instruction traps on both, so it never sees them.
Value* divide(Builder& b, bool is_signed, bool remainder, Value* x, Value* y) {
  llvm::Type* const type = x->getType();
  Value* const by_zero = b.CreateICmpEQ(y, Constant::getNullValue(type));
  Value* const one = ConstantInt::get(type, 1);
  Value* const all_ones = Constant::getAllOnesValue(type);
  if (!is_signed) {
    Value* const safe = b.CreateSelect(by_zero, one, y);
    if (remainder) return b.CreateSelect(by_zero, x, b.CreateURem(x, safe));
    return b.CreateSelect(by_zero, all_ones, b.CreateUDiv(x, safe));
  }
  Value* const by_minus_one = b.CreateICmpEQ(y, all_ones);
  Value* const safe = b.CreateSelect(b.CreateOr(by_zero, by_minus_one), one, y);
  if (remainder) return b.CreateSelect(by_zero, x, b.CreateSRem(x, safe));
  Value* const quotient = b.CreateSelect(by_minus_one, b.CreateNeg(x), b.CreateSDiv(x, safe));
  return b.CreateSelect(by_zero, all_ones, quotient);
}

// Processors divide no vectors of integers, and a vector's lanes that nobody reads must not take part: LLVM may make
// their divisors poison, and concludes from that what the other lanes divide by. Constants become multiplications.
Value* divide_lanes(Builder& b, bool is_signed, bool remainder, Value* x, Value* y) {
  if (llvm::isa<Constant>(y)) return divide(b, is_signed, remainder, x, y);
  return each_lane(b, x, y,
                   [&](Builder& lane, Value* from, Value* by) { return divide(lane, is_signed, remainder, from, by); });
}

// Amounts from the width on (negative ones too, read as unsigned) shift everything out. From i2 on a
// type can hold its width.
Value* shift(Builder& b, ScalarOp op, Value* x, Value* amount) {
  llvm::Type* const type = x->getType();
  Value* const width = ConstantInt::get(type, type->getScalarSizeInBits());
  Value* const last = ConstantInt::get(type, type->getScalarSizeInBits() - 1);
  Value* const clamped = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, amount, last);
  if (op == ScalarOp::kShiftRightArithmetic) return b.CreateAShr(x, clamped);
  Value* const shifted = op == ScalarOp::kShiftLeft ? b.CreateShl(x, clamped) : b.CreateLShr(x, clamped);
  return b.CreateSelect(b.CreateICmpULT(amount, width), shifted, Constant::getNullValue(type));
}

Value* emit_integer(Builder& b, ScalarOp op, DType dtype, llvm::ArrayRef<Value*> a) {
  const bool is_signed = ingot::is_signed(dtype);
  const auto compare = [&](llvm::CmpInst::Predicate with_sign, llvm::CmpInst::Predicate without) {
    return b.CreateICmp(is_signed ? with_sign : without, a[0], a[1]);
  };
  const auto binary = [&](ID with_sign, ID without) {
    return b.CreateBinaryIntrinsic(is_signed ? with_sign : without, a[0], a[1]);
  };
  switch (op) {
    case ScalarOp::kAdd:
      return b.CreateAdd(a[0], a[1]);
    case ScalarOp::kSubtract:
      return b.CreateSub(a[0], a[1]);
    case ScalarOp::kMultiply:
      return b.CreateMul(a[0], a[1]);
    case ScalarOp::kDivide:
      return divide_lanes(b, is_signed, false, a[0], a[1]);
    case ScalarOp::kRemainder:
      return divide_lanes(b, is_signed, true, a[0], a[1]);
    case ScalarOp::kMaximum:
      return binary(llvm::Intrinsic::smax, llvm::Intrinsic::umax);
    case ScalarOp::kMinimum:
      return binary(llvm::Intrinsic::smin, llvm::Intrinsic::umin);
    case ScalarOp::kNegate:
      return b.CreateNeg(a[0]);
    case ScalarOp::kAbs:
      return is_signed ? b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, a[0], b.getFalse()) : a[0];
    case ScalarOp::kAnd:
      return b.CreateAnd(a[0], a[1]);
    case ScalarOp::kOr:
      return b.CreateOr(a[0], a[1]);
    case ScalarOp::kXor:
      return b.CreateXor(a[0], a[1]);
    case ScalarOp::kNot:
      return b.CreateNot(a[0]);
    case ScalarOp::kShiftLeft:
    case ScalarOp::kShiftRightLogical:
    case ScalarOp::kShiftRightArithmetic:
      return shift(b, op, a[0], a[1]);
    case ScalarOp::kPopcnt:
      return b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, a[0]);
    case ScalarOp::kCountLeadingZeros:
      return b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, a[0], b.getFalse());
    case ScalarOp::kEqual:
      return b.CreateICmpEQ(a[0], a[1]);
    case ScalarOp::kNotEqual:
      return b.CreateICmpNE(a[0], a[1]);
    case ScalarOp::kLess:
      return compare(llvm::CmpInst::ICMP_SLT, llvm::CmpInst::ICMP_ULT);
    case ScalarOp::kLessEqual:
      return compare(llvm::CmpInst::ICMP_SLE, llvm::CmpInst::ICMP_ULE);
    case ScalarOp::kGreater:
      return compare(llvm::CmpInst::ICMP_SGT, llvm::CmpInst::ICMP_UGT);
    case ScalarOp::kGreaterEqual:
      return compare(llvm::CmpInst::ICMP_SGE, llvm::CmpInst::ICMP_UGE);
    default:
      unsupported(op, dtype);
  }
}

// i1 arithmetic is StableHLO's: add and maximum are or, multiply and minimum are and.
Value* emit_bool(Builder& b, ScalarOp op, llvm::ArrayRef<Value*> a) {
  switch (op) {
    case ScalarOp::kAdd:
    case ScalarOp::kMaximum:
      return b.CreateOr(a[0], a[1]);
    case ScalarOp::kMultiply:
    case ScalarOp::kMinimum:
      return b.CreateAnd(a[0], a[1]);
    default:
      return emit_integer(b, op, DType::kI1, a);
  }
}

}  // namespace

Value* emit_apply(Builder& b, ScalarOp op, DType dtype, llvm::ArrayRef<Value*> args) {
  if (op == ScalarOp::kSelect) return b.CreateSelect(args[0], args[1], args[2]);
  if (is_float(dtype)) return emit_float(b, op, dtype, args);
  return is_bool(dtype) ? emit_bool(b, op, args) : emit_integer(b, op, dtype, args);
}

}  // namespace ingot::codegen
