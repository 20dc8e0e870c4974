#include "aot/plan/make_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "aot/base/error.h"
#include "aot/plan/dependencies.h"
#include "aot/plan/place.h"
#include "aot/plan/schedule_order.h"

namespace ingot::plan {
namespace {

using BufferOf = std::map<const Value*, int>;

// The function's results that a kernel writes where they belong.
struct Destination {
  Space space;
  int index;  // state slot or output position
  std::string name;
};

class Planner {
 public:
  Planner(const Function& function, const StateTable& state, RodataPool& rodata, KernelTable& kernels,
          const LoweringOf& lowering)
      : function_(function), state_(state), rodata_(rodata), kernels_(kernels), lowering_(lowering), edges_(function) {}

  Plan run() {
    plan_.entry = function_.name;
    find_destinations();
    add_arguments_and_constants();
    for (int kernel : order()) add_steps(*edges_.kernels()[kernel]);
    survive_to_the_end();
    share_in_place();
    place_arena();
    set_barriers();
    return std::move(plan_);
  }

 private:
  void find_destinations() {
    int outputs = 0;
    const Op* end = function_.body.terminator();
    for (int i = 0; i < static_cast<int>(end->operands.size()); ++i) {
      const Value* value = end->operand(i);
      const std::string name = attr_text(function_.results[i].attrs, "ingot.state");
      if (name.empty()) {
        destinations_[value] = {Space::kOutput, outputs++, attr_text(function_.results[i].attrs, "ingot.name")};
        continue;
      }
      const Value* old = old_state(function_, i);
      if (value == old) continue;
      destinations_[value] = {Space::kState, state_.find(name), name};
      const int writer = edges_.index_of(value->op);
      if (old) {
        for (int reader : edges_.readers(old)) edges_.add(reader, writer);
      }
    }
  }

  int add_buffer(Buffer buffer, const Value* value) {
    if (buffer.name.empty() && value) buffer.name = value->name;
    buffer.name = unique(buffer.name.empty() ? "v" : buffer.name);
    if (value) buffer.type = value->type;
    plan_.buffers.push_back(std::move(buffer));
    const int id = static_cast<int>(plan_.buffers.size()) - 1;
    if (value) buffers_[value] = id;
    return id;
  }

  std::string unique(const std::string& name) {
    std::string made = name;
    while (!names_.emplace(made, 0).second) made = fmt::format("{}.{}", name, ++names_[name]);
    return made;
  }

  void add_arguments_and_constants() {
    int inputs = 0;
    for (int i = 0; i < function_.argument_count(); ++i) {
      const std::string state = attr_text(function_.argument_attrs[i], "ingot.state");
      Buffer buffer;
      buffer.space = state.empty() ? Space::kInput : Space::kState;
      buffer.index = state.empty() ? inputs++ : state_.find(state);
      if (!state.empty()) buffer.offset_bytes = state_.slots()[buffer.index].offset_bytes;
      buffer.name = state.empty() ? attr_text(function_.argument_attrs[i], "ingot.name") : state;
      add_buffer(buffer, function_.body.argument(i));
    }
    for (const auto& op : function_.body.ops) {
      if (!op->is("stablehlo.constant")) continue;
      Buffer buffer;
      buffer.space = Space::kRodata;
      buffer.offset_bytes = rodata_.add(*op->attrs().literal("value"));
      add_buffer(buffer, op->result());
    }
  }

