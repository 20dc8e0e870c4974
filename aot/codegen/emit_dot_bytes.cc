#include "aot/codegen/emit_dot_bytes.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/IR/IntrinsicsX86.h>

namespace ingot::codegen {
namespace {

using llvm::Value;
using llvm::Intrinsic::ID;
using loops::ByteProducts;

// Vectors of i32 of one width, as a target's instructions take them.
struct Row {
  std::string_view isa;
  ByteProducts products;
  unsigned lanes;
  ID id;  // kInPairs: multiplies numbers of 16 bits; kAtOnce: does it all; kSigned: the same of signed bytes
};

constexpr Row kRows[] = {
    {"x86-64", ByteProducts::kInPairs, 4, llvm::Intrinsic::x86_sse2_pmadd_wd},
    {"x86-64", ByteProducts::kInPairs, 8, llvm::Intrinsic::x86_avx2_pmadd_wd},
    {"x86-64", ByteProducts::kInPairs, 16, llvm::Intrinsic::x86_avx512_pmaddw_d_512},
    {"x86-64", ByteProducts::kAtOnce, 4, llvm::Intrinsic::x86_avx512_vpdpbusd_128},
    {"x86-64", ByteProducts::kAtOnce, 8, llvm::Intrinsic::x86_avx512_vpdpbusd_256},
    {"x86-64", ByteProducts::kAtOnce, 16, llvm::Intrinsic::x86_avx512_vpdpbusd_512},
    {"aarch64", ByteProducts::kSigned, 2, llvm::Intrinsic::aarch64_neon_sdot},
    {"aarch64", ByteProducts::kSigned, 4, llvm::Intrinsic::aarch64_neon_sdot},
};

const Row* row_of(const loops::Target& target, const llvm::Type* type) {
  const auto* const vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (!vector) return nullptr;
  for (const Row& row : kRows) {
    if (row.isa == target.isa && row.products == target.byte_products && row.lanes == vector->getNumElements())
      return &row;
  }
  return nullptr;
}

// Bytes of numbers of 16 or 32 bits, the byte at `shift` extended to all of each.
Value* unsigned_byte(Builder& b, Value* value, unsigned shift) {
  Value* const low = shift == 0 ? value : b.CreateLShr(value, shift);
  return b.CreateAnd(low, llvm::ConstantInt::get(value->getType(), 0xFF));
}

Value* signed_byte(Builder& b, Value* value, unsigned shift) {
  const unsigned above = value->getType()->getScalarSizeInBits() - 8;
  Value* const high = shift == above ? value : b.CreateShl(value, above - shift);
  return b.CreateAShr(high, above);
}

Value* one_by_one(Builder& b, Value* left, Value* right, Value* sum) {
  for (unsigned shift = 0; shift < 32; shift += 8)
    sum = b.CreateAdd(sum, b.CreateMul(unsigned_byte(b, left, shift), signed_byte(b, right, shift)));
  return sum;
}

// The bytes of even places, and those of odd ones, as pairs of 16 bits.
Value* in_pairs(Builder& b, const Row& row, Value* left, Value* right, Value* sum) {
  auto* const halves = llvm::FixedVectorType::get(b.getInt16Ty(), 2 * row.lanes);
  left = b.CreateBitCast(left, halves);
  right = b.CreateBitCast(right, halves);
  for (const unsigned shift : {0, 8}) {
    Value* const pairs[] = {unsigned_byte(b, left, shift), signed_byte(b, right, shift)};
    sum = b.CreateAdd(sum, b.CreateIntrinsic(row.id, {}, pairs));
  }
  return sum;
}

// Unsigned bytes less 128 are signed; 128 times the sum of the other bytes makes up for it, and is the same for all that
// these are multiplied by: LLVM computes it once.
Value* by_signed(Builder& b, const Row& row, Value* left, Value* right, Value* sum) {
  llvm::Type* const words = sum->getType();
  auto* const bytes = llvm::FixedVectorType::get(b.getInt8Ty(), 4 * row.lanes);
  const auto product = [&](Value* to, Value* x, Value* y) {
    return b.CreateIntrinsic(row.id, {words, bytes}, {to, b.CreateBitCast(x, bytes), b.CreateBitCast(y, bytes)});
  };
  Value* const lowered = b.CreateXor(b.CreateBitCast(left, bytes), llvm::ConstantInt::get(bytes, 0x80));
  Value* const sums_by_64 = product(llvm::ConstantInt::get(words, 0), right, llvm::ConstantInt::get(bytes, 64));
  return b.CreateAdd(product(sum, lowered, right), b.CreateShl(sums_by_64, 1));
}

}  // namespace

Value* emit_dot_bytes(Builder& b, const loops::Target& target, llvm::ArrayRef<Value*> args) {
  const Row* const row = row_of(target, args[2]->getType());
  if (!row) return one_by_one(b, args[0], args[1], args[2]);
  if (row->products == ByteProducts::kInPairs) return in_pairs(b, *row, args[0], args[1], args[2]);
  if (row->products == ByteProducts::kSigned) return by_signed(b, *row, args[0], args[1], args[2]);
  return b.CreateIntrinsic(row->id, {}, {args[2], args[0], args[1]});
}

}  // namespace ingot::codegen
