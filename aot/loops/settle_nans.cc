#include "aot/loops/settle_nans.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>
#include <vector>

#include "aot/loops/builder.h"

namespace ingot::loops {
namespace {

class Settler {
 public:
  explicit Settler(Kernel& kernel)
      : kernel_(kernel),
        builder_("settle_nans", kernel.lanes()),
        vars_(kernel.vars.size()),
        tiles_(kernel.tiles.size()),
        scratch_(kernel.buffers.size()) {}

  void run() {
    while (mark(kernel_.body)) {
    }
    settle(kernel_.body);
  }

 private:
  // Notes where computed NaNs may be; whether that was news.
  bool mark(const std::vector<Stmt>& block) {
    bool is_news = false;
    for (const Stmt& stmt : block) {
      if (stmt.value && is_computed(stmt.value)) {
        if (stmt.kind == StmtKind::kLet) is_news |= note(vars_, stmt.var);
        if (stmt.kind == StmtKind::kSet) is_news |= note(tiles_, stmt.tile);
        if (stmt.kind == StmtKind::kStore && is_scratch(stmt.buffer)) is_news |= note(scratch_, stmt.buffer);
      }
      is_news |= mark(stmt.body);
      is_news |= mark(stmt.else_body);
    }
    return is_news;
  }

  void settle(std::vector<Stmt>& block) {
    for (Stmt& stmt : block) {
      settled_.clear();
      if (stmt.value) stmt.value = settle_operands(stmt.value);
      if (stmt.mask) stmt.mask = settle_operands(stmt.mask);
      if (stmt.kind == StmtKind::kStore && shows(stmt)) stmt.value = settled(stmt.value);
      settle(stmt.body);
      settle(stmt.else_body);
    }
  }

  static bool note(std::vector<bool>& places, int32_t place) {
    const bool is_news = !places[place];
    places[place] = true;
    return is_news;
  }

  bool is_scratch(BufferId buffer) const { return kernel_.buffers[buffer].role == BufferRole::kScratch; }

  // Whether a store shows a NaN whose bits are the processor's. f16 and bf16 have no bits of their own in registers:
  // they are converted as they are loaded and stored.
  bool shows(const Stmt& store) const {
    const bool is_converted = is_float(store.value->dtype) && kernel_.buffers[store.buffer].dtype != store.value->dtype;
    return !is_scratch(store.buffer) && (is_converted || is_computed(store.value));
  }

  // Whether a NaN may be computed on the way.
  bool is_computed(const Expr& expr) const {
    if (!is_float(expr->dtype)) return false;
    switch (expr->kind) {
      case ExprKind::kVar:
        return vars_[expr->var];
      case ExprKind::kTile:
        return tiles_[expr->tile];
      case ExprKind::kLoad:
        return scratch_[expr->buffer] || kernel_.buffers[expr->buffer].dtype != expr->dtype;
      case ExprKind::kSplat:
        return is_computed(expr->args[0]);
      case ExprKind::kApply:
        return expr->op != ScalarOp::kSelect || is_computed(expr->args[1]) || is_computed(expr->args[2]);
      case ExprKind::kConvert:
        return is_float(expr->args[0]->dtype);
      case ExprKind::kConstant:
      case ExprKind::kIndex:
      case ExprKind::kBitcast:
        return false;
      case ExprKind::kRound:
      case ExprKind::kReduce:
        return true;
    }
    return true;
  }

  Expr settled(const Expr& value) {
    const Expr is_nan = builder_.apply(ScalarOp::kNotEqual, {value, value});
    const Expr nan = builder_.constant(value->dtype, NAN);
    return builder_.splat(builder_.apply(ScalarOp::kSelect, {is_nan, nan, value}), value->lanes);
  }

  // Floats whose bits are looked at.
  Expr settle_operands(const Expr& expr) {
    if (const auto found = settled_.find(expr.get()); found != settled_.end()) return found->second;
    auto copy = std::make_shared<ExprNode>(*expr);
    for (Expr& arg : copy->args) {
      arg = settle_operands(arg);
      if (expr->kind == ExprKind::kBitcast && is_computed(arg)) arg = settled(arg);
    }
    const bool is_changed = !std::ranges::equal(copy->args, expr->args);
    return settled_.emplace(expr.get(), is_changed ? Expr(std::move(copy)) : expr).first->second;
  }

  Kernel& kernel_;
  KernelBuilder builder_;                              // of expressions only
  std::vector<bool> vars_, tiles_, scratch_;           // that may hold computed NaNs
  std::unordered_map<const ExprNode*, Expr> settled_;  // in this statement
};

}  // namespace

void settle_nans(Kernel& kernel) { Settler(kernel).run(); }

}  // namespace ingot::loops
