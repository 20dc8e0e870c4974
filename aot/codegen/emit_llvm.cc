#include "aot/codegen/emit_llvm.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>

#include <unordered_map>

#include "aot/base/error.h"
#include "aot/codegen/emit_dot_bytes.h"
#include "aot/codegen/emit_dot_pairs.h"
#include "aot/codegen/emit_scale.h"
#include "aot/codegen/innermost_loop.h"
#include "aot/codegen/interleave.h"
#include "schema/kernel_abi.h"

namespace ingot::codegen {
namespace {

using llvm::BasicBlock;
using llvm::Function;
using llvm::Value;
using loops::BufferRole;
using loops::Expr;
using loops::ExprKind;
using loops::ExprNode;
using loops::Index;
using loops::Kernel;
using loops::Stmt;
using loops::StmtKind;

// Attributes of every function: no unwinding, no library calls made up by the optimiser, no tables of code addresses.
void set_function_attributes(Function& function, const loops::Target& target) {
  function.setDoesNotThrow();
  function.setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  function.addFnAttr("target-cpu", target.cpu);
  if (!target.tune.empty()) function.addFnAttr("tune-cpu", target.tune);
  function.addFnAttr("target-features", target.features);
  function.addFnAttr("no-builtins");
  function.addFnAttr("no-jump-tables", "true");
  function.addFnAttr("prefer-vector-width", std::to_string(target.vector_bytes * 8));
  function.addFnAttr("warn-stack-size", "0");  // so that LLVM tells of every frame
}

// Whether two buffers may lie in the same memory: an output and the input that it may replace. Two outputs that may
// replace one input do not share it with each other.
bool may_share(const Kernel& kernel, size_t a, size_t b) {
  const auto replaces = [&](size_t output, size_t input) {
    return kernel.buffers[output].may_alias == static_cast<loops::BufferId>(input);
  };
  return a == b || replaces(a, b) || replaces(b, a);
}

// Such a buffer's parameter is no `noalias`; scopes say what it is apart from.
bool may_share(const Kernel& kernel, size_t buffer) {
  for (size_t k = 0; k < kernel.buffers.size(); ++k) {
    if (k != buffer && may_share(kernel, k, buffer)) return true;
  }
  return false;
}

std::vector<AliasScopes> alias_scopes(llvm::LLVMContext& context, const Kernel& kernel) {
  std::vector<AliasScopes> result(kernel.buffers.size());
  bool any_shared = false;
  for (size_t k = 0; k < kernel.buffers.size(); ++k) any_shared |= may_share(kernel, k);
  if (!any_shared) return result;
  llvm::MDBuilder metadata(context);
  llvm::MDNode* const domain = metadata.createAnonymousAliasScopeDomain(kernel.name);
  std::vector<llvm::Metadata*> scopes;
  for (const loops::Buffer& buffer : kernel.buffers) {
    scopes.push_back(metadata.createAnonymousAliasScope(domain, buffer.name));
  }
  for (size_t k = 0; k < kernel.buffers.size(); ++k) {
    std::vector<llvm::Metadata*> apart;
    for (size_t other = 0; other < kernel.buffers.size(); ++other) {
      if (!may_share(kernel, k, other)) apart.push_back(scopes[other]);
    }
    result[k] = {llvm::MDNode::get(context, {scopes[k]}), apart.empty() ? nullptr : llvm::MDNode::get(context, apart)};
  }
  return result;
}

bool holds_loop(const std::vector<Stmt>& block) {
  return std::ranges::any_of(block, [](const Stmt& stmt) {
    return (stmt.kind == StmtKind::kFor && !stmt.unroll) || holds_loop(stmt.body) || holds_loop(stmt.else_body);
  });
}

// The body of a kernel: its statements, with the operands' starts and the task as parameters.
class BodyEmitter {
 public:
  BodyEmitter(Function& function, const Kernel& kernel, const loops::Target& target, bool takes_index)
      : kernel_(kernel),
        target_(target),
        takes_index_(takes_index),
        function_(function),
        entry_(BasicBlock::Create(function.getContext(), "entry", &function)),
        b_(BasicBlock::Create(function.getContext(), "body", &function)),
        vars_(kernel.vars.size()),
        scopes_(alias_scopes(function.getContext(), kernel)),
        at_{b_, kernel_, vars_, buffers_, scopes_} {
    const auto buffer_count = static_cast<unsigned>(kernel.buffers.size());
    for (unsigned k = 0; k < buffer_count; ++k) buffers_.push_back(function.getArg(k));
    vars_[loops::kTaskVar] = function.getArg(buffer_count);
    Builder slots(entry_);
    for (const loops::Tile& tile : kernel.tiles) {
      int64_t count = 1;
      for (const int64_t dim : tile.dims) count *= dim;
      llvm::Type* const type = register_type(function.getContext(), tile.dtype, tile.lanes);
      std::vector<Value*>& elements = tiles_.emplace_back();
      for (int64_t k = 0; k < count; ++k) elements.push_back(slots.CreateAlloca(type, nullptr, tile.name));
    }
    slots.CreateBr(b_.GetInsertBlock());
  }

