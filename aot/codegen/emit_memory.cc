#include "aot/codegen/emit_memory.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <numeric>

#include "aot/codegen/innermost_loop.h"

namespace ingot::codegen {
namespace {

using llvm::Value;
using loops::Index;
using loops::kLaneVar;

// Where a load reads when its mask is false: a constant zero.
llvm::GlobalVariable* zeros(llvm::Module& module) {
  constexpr const char* kName = "ingot.zeros";
  if (llvm::GlobalVariable* existing = module.getNamedGlobal(kName)) return existing;
  llvm::Type* const type = llvm::Type::getInt64Ty(module.getContext());
  auto* const global = new llvm::GlobalVariable(module, type, true, llvm::GlobalValue::PrivateLinkage,
                                                llvm::Constant::getNullValue(type), kName);
  global->setAlignment(llvm::Align(8));
  return global;
}

Value* extend(Builder& b, Value* value, DType dtype, llvm::Type* type) {
  return b.CreateIntCast(value, type, is_signed(dtype));
}

// Every access goes through here.
llvm::Instruction* with_scopes(const Indexing& at, loops::BufferId buffer, llvm::Instruction* access) {
  const AliasScopes& scopes = at.scopes[buffer];
  if (scopes.own) access->setMetadata(llvm::LLVMContext::MD_alias_scope, scopes.own);
  if (scopes.apart) access->setMetadata(llvm::LLVMContext::MD_noalias, scopes.apart);
  return access;
}

// The index's lanes step through memory by one element, downwards.
bool is_reversed(const Indexing& at, const Index& index) {
  return at.kernel.lanes() > 1 && index.coefficient(kLaneVar) == -1 && !at.kernel.has_lanes(index.without(kLaneVar));
}

Value* reverse(Builder& b, Value* value) { return value ? b.CreateVectorReverse(value) : nullptr; }

Value* masked_scalar_load(const Indexing& at, loops::BufferId buffer, Value* address, Value* mask) {
  Builder& b = at.b;
  const DType dtype = at.kernel.buffers[buffer].dtype;
  if (mask) address = b.CreateSelect(mask, address, zeros(*b.GetInsertBlock()->getModule()));
  llvm::Type* const type = memory_type(b.getContext(), dtype, 1);
  llvm::Instruction* const load = b.CreateAlignedLoad(type, address, llvm::Align(info(dtype).bytes));
  // A masked load may read the zeros, which are in no buffer's scope.
  return from_memory(b, dtype, mask ? load : with_scopes(at, buffer, load));
}

// All lanes at one address, which is read when any lane wants it.
Value* load_same(const Indexing& at, loops::BufferId buffer, const Index& index, int lanes, Value* mask) {
  Builder& b = at.b;
  Value* const one = masked_scalar_load(at, buffer, at.address(buffer, index), b.CreateOrReduce(mask));
  Value* const all = b.CreateVectorSplat(lanes, one);
  return b.CreateSelect(mask, all, llvm::Constant::getNullValue(all->getType()));
}

// A volatile load is not merged with others, and stays an operand of the instruction that it is for.
Value* load_contiguous(const Indexing& at, loops::BufferId buffer, const Index& first, int lanes, Value* mask,
                       bool is_again = false) {
  Builder& b = at.b;
  const DType dtype = at.kernel.buffers[buffer].dtype;
  llvm::Type* const type = memory_type(b.getContext(), dtype, lanes);
  Value* const address = at.address(buffer, first);
  const llvm::Align align(info(dtype).bytes);
  llvm::Instruction* load = nullptr;
  if (mask) {
    load = b.CreateMaskedLoad(type, address, align, mask, llvm::Constant::getNullValue(type));
  } else {
    load = b.CreateAlignedLoad(type, address, align, is_again);
  }
  return from_memory(b, dtype, with_scopes(at, buffer, load));
}

// Lanes that step through memory by a few elements: that many, else 0.
int few_apart(const Indexing& at, const Index& index) {
  constexpr int64_t kMost = 4;
  const int64_t step = index.coefficient(kLaneVar);
  return step > 1 && step <= kMost && !at.kernel.has_lanes(index.without(kLaneVar)) ? static_cast<int>(step) : 0;
}

// All elements from the first lane's to the last one's, of which every `step`-th is taken.
Value* load_few_apart(const Indexing& at, loops::BufferId buffer, const Index& first, int lanes, int step) {
  Value* result = nullptr;
  for (int k = 0; k < step; ++k) {
    const int start = std::min(k * lanes, (lanes - 1) * step + 1 - lanes);
    Value* const part = load_contiguous(at, buffer, first + start, lanes, nullptr);
    std::vector<int> from(lanes);
    for (int lane = 0; lane < lanes; ++lane) {
      const bool is_here = lane * step / lanes == k;
      from[lane] = is_here ? lane * step - start + (result ? lanes : 0) : result ? lane : llvm::PoisonMaskElem;
    }
    result = result ? at.b.CreateShuffleVector(result, part, from) : at.b.CreateShuffleVector(part, from);
  }
  return result;
}

Value* gather(const Indexing& at, loops::BufferId buffer, const Index& index, int lanes, Value* mask) {
  Builder& b = at.b;
  const DType dtype = loops::register_dtype(at.kernel.buffers[buffer].dtype);
  Value* result = llvm::PoisonValue::get(register_type(b.getContext(), dtype, lanes));
  for (int lane = 0; lane < lanes; ++lane) {
    Value* const wanted = mask ? b.CreateExtractElement(mask, lane) : nullptr;
    Value* const one = masked_scalar_load(at, buffer, at.address(buffer, index, lane), wanted);
    result = b.CreateInsertElement(result, one, lane);
  }
  return result;
}

}  // namespace

// Wraps: a `let` variable may hold what a program's data says, such as an index that a condition is about to reject.
Value* Indexing::scalar(const Index& index) const {
  Value* sum = nullptr;
  for (const Index::Term& term : index.terms) {
    Value* const var = extend(b, vars[term.var], kernel.vars[term.var].dtype, b.getInt64Ty());
    Value* const product = b.CreateMul(var, b.getInt64(term.coefficient));
    sum = sum ? b.CreateAdd(sum, product) : product;
  }
  if (!sum) return b.getInt64(index.constant);
  return index.constant == 0 ? sum : b.CreateAdd(sum, b.getInt64(index.constant));
}

Value* Indexing::value(const Index& index, DType dtype, int lanes) const {
  const DType integer = is_integer(dtype) ? dtype : DType::kI64;
  llvm::Type* const element = register_type(b.getContext(), integer, 1);
  Index same = index;
  for (const Index::Term& term : index.terms) {
    if (kernel.vars[term.var].lanes > 1) same = same.without(term.var);
  }
  Value* sum = b.CreateIntCast(scalar(same), element, true);
  if (lanes > 1) {
    auto* const vector = llvm::FixedVectorType::get(element, lanes);
    sum = b.CreateVectorSplat(lanes, sum);
    for (const Index::Term& term : index.terms) {
      const loops::Var& var = kernel.vars[term.var];
      if (var.lanes == 1) continue;
      Value* factor = nullptr;
      if (term.var == kLaneVar) {
        std::vector<llvm::Constant*> steps;
        for (int lane = 0; lane < lanes; ++lane) steps.push_back(llvm::ConstantInt::get(element, lane));
        factor = llvm::ConstantVector::get(steps);
      } else {
        factor = extend(b, vars[term.var], var.dtype, vector);
      }
      sum = b.CreateAdd(sum, b.CreateMul(factor, llvm::ConstantInt::getSigned(vector, term.coefficient)));
    }
  }
  return emit_convert(b, integer, dtype, sum);
}

Value* Indexing::address(loops::BufferId buffer, const Index& index, int lane) const {
  const int64_t bytes = info(kernel.buffers[buffer].dtype).bytes;
  int64_t displacement = index.constant * bytes;
  Index moving;  // the terms that are no constants
  for (const Index::Term& term : index.terms) {
    if (term.var == kLaneVar) {
      displacement += term.coefficient * bytes * lane;
    } else if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(vars[term.var])) {
      const int64_t value = is_signed(kernel.vars[term.var].dtype) ? constant->getSExtValue()
                                                                   : static_cast<int64_t>(constant->getZExtValue());
      displacement += term.coefficient * bytes * value;
    } else {
      moving.terms.push_back(term);
    }
  }
  Value* address = loop && !kernel.has_lanes(moving) ? loop->address(buffer, moving) : nullptr;
  if (!address) {
    address = buffers[buffer];
    if (Value* const distance = offset(moving, bytes, lane)) address = b.CreateGEP(b.getInt8Ty(), address, distance);
  }
  return displacement == 0 ? address : b.CreateGEP(b.getInt8Ty(), address, b.getInt64(displacement));
}

