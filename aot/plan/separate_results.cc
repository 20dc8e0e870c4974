#include <algorithm>
#include <set>

#include "aot/base/error.h"
#include "aot/passes/walk.h"
#include "aot/plan/dependencies.h"

namespace ingot::plan {
namespace {

// A kernel that copies `value`; a constant of one value everywhere is made anew instead.
Value* copy_kernel(GraphBuilder& b, Value* value) {
  auto body = std::make_unique<Block>();
  GraphBuilder inner(b.table());
  inner.location = value->location;
  inner.at_end(*body);
  Values operands;
  Value* element = nullptr;
  const Op* constant = value->op && value->op->is("stablehlo.constant") ? value->op : nullptr;
  if (constant && constant->attrs().literal("value")->is_splat) {
    element = inner.make("stablehlo.constant", {}, constant->attr_map, {value->type});
  } else {
    operands = {value};
    element = body->add_argument(value->type, value->name);
  }
  inner.create("ingot.yield", {element});
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(std::move(body));
  b.location = value->location;
  return b.create("ingot.kernel", operands, {{"name", Attr("copy")}}, {}, std::move(regions))->result();
}

// A jump reads the value: the index of a case, the predicate of an if, what a loop's condition returns. Jumps read no
// outputs, which the host may have put anywhere.
bool is_tested(const Value* value) {
  return std::ranges::any_of(value->uses, [](const Value::Use& use) {
    if (is_control_flow(*use.op)) return !use.op->is("stablehlo.while");
    const Op* parent = use.op->block->parent_op;
    return use.op->def->is_terminator && parent && parent->is("stablehlo.while") &&
           use.op->block == parent->regions[0].get();
  });
}

class Separator {
 public:
  Separator(const OpTable& table, const LoweringOf& lowering) : b_(table), lowering_(lowering) {}

  int copies() const { return copies_; }

  void separate(Block& block, const Replaced& replaced) {
    // What stands inside comes first: a loop may need copies of what it starts from.
    for (auto& op : block.ops) {
      if (!is_control_flow(*op)) continue;
      const bool is_loop = op->is("stablehlo.while");
      if (is_loop) own_operands(*op);
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
    own_results(block, replaced);
  }

 private:
  Value* copy(Value* value, Op& before) {
    ++copies_;
    b_.before(before);
    return copy_kernel(b_, value);
  }

  // Every carried value of a loop starts as a kernel's own result, which nobody else reads: it becomes the place of
  // all later values.
  void own_operands(Op& loop) {
    for (int i = 0; i < static_cast<int>(loop.operands.size()); ++i) {
      Value* value = loop.operand(i);
      const bool own = value->op && value->op->is("ingot.kernel") && value->op->block == loop.block;
      if (!own || value->uses.size() != 1) loop.set_operand(i, copy(value, loop));
    }
  }

  void own_results(Block& block, const Replaced& replaced) {
    Op* end = block.terminator();
    Dependencies dependencies(block);
    std::set<const Value*> claimed;
    std::vector<int> copied;
    for (int i = 0; i < static_cast<int>(replaced.size()); ++i) {
      Value* value = end->operand(i);
      const Value* old = replaced[i];
      if (old == value) continue;
      bool direct = value->op && value->op->is("ingot.kernel") && value->op->block == &block && !is_tested(value) &&
                    claimed.insert(value).second;
      if (direct && old) {
        const int writer = dependencies.index_of(value->op);
        const std::vector<int> readers = dependencies.readers(old);
        for (int reader : readers) {
          direct = direct && (reader == writer ? may_replace(*value->op, value->index, old, lowering_(*value->op))
                                               : !dependencies.depends(reader, writer));
        }
        if (direct) {
          for (int reader : readers) dependencies.add(reader, writer);
        }
      }
      if (!direct) copied.push_back(i);
    }
    for (int i : copied) {
      Value* value = end->operand(i);
      // Two states may trade places: what one of them was is saved before either is written.
      if (replaced[i] && value->block == &block) value = copy(value, *end);
      end->set_operand(i, copy(value, *end));
    }
  }

  GraphBuilder b_;
  const LoweringOf& lowering_;
  int copies_ = 0;
};

}  // namespace

int separate_results(Function& function, const OpTable& table, const LoweringOf& lowering) {
  Separator separator(table, lowering);
  separator.separate(function.body, replaced_state(function));
  return separator.copies();
}

}  // namespace ingot::plan