  void run() {
    emit(kernel_.body);
    b_.CreateRetVoid();
  }

 private:
  void emit(const std::vector<Stmt>& block) {
    for (const Stmt& stmt : block) emit(stmt);
  }

  void emit(const Stmt& stmt) {
    computed_.clear();
    switch (stmt.kind) {
      case StmtKind::kFor:
        return stmt.unroll ? emit_unrolled(stmt) : emit_for(stmt);
      case StmtKind::kIf:
        return emit_if(stmt);
      case StmtKind::kLet:
        vars_[stmt.var] = emit(stmt.value);
        if (at_.loop) at_.loop->defines(stmt.var);
        return;
      case StmtKind::kSet:
        b_.CreateStore(emit(stmt.value), tile(stmt.tile, stmt.indices));
        return;
      case StmtKind::kStore: {
        Value* const value = emit(stmt.value);
        return emit_store(at_, stmt.buffer, stmt.index, value, stmt.mask ? emit(stmt.mask) : nullptr);
      }
      case StmtKind::kPrefetch: {
        constexpr int kRead = 0, kKeep = 3, kData = 1;
        Value* const address = at_.address(stmt.buffer, stmt.index);
        b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {address->getType()},
                           {address, b_.getInt32(kRead), b_.getInt32(kKeep), b_.getInt32(kData)});
        return;
      }
      case StmtKind::kTranspose:
        return emit_transpose(stmt.tile);
    }
  }

  // Blocks of 1 x 1, then 2 x 2 and so on, of each two vectors a block apart change places: each step is one shuffle of
  // two registers a vector.
  void emit_transpose(loops::TileId id) {
    const loops::Tile& tile = kernel_.tiles[id];
    llvm::Type* const type = register_type(b_.getContext(), tile.dtype, tile.lanes);
    std::vector<Value*> vectors;
    for (Value* const element : tiles_[id]) vectors.push_back(b_.CreateLoad(type, element));
    for (int block = 1; block < tile.lanes; block *= 2) {
      std::vector<int> low, high;  // lanes of the first of two vectors, then of the second
      for (int lane = 0; lane < tile.lanes; ++lane) {
        low.push_back((lane & block) == 0 ? lane : tile.lanes + lane - block);
        high.push_back((lane & block) == 0 ? lane + block : tile.lanes + lane);
      }
      for (int first = 0; first < tile.lanes; ++first) {
        if ((first & block) != 0) continue;
        Value* const a = vectors[first];
        Value* const b = vectors[first + block];
        vectors[first] = b_.CreateShuffleVector(a, b, low);
        vectors[first + block] = b_.CreateShuffleVector(a, b, high);
      }
    }
    for (size_t k = 0; k < vectors.size(); ++k) b_.CreateStore(vectors[k], tiles_[id][k]);
  }

  // A fence of one thread is no instruction, and nothing is moved across it.
  void emit_unrolled(const Stmt& stmt) {
    const bool in_turn = may_take_turns(stmt);
    Interleaving copies(b_);
    for (int64_t i = stmt.lower.constant; i < stmt.upper.constant; i += stmt.step) {
      if (stmt.apart && i > stmt.lower.constant)
        b_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent, llvm::SyncScope::SingleThread);
      vars_[stmt.var] = b_.getInt64(i);
      emit(stmt.body);
      if (in_turn) copies.end_copy();
    }
    copies.finish();
  }

