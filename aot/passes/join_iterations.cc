#include <optional>

#include "aot/analysis/regions.h"
#include "aot/analysis/stacks.h"
#include "aot/analysis/walk.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/contraction.h"
#include "aot/passes/pass.h"

namespace ingot {
namespace {

// A sum in a cache is read or written as often in the time in which as many bytes come from memory.
constexpr int64_t kCachedMoves = 3;

bool is_zeros(const Value* value) {
  const LiteralRef literal = constant_of(value);
  if (!literal || !literal->is_splat) return false;
  return is_float(literal->type.dtype) ? literal->float_at(0) == 0 : literal->int_at(0) == 0;
}

// Operands of a product with one more dimension in front, which is summed up as well.
ops::DotDims with_iterations(ops::DotDims dims) {
  for (std::vector<int64_t>* list : {&dims.lhs_batch, &dims.rhs_batch, &dims.lhs_contract, &dims.rhs_contract}) {
    for (int64_t& dim : *list) ++dim;
  }
  for (std::vector<int64_t>* list : {&dims.lhs_contract, &dims.rhs_contract}) list->insert(list->begin(), 0);
  return dims;
}

// All iterations' values of a value of the body, in a tensor that the loop reads or writes in any case.
std::optional<Stack> lying_stack_of(const Op& loop, const Counter& counter, const Value* value) {
  const std::optional<Stack> stack = stack_of(loop, counter, value);
  const bool lies_there = stack && (stack->value->op != &loop || !stack->value->uses.empty());
  return lies_there ? stack : std::nullopt;
}

// The products that a counted loop adds to one of the values that it carries.
class CarriedSum {
 public:
  CarriedSum(Op& loop, const Counter& counter, int carried)
      : loop_(loop), body_(loop.region(1)), counter_(counter), carried_(carried) {
    if (loop.region(0).argument(carried)->uses.empty()) find_additions();
  }

  // Whether there was something to join.
  bool join() {
    GraphBuilder b;
    b.before(**std::next(loop_.self));
    Values joined;
    for (const Addition& addition : additions_) {
      const std::optional<Product> product = product_of(addition.term());
      if (!product) continue;
      joined.push_back(make(b, *product));
      replace_op(addition.op, {addition.sum()});
    }
    if (!joined.empty()) add_behind(b, joined);
    return !joined.empty();
  }

 private:
  struct Addition {
    Op* op;
    int sum_operand;
    Value* sum() const { return op->operand(sum_operand); }
    Value* term() const { return op->operand(1 - sum_operand); }
  };

  // A product of one iteration, and the stacks of its operands.
  struct Product {
    const Op* dot;
    Stack lhs, rhs;
  };

  // From the carried value to what follows it, where nobody else reads a sum on the way.
  void find_additions() {
    const Value* sum = body_.argument(carried_);
    while (sum->uses.size() == 1) {
      const Value::Use& use = sum->uses[0];
      if (use.op == body_.terminator() && use.operand_index == carried_) return;
      if (!use.op->is(kAdd) || use.op->block != &body_) break;
      additions_.push_back({use.op, use.operand_index});
      sum = use.op->result();
    }
    additions_.clear();
  }

  std::optional<Product> product_of(const Value* term) const {
    const Op* dot = term->op;
    if (!dot || !dot->is(kDotGeneral) || dot->block != &body_ || term->uses.size() != 1) return std::nullopt;
    const DType dtype = term->type.dtype;
    if (is_bool(dtype) || ops::accumulate_dtype(dtype) != dtype) return std::nullopt;
    const std::optional<Stack> lhs = lying_stack_of(loop_, counter_, dot->operand(0));
    const std::optional<Stack> rhs = lying_stack_of(loop_, counter_, dot->operand(1));
    if (!lhs || !rhs || lhs->order != rhs->order) return std::nullopt;
    const int64_t sum_bytes_moved = 2 * counter_.trips() * term->type.bytes();
    const int64_t stack_bytes = lhs->value->type.bytes() + rhs->value->type.bytes();
    if (kCachedMoves * stack_bytes > sum_bytes_moved) return std::nullopt;
    return Product{dot, *lhs, *rhs};
  }

  Value* make(GraphBuilder& b, const Product& product) const {
    const Op& dot = *product.dot;
    b.location = dot.location;
    AttrMap attrs = dot.attr_map;
    attrs["dot_dimension_numbers"] = ops::to_attr(with_iterations(ops::read_dot_dims(dot.attrs())));
    Values operands;
    for (const Stack* stack : {&product.lhs, &product.rhs}) {
      Shape shape = dot.operand(static_cast<int>(operands.size()))->type.shape;
      shape.insert(shape.begin(), counter_.trips());
      operands.push_back(ops::reshape(b, stack->value, shape));
    }
    return b.make(*dot.def, operands, attrs, {dot.result()->type});
  }

  void add_behind(GraphBuilder& b, const Values& joined) {
    Value* result = loop_.result(carried_);
    const std::vector<Value::Use> uses = result->uses;
    const bool goes_on = body_.terminator()->operand(carried_) != body_.argument(carried_);
    Value* sum = goes_on ? result : loop_.operand(carried_);
    for (Value* product : joined) sum = is_zeros(sum) ? product : ops::add(b, sum, product);
    for (const Value::Use& use : uses) use.op->set_operand(use.operand_index, sum);
  }

  Op& loop_;
  Block& body_;
  const Counter counter_;
  const int carried_;
  std::vector<Addition> additions_;
};

bool join_iterations(Op& loop) {
  const std::optional<Counter> counter = counter_of(loop);
  if (!counter || counter->trips() < 2) return false;
  bool changed = false;
  for (int i = 0; i < std::ssize(loop.operands); ++i) changed |= CarriedSum(loop, *counter, i).join();
  if (changed) erase_unread(loop.region(1));
  return changed;
}

}  // namespace

bool join_iterations(Module& module, PassContext&) {
  bool changed = false;
  for_each_block(module, [&](Block& block) {
    for (auto& op : block.ops) {
      if (is_loop(*op)) changed |= join_iterations(*op);
    }
  });
  return changed;
}

}  // namespace ingot
