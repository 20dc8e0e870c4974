#include <algorithm>
#include <map>
#include <set>

#include "aot/analysis/replaced.h"
#include "aot/analysis/walk.h"
#include "aot/base/contains.h"
#include "aot/base/error.h"
#include "aot/ops/ops.h"
#include "aot/plan/dependencies.h"

namespace ingot::plan {
namespace {

// A kernel that copies `value`; a constant of one value everywhere is made anew instead.
Value* copy_kernel(GraphBuilder& b, Value* value) {
  auto body = std::make_unique<Block>();
  GraphBuilder inner;
  inner.location = value->location;
  inner.at_end(*body);
  Values operands;
  Value* element = nullptr;
  const Op* constant = value->op && value->op->is(kConstant) ? value->op : nullptr;
  if (constant && constant->attrs().literal("value")->is_splat) {
    element = inner.make(kConstant, {}, constant->attr_map, {value->type});
  } else {
    operands = {value};
    element = body->add_argument(value->type, value->name);
  }
  inner.create(kYield, {element});
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(std::move(body));
  b.location = value->location;
  return b.create(kKernel, operands, {{"name", Attr("copy")}}, {}, std::move(regions))->result();
}

// A jump reads the value: the index of a case, the predicate of an if, what a loop's condition returns. Jumps read no
// outputs, which the host may have put anywhere.
bool is_tested(const Value* value) {
  return std::ranges::any_of(value->uses, [](const Value::Use& use) {
    if (is_control_flow(*use.op)) return !use.op->is(kWhile);
    const Op* parent = use.op->block->parent_op;
    return use.op->def->is_terminator && parent && parent->is(kWhile) && use.op->block == parent->regions[0].get();
  });
}

// Of the type of what a jump reads: a loop's condition may return what it carries.
bool may_be_tested(const TensorType& type) {
  return type.shape.empty() && (type.dtype == DType::kI1 || type.dtype == DType::kI32);
}

class Separator {
 public:
  explicit Separator(const LoweringOf& lowering) : lowering_(lowering) {}

  int copies() const { return copies_; }

  void separate(Block& block, const Replaced& replaced) {
    for (auto& op : block.ops) {
      if (!is_control_flow(*op)) continue;
      const bool is_loop = op->is(kWhile);
      for (auto& region : op->regions) {
        if (!is_loop) {
          separate(*region, Replaced(op->results.size(), nullptr));
        } else if (region == op->regions.back()) {
          separate(*region, replaced_carried(*region));
        } else {
          separate(*region, {});  // the condition's result is read where it lies
        }
      }
    }
    own_operands(block, replaced);
    own_results(block, replaced);
    drop_unread(block);
  }

 private:
  // What is made from nothing is made again.
  Value* copy(Value* value, Op& before) {
    ++copies_;
    if (value->op && value->op->is(kKernel) && value->op->operands.empty()) {
      ValueMap map;
      Op* again = copy_op(*value->op, *before.block, map);
      before.block->ops.splice(before.self, before.block->ops, again->self);
      return again->result(value->index);
    }
    b_.before(before);
    return copy_kernel(b_, value);
  }

  // What was made again everywhere is left without readers.
  static void drop_unread(Block& block) {
    for (auto at = block.ops.begin(); at != block.ops.end();) {
      Op* op = (at++)->get();
      if (op->is(kKernel) && op->operands.empty() && !op->has_uses()) erase(op);
    }
  }

  // --- operands that are overwritten ---

  // A node that makes a result in the place of operand `operand`.
  struct Takeover {
    Op* node;
    int operand;

    Value* value() const { return node->operand(operand); }
  };

  // Of arguments whose place holds what replaces them all along: the node that is the first to write there.
  using Heirs = std::map<const Value*, const Op*>;

