#include "aot/loops/expand_math.h"

#include <unordered_map>

#include "aot/loops/fold.h"
#include "aot/loops/math.h"

namespace ingot::loops {
namespace {

class Expander {
 public:
  explicit Expander(Kernel& kernel) : kernel_(kernel), builder_("expand_math", kernel.lanes()) {}

  void expand_block(std::vector<Stmt>& block) {
    std::vector<Stmt> result;
    for (Stmt& stmt : block) {
      expanded_.clear();
      if (stmt.value) stmt.value = expand_expr(stmt.value);
      if (stmt.mask) stmt.mask = expand_expr(stmt.mask);
      for (Stmt& before : before_) result.push_back(std::move(before));
      before_.clear();
      expand_block(stmt.body);
      expand_block(stmt.else_body);
      result.push_back(std::move(stmt));
    }
    block = std::move(result);
  }

 private:
  Expr expand_expr(const Expr& original) {
    if (const auto found = expanded_.find(original.get()); found != expanded_.end()) return found->second;
    const Expr expr = as_erf_plus_one(original);
    std::vector<Expr> args;
    bool is_changed = false;
    for (const Expr& arg : expr->args) {
      args.push_back(expand_expr(arg));
      is_changed |= args.back() != arg;
    }
    Expr result = expr;
    if (expr->kind == ExprKind::kApply && !info(expr->op).is_primitive) {
      result = builder_.splat(expand_function(expr->op, args), expr->lanes);
    } else if (is_changed) {
      auto copy = std::make_shared<ExprNode>(*expr);
      copy->args = std::move(args);
      result = std::move(copy);
    }
    expanded_.emplace(original.get(), result);
    return result;
  }

  // 1 + erf(x), as in gelu, is one function: in the sum, small errors of erf do not count.
  Expr as_erf_plus_one(const Expr& expr) {
    if (expr->kind != ExprKind::kApply || expr->op != ScalarOp::kAdd) return expr;
    for (int k : {0, 1}) {
      const Expr &term = expr->args[k], &other = expr->args[1 - k];
      const bool is_erf = term->kind == ExprKind::kApply && term->op == ScalarOp::kErf;
      if (is_erf && constant_bits(other) == bits_of_float(term->dtype, 1)) {
        return builder_.apply(ScalarOp::kErfPlusOne, {term->args[0]});
      }
    }
    return expr;
  }

  // Where arguments may be rare: the usual value, replaced under a branch in the lanes whose argument is.
  //   let x = ...
  //   set y = usual(x)
  //   if any lane is_rare(x) { set y = is_rare(x) ? rare(x) : y }
  Expr expand_function(ScalarOp op, const std::vector<Expr>& args) {
    if (!is_rare(builder_, op, args[0])) return expand(builder_, op, args);
    const Expr x = let(args[0]);
    const TileId tile = static_cast<TileId>(kernel_.tiles.size());
    kernel_.tiles.push_back({new_name(), x->dtype, x->lanes, {}});
    const std::shared_ptr<ExprNode> y = node(ExprKind::kTile, x);
    y->tile = tile;
    set(before_, tile, expand(builder_, op, {x}));
    const Expr condition = is_rare(builder_, op, x);
    Stmt branch;
    branch.kind = StmtKind::kIf;
    branch.value = builder_.reduce(ScalarOp::kOr, condition);
    set(branch.body, tile, builder_.apply(ScalarOp::kSelect, {condition, expand_rare(builder_, op, x), y}));
    before_.push_back(std::move(branch));
    return y;
  }

  Expr let(const Expr& value) {
    if (value->kind == ExprKind::kVar) return value;
    const std::shared_ptr<ExprNode> x = node(ExprKind::kVar, value);
    x->var = static_cast<VarId>(kernel_.vars.size());
    Var& var = kernel_.vars.emplace_back();
    var.name = new_name();
    var.dtype = value->dtype;
    var.lanes = value->lanes;
    Stmt stmt;
    stmt.kind = StmtKind::kLet;
    stmt.var = x->var;
    stmt.value = value;
    before_.push_back(std::move(stmt));
    return x;
  }

  static std::shared_ptr<ExprNode> node(ExprKind kind, const Expr& like) {
    auto result = std::make_shared<ExprNode>();
    result->kind = kind;
    result->dtype = like->dtype;
    result->lanes = like->lanes;
    return result;
  }

  static void set(std::vector<Stmt>& block, TileId tile, Expr value) {
    Stmt stmt;
    stmt.kind = StmtKind::kSet;
    stmt.tile = tile;
    stmt.value = std::move(value);
    block.push_back(std::move(stmt));
  }

  std::string new_name() const { return "math." + std::to_string(kernel_.vars.size() + kernel_.tiles.size()); }

  Kernel& kernel_;
  KernelBuilder builder_;                               // of expressions only
  std::vector<Stmt> before_;                            // what must run before this statement
  std::unordered_map<const ExprNode*, Expr> expanded_;  // in this statement
};

}  // namespace

void expand_math(Kernel& kernel) { Expander(kernel).expand_block(kernel.body); }

}  // namespace ingot::loops
