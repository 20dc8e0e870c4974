#include "aot/codegen/emit_dot_pairs.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "aot/codegen/fences.h"
#include "aot/loops/dot_pairs.h"

namespace ingot::codegen {
namespace {

using llvm::ConstantFP;
using llvm::ConstantInt;
using llvm::Value;
using llvm::Intrinsic::ID;
using loops::ScalarOp;

// Vectors of f32 of one width, as a target's instruction takes them.
struct PairRow {
  std::string_view isa;
  ScalarOp op;
  unsigned lanes;
  ID id;
};

constexpr PairRow kPairRows[] = {
    {"x86-64", ScalarOp::kDotPairs, 4, llvm::Intrinsic::x86_avx512bf16_dpbf16ps_128},
    {"x86-64", ScalarOp::kDotPairs, 8, llvm::Intrinsic::x86_avx512bf16_dpbf16ps_256},
    {"x86-64", ScalarOp::kDotPairs, 16, llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512},
    {"aarch64", ScalarOp::kDotPairsToOdd, 2, llvm::Intrinsic::aarch64_neon_bfdot},
    {"aarch64", ScalarOp::kDotPairsToOdd, 4, llvm::Intrinsic::aarch64_neon_bfdot},
};

const PairRow* pair_row(const loops::Target& target, ScalarOp op, const llvm::Type* type) {
  const auto* const vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (!vector || target.pair_products == loops::PairProducts::kNone) return nullptr;
  for (const PairRow& row : kPairRows) {
    if (row.isa == target.isa && row.op == op && row.lanes == vector->getNumElements()) return &row;
  }
  return nullptr;
}

// By other instructions, with what they do to numbers below 2^-126 (loops/dot_pairs.h).
class Pairs {
 public:
  Pairs(Builder& b, llvm::Type* floats)
      : b_(b),
        floats_(floats),
        words_(floats->getWithNewType(b.getInt32Ty())),
        doubles_(floats->getWithNewType(b.getDoubleTy())),
        longs_(floats->getWithNewType(b.getInt64Ty())) {}

  Value* dot(Value* left, Value* right, Value* sum) {
    sum = add(upper(left), upper(right), flushed(b_.CreateBitCast(sum, words_)));
    return add(lower(left), lower(right), sum);
  }

  Value* dot_to_odd(Value* left, Value* right, Value* sum) {
    Value* const products = add_to_odd(product(lower(left), lower(right)), product(upper(left), upper(right)));
    return add_to_odd(flushed(b_.CreateBitCast(sum, words_)), products);
  }

 private:
  Value* upper(Value* pairs) { return b_.CreateAnd(pairs, 0xFFFF0000); }
  Value* lower(Value* pairs) { return b_.CreateShl(pairs, 16); }
  Value* wide(Value* floats) { return b_.CreateFPExt(floats, doubles_); }

  Value* flushed(Value* bits) {
    return zero_where(b_.CreateICmpEQ(b_.CreateAnd(bits, 0x7F800000), ConstantInt::get(words_, 0)), bits);
  }

  // Of that sign.
  Value* zero_where(Value* is_small, Value* bits) {
    return b_.CreateBitCast(b_.CreateSelect(is_small, b_.CreateAnd(bits, 0x80000000), bits), floats_);
  }

  Value* is_below(Value* doubles, double bound) {
    Value* const magnitude = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, doubles);
    return b_.CreateFCmpOLT(magnitude, ConstantFP::get(doubles_, bound));
  }

  Value* fma(Value* x, Value* y, Value* z) {
    return b_.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {x, y, z});
  }

  Value* add(Value* left, Value* right, Value* sum) {
    Value* const x = flushed(left);
    Value* const y = flushed(right);
    Value* const rounded = fma(x, y, sum);
    Value* const exact = fma(wide(x), wide(y), wide(sum));
    return zero_where(is_below(exact, loops::kLeastPairSum), b_.CreateBitCast(rounded, words_));
  }

