#include <algorithm>
#include <optional>

#include "aot/analysis/joined_depth.h"
#include "aot/analysis/walk.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/contraction.h"
#include "aot/passes/pass.h"
#include "aot/passes/simplify/simplify_rules.h"

namespace ingot {
namespace {

// Only another addition of its block reads it: it is a part of that sum.
bool is_within_sum(const Op& add) {
  const std::vector<Value::Use>& uses = add.result()->uses;
  return uses.size() == 1 && uses[0].op->block == add.block && uses[0].op->is(kAdd);
}

// What a sum of any number of additions adds up, from left to right.
Values terms_of(const Op& sum) {
  Values terms, open{sum.operand(1), sum.operand(0)};
  while (!open.empty()) {
    Value* value = open.back();
    open.pop_back();
    const Op* add = made_by(value, kAdd);
    if (add && add->block == sum.block && is_within_sum(*add)) {
      open.insert(open.end(), {add->operand(1), add->operand(0)});
    } else {
      terms.push_back(value);
    }
  }
  return terms;
}

struct Depth {
  int64_t lhs, rhs;  // dimensions of the operands
  int64_t extent;
};

// Of a product that nothing but its sum reads and whose type adds as it sums up; nullopt for others, and for those that
// were joined already.
std::optional<Depth> depth_of(const Op& dot) {
  const TensorType& type = dot.result()->type;
  const ops::DotDims dims = ops::read_dot_dims(dot.attrs());
  if (dot.result()->uses.size() != 1 || dims.lhs_contract.size() != 1) return std::nullopt;
  if (is_bool(type.dtype) || ops::accumulate_dtype(type.dtype) != type.dtype) return std::nullopt;
  for (const Value* operand : dot.operands) {
    if (operand->op && is_joined_depth(*operand->op)) return std::nullopt;
  }
  const int64_t lhs = dims.lhs_contract[0];
  return Depth{lhs, dims.rhs_contract[0], dot.operand(0)->type.shape[lhs]};
}

bool differ_in_one_dim(TensorType x, TensorType y, int64_t dim) {
  x.shape[dim] = y.shape[dim] = 0;
  return x == y;
}

bool fits(const Values& products, const Op& dot) {
  const Op& first = *products[0]->op;
  const std::optional<Depth> depth = depth_of(first), more = depth_of(dot);
  if (!depth || !more || dot.attr_map != first.attr_map) return false;
  int64_t extent = more->extent;
  for (const Value* product : products) extent += depth_of(*product->op)->extent;
  return extent <= kJoinedDepthMax && differ_in_one_dim(first.operand(0)->type, dot.operand(0)->type, depth->lhs) &&
         differ_in_one_dim(first.operand(1)->type, dot.operand(1)->type, depth->rhs);
}

Value* joined(GraphBuilder& b, const Values& products) {
  if (products.size() == 1) return products[0];
  const Op& first = *products[0]->op;
  const Depth depth = *depth_of(first);
  Values lhs, rhs;
  for (const Value* product : products) {
    lhs.push_back(product->op->operand(0));
    rhs.push_back(product->op->operand(1));
  }
  Value* x = ops::concatenate(b, lhs, depth.lhs);
  Value* y = ops::concatenate(b, rhs, depth.rhs);
  return b.make(*first.def, {x, y}, first.attr_map, {first.result()->type});
}

// The sum with each product joined to the one before it where they fit; null where none do.
Value* with_joined_products(GraphBuilder& b, const Op& sum) {
  std::vector<Values> terms;  // each one value, or products to join
  std::optional<size_t> last_product;
  const Values all = terms_of(sum);
  for (Value* term : all) {
    const Op* dot = made_by(term, kDotGeneral);
    if (dot && dot->block != sum.block) dot = nullptr;  // made once for all iterations of a loop
    if (dot && last_product && fits(terms[*last_product], *dot)) {
      terms[*last_product].push_back(term);
      continue;
    }
    if (dot) last_product = terms.size();
    terms.push_back({term});
  }
  if (terms.size() == all.size()) return nullptr;
  Value* value = joined(b, terms[0]);
  for (size_t i = 1; i < terms.size(); ++i) value = ops::add(b, value, joined(b, terms[i]));
  return value;
}

bool join_products(Block& block, GraphBuilder& b) {
  bool changed = false;
  for (auto at = block.ops.begin(); at != block.ops.end();) {
    Op* op = (at++)->get();
    if (!op->is(kAdd) || is_within_sum(*op)) continue;
    b.before(*op);
    b.location = op->location;
    Value* value = with_joined_products(b, *op);
    if (!value) continue;
    replace_op(op, {value});
    changed = true;
  }
  return changed && erase_unread(block);
}

}  // namespace

bool is_joined_depth(const Op& op) {
  const std::optional<Joint> joint = joint_of(op);
  if (!joint || op.result()->uses.size() != 1) return false;
  const Value::Use& use = op.result()->uses[0];
  if (!use.op->is(kDotGeneral)) return false;
  const ops::DotDims dims = ops::read_dot_dims(use.op->attrs());
  const std::vector<int64_t>& depth = use.operand_index == 0 ? dims.lhs_contract : dims.rhs_contract;
  return depth == std::vector<int64_t>{joint->dim} && op.result()->type.shape[joint->dim] <= kJoinedDepthMax;
}

bool join_products(Module& module, PassContext&) {
  bool changed = false;
  GraphBuilder b;
  for_each_block(module, [&](Block& block) { changed |= join_products(block, b); });
  return changed;
}

}  // namespace ingot
