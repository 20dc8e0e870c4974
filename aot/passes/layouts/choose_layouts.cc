// The cheapest choice is a minimum cut. Each tensor has two orders at most: as written, or the one that channels last
// gives it, carried from the convolutions through the ops between them (`Candidates`). A node of the network is an op
// whose tensors lie by one choice, an operand as a convolution reads it, or a copy of a tensor in the other order. On
// the source's side tensors lie as written, on the sink's channels last; an edge from the one to the other is time that
// is spent.
#include "aot/passes/layouts/choose_layouts.h"

#include <algorithm>
#include <cmath>

#include "aot/analysis/min_cut.h"
#include "aot/ops/ops.h"

namespace ingot::layouts {
namespace {

bool is_convolution(const Op& op) { return op.is(kConvolution); }

// The order, other than that written, that each tensor may have: the first that reaches it.
class Candidates {
 public:
  Candidates(const Block& block, const loops::Target& target) : block_(block) {
    for (const bool is_kernel_gradient : {false, true}) {
      for (const auto& op : block.ops) {
        if (!is_convolution(*op)) continue;
        const ConvolutionLayout layout = convolution_layout(*op, target);
        if (layout.is_kernel_gradient != is_kernel_gradient) continue;
        for (int k = 0; k < kConvolutionTensors; ++k) add(tensor_of(*op, k), layout.channels_last[k]);
        spread();
      }
    }
  }

  // Null where there is none.
  const Order* of(const Value* value) const {
    const auto found = orders_.find(value);
    return found == orders_.end() || is_written(value, found->second) ? nullptr : &found->second;
  }

  std::unordered_map<const Op*, Passing>& passing() { return passing_; }

 private:
  void add(const Value* value, const Order& order) {
    if (orders_.emplace(value, order).second && !is_written(value, order)) open_.push_back(value);
  }

  static bool is_written(const Value* value, const Order& order) {
    return lies_alike(value->type.shape, order, as_written(order.size()));
  }

  void spread() {
    while (!open_.empty()) {
      const Value* value = open_.back();
      open_.pop_back();
      if (value->op) pass(*value->op, value);
      for (const Value::Use& use : value->uses) pass(*use.op, value);
    }
  }

  // The op takes the order on from one of its tensors to the others.
  void pass(const Op& op, const Value* from) {
    if (op.block != &block_ || is_convolution(op) || passing_.contains(&op)) return;
    std::optional<Axes> axes = axes_of(op);
    if (!axes) return;
    const auto tensor = from->op == &op ? axes->result : axes->operands[index_of(op, from)];
    const std::optional<Order> order = axes_along(*axes, tensor, from->type.shape, orders_.at(from));
    if (!order || !may_lie(op, *axes, *order)) return;
    for (size_t k = 0; k < op.operands.size(); ++k) add(op.operands[k], along(axes->operands[k], *order));
    for (const auto& result : op.results) add(result.get(), along(axes->result, *order));
    passing_.emplace(&op, Passing{std::move(*axes), *order});
  }

  static size_t index_of(const Op& op, const Value* operand) {
    return std::ranges::find(op.operands, operand) - op.operands.begin();
  }

  const Block& block_;
  std::unordered_map<const Value*, Order> orders_;
  std::unordered_map<const Op*, Passing> passing_;
  std::vector<const Value*> open_;
};

class Chooser {
 public:
  Chooser(const Block& block, const loops::Target& target)
      : block_(block), target_(target), candidates_(block, target) {
    source_ = network_.add_node();
    sink_ = network_.add_node();
  }

  Choice run() {
    for (const auto& op : block_.ops) {
      if (is_convolution(*op)) {
        add_convolution(*op);
      } else if (const auto found = candidates_.passing().find(op.get()); found != candidates_.passing().end()) {
        add_passing(*op, found->second);
      } else {
        add_fixed(*op);
      }
    }
    return read(network_.cut(source_, sink_));
  }

 private:
  // The nodes of a tensor: how it is made, and whether a reader wants it channels last, or as written.
  struct Tensor {
    int made, wanted_last, wanted_written;
  };

  enum class Lie : uint8_t { kWritten, kLast, kOther };

  Lie lie_of(const Value* value, const Order& order) const {
    const Shape& shape = value->type.shape;
    if (lies_alike(shape, order, as_written(shape.size()))) return Lie::kWritten;
    const Order* candidate = candidates_.of(value);
    return candidate && lies_alike(shape, order, *candidate) ? Lie::kLast : Lie::kOther;
  }

  static int64_t picoseconds(double ns) { return std::llround(ns * 1000); }

  // Time that is spent when the node is, or is not, channels last.
  void add_cost_of_last(int node, double ns) { network_.add_edge(source_, node, picoseconds(ns)); }
  void add_cost_of_written(int node, double ns) { network_.add_edge(node, sink_, picoseconds(ns)); }

  int node_of(const Op& op) {
    const auto [at, is_new] = nodes_.emplace(&op, 0);
    if (is_new) at->second = network_.add_node();
    return at->second;
  }

  // Whoever makes it: a convolution, an op through which orders pass, or something that leaves it as written.
  int maker_of(const Value* value) {
    const bool has_choice =
        value->op && value->op->block == &block_ && (is_convolution(*value->op) || lies_by_choice(value));
    return has_choice ? node_of(*value->op) : source_;
  }

