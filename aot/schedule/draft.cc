#include "aot/schedule/draft.h"

#include <algorithm>

#include "aot/base/contains.h"
#include "aot/graph/access_map.h"
#include "aot/graph/attributes.h"
#include "aot/graph/op.h"
#include "aot/ops/support/elementwise.h"
#include "aot/ops/support/update.h"
#include "aot/passes/pass.h"

namespace ingot::schedule {
namespace {

// The elements that `reader` reads are those that `update` overwrites, one for one.
bool reads_where_written(const Op& reader, const Op& update) {
  const AccessMap map = access_map(reader);
  const Shape& window = update.operand(1)->type.shape;
  if (map.pieces.size() != 1 || map.is_flat || reader.result()->type.shape != window) return false;
  const std::vector<AxisMap>& axes = map.pieces[0].axes;
  for (int d = 0; d < std::ssize(window); ++d) {
    if (!follows(axes[d], d) || axes[d].constant != 0 || axes[d].start < 0) return false;
    if (reader.operand(axes[d].start) != update.operand(2 + d)) return false;
  }
  return true;
}

// `reader` reads of a window of `x` only the element that `update` overwrites, at the index at which its own is made.
bool reads_the_window(const Op& reader, const Op& update) {
  if (!reads_where_written(reader, update)) return false;
  std::set<const Value*> seen;
  const auto leads_to_source = [&](const auto& self, const Value* value) -> bool {
    if (!seen.insert(value).second) return true;
    return std::ranges::all_of(value->uses, [&](const Value::Use& use) {
      if (use.op == &update) return use.operand_index == 1;
      const Value* made = use.op->results.empty() ? nullptr : use.op->result();
      return made && (use.op->def->is_elementwise || ops::without_unit_dims(made)) && self(self, made);
    });
  };
  return leads_to_source(leads_to_source, reader.result());
}

// A result whose op updates an operand that nothing else of the kernel reads elsewhere.
bool updates_in_place(const Value* result, const Block& body) {
  const Op* op = result->op;
  if (!op || !ops::is_update(*op) || result->uses.size() != 1) return false;
  const Value* x = op->operand(0);
  return x->block == &body && std::ranges::all_of(x->uses, [&](const Value::Use& use) {
           return use.op == op ? use.operand_index == 0 : reads_the_window(*use.op, *op);
         });
}

// Values of transcendental functions that making `values` computes, but for what making `roots` does.
std::set<const Value*> functions_in(const Draft& draft, const Values& values, const Values& roots) {
  std::set<const Value*> functions, seen;
  const auto visit = [&](const auto& self, const Value* at) -> void {
    if (draft.is_made(at) || contains(roots, at) || !seen.insert(at).second) return;
    if (at->op->def->is_elementwise && at->op->def->flops >= kMathFlops) functions.insert(at);
    for (const Value* operand : at->op->operands) self(self, operand);
  };
  for (const Value* value : values) visit(visit, value);
  return functions;
}

}  // namespace

Draft::Draft(const Op& kernel, const loops::Target& target, const LowerOptions& options)
    : kernel_(&kernel), target_(&target), options_(options), name_(attr_text(kernel.attr_map, "name")) {
  if (name_.empty()) name_ = "kernel";
  for (const auto& argument : body().arguments) {
    places_[argument.get()] = {KernelBinding::Kind::kOperand, argument->index};
  }
  const Values& results = body().terminator()->operands;
  for (const Value* result : results) {
    if (!updates_in_place(result, body())) continue;
    // The window's shape where another result has that too, else without dimensions of extent 1.
    Value* source = result->op->operand(1);
    const auto fits = [&](const Value* other) {
      return !updates_in_place(other, body()) && other->type.shape == source->type.shape;
    };
    while (std::ranges::none_of(results, fits)) {
      Value* inner = ops::without_unit_dims(source);
      if (!inner) break;
      source = inner;
    }
    windows_[result] = source;
  }
}

Value* Draft::source(Value* value) const {
  const auto window = windows_.find(value);
  return window == windows_.end() ? value : window->second;
}

const Value* Draft::source(const Value* value) const { return source(const_cast<Value*>(value)); }

const KernelBinding* Draft::place(const Value* value) const {
  const auto found = places_.find(value);
  return found == places_.end() ? nullptr : &found->second;
}

const Value* Draft::kept(const Value* value) const {
  while (!is_made(value) && access_map(*value->op).is_flat) value = value->op->operand(0);
  return is_made(value) ? value : nullptr;
}

std::vector<int> Draft::results_of(const Value* value) const {
  std::vector<int> results;
  const Values& yielded = body().terminator()->operands;
  for (size_t i = 0; i < yielded.size(); ++i) {
    if (yielded[i] == value) results.push_back(static_cast<int>(i));
  }
  return results;
}

const Value* Draft::replaced(const Value* value) const {
  const std::vector<int> results = results_of(value);
  const std::vector<int64_t> pairs = kernel_->attrs().ints(attributes::kReplacedOperands, {});
  for (size_t k = 0; k < pairs.size(); k += 2) {
    if (!results.empty() && pairs[k] == results[0]) return body().argument(static_cast<int>(pairs[k + 1]));
  }
  return nullptr;
}

bool Draft::is_invariant(Value* value) const {
  const std::vector<int64_t> operands = kernel_->attrs().ints(attributes::kInvariantOperands, {});
  return std::ranges::all_of(inputs_of({value}), [&](const Value* input) {
    return input->block == &body() && contains(operands, input->index);
  });
}

bool Draft::is_result(const Value* value) const { return !results_of(value).empty(); }

int Draft::add_temporary(TensorType type) {
  lowering_.temporaries.push_back(std::move(type));
  return static_cast<int>(lowering_.temporaries.size()) - 1;
}

Values Draft::inputs_of(const Values& values, const Values& provided) const {
  Values inputs;
  std::set<const Value*> seen;
  const auto visit = [&](const auto& self, Value* value) -> void {
    if (contains(provided, value) || !seen.insert(value).second) return;
    if (is_made(value)) return inputs.push_back(value);
    if (!value->op) throw_bug("schedule: %" + value->name + " is not a value of the kernel");
    for (Value* operand : value->op->operands) self(self, operand);
  };
  for (Value* value : values) visit(visit, value);
  return inputs;
}

bool Draft::needs(const Value* value, const Value* root) const {
  if (value == root) return true;
  std::set<const Value*> seen;
  const auto visit = [&](const auto& self, const Value* at) -> bool {
    if (at == root) return true;
    if (!at->op || is_made(at) || !seen.insert(at).second) return false;
    return std::ranges::any_of(at->op->operands, [&](const Value* operand) { return self(self, operand); });
  };
  return visit(visit, value);
}

bool needs_other_root(const Draft& draft, const Value* value, const Values& roots) {
  std::set<const Value*> seen;
  const auto visit = [&](const auto& self, const Value* at) -> bool {
    if (draft.is_made(at) || contains(roots, at) || !seen.insert(at).second) return false;
    if (!at->op || !at->op->def->has_elements()) return true;
    return std::ranges::any_of(at->op->operands, [&](const Value* operand) { return self(self, operand); });
  };
  return visit(visit, value);
}

Values elementwise_followers(const Draft& draft, const Values& roots) {
  // Whether `value` reads the roots at its own index only.
  std::map<std::pair<const Value*, bool>, bool> known;
  const auto follows = [&](const auto& self, const Value* value, bool same_index) -> bool {
    if (contains(roots, value)) return same_index;
    if (draft.is_made(value)) return true;
    const auto [found, is_new] = known.try_emplace({value, same_index}, true);
    if (!is_new) return found->second;
    const Values& operands = value->op->operands;
    bool result = true;
    if (draft.is_update(value)) {
      result = self(self, draft.source(value), same_index) &&
               std::all_of(operands.begin() + 2, operands.end(),
                           [&](const Value* start) { return self(self, start, false); });
    } else {
      const bool same = same_index && reads_own_index(*value->op);
      result = std::ranges::all_of(operands, [&](const Value* operand) { return self(self, operand, same); });
    }
    return known[{value, same_index}] = result;
  };
  Values followers, others;
  for (Value* value : draft.body().terminator()->operands) {
    if (draft.is_made(value) || contains(followers, value) || contains(others, value) || contains(roots, value))
      continue;
    if (draft.source(value)->type.shape != roots[0]->type.shape || needs_other_root(draft, value, roots)) continue;
    const bool needs_root = std::ranges::any_of(roots, [&](const Value* root) { return draft.needs(value, root); });
    if (follows(follows, value, true)) (needs_root ? followers : others).push_back(value);
  }
  const std::set<const Value*> functions = functions_in(draft, followers, roots);
  for (Value* value : others) {
    const std::set<const Value*> its_own = functions_in(draft, {value}, roots);
    if (std::ranges::any_of(its_own, [&](const Value* it) { return functions.contains(it); }))
      followers.push_back(value);
  }
  return followers;
}

Values roots_to_store(const Draft& draft, const Values& roots, const Values& taken) {
  const auto is_wanted = [&](const Value* value, const Value* root) {
    return !draft.is_made(value) && !contains(taken, value) && draft.needs(value, root);
  };
  Values needed;
  for (Value* root : roots) {
    bool is_needed = std::ranges::any_of(draft.body().terminator()->operands,
                                         [&](const Value* result) { return is_wanted(result, root); });
    for (const auto& op : draft.body().ops) {
      if (op->def->has_elements() || op->def->is_terminator || draft.is_made(op->result()) ||
          contains(roots, op->result()))
        continue;
      is_needed = is_needed ||
                  std::ranges::any_of(op->operands, [&](const Value* operand) { return is_wanted(operand, root); });
    }
    if (is_needed) needed.push_back(root);
  }
  return needed;
}

Values with_epilogue(const Draft& draft, const Values& roots) {
  Values makes = elementwise_followers(draft, roots);
  const Values needed = roots_to_store(draft, roots, makes);
  makes.insert(makes.end(), needed.begin(), needed.end());
  return makes;
}

std::set<const Value*> read_in_place(const Draft& draft, const Values& values, const std::set<const Value*>& stop) {
  std::set<const Value*> in_place, elsewhere;
  std::set<std::pair<const Value*, bool>> seen;
  const auto visit = [&](const auto& self, const Value* value, bool same_index) -> void {
    if (stop.contains(value) || !seen.insert({value, same_index}).second) return;
    if (draft.is_made(value)) {
      (same_index ? in_place : elsewhere).insert(value);
      return;
    }
    if (draft.is_update(value)) {
      self(self, draft.source(value), same_index);
      for (size_t k = 2; k < value->op->operands.size(); ++k) self(self, value->op->operands[k], false);
      return;
    }
    const bool same = same_index && (reads_own_index(*value->op) || access_map(*value->op).is_flat);
    for (const Value* operand : value->op->operands) self(self, operand, same);
  };
  for (const Value* value : values) visit(visit, value, true);
  for (const Value* value : elsewhere) in_place.erase(value);
  return in_place;
}

}  // namespace ingot::schedule
