#include <fmt/format.h>

#include <algorithm>

#include "aot/analysis/walk.h"
#include "aot/base/contains.h"
#include "aot/ops/ops.h"
#include "aot/passes/pass.h"

namespace ingot {
namespace {

// Ops that stand for a function's body, and the attribute that names it.
constexpr struct {
  const OpDef& op;
  std::string_view callee;
} kCalls[] = {{kCall, "callee"}, {kComposite, "decomposition"}};

Function* callee_of(const Op& op) {
  for (const auto& call : kCalls) {
    if (!op.is(call.op)) continue;
    const std::string& name = op.attrs().string(call.callee);
    Function* callee = module_of(&op)->find(name);
    if (!callee) throw_error(op.location, fmt::format("{} names @{}, which the module does not have", op.name(), name));
    return callee;
  }
  return nullptr;
}

constexpr size_t kCopiedOpsMax = 500'000;

size_t count_ops(const Block& block) {
  size_t count = block.ops.size();
  for (const auto& op : block.ops) {
    for (const auto& region : op->regions) count += count_ops(*region);
  }
  return count;
}

Location called_at(const Location& callee, const Location& caller) {
  if (!callee || !caller) return callee ? callee : caller;
  auto node = std::make_shared<LocationNode>();
  node->kind = LocationNode::Kind::kCallSite;
  node->children = {callee, caller};
  return node;
}

class Inliner {
 public:
  bool run(Function& function) {
    if (contains(done_, &function)) return false;
    if (contains(open_, &function)) {
      throw_error(function.location, fmt::format("@{} calls itself; recursion has no static plan", function.name));
    }
    open_.push_back(&function);
    const bool changed = run(function.body);
    open_.pop_back();
    done_.push_back(&function);
    return changed;
  }

 private:
  bool run(Block& block) {
    bool changed = false;
    for (auto at = block.ops.begin(); at != block.ops.end();) {
      Op* op = (at++)->get();
      for (auto& region : op->regions) changed |= run(*region);
      Function* callee = callee_of(*op);
      if (!callee) continue;
      run(*callee);
      replace_by_body(op, *callee);
      changed = true;
    }
    return changed;
  }

  void replace_by_body(Op* call, const Function& callee) {
    if (call->operands.size() != callee.body.arguments.size() || call->results.size() != callee.results.size()) {
      throw_error(call->location, fmt::format("{} does not fit @{}: {} operands and {} results, not {} and {}",
                                              call->name(), callee.name, call->operands.size(), call->results.size(),
                                              callee.body.arguments.size(), callee.results.size()));
    }
    charge(*call, callee);
    Block& block = *call->block;
    ValueMap map;
    for (size_t i = 0; i < call->operands.size(); ++i) map[callee.body.arguments[i].get()] = call->operands[i];
    const Op* last_before = block.ops.back().get();
    copy_ops(callee.body, block, map, /*with_terminator=*/false);
    // The copies stand at the end of the block, behind `last_before`; they belong before the call.
    auto first = std::next(last_before->self);
    for (auto at = first; at != block.ops.end(); ++at) {
      (*at)->location = called_at((*at)->location, call->location);
      for (auto& result : (*at)->results) result->name.clear();
    }
    block.ops.splice(call->self, block.ops, first, block.ops.end());
    Values results;
    for (const Value* value : callee.body.terminator()->operands) {
      const auto found = map.find(value);
      INGOT_CHECK(found != map.end());
      results.push_back(found->second);
    }
    replace_op(call, results);
  }

  // Functions that call each other twice double with each.
  void charge(const Op& call, const Function& callee) {
    copied_ops_ += count_ops(callee.body);
    if (copied_ops_ <= kCopiedOpsMax) return;
    throw_limit(call.location, fmt::format("the calls of this program stand for more than {} ops", kCopiedOpsMax));
  }

  std::vector<const Function*> open_, done_;
  size_t copied_ops_ = 0;
};

}  // namespace

bool inline_calls(Module& module, PassContext&) {
  Inliner inliner;
  bool changed = false;
  for (auto& function : module.functions) {
    if (!function->is_private) changed |= inliner.run(*function);
  }
  const bool has_public = std::any_of(module.functions.begin(), module.functions.end(),
                                      [](const auto& function) { return !function->is_private; });
  if (has_public) {
    changed |= std::erase_if(module.functions, [](const auto& function) { return function->is_private; }) > 0;
  }
  return changed;
}

}  // namespace ingot
