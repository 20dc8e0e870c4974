#include "aot/schedule/lower_function.h"

#include <algorithm>
#include <map>

#include "aot/analysis/regions.h"
#include "aot/analysis/traffic.h"
#include "aot/analysis/walk.h"
#include "aot/graph/attributes.h"
#include "aot/ops/ops.h"
#include "aot/ops/support/build.h"
#include "aot/schedule/lower.h"

namespace ingot {
namespace {

using lowered::Access;
using lowered::NodeKind;
using lowered::ValueId;

// The calls of `lowering`, whose kernels join those of `function`.
void add_calls(lowered::Function& function, lowered::Node& node, const std::vector<ValueId>& operands,
               Lowering lowering) {
  std::vector<ValueId> temporaries;
  for (TensorType& type : lowering.temporaries) {
    temporaries.push_back(function.add_value("partial", std::move(type)));
  }
  const std::vector<ValueId>* const bound[] = {&operands, &node.results, &temporaries};  // by KernelBinding::Kind
  for (LoweredKernel& step : lowering.steps) {
    lowered::KernelCall& call = node.calls.emplace_back();
    call.kernel = static_cast<int>(function.kernels.size());
    for (size_t i = 0; i < step.bindings.size(); ++i) {
      const KernelBinding& binding = step.bindings[i];
      const bool is_read = step.kernel.buffers[i].role == loops::BufferRole::kInput;
      const Access access = is_read ? Access::kRead : binding.is_update ? Access::kUpdate : Access::kWrite;
      call.arguments.push_back({bound[static_cast<size_t>(binding.kind)]->at(binding.index), access});
    }
    function.kernels.push_back(std::move(step.kernel));
  }
  node.hoistable_calls = lowering.hoistable_steps;
}

class FunctionLowering {
 public:
  FunctionLowering(const Function& function, const loops::Target& target, std::vector<LoweringNote>* notes)
      : from_(function), target_(target), notes_(notes) {
    for (const Op* kernel : kernels_of(function))
      graph_kernels_.emplace(kernel, static_cast<int>(graph_kernels_.size()));
  }

  lowered::Function run() {
    to_.name = from_.name;
    to_.body = lower_block(from_.body);
    for (const AttrMap& attrs : from_.argument_attrs) to_.arguments.push_back(port(attrs));
    for (const FunctionResult& result : from_.results) to_.results.push_back(port(result.attrs));
    verify(to_);
    return std::move(to_);
  }

 private:
  static lowered::Port port(const AttrMap& attrs) {
    std::string state = attr_text(attrs, attributes::kState);
    if (!state.empty()) return {std::move(state), true};
    return {attr_text(attrs, attributes::kName)};
  }

  ValueId add(const Value& value) { return values_[&value] = to_.add_value(value.name, value.type); }

  std::vector<ValueId> values_of(const Values& values) const {
    std::vector<ValueId> ids;
    for (const Value* value : values) ids.push_back(values_.at(value));
    return ids;
  }

  lowered::Block lower_block(const Block& block) {
    lowered::Block made;
    for (const auto& argument : block.arguments) made.arguments.push_back(add(*argument));
    for (const auto& op : block.ops) {
      if (op->def->is_terminator) continue;
      if (op->is(kConstant)) {
        to_.constants.push_back({add(*op->result()), op->attrs().literal("value")});
      } else {
        made.nodes.push_back(lower_node(*op));
      }
    }
    made.results = values_of(block.terminator()->operands);
    return made;
  }

  lowered::Node lower_node(const Op& op) {
    lowered::Node node;
    if (op.is(kKernel)) {
      for (const auto& result : op.results) node.results.push_back(add(*result));
      Lowering lowering = lower(op, target_);
      if (notes_) {
        for (std::string& choice : lowering.choices)
          notes_->push_back({op.location, attr_text(op.attr_map, "name"), std::string(target_.name), std::move(choice),
                             from_.name, graph_kernels_.at(&op)});
      }
      add_calls(to_, node, values_of(op.operands), std::move(lowering));
      node.graph_kernel = graph_kernels_.at(&op);
      return node;
    }
    INGOT_CHECK(is_control_flow(op));
    node.kind = is_loop(op) ? NodeKind::kWhile : NodeKind::kCase;
    node.operands = values_of(op.operands);
    for (const auto& region : op.regions) node.regions.push_back(lower_block(*region));
    for (const auto& result : op.results) node.results.push_back(add(*result));
    // The first region of an `if` is for true.
    const int first = op.is(kIf) ? 1 : 0;
    if (node.kind == NodeKind::kCase) {
      for (int k = 0; k < std::ssize(op.regions) - 1; ++k) node.cases.push_back(first + k);
    }
    return node;
  }

  const Function& from_;
  const loops::Target& target_;
  std::vector<LoweringNote>* notes_;
  std::map<const Op*, int> graph_kernels_;
  lowered::Function to_;
  std::map<const Value*, ValueId> values_;
};

// A kernel of the graph that makes the result of a copy or a fill.
Lowering lower_copy(const lowered::Function& function, const lowered::Node& node, const loops::Target& target) {
  GraphBuilder b;
  auto body = std::make_unique<Block>();
  b.at_end(*body);
  Block block;
  Values operands;
  Value* element = nullptr;
  if (node.kind == NodeKind::kFill) {
    element = b.make(kConstant, {}, {{"value", Attr(node.fill)}}, {node.fill->type});
  } else {
    const lowered::Value& copied = function.values[node.operands[0]];
    operands = {block.add_argument(copied.type, copied.name)};
    element = body->add_argument(copied.type, copied.name);
  }
  b.create(kYield, {element});
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(std::move(body));
  b.at_end(block);
  return lower(*b.create(kKernel, operands, {{"name", Attr("copy")}}, {}, std::move(regions)), target);
}

void lower_copies(lowered::Function& function, lowered::Block& block, const loops::Target& target) {
  for (lowered::Node& node : block.nodes) {
    for (lowered::Block& region : node.regions) lower_copies(function, region, target);
    if (node.kind != NodeKind::kCopy && node.kind != NodeKind::kFill) continue;
    lowered::Node call{.results = node.results};
    add_calls(function, call, node.operands, lower_copy(function, node, target));
    node = std::move(call);
  }
}

}  // namespace

lowered::Function lower_function(const Function& function, const loops::Target& target,
                                 std::vector<LoweringNote>* notes) {
  return FunctionLowering(function, target, notes).run();
}

void lower_copies(lowered::Function& function, const loops::Target& target) {
  lower_copies(function, function.body, target);
  verify(function);
}

}  // namespace ingot
