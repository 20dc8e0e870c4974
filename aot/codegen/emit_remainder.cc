// fmod without a library.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Intrinsics.h>

#include "aot/codegen/emit_scalar.h"
#include "aot/codegen/rewrite.h"

namespace ingot::codegen {
namespace {

using llvm::BasicBlock;
using llvm::ConstantFP;
using llvm::ConstantInt;
using llvm::Function;
using llvm::Type;
using llvm::Value;

struct FloatFormat {
  int mantissa_bits;  // stored ones
  int exponent_bits;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};

// |v| = mantissa * 2^(exponent - bias - mantissa_bits), both as i64; subnormal numbers have the exponent 1.
struct Parts {
  Value* mantissa;
  Value* exponent;
};

Parts split(Builder& b, const FloatFormat& format, Value* magnitude_bits) {
  const uint64_t hidden = uint64_t{1} << format.mantissa_bits;
  Value* const stored = b.CreateLShr(magnitude_bits, format.mantissa_bits);
  Value* const fraction = b.CreateAnd(magnitude_bits, hidden - 1);
  Value* const is_subnormal = b.CreateICmpEQ(stored, b.getInt64(0));
  return {b.CreateSelect(is_subnormal, fraction, b.CreateOr(fraction, hidden)),
          b.CreateSelect(is_subnormal, b.getInt64(1), stored)};
}

// 2^power for powers of normal numbers.
Value* power_of_two(Builder& b, const FloatFormat& format, Type* type, Value* power) {
  Value* const bits = b.CreateShl(b.CreateAdd(power, b.getInt64(format.bias())), format.mantissa_bits);
  return b.CreateBitCast(b.CreateTrunc(bits, b.getIntNTy(type->getScalarSizeInBits())), type);
}

// Long division of the mantissas, as many bits at a time as 64-bit integers leave room for:
//   r = mx; for (d = ex - ey; d > 0; d -= s) { s = min(d, room); r = (r << s) % my; }  result r * 2^(ey - ...)
void emit_body(Function& function, const FloatFormat& format) {
  llvm::LLVMContext& context = function.getContext();
  BasicBlock* const entry = BasicBlock::Create(context, "entry", &function);
  BasicBlock* const divide = BasicBlock::Create(context, "divide", &function);
  BasicBlock* const loop = BasicBlock::Create(context, "loop", &function);
  BasicBlock* const done = BasicBlock::Create(context, "done", &function);
  BasicBlock* const trivial = BasicBlock::Create(context, "trivial", &function);
  Value* const x = function.getArg(0);
  Value* const y = function.getArg(1);
  Type* const type = x->getType();
  Type* const i64 = Type::getInt64Ty(context);
  const int room = 63 - format.mantissa_bits;

  Builder b(entry);
  const auto magnitude = [&](Value* v) {
    return b.CreateBitCast(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, v), b.getIntNTy(type->getScalarSizeInBits()));
  };
  Value* const ax = b.CreateZExt(magnitude(x), i64);
  Value* const ay = b.CreateZExt(magnitude(y), i64);
  const uint64_t infinity_bits = ((uint64_t{1} << format.exponent_bits) - 1) << format.mantissa_bits;
  Value* const infinity = b.getInt64(infinity_bits);
  Value* const is_invalid = b.CreateOr(b.CreateOr(b.CreateICmpUGE(ax, infinity), b.CreateICmpUGT(ay, infinity)),
                                       b.CreateICmpEQ(ay, b.getInt64(0)));
  b.CreateCondBr(b.CreateOr(is_invalid, b.CreateICmpULT(ax, ay)), trivial, divide);

  b.SetInsertPoint(trivial);
  b.CreateRet(b.CreateSelect(is_invalid, ConstantFP::getNaN(type), x));

  b.SetInsertPoint(divide);
  const Parts px = split(b, format, ax);
  const Parts py = split(b, format, ay);
  Value* const first = b.CreateURem(px.mantissa, py.mantissa);
  Value* const distance = b.CreateSub(px.exponent, py.exponent);
  b.CreateCondBr(b.CreateICmpSGT(distance, b.getInt64(0)), loop, done);

  b.SetInsertPoint(loop);
  llvm::PHINode* const remainder = b.CreatePHI(i64, 2);
  llvm::PHINode* const left = b.CreatePHI(i64, 2);
  Value* const step = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, left, b.getInt64(room));
  Value* const next = b.CreateURem(b.CreateShl(remainder, step), py.mantissa);
  Value* const still = b.CreateSub(left, step);
  remainder->addIncoming(first, divide);
  remainder->addIncoming(next, loop);
  left->addIncoming(distance, divide);
  left->addIncoming(still, loop);
  b.CreateCondBr(b.CreateICmpSGT(still, b.getInt64(0)), loop, done);

  // r * 2^power in two exact steps: the full power may be subnormal.
  b.SetInsertPoint(done);
  llvm::PHINode* const result = b.CreatePHI(i64, 2);
  result->addIncoming(first, divide);
  result->addIncoming(next, loop);
  Value* const power = b.CreateSub(py.exponent, b.getInt64(format.bias() + format.mantissa_bits));
  Value* const half = b.CreateAShr(power, 1);
  Value* const scaled = b.CreateFMul(b.CreateUIToFP(result, type), power_of_two(b, format, type, half));
  Value* const value = b.CreateFMul(scaled, power_of_two(b, format, type, b.CreateSub(power, half)));
  b.CreateRet(b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, value, x));
}

}  // namespace

Value* emit_float_remainder(Builder& b, Value* x, Value* y) {
  Type* const type = x->getType();
  const bool is_single = type->isFloatTy();
  return call_shared(b, is_single ? "remainder.f32" : "remainder.f64", type, {x, y}, [&](Function& function) {
    emit_body(function, is_single ? FloatFormat{23, 8} : FloatFormat{52, 11});
  });
}

}  // namespace ingot::codegen