  void emit_if(const Stmt& stmt) {
    Value* const condition = emit(stmt.value);
    if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition)) {
      return emit(known->isOne() ? stmt.body : stmt.else_body);
    }
    if (stmt.else_body.empty()) return emit_guarded(b_, condition, [&] { emit(stmt.body); });
    BasicBlock* const then = block("then");
    BasicBlock* const otherwise = block("else");
    BasicBlock* const after = block("after");
    b_.CreateCondBr(condition, then, otherwise);
    b_.SetInsertPoint(then);
    emit(stmt.body);
    b_.CreateBr(after);
    b_.SetInsertPoint(otherwise);
    emit(stmt.else_body);
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
  }

  // A guard where the loop may run no time, then the body with its test at the end.
  void emit_for(const Stmt& stmt) {
    Value* const lower = at_.scalar(stmt.lower);
    Value* upper = at_.scalar(stmt.upper);
    for (const Index& also : stmt.upper_also) {
      upper = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, upper, at_.scalar(also));
    }
    bool surely_runs = kernel_.low(stmt.upper - stmt.lower) > 0;
    for (const Index& also : stmt.upper_also) surely_runs &= kernel_.low(also - stmt.lower) > 0;
    Value* const runs = surely_runs ? b_.getTrue() : b_.CreateICmpSLT(lower, upper);
    emit_guarded(b_, runs, [&] { emit_loop(stmt, lower, upper); });
  }

  void emit_loop(const Stmt& stmt, Value* lower, Value* upper) {
    const auto* const first = llvm::dyn_cast<llvm::ConstantInt>(lower);
    const auto* const end = llvm::dyn_cast<llvm::ConstantInt>(upper);
    if (first && end && first->getSExtValue() + stmt.step >= end->getSExtValue()) {
      vars_[stmt.var] = lower;
      return emit(stmt.body);
    }
    BasicBlock* const before = b_.GetInsertBlock();
    BasicBlock* const body = block("loop");
    BasicBlock* const after = block("end");
    llvm::IntegerType* const type = counter_type(stmt);
    Value* const start = b_.CreateTrunc(lower, type);
    Value* const stop = b_.CreateTrunc(upper, type);
    b_.CreateBr(body);
    b_.SetInsertPoint(body);
    llvm::PHINode* const i = b_.CreatePHI(type, 2, kernel_.vars[stmt.var].name);
    vars_[stmt.var] = b_.CreateSExt(i, b_.getInt64Ty());
    emit_loop_body(stmt, lower, before, body);
    Value* const next = b_.CreateNSWAdd(i, llvm::ConstantInt::getSigned(type, stmt.step));
    i->addIncoming(start, before);
    i->addIncoming(next, b_.GetInsertBlock());
    llvm::BranchInst* const branch = b_.CreateCondBr(b_.CreateICmpSLT(next, stop), body, after);
    branch->setMetadata(llvm::LLVMContext::MD_loop, loop_metadata());
    b_.SetInsertPoint(after);
  }

  // A counter of as many bits as addresses have, where those hold the variable's values and the one after the last: of 64
  // bits it takes two registers on a processor of 32, and LLVM makes no pointers of it.
  llvm::IntegerType* counter_type(const Stmt& stmt) {
    const loops::Var& var = kernel_.vars[stmt.var];
    const unsigned bits = function_.getParent()->getDataLayout().getPointerSizeInBits();
    const bool holds_all = llvm::isIntN(bits, var.low) && llvm::isIntN(bits, var.high + stmt.step);
    return holds_all ? b_.getIntNTy(bits) : b_.getInt64Ty();
  }

  void emit_loop_body(const Stmt& stmt, Value* lower, BasicBlock* before, BasicBlock* body) {
    if (holds_loop(stmt.body)) return emit(stmt.body);
    InnermostLoop loop(at_, stmt.var, lower, before, body, takes_index_);
    at_.loop = &loop;
    emit(stmt.body);
    at_.loop = nullptr;
    loop.close(b_, stmt.step);
  }

  llvm::MDNode* loop_metadata() {
    llvm::LLVMContext& context = b_.getContext();
    llvm::Metadata* const no_unroll =
        llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.loop.unroll.disable"));
    llvm::MDNode* const node = llvm::MDNode::getDistinct(context, {nullptr, no_unroll});
    node->replaceOperandWith(0, node);
    return node;
  }

  BasicBlock* block(const char* name) { return BasicBlock::Create(b_.getContext(), name, &function_); }

  Value* tile(loops::TileId id, const std::vector<Index>& indices) {
    int64_t element = 0;
    for (size_t d = 0; d < indices.size(); ++d) {
      const auto* const at = llvm::dyn_cast<llvm::ConstantInt>(at_.scalar(indices[d]));
      INGOT_CHECK(at != nullptr);
      element = element * kernel_.tiles[id].dims[d] + at->getSExtValue();
    }
    return tiles_[id].at(element);
  }

  // Nodes used more than once in a statement are computed once.
  Value* emit(const Expr& expr) {
    Value*& value = computed_[expr.get()];
    if (value) return value;
    Value* const made = compute(*expr);
    return computed_[expr.get()] = made;
  }

  Value* compute(const ExprNode& e) {
    const auto arg = [&](size_t k) { return emit(e.args[k]); };
    switch (e.kind) {
      case ExprKind::kConstant:
        return constant(e);
      case ExprKind::kIndex:
        return at_.value(e.index, e.dtype, e.lanes);
      case ExprKind::kVar:
        return vars_[e.var];
      case ExprKind::kTile: {
        llvm::Type* const type = register_type(b_.getContext(), e.dtype, e.lanes);
        return b_.CreateLoad(type, tile(e.tile, e.indices));
      }
      case ExprKind::kLoad:
        return emit_load(at_, e, e.args.empty() ? nullptr : arg(0));
      case ExprKind::kApply: {
        std::vector<Value*> args;
        for (size_t k = 0; k < e.args.size(); ++k) args.push_back(arg(k));
        if (e.op == loops::ScalarOp::kDotBytes) return emit_dot_bytes(b_, target_, args);
        if (loops::is_dot_pairs(e.op)) return emit_dot_pairs(b_, target_, e.op, args);
        if (e.op == loops::ScalarOp::kScale) return emit_scale(b_, target_, args[0], args[1]);
        return emit_apply(b_, e.op, e.args.back()->dtype, args);
      }
      case ExprKind::kConvert:
        return emit_convert(b_, e.args[0]->dtype, e.dtype, arg(0));
      case ExprKind::kBitcast:
        return b_.CreateBitCast(arg(0), register_type(b_.getContext(), e.dtype, e.lanes));
      case ExprKind::kRound:
        return emit_round(b_, e.dtype, e.round_to, arg(0));
      case ExprKind::kSplat:
        return b_.CreateVectorSplat(e.lanes, arg(0));
      case ExprKind::kReduce:
        return reduce(e, arg(0));
    }
    throw_bug("unknown kind of expression");
  }

  Value* constant(const ExprNode& e) {
    const llvm::APInt bits(info(e.dtype).bits, e.bits);
    if (e.dtype == DType::kF32)
      return llvm::ConstantFP::get(b_.getContext(), llvm::APFloat(llvm::APFloat::IEEEsingle(), bits));
    if (e.dtype == DType::kF64)
      return llvm::ConstantFP::get(b_.getContext(), llvm::APFloat(llvm::APFloat::IEEEdouble(), bits));
    return b_.getInt(bits);
  }

  // Halves: lane i with lane i + n/2. Truth values in any order: one instruction.
  Value* reduce(const ExprNode& e, Value* value) {
    if (is_bool(e.dtype) && e.op == loops::ScalarOp::kOr && value->getType()->isVectorTy())
      return b_.CreateOrReduce(value);
    for (int half = e.args[0]->lanes / 2; half > 0; half /= 2) {
      std::vector<int> low, high;
      for (int lane = 0; lane < half; ++lane) {
        low.push_back(lane);
        high.push_back(lane + half);
      }
      Value* const pair[] = {b_.CreateShuffleVector(value, low), b_.CreateShuffleVector(value, high)};
      value = emit_apply(b_, e.op, e.dtype, pair);
    }
    return value->getType()->isVectorTy() ? b_.CreateExtractElement(value, uint64_t{0}) : value;
  }

  const Kernel& kernel_;
  const loops::Target& target_;
  bool takes_index_;  // loads and stores add one to a pointer
  Function& function_;
  BasicBlock* entry_;
  Builder b_;
  std::vector<Value*> vars_;
  std::vector<Value*> buffers_;
  std::vector<AliasScopes> scopes_;
  std::vector<std::vector<Value*>> tiles_;
  Indexing at_;
  std::unordered_map<const ExprNode*, Value*> computed_;  // in the current statement
};

