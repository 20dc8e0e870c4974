#include <cmath>
#include <map>

#include "aot/analysis/walk.h"
#include "aot/passes/pass.h"
#include "aot/passes/simplify/simplify_rules.h"

namespace ingot {

const Op* made_by(const Value* value, const OpDef& kind) {
  return value->op && value->op->is(kind) ? value->op : nullptr;
}

std::optional<double> common_float(const Value* value) {
  const LiteralRef literal = constant_of(value);
  if (!literal || !is_float(literal->type.dtype)) return std::nullopt;
  if (!literal->is_splat && literal->type.elements() != 1) return std::nullopt;
  return literal->float_at(0);
}

bool is_all(const Value* value, double number) {
  const LiteralRef literal = constant_of(value);
  if (!literal || (!literal->is_splat && literal->type.elements() != 1)) return false;
  if (!is_float(literal->type.dtype)) return static_cast<double>(literal->int_at(0)) == number;
  const double x = literal->float_at(0);
  return x == number && std::signbit(x) == std::signbit(number);
}

namespace {

using RulesByOp = std::multimap<const OpDef*, const SimplifyRule*>;

const RulesByOp& rules_by_op() {
  static const RulesByOp kRules = [] {
    RulesByOp rules;
    for (const auto& table : {arithmetic_rules(), move_rules(), reduction_rules(), index_rules(), scatter_rules(),
                              dot_rules(), convolution_rules()}) {
      for (const SimplifyRule& rule : table) rules.emplace(rule.op, &rule);
    }
    return rules;
  }();
  return kRules;
}

Value* first_that_applies(GraphBuilder& b, const Op& op) {
  for (const OpDef* key : {op.def, static_cast<const OpDef*>(nullptr)}) {
    const auto [begin, end] = rules_by_op().equal_range(key);
    for (auto rule = begin; rule != end; ++rule) {
      if (Value* value = rule->second->apply(b, op)) return value;
    }
  }
  return nullptr;
}

bool sweep(Module& module, GraphBuilder& b) {
  bool changed = false;
  for_each_block(module, [&](Block& block) {
    for (auto at = block.ops.begin(); at != block.ops.end();) {
      Op* op = (at++)->get();
      if (op->results.size() != 1 || op->result()->uses.empty()) continue;
      b.before(*op);
      b.location = op->location;
      if (Value* value = first_that_applies(b, *op)) {
        replace_op(op, {value});
        changed = true;
      }
    }
  });
  return changed;
}

}  // namespace

bool simplify(Module& module, PassContext&) {
  constexpr int kSweepsMax = 1000;
  GraphBuilder b;
  for (int i = 0; i < kSweepsMax; ++i) {
    if (!sweep(module, b)) return i > 0;
  }
  throw_bug("simplify: two rules undo each other");
}

}  // namespace ingot
