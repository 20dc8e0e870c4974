#include "aot/loops/expand_math.h"

#include <unordered_map>

#include "aot/loops/math.h"

namespace ingot::loops {
namespace {

class Expander {
 public:
  explicit Expander(int vector_lanes) : builder_("expand_math", vector_lanes) {}

  void expand_block(std::vector<Stmt>& block) {
    for (Stmt& stmt : block) {
      expanded_.clear();
      if (stmt.value) stmt.value = expand_expr(stmt.value);
      if (stmt.mask) stmt.mask = expand_expr(stmt.mask);
      expand_block(stmt.body);
      expand_block(stmt.else_body);
    }
  }

 private:
  Expr expand_expr(const Expr& expr) {
    if (const auto found = expanded_.find(expr.get()); found != expanded_.end()) return found->second;
    std::vector<Expr> args;
    bool is_changed = false;
    for (const Expr& arg : expr->args) {
      args.push_back(expand_expr(arg));
      is_changed |= args.back() != arg;
    }
    Expr result = expr;
    if (expr->kind == ExprKind::kApply && !info(expr->op).is_primitive) {
      result = builder_.splat(expand(builder_, expr->op, args), expr->lanes);
    } else if (is_changed) {
      auto copy = std::make_shared<ExprNode>(*expr);
      copy->args = std::move(args);
      result = std::move(copy);
    }
    expanded_.emplace(expr.get(), result);
    return result;
  }

  KernelBuilder builder_;                               // of expressions only
  std::unordered_map<const ExprNode*, Expr> expanded_;  // in this statement
};

}  // namespace

void expand_math(Kernel& kernel) { Expander(kernel.lanes()).expand_block(kernel.body); }

}  // namespace ingot::loops