Function* declare_body(llvm::Module& module, const Kernel& kernel, const loops::Target& target,
                       const std::string& symbol) {
  llvm::LLVMContext& context = module.getContext();
  std::vector<llvm::Type*> params(kernel.buffers.size(), llvm::PointerType::getUnqual(context));
  params.push_back(llvm::Type::getInt64Ty(context));
  auto* const type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), params, false);
  Function* const body = Function::Create(type, Function::InternalLinkage, body_symbol(symbol), module);
  set_function_attributes(*body, target);
  const auto count = static_cast<unsigned>(kernel.buffers.size());
  for (unsigned k = 0; k < count; ++k) {
    const loops::Buffer& buffer = kernel.buffers[k];
    llvm::AttrBuilder attributes(context);
    attributes.addAlignmentAttr(llvm::Align(INGOT_BUFFER_ALIGNMENT_BYTES));
    attributes.addAttribute(llvm::Attribute::NoUndef);
    if (!may_share(kernel, k)) attributes.addAttribute(llvm::Attribute::NoAlias);
    if (buffer.role == BufferRole::kInput) attributes.addAttribute(llvm::Attribute::ReadOnly);
    const uint64_t bytes = buffer.elements * info(buffer.dtype).bytes;
    if (bytes > 0) attributes.addDereferenceableAttr(bytes);
    body->getArg(k)->addAttrs(attributes);
    body->getArg(k)->setName(buffer.name);
  }
  body->getArg(count)->setName("task");
  return body;
}