  bool lies_by_choice(const Value* value) {
    const auto found = candidates_.passing().find(value->op);
    if (found == candidates_.passing().end()) return false;
    const Passing& passing = found->second;
    return lies_alike(value->type.shape, along(passing.axes.result, passing.order), *candidates_.of(value));
  }

  const Tensor& readers_of(const Value* value) {
    const auto [at, is_new] = tensors_.emplace(value, Tensor{});
    Tensor& tensor = at->second;
    if (!is_new) return tensor;
    tensor = {maker_of(value), network_.add_node(), network_.add_node()};
    const int64_t cost = made_again(value) ? 0 : picoseconds(transpose_ns(value->type, target_.machine));
    network_.add_edge(tensor.made, tensor.wanted_last, cost);
    network_.add_edge(tensor.wanted_written, tensor.made, cost);
    return tensor;
  }

  // Reader `node` reads `value` in the one order or the other, by its choice. Where these are the value's two orders
  // crosswise, a cut cannot tell.
  void add_reader(int node, const Value* value, const Order& written, const Order& last) {
    const double ns = made_again(value) ? 0 : transpose_ns(value->type, target_.machine);
    const Lie as_written = lie_of(value, written), as_last = lie_of(value, last);
    if (as_written == as_last && as_last != Lie::kOther) return add_fixed_reader(value, written);
    if (as_written == Lie::kOther) add_cost_of_written(node, ns);
    if (as_last == Lie::kOther) add_cost_of_last(node, ns);
    if (as_last == Lie::kLast) network_.add_edge(readers_of(value).wanted_last, node, MinCut::kUnlimited);
    if (as_written == Lie::kWritten && candidates_.of(value)) {
      network_.add_edge(node, readers_of(value).wanted_written, MinCut::kUnlimited);
    }
  }

  // An op that reads `value` in this order, come what may.
  void add_fixed_reader(const Value* value, const Order& order) {
    if (!candidates_.of(value)) return;
    const Lie lie = lie_of(value, order);
    if (lie == Lie::kLast) network_.add_edge(readers_of(value).wanted_last, sink_, MinCut::kUnlimited);
    if (lie == Lie::kWritten) network_.add_edge(source_, readers_of(value).wanted_written, MinCut::kUnlimited);
  }

  void add_convolution(const Op& op) {
    const ConvolutionLayout layout = convolution_layout(op, target_);
    std::array<int, kConvolutionTensors> nodes;
    for (int k = 0; k < kConvolutionTensors; ++k) {
      const Value* value = tensor_of(op, k);
      const Order written = as_written(value->type.shape.size());
      const Order* candidate = candidates_.of(value);
      nodes[k] = layout.is_last(k, written) ? sink_ : source_;
      if (!candidate) continue;
      nodes[k] = k == 2 ? node_of(op) : network_.add_node();
      add_cost_of_written(nodes[k], layout.ns_of(k, written));
      add_cost_of_last(nodes[k], layout.ns_of(k, *candidate));
      if (k < 2) add_reader(nodes[k], value, written, *candidate);
    }
    for (const auto& [last, other] : layout.crosswise()) {
      network_.add_edge(nodes[other], nodes[last], picoseconds(layout.crosswise_ns));
    }
    convolution_nodes_[&op] = nodes;
    choice_.convolutions[&op].layout = layout;
  }

  void add_passing(const Op& op, const Passing& passing) {
    for (size_t k = 0; k < op.operands.size(); ++k) {
      const AxisOfDim& tensor = passing.axes.operands[k];
      const Order written = along(tensor, as_written(passing.order.size()));
      add_reader(node_of(op), op.operands[k], written, along(tensor, passing.order));
    }
  }

  // A transpose is no work where its operand lies as the result is written.
  void add_fixed(const Op& op) {
    const bool only_renames = op.is(kTranspose);
    for (const Value* operand : op.operands) {
      add_fixed_reader(operand, only_renames ? op.attrs().ints("permutation") : as_written(operand->type.shape.size()));
    }
    for (const auto& region : op.regions) {
      for (const Value* value : captured_values(*region)) add_fixed_reader(value, as_written(value->type.shape.size()));
    }
  }

  Choice read(const std::vector<bool>& is_written) {
    for (auto& [op, passing] : candidates_.passing()) {
      const auto found = nodes_.find(op);
      if (found == nodes_.end() || is_written[found->second]) continue;
      choice_.passing.emplace(op, std::move(passing));
    }
    for (auto& [op, convolution] : choice_.convolutions) {
      for (int k = 0; k < kConvolutionTensors; ++k) {
        const Value* value = tensor_of(*op, k);
        const Order* candidate = candidates_.of(value);
        const bool lies_as_written = !candidate || is_written[convolution_nodes_.at(op)[k]];
        convolution.orders[k] = lies_as_written ? as_written(value->type.shape.size()) : *candidate;
      }
    }
    return std::move(choice_);
  }

  const Block& block_;
  const loops::Target& target_;
  Candidates candidates_;
  MinCut network_;
  int source_, sink_;  // all as written, all channels last
  std::unordered_map<const Op*, int> nodes_;
  std::unordered_map<const Value*, Tensor> tensors_;
  std::unordered_map<const Op*, std::array<int, kConvolutionTensors>> convolution_nodes_;
  Choice choice_;
};

}  // namespace

Choice choose_layouts(const Block& block, const loops::Target& target) { return Chooser(block, target).run(); }

}  // namespace ingot::layouts