  std::vector<int> order() {
    OrderProblem problem;
    std::map<const Value*, int> values;
    const auto value_id = [&](const Value* value) {
      const auto [at, is_new] = values.emplace(value, static_cast<int>(problem.value_bytes.size()));
      if (is_new) {
        const bool in_arena = value->op && value->op->is("ingot.kernel") && !destinations_.contains(value);
        problem.value_bytes.push_back(in_arena ? align_up(value->type.bytes()) : 0);
      }
      return at->second;
    };
    for (size_t k = 0; k < edges_.kernels().size(); ++k) {
      const Op& op = *edges_.kernels()[k];
      const Lowering& lowering = lowering_(op);
      OrderNode node;
      node.after = edges_.after(static_cast<int>(k));
      for (const Value* operand : op.operands) node.reads.push_back(value_id(operand));
      std::sort(node.reads.begin(), node.reads.end());
      node.reads.erase(std::unique(node.reads.begin(), node.reads.end()), node.reads.end());
      for (const auto& result : op.results) node.writes.push_back(value_id(result.get()));
      for (const TensorType& type : lowering.temporaries) node.temporary_bytes += align_up(type.bytes());
      for (const LoweredKernel& step : lowering.steps) {
        for (const loops::Buffer& buffer : step.kernel.buffers) {
          if (buffer.may_alias < 0) continue;
          const KernelBinding& from = step.bindings[buffer.may_alias];
          if (from.kind == KernelBinding::Kind::kOperand) node.in_place.push_back(value_id(op.operand(from.index)));
        }
      }
      problem.nodes.push_back(std::move(node));
    }
    return choose_order(problem);
  }

  int result_buffer(const Value* value, int step) {
    Buffer buffer;
    buffer.first_step = buffer.last_step = step;
    const auto destination = destinations_.find(value);
    if (destination != destinations_.end()) {
      buffer.space = destination->second.space;
      buffer.index = destination->second.index;
      buffer.name = destination->second.name;
      if (buffer.space == Space::kState) buffer.offset_bytes = state_.slots()[buffer.index].offset_bytes;
    }
    return add_buffer(buffer, value);
  }

  void add_steps(const Op& op) {
    const Lowering& lowering = lowering_(op);
    std::vector<int> temporaries(lowering.temporaries.size(), -1);
    for (const LoweredKernel& lowered : lowering.steps) {
      const int at = static_cast<int>(plan_.steps.size());
      Step step;
      step.kernel = kernels_.add(lowered.kernel);
      step.kernel_name = lowered.kernel.name;
      step.task_count = lowered.kernel.task_count;
      plan_.scratch_bytes = std::max(plan_.scratch_bytes, lowered.kernel.scratch_bytes);
      for (size_t i = 0; i < lowered.bindings.size(); ++i) {
        const bool writes = lowered.kernel.buffers[i].role == loops::BufferRole::kOutput;
        const int id = bound_buffer(op, lowered.bindings[i], lowering, temporaries, at);
        plan_.buffers[id].last_step = std::max(plan_.buffers[id].last_step, at);
        step.buffers.push_back(id);
        step.writes.push_back(writes);
      }
      for (size_t i = 0; i < lowered.bindings.size(); ++i) {
        const int alias = lowered.kernel.buffers[i].may_alias;
        if (alias >= 0) may_alias_.push_back({at, step.buffers[i], step.buffers[alias]});
      }
      plan_.steps.push_back(std::move(step));
    }
  }

  int bound_buffer(const Op& op, const KernelBinding& binding, const Lowering& lowering, std::vector<int>& temporaries,
                   int step) {
    if (binding.kind == KernelBinding::Kind::kOperand) return buffers_.at(op.operand(binding.index));
    if (binding.kind == KernelBinding::Kind::kResult) {
      const Value* value = op.result(binding.index);
      const auto found = buffers_.find(value);
      return found != buffers_.end() ? found->second : result_buffer(value, step);
    }
    int& id = temporaries[binding.index];
    if (id < 0) {
      Buffer buffer;
      buffer.name = "partial";
      buffer.type = lowering.temporaries[binding.index];
      buffer.first_step = buffer.last_step = step;
      id = add_buffer(buffer, nullptr);
    }
    return id;
  }

