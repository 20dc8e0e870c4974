#include "aot/codegen/emit_dot_pairs.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "aot/loops/scalar.h"

namespace ingot::codegen {
namespace {

using llvm::ConstantFP;
using llvm::ConstantInt;
using llvm::Value;
using llvm::Intrinsic::ID;

// Vectors of f32 of one width, as a target's instruction takes them.
struct PairRow {
  std::string_view isa;
  unsigned lanes;
  ID id;
};

constexpr PairRow kPairRows[] = {
    {"x86-64", 4, llvm::Intrinsic::x86_avx512bf16_dpbf16ps_128},
    {"x86-64", 8, llvm::Intrinsic::x86_avx512bf16_dpbf16ps_256},
    {"x86-64", 16, llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512},
};

const PairRow* pair_row(const loops::Target& target, const llvm::Type* type) {
  const auto* const vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (!vector || !target.has_pair_products) return nullptr;
  for (const PairRow& row : kPairRows) {
    if (row.isa == target.isa && row.lanes == vector->getNumElements()) return &row;
  }
  return nullptr;
}

// By fused multiply-adds, with what the instruction does to numbers below 2^-126 (loops/scalar.cc).
class ByFma {
 public:
  ByFma(Builder& b, llvm::Type* floats)
      : b_(b),
        floats_(floats),
        words_(floats->getWithNewType(b.getInt32Ty())),
        doubles_(floats->getWithNewType(b.getDoubleTy())) {}

  Value* dot(Value* left, Value* right, Value* sum) {
    const uint64_t upper = 0xFFFF0000;
    sum = add(b_.CreateAnd(left, upper), b_.CreateAnd(right, upper), flushed(b_.CreateBitCast(sum, words_)));
    return add(b_.CreateShl(left, 16), b_.CreateShl(right, 16), sum);
  }

 private:
  Value* flushed(Value* bits) {
    Value* const is_small = b_.CreateICmpEQ(b_.CreateAnd(bits, 0x7F800000), ConstantInt::get(words_, 0));
    return b_.CreateBitCast(b_.CreateSelect(is_small, b_.CreateAnd(bits, 0x80000000), bits), floats_);
  }

  Value* fma(Value* x, Value* y, Value* z) {
    return b_.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {x, y, z});
  }

  Value* add(Value* left, Value* right, Value* sum) {
    Value* const x = flushed(left);
    Value* const y = flushed(right);
    Value* const rounded = fma(x, y, sum);
    const auto wide = [&](Value* value) { return b_.CreateFPExt(value, doubles_); };
    Value* const exact = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, fma(wide(x), wide(y), wide(sum)));
    Value* const is_small = b_.CreateFCmpOLT(exact, ConstantFP::get(doubles_, loops::kLeastPairSum));
    Value* const bits = b_.CreateBitCast(rounded, words_);
    return b_.CreateBitCast(b_.CreateSelect(is_small, b_.CreateAnd(bits, 0x80000000), bits), floats_);
  }

  Builder& b_;
  llvm::Type *floats_, *words_, *doubles_;
};

}  // namespace

Value* emit_dot_pairs(Builder& b, const loops::Target& target, llvm::ArrayRef<Value*> args) {
  llvm::Type* const type = args[2]->getType();
  const PairRow* const row = pair_row(target, type);
  if (!row) return ByFma(b, type).dot(args[0], args[1], args[2]);
  auto* const pairs = llvm::FixedVectorType::get(b.getBFloatTy(), 2 * row->lanes);
  return b.CreateIntrinsic(row->id, {}, {args[2], b.CreateBitCast(args[0], pairs), b.CreateBitCast(args[1], pairs)});
}

}  // namespace ingot::codegen