// Finds the operands through the context and calls the body.
void emit_entry(llvm::Module& module, const Kernel& kernel, const loops::Target& target, const std::string& symbol,
                Function* body) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* const pointer = llvm::PointerType::getUnqual(context);
  llvm::Type* const i32 = llvm::Type::getInt32Ty(context);
  auto* const type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer, i32}, false);
  Function* const entry = Function::Create(type, Function::ExternalLinkage, symbol, module);
  entry->setVisibility(llvm::GlobalValue::HiddenVisibility);
  set_function_attributes(*entry, target);
  Builder b(BasicBlock::Create(context, "entry", entry));
  const auto field = [&](llvm::Type* field_type, Value* base, uint64_t offset) {
    return b.CreateLoad(field_type, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, offset));
  };
  const uint64_t pointer_bytes = module.getDataLayout().getPointerSize();
  Value* const frame = entry->getArg(0);
  Value* const bases = field(pointer, frame, 0);
  Value* const operands = field(pointer, frame, pointer_bytes);
  std::vector<Value*> args;
  Value* scratch = nullptr;
  for (const loops::Buffer& buffer : kernel.buffers) {
    if (buffer.role == BufferRole::kScratch) {
      if (!scratch) scratch = field(pointer, frame, 2 * pointer_bytes);
      args.push_back(b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), scratch, buffer.scratch_offset_bytes));
      continue;
    }
    const uint64_t operand = args.size() * sizeof(ingot_operand);
    Value* const offset = field(b.getInt64Ty(), operands, operand + offsetof(ingot_operand, offset_bytes));
    Value* const base = field(i32, operands, operand + offsetof(ingot_operand, base));
    Value* const start = b.CreateLoad(pointer, b.CreateInBoundsGEP(pointer, bases, b.CreateZExt(base, b.getInt64Ty())));
    args.push_back(b.CreateInBoundsGEP(b.getInt8Ty(), start, offset));
  }
  args.push_back(b.CreateZExt(entry->getArg(1), b.getInt64Ty()));
  b.CreateCall(body, args)->setTailCall();
  b.CreateRetVoid();
}

}  // namespace

void emit_llvm(llvm::Module& module, const Kernel& kernel, const Machine& machine, const loops::Target& target,
               const std::string& symbol) {
  Function* const body = declare_body(module, kernel, target, symbol);
  BodyEmitter(*body, kernel, target, machine.takes_index(*body)).run();
  emit_entry(module, kernel, target, symbol, body);
}

}  // namespace ingot::codegen