Value* Indexing::offset(const Index& moving, int64_t bytes, int lane) const {
  Value* sum = nullptr;
  for (const Index::Term& term : moving.terms) {
    const int64_t factor = term.coefficient * bytes;
    Value* product = loop ? loop->multiple(term.var, factor) : nullptr;
    if (!product) {
      Value* var = vars[term.var];
      if (var->getType()->isVectorTy()) var = b.CreateExtractElement(var, lane);
      var = extend(b, var, kernel.vars[term.var].dtype, b.getInt64Ty());
      product = b.CreateNSWMul(var, b.getInt64(factor));
    }
    sum = sum ? b.CreateNSWAdd(sum, product) : product;
  }
  return sum;
}

void emit_guarded(Builder& b, Value* condition, const std::function<void()>& then) {
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition)) {
    if (known->isOne()) then();
    return;
  }
  llvm::Function* const function = b.GetInsertBlock()->getParent();
  auto* const inside = llvm::BasicBlock::Create(b.getContext(), "then", function);
  auto* const after = llvm::BasicBlock::Create(b.getContext(), "after", function);
  b.CreateCondBr(condition, inside, after);
  b.SetInsertPoint(inside);
  then();
  b.CreateBr(after);
  b.SetInsertPoint(after);
}

Value* emit_load(const Indexing& at, const loops::ExprNode& load, Value* mask) {
  const loops::BufferId buffer = load.buffer;
  const Index& index = load.index;
  const int lanes = load.lanes;
  if (lanes == 1) return masked_scalar_load(at, buffer, at.address(buffer, index), mask);
  if (!at.kernel.has_lanes(index)) return load_same(at, buffer, index, lanes, mask);
  if (at.kernel.is_contiguous(index))
    return load_contiguous(at, buffer, index.without(kLaneVar), lanes, mask, load.is_again);
  if (is_reversed(at, index)) {
    const Index first = index.without(kLaneVar) - Index(lanes - 1);
    return reverse(at.b, load_contiguous(at, buffer, first, lanes, reverse(at.b, mask)));
  }
  const int step = few_apart(at, index);
  if (step > 0 && !mask) return load_few_apart(at, buffer, index.without(kLaneVar), lanes, step);
  return gather(at, buffer, index, lanes, mask);
}

