#include "aot/plan/make_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "aot/analysis/replaced.h"
#include "aot/analysis/traffic.h"
#include "aot/analysis/walk.h"
#include "aot/base/contains.h"
#include "aot/base/error.h"
#include "aot/graph/attributes.h"
#include "aot/ops/ops.h"
#include "aot/plan/dependencies.h"
#include "aot/plan/finish_plan.h"
#include "aot/plan/order.h"

namespace ingot::plan {
namespace {

using BufferOf = std::map<const Value*, int>;

// Where a kernel writes a value that belongs somewhere: a result of the function, or of a region of control flow.
struct Destination {
  Space space = Space::kArena;
  int index = 0;  // state slot or output position
  std::string name = {};
  int buffer = -1;  // of a region's result: that of the carried value or of the branches' result
};

class Planner {
 public:
  Planner(const Function& function, const StateTable& state, RodataPool& rodata, KernelTable& kernels,
          const LoweringOf& lowering)
      : function_(function),
        state_(state),
        rodata_(rodata),
        kernels_(kernels),
        lowering_(lowering),
        replaced_(replaced_state(function)) {
    for (const Op* kernel : kernels_of(function)) calls_.emplace(kernel, static_cast<int>(calls_.size()));
  }

  Plan run() {
    plan_.entry = function_.name;
    add_arguments();
    add_constants(function_.body);
    find_destinations();
    add_block(function_.body, replaced_);
    survive_to_the_end();
    share_in_place(plan_, may_alias_);
    place_arena(plan_);
    set_barriers(plan_);
    return std::move(plan_);
  }