  // Nobody reads an operand after the node that overwrites it, and it may be written at all: else the node gets a copy.
  void own_operands(Block& block, const Replaced& replaced) {
    Dependencies dependencies(block);
    std::vector<Takeover> takeovers;
    for (Op* node : dependencies.nodes()) {
      for (const auto& result : node->results) {
        const Value* before = predecessor(result.get(), lowering_);
        if (!before) continue;
        const int operand = node->is(kWhile)
                                ? result->index
                                : static_cast<int>(std::ranges::find(node->operands, before) - node->operands.begin());
        takeovers.push_back({node, operand});
      }
    }
    if (takeovers.empty()) return;
    Heirs heirs;
    for (size_t i = 0; i < replaced.size(); ++i) {
      const Value* result = block.terminator()->operand(static_cast<int>(i));
      if (!replaced[i] || result == replaced[i] || first_in_place(result, lowering_) != replaced[i]) continue;
      while (predecessor(result, lowering_) != replaced[i]) result = predecessor(result, lowering_);
      heirs[replaced[i]] = result->op;
    }
    std::vector<Takeover> refused;
    std::set<const Value*> taken;
    for (const Takeover& takeover : takeovers) {
      if (!may_take(takeover, block, heirs, taken, dependencies)) refused.push_back(takeover);
    }
    // An argument that is copied somewhere on the way to what replaces it is copied at the start.
    for (const Takeover& takeover : refused) {
      const Value* first = first_in_place(takeover.value(), lowering_);
      if (!heirs.erase(first) || first == takeover.value()) continue;
      for (const Takeover& other : takeovers) {
        if (other.value() == first) other.node->set_operand(other.operand, copy(other.value(), *other.node));
      }
    }
    for (const Takeover& takeover : refused) {
      takeover.node->set_operand(takeover.operand, copy(takeover.value(), *takeover.node));
    }
  }

  static bool may_take(const Takeover& takeover, const Block& block, const Heirs& heirs, std::set<const Value*>& taken,
                       Dependencies& dependencies) {
    const Value* value = takeover.value();
    const auto heir = heirs.find(value);
    const bool may_be_written = value->op ? value->op->block == &block && is_node(*value->op)
                                          : heir != heirs.end() && heir->second == takeover.node;
    if (!may_be_written || taken.contains(value) || std::ranges::count(takeover.node->operands, value) != 1)
      return false;
    const auto is_captured = [&](const auto& region) {
      const Values captured = captured_values(*region);
      return contains(captured, value);
    };
    const auto returns = [&](const Value::Use& use) { return use.op == block.terminator(); };
    if (std::ranges::any_of(takeover.node->regions, is_captured) || std::ranges::any_of(value->uses, returns))
      return false;
    const int node = dependencies.index_of(takeover.node);
    const std::vector<int> readers = dependencies.readers(value);
    for (int reader : readers) {
      if (reader != node && dependencies.depends(reader, node)) return false;
    }
    for (int reader : readers) dependencies.add(reader, node);
    taken.insert(value);
    return true;
  }

  // --- results ---

  void own_results(Block& block, const Replaced& replaced) {
    Op* end = block.terminator();
    Dependencies dependencies(block);
    add_takeovers(dependencies, lowering_);
    std::set<const Value*> claimed;
    std::vector<int> copied;
    for (int i = 0; i < static_cast<int>(replaced.size()); ++i) {
      Value* value = end->operand(i);
      if (replaced[i] != value && !is_direct(value, replaced[i], block, dependencies, claimed)) copied.push_back(i);
    }
    for (int i : copied) {
      Value* value = end->operand(i);
      // Two states may trade places: what one of them was is saved before either is written.
      if (replaced[i] && value->block == &block) value = copy(value, *end);
      end->set_operand(i, copy(value, *end));
    }
  }

  // Whether a result is made where it belongs, in the place of `old` if there is one.
  bool is_direct(const Value* value, const Value* old, const Block& block, Dependencies& dependencies,
                 std::set<const Value*>& claimed) {
    const Value* first = first_in_place(value, lowering_);
    if (old && first == old) return claimed.insert(first).second;
    if (!first->op || !first->op->is(kKernel) || first->op->block != &block) return false;
    if (is_tested(value) || (first != value && (is_tested(first) || may_be_tested(value->type)))) return false;
    if (!claimed.insert(first).second) return false;
    if (!old) return true;
    const int writer = dependencies.index_of(first->op);
    const std::vector<int> readers = dependencies.readers(old);
    for (int reader : readers) {
      const bool is_free = reader == writer ? may_replace(*first->op, first->index, old, lowering_(*first->op))
                                            : !dependencies.depends(reader, writer);
      if (!is_free) return false;
    }
    for (int reader : readers) dependencies.add(reader, writer);
    return true;
  }

  GraphBuilder b_;
  const LoweringOf& lowering_;
  int copies_ = 0;
};

}  // namespace

int separate_results(Function& function, const LoweringOf& lowering) {
  Separator separator(lowering);
  separator.separate(function.body, replaced_state(function));
  return separator.copies();
}

}  // namespace ingot::plan