namespace {

constexpr unsigned kMaskRegisterBits = 512;  // vectors of processors with registers for masks

// How many lanes a mask leaves that is known, where these are the first; else -1.
int known_first_lanes(const Value* mask) {
  const auto* const known = llvm::dyn_cast<llvm::Constant>(mask);
  if (!known) return -1;
  const auto lanes = static_cast<int>(llvm::cast<llvm::FixedVectorType>(mask->getType())->getNumElements());
  int count = 0;
  for (int lane = 0; lane < lanes; ++lane) {
    const auto* const is_left = llvm::dyn_cast_or_null<llvm::ConstantInt>(known->getAggregateElement(lane));
    if (!is_left || (is_left->isOne() && count < lane)) return -1;
    count += is_left->isOne() ? 1 : 0;
  }
  return count;
}

// The first `count` lanes, in pieces of which each is a power of two: without registers for masks, a masked store takes
// as long as ten others, or is a branch for each lane.
void store_first_lanes(const Indexing& at, loops::BufferId buffer, Value* vector, Value* address, int count) {
  Builder& b = at.b;
  auto* const type = llvm::cast<llvm::FixedVectorType>(vector->getType());
  int lane = 0;
  for (auto size = static_cast<int>(type->getNumElements()); size > 0; size /= 2) {
    if ((count & size) == 0) continue;
    std::vector<int> lanes(size);
    std::iota(lanes.begin(), lanes.end(), lane);
    Value* const piece = size == 1 ? b.CreateExtractElement(vector, lane) : b.CreateShuffleVector(vector, lanes);
    Value* const to = b.CreateConstGEP1_64(type->getElementType(), address, lane);
    const llvm::Align align(type->getScalarSizeInBits() / 8);
    with_scopes(at, buffer, b.CreateAlignedStore(piece, to, align));
    lane += size;
  }
}

}  // namespace

void emit_store(const Indexing& at, loops::BufferId buffer, const Index& index, Value* value, Value* mask) {
  Builder& b = at.b;
  const DType dtype = at.kernel.buffers[buffer].dtype;
  const llvm::Align align(info(dtype).bytes);
  Value* stored = to_memory(b, dtype, value);
  const auto store_one = [&](Value* one, int lane, Value* wanted) {
    const auto store = [&] {
      with_scopes(at, buffer, b.CreateAlignedStore(one, at.address(buffer, index, lane), align));
    };
    wanted ? emit_guarded(b, wanted, store) : store();
  };
  const auto* const vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  if (!vector) return store_one(stored, 0, mask);
  const int lanes = static_cast<int>(vector->getNumElements());
  const bool reversed = is_reversed(at, index);
  if (reversed || at.kernel.is_contiguous(index)) {
    const Index first = index.without(kLaneVar) - Index(reversed ? lanes - 1 : 0);
    if (reversed) stored = reverse(b, stored), mask = reverse(b, mask);
    Value* const address = at.address(buffer, first);
    const int count = mask && vector->getPrimitiveSizeInBits() < kMaskRegisterBits ? known_first_lanes(mask) : -1;
    if (count >= 0) return store_first_lanes(at, buffer, stored, address, count);
    llvm::Instruction* store = nullptr;
    if (mask) {
      store = b.CreateMaskedStore(stored, address, align, mask);
    } else {
      store = b.CreateAlignedStore(stored, address, align);
    }
    with_scopes(at, buffer, store);
    return;
  }
  for (int lane = 0; lane < lanes; ++lane) {
    store_one(b.CreateExtractElement(stored, lane), lane, mask ? b.CreateExtractElement(mask, lane) : nullptr);
  }
}

}  // namespace ingot::codegen