  // Results must be in their places after the last step; so must state that nobody replaces.
  void survive_to_the_end() {
    const int end = static_cast<int>(plan_.steps.size());
    std::vector<bool> replaced(state_.slots().size());
    for (const auto& [value, destination] : destinations_) {
      plan_.buffers[buffers_.at(value)].last_step = end;
      if (destination.space == Space::kState) replaced[destination.index] = true;
    }
    for (Buffer& buffer : plan_.buffers) {
      const bool kept = buffer.space == Space::kRodata || buffer.space == Space::kInput ||
                        (buffer.space == Space::kState && !replaced[buffer.index]);
      if (kept) buffer.last_step = end;
    }
  }

  void share_in_place() {
    for (const Alias& alias : may_alias_) {
      Buffer& to = plan_.buffers[alias.output];
      const Buffer& from = plan_.buffers[alias.input];
      if (to.in_place_of >= 0 || to.space != from.space || to.bytes() != from.bytes() || to.bytes() == 0) continue;
      const bool same_state = to.space == Space::kState && to.index == from.index;
      const bool dies_here = to.space == Space::kArena && from.last_step == alias.step && to.first_step == alias.step &&
                             !taken_over_.contains(alias.input);
      if (!same_state && !dies_here) continue;
      to.in_place_of = alias.input;
      taken_over_.insert(alias.input);
    }
  }

  // One item for each chain of arena buffers that take each other's place.
  void place_arena() {
    std::vector<Item> items;
    std::vector<int> item_of(plan_.buffers.size(), -1);
    for (size_t i = 0; i < plan_.buffers.size(); ++i) {
      const Buffer& buffer = plan_.buffers[i];
      if (buffer.space != Space::kArena) continue;
      if (buffer.in_place_of >= 0) {
        item_of[i] = item_of[buffer.in_place_of];
        items[item_of[i]].last = std::max(items[item_of[i]].last, buffer.last_step);
      } else {
        item_of[i] = static_cast<int>(items.size());
        items.push_back({buffer.bytes(), buffer.first_step, buffer.last_step});
      }
    }
    const Placement placement = place(items);
    for (size_t i = 0; i < plan_.buffers.size(); ++i) {
      if (item_of[i] >= 0) plan_.buffers[i].offset_bytes = placement.offsets[item_of[i]];
    }
    plan_.arena_bytes = placement.bytes;
    plan_.lower_bound_bytes = lower_bound_bytes(items);
  }

  bool conflict(const Step& a, const Step& b) const {
    for (size_t i = 0; i < a.buffers.size(); ++i) {
      for (size_t j = 0; j < b.buffers.size(); ++j) {
        if (!a.writes[i] && !b.writes[j]) continue;
        const Buffer& x = plan_.buffers[a.buffers[i]];
        const Buffer& y = plan_.buffers[b.buffers[j]];
        if (x.space != y.space || (!is_addressed(x.space) && x.index != y.index)) continue;
        if (x.offset_bytes < y.offset_bytes + y.bytes() && y.offset_bytes < x.offset_bytes + x.bytes()) return true;
      }
    }
    return false;
  }

  void set_barriers() {
    size_t since = 0;
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      for (size_t earlier = since; earlier < i && !plan_.steps[i].barrier; ++earlier) {
        plan_.steps[i].barrier = conflict(plan_.steps[earlier], plan_.steps[i]);
      }
      if (plan_.steps[i].barrier) since = i;
    }
  }

  struct Alias {
    int step;
    int output;
    int input;
  };

  const Function& function_;
  const StateTable& state_;
  RodataPool& rodata_;
  KernelTable& kernels_;
  const LoweringOf& lowering_;
  Dependencies edges_;
  Plan plan_;
  BufferOf buffers_;
  std::map<const Value*, Destination> destinations_;
  std::map<std::string, int> names_;  // of all buffers, and how many after the first wanted each
  std::vector<Alias> may_alias_;
  std::set<int> taken_over_;
};

}  // namespace

Plan make_plan(const Function& function, const StateTable& state, RodataPool& rodata, KernelTable& kernels,
               const LoweringOf& lowering) {
  return Planner(function, state, rodata, kernels, lowering).run();
}

}  // namespace ingot::plan
