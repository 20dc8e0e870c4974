// A kernel inside another: its statements are made anew there, with other variables and buffers.
#include <map>

#include "aot/base/error.h"
#include "aot/loops/builder.h"

namespace ingot::loops {
namespace {

class Replay {
 public:
  Replay(KernelBuilder& b, const Kernel& kernel, std::vector<KernelBuilder::BufferPart> buffers)
      : b_(b), kernel_(kernel), buffers_(std::move(buffers)) {
    INGOT_CHECK(kernel.lanes() == 1 || kernel.lanes() == b.vector_lanes());
    for (size_t k = buffers_.size(); k < kernel.buffers.size(); ++k) {
      const Buffer& buffer = kernel.buffers[k];
      INGOT_CHECK(buffer.role == BufferRole::kScratch);
      buffers_.push_back({b.scratch(buffer.name, buffer.dtype, buffer.elements), 0});
    }
    for (const Tile& tile : kernel.tiles) tiles_.push_back(b.tile(tile.name, tile.dtype, tile.lanes, tile.dims));
    indices_[kLaneVar] = b.lane();
  }

  void run() {
    b_.loop("part", 0, kernel_.task_count, 1, [&](const Index& task) {
      indices_[kTaskVar] = task;
      run_block(kernel_.body);
    });
  }

 private:
  void run_block(const std::vector<Stmt>& block) {
    for (const Stmt& stmt : block) run_statement(stmt);
  }

  void run_statement(const Stmt& stmt) {
    switch (stmt.kind) {
      case StmtKind::kFor:
        return run_loop(stmt);
      case StmtKind::kIf:
        return b_.if_then(
            value(stmt.value), [&] { run_block(stmt.body); },
            stmt.else_body.empty() ? std::function<void()>{} : [&] { run_block(stmt.else_body); });
      case StmtKind::kLet:
        return run_let(stmt);
      case StmtKind::kSet:
        return b_.set(tiles_[stmt.tile], indices(stmt.indices), value(stmt.value));
      case StmtKind::kStore:
        return b_.store(buffers_[stmt.buffer].buffer, place(stmt.buffer, stmt.index), value(stmt.value),
                        stmt.mask ? value(stmt.mask) : nullptr);
      case StmtKind::kPrefetch:
        return b_.prefetch(buffers_[stmt.buffer].buffer, place(stmt.buffer, stmt.index));
      case StmtKind::kTranspose:
        return b_.transpose(tiles_[stmt.tile]);
    }
  }

  void run_loop(const Stmt& stmt) {
    const auto body = [&](const Index& i) {
      indices_[stmt.var] = i;
      run_block(stmt.body);
    };
    const std::string& name = kernel_.vars[stmt.var].name;
    if (!stmt.unroll)
      return b_.loop(name, index(stmt.lower), index(stmt.upper), stmt.step, body, indices(stmt.upper_also));
    INGOT_CHECK(stmt.step == 1 && stmt.lower == Index(0));
    b_.unrolled(name, stmt.upper.constant, body, stmt.apart);
  }

  // What has a range is an index.
  void run_let(const Stmt& stmt) {
    const Var& var = kernel_.vars[stmt.var];
    const Var unknown;
    if (var.low == unknown.low && var.high == unknown.high) {
      values_[stmt.var] = b_.let(var.name, value(stmt.value));
    } else {
      const auto let = var.is_trusted ? &KernelBuilder::trusted_index : &KernelBuilder::let_index;
      indices_[stmt.var] = (b_.*let)(var.name, value(stmt.value), var.low, var.high);
    }
  }

  Index index(const Index& of) const {
    Index made = of.constant;
    for (const Index::Term& term : of.terms) made = made + indices_.at(term.var) * term.coefficient;
    return made;
  }

  std::vector<Index> indices(const std::vector<Index>& of) const {
    std::vector<Index> made;
    for (const Index& one : of) made.push_back(index(one));
    return made;
  }

  Index place(BufferId buffer, const Index& at) const { return buffers_[buffer].first + index(at); }

  // Nodes that are shared stay shared.
  Expr value(const Expr& of) {
    const auto found = made_.find(of.get());
    if (found != made_.end()) return found->second;
    return made_[of.get()] = make_value(*of);
  }

  Expr make_value(const ExprNode& of) {
    std::vector<Expr> args;
    for (const Expr& arg : of.args) args.push_back(value(arg));
    switch (of.kind) {
      case ExprKind::kConstant:
        return b_.constant_bits(of.dtype, of.bits);
      case ExprKind::kIndex:
        return b_.index_value(index(of.index), of.dtype);
      case ExprKind::kVar:
        return values_.at(of.var);
      case ExprKind::kTile:
        return b_.read(tiles_[of.tile], indices(of.indices));
      case ExprKind::kLoad:
        return b_.load(buffers_[of.buffer].buffer, place(of.buffer, of.index), args.empty() ? nullptr : args[0]);
      case ExprKind::kApply:
        return b_.apply(of.op, std::move(args));
      case ExprKind::kConvert:
        return b_.convert(of.dtype, args[0]);
      case ExprKind::kBitcast:
        return b_.bitcast(of.dtype, args[0]);
      case ExprKind::kRound:
        return b_.round(of.round_to, args[0]);
      case ExprKind::kSplat:
        return b_.splat(args[0], of.lanes);
      case ExprKind::kReduce:
        return b_.reduce(of.op, b_.splat(args[0], of.args[0]->lanes));
    }
    throw_bug("loops: a value of no kind");
  }

  KernelBuilder& b_;
  const Kernel& kernel_;
  std::vector<KernelBuilder::BufferPart> buffers_;
  std::vector<TileId> tiles_;
  std::map<VarId, Index> indices_;  // what stands for a variable that is an index
  std::map<VarId, Expr> values_;    // ... or for any other
  std::map<const ExprNode*, Expr> made_;
};

}  // namespace

void KernelBuilder::run(const Kernel& kernel, const std::vector<BufferPart>& buffers) {
  Replay(*this, kernel, buffers).run();
}

}  // namespace ingot::loops
