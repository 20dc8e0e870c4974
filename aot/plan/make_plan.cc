#include "aot/plan/make_plan.h"

#include <algorithm>
#include <map>
#include <set>

#include "aot/base/contains.h"
#include "aot/base/error.h"
#include "aot/lowered/unique_names.h"
#include "aot/plan/dependencies.h"
#include "aot/plan/finish_plan.h"
#include "aot/plan/order_problem.h"

namespace ingot::plan {
namespace {

using lowered::Access;
using lowered::Block;
using lowered::KernelCall;
using lowered::kNoValue;
using lowered::Node;
using lowered::NodeKind;

// Where a kernel writes a value that belongs somewhere: a result of the function, or of a region of control flow.
struct Destination {
  Space space = Space::kArena;
  int index = 0;  // state slot or output position
  std::string name = {};
  int buffer = -1;  // of a region's result: that of the carried value or of the branches' result
};

class Planner {
 public:
  Planner(const lowered::Function& function, const StateTable& state, RodataPool& rodata, KernelTable& kernels)
      : function_(function), state_(state), rodata_(rodata), kernels_(kernels), buffers_(function.values.size(), -1) {}

  Plan run() {
    plan_.entry = function_.name;
    add_arguments();
    add_constants();
    const std::vector<ValueId> replaced = lowered::replaced_state(function_);
    const Dependencies edges(function_, function_.body);
    find_destinations(edges, replaced);
    add_block(function_.body, replaced);
    survive_to_the_end();
    share_in_place(plan_, may_alias_);
    place_arena(plan_);
    set_barriers(plan_);
    return std::move(plan_);
  }

 private:
  void find_destinations(const Dependencies& edges, const std::vector<ValueId>& replaced) {
    int outputs = 0;
    for (size_t i = 0; i < function_.results.size(); ++i) {
      const lowered::Port& result = function_.results[i];
      const ValueId value = edges.in_place_root(function_.body.results[i]);
      if (!result.is_state) {
        destinations_[value] = {Space::kOutput, outputs++, result.name};
      } else if (value != replaced[i]) {
        destinations_[value] = {Space::kState, state_.find(result.name), result.name};
      }
    }
  }

  int add_buffer(Buffer buffer, ValueId value) {
    buffer.name = names_.add(buffer.name.empty() ? function_.values[value].name : buffer.name);
    buffer.type = function_.type(value);
    plan_.buffers.push_back(std::move(buffer));
    return buffers_[value] = static_cast<int>(plan_.buffers.size()) - 1;
  }

  int buffer_of(ValueId value) const {
    if (buffers_[value] < 0) throw_bug("plan: " + function_.values[value].name + " is read before it has a buffer");
    return buffers_[value];
  }

  void add_arguments() {
    int inputs = 0;
    for (size_t i = 0; i < function_.arguments.size(); ++i) {
      const lowered::Port& port = function_.arguments[i];
      Buffer buffer;
      buffer.space = port.is_state ? Space::kState : Space::kInput;
      buffer.index = port.is_state ? state_.find(port.name) : inputs++;
      if (port.is_state) buffer.offset_bytes = state_.slots()[buffer.index].offset_bytes;
      buffer.name = port.name;
      add_buffer(buffer, function_.body.arguments[i]);
    }
  }

  void add_constants() {
    for (const lowered::Constant& constant : function_.constants) {
      Buffer buffer;
      buffer.space = Space::kRodata;
      buffer.offset_bytes = rodata_.add(*constant.literal);
      add_buffer(buffer, constant.value);
    }
  }

  // The steps of a block; a value that takes an argument's place is written after the argument was read.
  void add_block(const Block& block, const std::vector<ValueId>& replaced) {
    const Dependencies edges = edges_of(function_, block, replaced);
    for (const int at : choose_order(order_of(function_, block, edges, elsewhere()).problem)) {
      const Node& node = block.nodes[at];
      if (node.kind == NodeKind::kWhile) {
        add_loop(node);
      } else if (node.kind == NodeKind::kCase) {
        add_branches(node);
      } else {
        INGOT_CHECK(node.kind == NodeKind::kCall);  // copies and fills have kernels by now
        add_calls(node, hoisted_.contains(&node) ? node.hoistable_calls : 0, static_cast<int>(node.calls.size()));
      }
    }
  }

  // The values that are not for the arena, or have a place in it already.
  std::set<ValueId> elsewhere() const {
    std::set<ValueId> values;
    for (const auto& [value, destination] : destinations_) values.insert(value);
    return values;
  }

