// What was chosen, written down: ops with their dimensions renumbered, and transposes where orders meet.
#include "aot/analysis/regions.h"
#include "aot/analysis/walk.h"
#include "aot/graph/attributes.h"
#include "aot/ops/ops.h"
#include "aot/ops/support/build.h"
#include "aot/passes/layouts/choose_layouts.h"
#include "aot/passes/pass.h"

namespace ingot {
namespace layouts {
namespace {

std::array<Order, kConvolutionTensors> orders_as_written(const Op& convolution) {
  const Order order = as_written(convolution.result()->type.shape.size());
  return {order, order, order};
}

class Rewriter {
 public:
  Rewriter(Block& block, const Choice& choice) : block_(block), choice_(choice) {}

  bool run() {
    bool changed = false;
    for (auto at = block_.ops.begin(); at != block_.ops.end();) {
      Op& op = **at++;
      b_.before(op);
      b_.location = op.location;
      changed |= rewrite(op);
    }
    if (changed) erase_unread(block_);
    return changed;
  }

 private:
  // A tensor of the program as it lies now.
  struct Placed {
    Value* value;
    Order order;
  };

  bool rewrite(Op& op) {
    if (const auto found = choice_.convolutions.find(&op); found != choice_.convolutions.end()) {
      return rewrite_convolution(op, found->second);
    }
    if (const auto found = choice_.passing.find(&op); found != choice_.passing.end()) {
      rewrite_passing(op, found->second);
      return true;
    }
    if (op.is(kTranspose) && placed_.contains(op.operand(0))) {
      const Order order = op.attrs().ints("permutation");
      placed_[op.result()] = {in(op.operand(0), order), as_written(order.size())};
      return true;
    }
    return read_as_written(op);
  }

  bool rewrite_convolution(Op& op, const Choice::Convolution& chosen) {
    if (chosen.orders == orders_as_written(op)) return read_as_written(op);
    const Values operands = {in(op.operand(0), chosen.orders[0]), in(op.operand(1), chosen.orders[1])};
    const TensorType type = in_order(op.result()->type, chosen.orders[2]);
    place(op, b_.create(*op.def, operands, convolution_attrs(op, chosen.orders), {type}), chosen.orders[2]);
    return true;
  }

  void rewrite_passing(Op& op, const Passing& passing) {
    const Order order = along(passing.axes.result, passing.order);
    if (op.is(kTranspose)) {
      placed_[op.result()] = {in(op.operand(0), along(passing.axes.operands[0], passing.order)), order};
    } else {
      place(op, make_along(op, passing.axes, passing.order), order);
    }
  }

  // The op with its axes in this order.
  Op* make_along(Op& op, const Axes& axes, const Order& order) {
    Values operands;
    for (size_t k = 0; k < op.operands.size(); ++k)
      operands.push_back(in(op.operands[k], along(axes.operands[k], order)));
    std::vector<TensorType> types;
    for (const auto& result : op.results) types.push_back(in_order(result->type, along(axes.result, order)));
    std::vector<std::unique_ptr<Block>> regions;
    for (const auto& region : op.regions) {
      ValueMap same;
      regions.push_back(copy_block(*region, same));
    }
    return b_.create(*op.def, operands, attrs_along(op, axes, order), types, std::move(regions));
  }

  void place(const Op& op, Op* made, const Order& order) {
    for (size_t k = 0; k < op.results.size(); ++k) {
      Value* value = made->results[k].get();
      value->name = op.results[k]->name;
      placed_[op.results[k].get()] = {value, order};
    }
  }

  bool read_as_written(Op& op) {
    bool changed = false;
    for (size_t k = 0; k < op.operands.size(); ++k) {
      Value* value = op.operands[k];
      if (!placed_.contains(value)) continue;
      op.set_operand(static_cast<int>(k), in(value, as_written(value->type.shape.size())));
      changed = true;
    }
    for (const auto& region : op.regions) {
      for (Value* value : captured_values(*region)) changed |= read_inside(value, *region);
    }
    return changed;
  }

  bool read_inside(Value* value, const Block& region) {
    if (!placed_.contains(value)) return false;
    Value* written = in(value, as_written(value->type.shape.size()));
    const std::vector<Value::Use> uses = value->uses;
    for (const Value::Use& use : uses) {
      if (is_inside(use.op->block, region)) use.op->set_operand(use.operand_index, written);
    }
    return true;
  }

  // The value in this order, before the op at hand.
  Value* in(Value* value, const Order& order) {
    const auto found = placed_.find(value);
    const Placed placed = found == placed_.end() ? Placed{value, as_written(order.size())} : found->second;
    if (placed.order == order) return placed.value;
    const auto [copy, is_new] = copies_.emplace(std::pair(value, order), nullptr);
    if (is_new) copy->second = copy_in(value, placed, order);
    return copy->second;
  }

  Value* copy_in(const Value* value, const Placed& placed, const Order& order) {
    const Shape& shape = value->type.shape;
    if (lies_alike(shape, placed.order, order)) return ops::reshape(b_, placed.value, in_order(shape, order));
    if (made_again(value)) {
      const Axes axes = *axes_of(*value->op);
      return make_along(*value->op, axes, *axes_along(axes, axes.result, shape, order))->result();
    }
    Value* copy = ops::transpose(b_, placed.value, permutation(placed.order, order));
    copy->op->attr_map[attributes::kLayoutCopy] = UnitAttr{};
    return copy;
  }

  Block& block_;
  const Choice& choice_;
  GraphBuilder b_;
  std::unordered_map<const Value*, Placed> placed_;          // what no longer lies as written
  std::map<std::pair<const Value*, Order>, Value*> copies_;  // of values, by order
};

void note(const Op& op, const Choice::Convolution& chosen, PassContext& context) {
  const ConvolutionLayout& layout = chosen.layout;
  LayoutNote note{op.location, layout.is_kernel_gradient, {chosen.orders.begin(), chosen.orders.end()}};
  note.chosen_ns = layout.predicted_ns(chosen.orders);
  note.written_ns = layout.predicted_ns(orders_as_written(op));
  note.last_ns = layout.predicted_ns(layout.channels_last);
  context.layout_notes.push_back(std::move(note));
}

bool assign_layouts(Block& block, PassContext& context) {
  const Choice choice = choose_layouts(block, *context.target);
  for (const auto& op : block.ops) {
    const auto found = choice.convolutions.find(op.get());
    if (found != choice.convolutions.end()) note(*op, found->second, context);
  }
  return !choice.convolutions.empty() && Rewriter(block, choice).run();
}

}  // namespace
}  // namespace layouts

bool assign_layouts(Module& module, PassContext& context) {
  bool changed = false;
  for_each_block(module, [&](Block& block) {
    const Op* op = block.parent_op;
    if (!op || is_control_flow(*op)) changed |= layouts::assign_layouts(block, context);
  });
  return changed;
}

}  // namespace ingot