 private:
  void find_destinations() {
    int outputs = 0;
    const Op* end = function_.body.terminator();
    for (int i = 0; i < static_cast<int>(end->operands.size()); ++i) {
      const Value* value = first_in_place(end->operand(i), lowering_);
      const std::string name = attr_text(function_.results[i].attrs, attributes::kState);
      if (name.empty()) {
        destinations_[value] = {Space::kOutput, outputs++, attr_text(function_.results[i].attrs, attributes::kName)};
      } else if (value != replaced_[i]) {
        destinations_[value] = {Space::kState, state_.find(name), name};
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

  void add_arguments() {
    int inputs = 0;
    for (int i = 0; i < function_.argument_count(); ++i) {
      const std::string state = attr_text(function_.argument_attrs[i], attributes::kState);
      Buffer buffer;
      buffer.space = state.empty() ? Space::kInput : Space::kState;
      buffer.index = state.empty() ? inputs++ : state_.find(state);
      if (!state.empty()) buffer.offset_bytes = state_.slots()[buffer.index].offset_bytes;
      buffer.name = state.empty() ? attr_text(function_.argument_attrs[i], attributes::kName) : state;
      add_buffer(buffer, function_.body.argument(i));
    }
  }

  void add_constants(const Block& block) {
    for (const auto& op : block.ops) {
      if (is_control_flow(*op)) {
        for (const auto& region : op->regions) add_constants(*region);
      }
      if (!op->is(kConstant)) continue;
      Buffer buffer;
      buffer.space = Space::kRodata;
      buffer.offset_bytes = rodata_.add(*op->attrs().literal("value"));
      add_buffer(buffer, op->result());
    }
  }

  // The steps of a block; a value that takes an argument's place is written after the argument was read.
  void add_block(const Block& block, const Replaced& replaced) {
    Dependencies edges(block);
    add_takeovers(edges, lowering_);
    for (size_t i = 0; i < replaced.size(); ++i) {
      const Value* value = first_in_place(block.terminator()->operand(static_cast<int>(i)), lowering_);
      if (!replaced[i] || value == replaced[i]) continue;
      for (int reader : edges.readers(replaced[i])) edges.add(reader, edges.index_of(value->op));
    }
    for (int node : order(edges)) {
      const Op& op = *edges.nodes()[node];
      if (op.is(kKernel)) {
        add_steps(op);
      } else if (op.is(kWhile)) {
        add_loop(op);
      } else {
        add_branches(op);
      }
    }
  }

  std::vector<int> order(const Dependencies& edges) {
    OrderProblem problem;
    std::map<const Value*, int> values;
    const auto value_id = [&](const Value* value) {
      const auto [at, is_new] = values.emplace(value, static_cast<int>(problem.value_bytes.size()));
      if (is_new) {
        const Value* first = first_in_place(value, lowering_);
        const bool is_made_here = first->op && is_node(*first->op) && value->op->block == edges.nodes()[0]->block;
        problem.value_bytes.push_back(is_made_here && !destinations_.contains(first) ? align_up(value->type.bytes())
                                                                                     : 0);
      }
      return at->second;
    };
    for (size_t k = 0; k < edges.nodes().size(); ++k) {
      const Op& op = *edges.nodes()[k];
      OrderNode node;
      node.after = edges.after(static_cast<int>(k));
      for (const Value* read : edges.reads(static_cast<int>(k))) node.reads.push_back(value_id(read));
      std::sort(node.reads.begin(), node.reads.end());
      for (const auto& result : op.results) node.writes.push_back(value_id(result.get()));
      if (op.is(kKernel)) describe_kernel(op, node, value_id);
      if (op.is(kWhile)) {
        for (const Value* carried : op.operands) node.in_place.push_back(value_id(carried));
      }
      problem.nodes.push_back(std::move(node));
    }
    return choose_order(problem);
  }

  template <typename ValueId>
  void describe_kernel(const Op& op, OrderNode& node, const ValueId& value_id) {
    const Lowering& lowering = lowering_(op);
    for (const TensorType& type : lowering.temporaries) node.temporary_bytes += align_up(type.bytes());
    for (const LoweredKernel& step : lowering.steps) {
      for (const loops::Buffer& buffer : step.kernel.buffers) {
        if (buffer.may_alias < 0) continue;
        const KernelBinding& from = step.bindings[buffer.may_alias];
        if (from.kind == KernelBinding::Kind::kOperand) node.in_place.push_back(value_id(op.operand(from.index)));
      }
    }
  }

  int result_buffer(const Value* value, int step) {
    Buffer buffer;
    buffer.first_step = buffer.last_step = step;
    const auto destination = destinations_.find(value);
    if (destination != destinations_.end() && destination->second.buffer >= 0) {
      return buffers_[value] = destination->second.buffer;
    }
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
    add_steps(op, prepared_.contains(&op) ? lowering.prepared : 0, static_cast<int>(lowering.steps.size()));
  }

  // Some of the steps of a kernel's lowering.
  void add_steps(const Op& op, int begin, int end) {
    const Lowering& lowering = lowering_(op);
    std::vector<int>& temporaries = prepared_[&op];
    temporaries.resize(lowering.temporaries.size(), -1);
    for (int s = begin; s < end; ++s) {
      const LoweredKernel& lowered = lowering.steps[s];
      const int at = static_cast<int>(plan_.steps.size());
      Step step;
      step.kernel = kernels_.add(lowered.kernel);
      step.kernel_name = lowered.kernel.name;
      step.call = calls_.at(&op);
      step.task_count = lowered.kernel.task_count;
      plan_.scratch_bytes = std::max(plan_.scratch_bytes, lowered.kernel.scratch_bytes);
      for (size_t i = 0; i < lowered.bindings.size(); ++i) {
        const bool writes = lowered.kernel.buffers[i].role == loops::BufferRole::kOutput;
        // An update lies where its operand does.
        const int same_as = lowered.bindings[i].is_update ? lowered.kernel.buffers[i].may_alias : -1;
        const int id =
            same_as >= 0 ? step.buffers[same_as] : bound_buffer(op, lowered.bindings[i], lowering, temporaries, at);
        if (same_as >= 0) buffers_[op.result(lowered.bindings[i].index)] = id;
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

  int step_count() const { return static_cast<int>(plan_.steps.size()); }

  int add_jump(StepKind kind, int target) {
    Step step;
    step.kind = kind;
    step.target = target;
    plan_.steps.push_back(std::move(step));
    return step_count() - 1;
  }

  int add_test(const Value* value, int expected) {
    const int at = add_jump(StepKind::kJumpUnless, 0);
    const int id = buffers_.at(value);
    plan_.steps[at].value = expected;
    plan_.steps[at].buffers = {id};
    plan_.steps[at].writes = {false};
    plan_.buffers[id].last_step = std::max(plan_.buffers[id].last_step, at);
    return at;
  }

  // A carried value has one buffer, from what it starts with to the loop's result.
  void add_loop(const Op& loop) {
    const Block& condition = loop.region(0);
    const Block& body = loop.region(1);
    for (int i = 0; i < static_cast<int>(loop.operands.size()); ++i) {
      const int id = buffers_.at(loop.operand(i));
      for (const Value* value : {condition.argument(i), body.argument(i), loop.result(i)}) buffers_[value] = id;
      const Value* next = first_in_place(body.terminator()->operand(i), lowering_);
      if (next != body.argument(i)) destinations_[next] = {.buffer = id};
    }
    for (const auto& op : body.ops) {
      if (op->is(kKernel) && lowering_(*op).prepared > 0) add_steps(*op, 0, lowering_(*op).prepared);
    }
    const int head = step_count();
    add_block(condition, {});
    const int test = add_test(condition.terminator()->operand(0), 1);
    add_block(body, replaced_carried(body));
    const int back = add_jump(StepKind::kJump, head);
    plan_.steps[test].target = step_count();
    for (const Value* carried : loop.operands) plan_.buffers[buffers_.at(carried)].last_step = back;
    for (Buffer& buffer : plan_.buffers) {
      if (buffer.first_step < head && buffer.last_step >= head) buffer.last_step = back;
    }
  }

  // Every branch writes the results where they are read.
  void add_branches(const Op& op) {
    for (const auto& result : op.results) {
      Buffer buffer;
      buffer.first_step = buffer.last_step = step_count();
      add_buffer(buffer, result.get());
    }
    std::vector<int> ends;
    const int last = static_cast<int>(op.regions.size()) - 1;
    for (int k = 0; k <= last; ++k) {
      const Block& branch = op.region(k);
      for (int i = 0; i < static_cast<int>(op.results.size()); ++i) {
        destinations_[first_in_place(branch.terminator()->operand(i), lowering_)] = {.buffer =
                                                                                         buffers_.at(op.result(i))};
      }
      const int test = k == last ? -1 : add_test(op.operand(0), op.is(kIf) ? 1 : k);
      add_block(branch, {});
      if (k == last) break;
      ends.push_back(add_jump(StepKind::kJump, 0));
      plan_.steps[test].target = step_count();
    }
    for (int end : ends) plan_.steps[end].target = step_count();
    for (const auto& result : op.results) {
      const int id = buffers_.at(result.get());
      const auto touches = [&](const Step& step) { return contains(step.buffers, id); };
      Buffer& buffer = plan_.buffers[id];
      while (!touches(plan_.steps[buffer.first_step])) ++buffer.first_step;
    }
  }

  // Results must be in their places after the last step; so must state that nobody replaces.
  void survive_to_the_end() {
    const int end = static_cast<int>(plan_.steps.size());
    std::vector<bool> replaced(state_.slots().size());
    for (const auto& [value, destination] : destinations_) {
      if (destination.buffer >= 0) continue;
      plan_.buffers[buffers_.at(value)].last_step = end;
      if (destination.space == Space::kState) replaced[destination.index] = true;
    }
    for (Buffer& buffer : plan_.buffers) {
      const bool kept = buffer.space == Space::kRodata || buffer.space == Space::kInput ||
                        (buffer.space == Space::kState && !replaced[buffer.index]);
      if (kept) buffer.last_step = end;
    }
  }

  const Function& function_;
  const StateTable& state_;
  RodataPool& rodata_;
  KernelTable& kernels_;
  const LoweringOf& lowering_;
  const Replaced replaced_;  // by the function's results
  Plan plan_;
  BufferOf buffers_;
  std::map<const Op*, int> calls_;                  // the kernels, numbered
  std::map<const Op*, std::vector<int>> prepared_;  // the temporaries of kernels of which some steps are in the plan
  std::map<const Value*, Destination> destinations_;
  std::map<std::string, int> names_;  // of all buffers, and how many after the first wanted each
  std::vector<Alias> may_alias_;
};

}  // namespace

Plan make_plan(const Function& function, const StateTable& state, RodataPool& rodata, KernelTable& kernels,
               const LoweringOf& lowering) {
  return Planner(function, state, rodata, kernels, lowering).run();
}

}  // namespace ingot::plan