  // The buffer of a value that is written: where it belongs, or else a new one.
  int written_buffer(ValueId value, int step) {
    if (buffers_[value] >= 0) return buffers_[value];
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

  // Some of the calls of a node.
  void add_calls(const Node& node, int begin, int end) {
    for (int k = begin; k < end; ++k) {
      const KernelCall& call = node.calls[k];
      const loops::Kernel& kernel = function_.kernels[call.kernel];
      const int at = step_count();
      Step step;
      step.kernel = kernels_.add(kernel);
      step.kernel_name = kernel.name;
      step.call = node.graph_kernel;
      step.task_count = kernel.task_count;
      plan_.scratch_bytes = std::max(plan_.scratch_bytes, kernel.scratch_bytes);
      for (size_t i = 0; i < call.arguments.size(); ++i) {
        const auto [value, access] = call.arguments[i];
        // An update lies where its operand does.
        const int updated = access == Access::kUpdate ? kernel.buffers[i].may_alias : -1;
        if (updated >= 0) buffers_[value] = step.buffers[updated];
        const int id = access == Access::kWrite ? written_buffer(value, at) : buffer_of(value);
        plan_.buffers[id].last_step = std::max(plan_.buffers[id].last_step, at);
        step.buffers.push_back(id);
        step.writes.push_back(access != Access::kRead);
      }
      for (size_t i = 0; i < call.arguments.size(); ++i) {
        const int alias = kernel.buffers[i].may_alias;
        if (alias >= 0) may_alias_.push_back({at, step.buffers[i], step.buffers[alias]});
      }
      plan_.steps.push_back(std::move(step));
    }
  }

  int step_count() const { return static_cast<int>(plan_.steps.size()); }

  int add_jump(StepKind kind, int target) {
    Step step;
    step.kind = kind;
    step.target = target;
    plan_.steps.push_back(std::move(step));
    return step_count() - 1;
  }

  int add_test(ValueId value, int expected) {
    const int at = add_jump(StepKind::kJumpUnless, 0);
    const int id = buffer_of(value);
    plan_.steps[at].value = expected;
    plan_.steps[at].buffers = {id};
    plan_.steps[at].writes = {false};
    plan_.buffers[id].last_step = std::max(plan_.buffers[id].last_step, at);
    return at;
  }

  // A carried value has one buffer, from what it starts with to the loop's result.
  void add_loop(const Node& loop) {
    const Block& condition = loop.regions[0];
    const Block& body = loop.regions[1];
    const Dependencies edges(function_, body);
    for (size_t i = 0; i < loop.operands.size(); ++i) {
      const int id = buffer_of(loop.operands[i]);
      for (const ValueId value : {condition.arguments[i], body.arguments[i], loop.results[i]}) buffers_[value] = id;
      const ValueId next = edges.in_place_root(body.results[i]);
      if (next != body.arguments[i]) destinations_[next] = {.buffer = id};
    }
    for (const Node& node : body.nodes) {
      add_calls(node, 0, node.hoistable_calls);
      hoisted_.insert(&node);
    }
    const int head = step_count();
    add_block(condition, {});
    const int test = add_test(condition.results[0], 1);
    add_block(body, body.arguments);
    const int back = add_jump(StepKind::kJump, head);
    plan_.steps[test].target = step_count();
    for (const ValueId carried : loop.operands) plan_.buffers[buffer_of(carried)].last_step = back;
    for (Buffer& buffer : plan_.buffers) {
      if (buffer.first_step < head && buffer.last_step >= head) buffer.last_step = back;
    }
  }

  // Every branch writes the results where they are read.
  void add_branches(const Node& node) {
    for (const ValueId result : node.results) {
      Buffer buffer;
      buffer.first_step = buffer.last_step = step_count();
      add_buffer(buffer, result);
    }
    std::vector<int> ends;
    for (size_t k = 0; k < node.regions.size(); ++k) {
      const Block& branch = node.regions[k];
      const Dependencies edges(function_, branch);
      for (size_t i = 0; i < node.results.size(); ++i) {
        destinations_[edges.in_place_root(branch.results[i])] = {.buffer = buffer_of(node.results[i])};
      }
      const bool is_last = k == node.cases.size();
      const int test = is_last ? -1 : add_test(node.operands[0], node.cases[k]);
      add_block(branch, {});
      if (is_last) break;
      ends.push_back(add_jump(StepKind::kJump, 0));
      plan_.steps[test].target = step_count();
    }
    for (const int end : ends) plan_.steps[end].target = step_count();
    for (const ValueId result : node.results) {
      const int id = buffer_of(result);
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
      plan_.buffers[buffer_of(value)].last_step = end;
      if (destination.space == Space::kState) replaced[destination.index] = true;
    }
    for (Buffer& buffer : plan_.buffers) {
      const bool kept = buffer.space == Space::kRodata || buffer.space == Space::kInput ||
                        (buffer.space == Space::kState && !replaced[buffer.index]);
      if (kept) buffer.last_step = end;
    }
  }

  const lowered::Function& function_;
  const StateTable& state_;
  RodataPool& rodata_;
  KernelTable& kernels_;
  Plan plan_;
  std::vector<int> buffers_;       // by value; -1 before it is made
  std::set<const Node*> hoisted_;  // nodes whose hoistable calls are in the plan
  std::map<ValueId, Destination> destinations_;
  lowered::UniqueNames names_;
  std::vector<Alias> may_alias_;
};

}  // namespace

Plan make_plan(const lowered::Function& function, const StateTable& state, RodataPool& rodata, KernelTable& kernels) {
  return Planner(function, state, rodata, kernels).run();
}

}  // namespace ingot::plan