  Value* product(Value* left, Value* right) {
    return to_odd(b_.CreateFMul(wide(flushed(left)), wide(flushed(right))), ConstantFP::get(doubles_, 0));
  }

  Value* add_to_odd(Value* left, Value* right) {
    Value* const a = wide(left);
    Value* const b = wide(right);
    Value* const sum = b_.CreateFAdd(a, b);
    Value* const added = b_.CreateFSub(sum, a);
    return to_odd(sum, b_.CreateFAdd(b_.CreateFSub(a, b_.CreateFSub(sum, added)), b_.CreateFSub(b, added)));
  }

  Value* to_odd(Value* value, Value* lost) {
    const uint64_t last = uint64_t{1} << loops::kBitsBelowF32;
    Value* bits = b_.CreateBitCast(value, longs_);
    Value* const is_inexact = b_.CreateFCmpONE(lost, ConstantFP::get(doubles_, 0));
    Value* const is_less = b_.CreateLShr(b_.CreateXor(bits, b_.CreateBitCast(lost, longs_)), 63);
    bits = b_.CreateSelect(is_inexact, b_.CreateOr(b_.CreateSub(bits, is_less), 1), bits);
    Value* const is_exact = b_.CreateICmpEQ(b_.CreateAnd(bits, last - 1), ConstantInt::get(longs_, 0));
    bits = b_.CreateSelect(is_exact, bits, b_.CreateOr(b_.CreateAnd(bits, ~(last - 1)), last));
    Value* const odd = b_.CreateBitCast(bits, doubles_);
    Value* const floats = b_.CreateFPTrunc(odd, floats_);
    return zero_where(is_below(odd, 0x1p-126), b_.CreateBitCast(floats, words_));
  }

  Builder& b_;
  llvm::Type *floats_, *words_, *doubles_, *longs_;
};

// AArch64's instruction takes one pair of a vector's for all lanes. LLVM knows that where the vector is none that a load
// makes for all lanes by itself: such loads take no displacement.
Value* one_for_all(Builder& b, Value* value) {
  Value* const number = llvm::getSplatValue(value);
  if (!number || llvm::isa<llvm::Constant>(number)) return value;
  auto* const floats = value->getType()->getWithNewType(b.getFloatTy());
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(floats)->getNumElements();
  Value* const first =
      b.CreateInsertElement(llvm::PoisonValue::get(floats), b.CreateBitCast(number, b.getFloatTy()), uint64_t{0});
  return b.CreateShuffleVector(fence(b, first), llvm::SmallVector<int>(lanes, 0));
}

}  // namespace

Value* emit_dot_pairs(Builder& b, const loops::Target& target, ScalarOp op, llvm::ArrayRef<Value*> args) {
  llvm::Type* const type = args[2]->getType();
  const PairRow* const row = pair_row(target, op, type);
  if (!row) {
    Pairs pairs(b, type);
    return op == ScalarOp::kDotPairs ? pairs.dot(args[0], args[1], args[2])
                                     : pairs.dot_to_odd(args[0], args[1], args[2]);
  }
  auto* const halves = llvm::FixedVectorType::get(b.getBFloatTy(), 2 * row->lanes);
  if (op == ScalarOp::kDotPairs)
    return b.CreateIntrinsic(row->id, {},
                             {args[2], b.CreateBitCast(args[0], halves), b.CreateBitCast(args[1], halves)});
  // The factor that may be one for all is the last.
  const bool is_first = llvm::getSplatValue(args[0]) != nullptr;
  Value* const each = b.CreateBitCast(args[is_first ? 1 : 0], halves);
  Value* const all = b.CreateBitCast(one_for_all(b, args[is_first ? 0 : 1]), halves);
  return b.CreateIntrinsic(row->id, {type, halves}, {args[2], each, all});
}

}  // namespace ingot::codegen
