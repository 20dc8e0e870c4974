#include "aot/plan/separate_results.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "aot/base/contains.h"
#include "aot/plan/dependencies.h"
#include "aot/plan/rename.h"

namespace ingot::plan {
namespace {

using lowered::Access;
using lowered::Block;
using lowered::Function;
using lowered::KernelCall;
using lowered::kNoValue;
using lowered::Node;
using lowered::NodeKind;

// For each result of a block: the argument whose place it takes at the end, or kNoValue.
using Replaced = std::vector<ValueId>;

void for_each_node(const Block& block, const std::function<void(const Node&)>& visit) {
  for (const Node& node : block.nodes) {
    visit(node);
    for (const Block& region : node.regions) for_each_node(region, visit);
  }
}

// A value that is made from nothing: by a fill, or by kernels that read nothing.
bool is_source(const Node& node) {
  return node.kind == NodeKind::kFill || (node.kind == NodeKind::kCall && lowered::read_by(node).empty());
}

// What a node reads as `from` it reads as `to`.
void redirect(Node& node, ValueId from, ValueId to) {
  for (KernelCall& call : node.calls) {
    for (lowered::Argument& argument : call.arguments) {
      if (argument.value == from) argument.value = to;
    }
  }
}

class Separator {
 public:
  explicit Separator(Function& function) : function_(function) {
    for (const lowered::Constant& constant : function.constants) constants_[constant.value] = constant.literal;
    for_each_node(function.body, [&](const Node& node) {
      if (is_source(node)) add_source(node);
      if (node.kind == NodeKind::kCase) tested_.insert(node.operands[0]);
      if (node.kind == NodeKind::kWhile) tested_.insert(node.regions[0].results[0]);
    });
  }

  void separate(Block& block, const Replaced& replaced) {
    for (Node& node : block.nodes) {
      if (node.kind == NodeKind::kWhile) {
        separate(node.regions[0], {});  // the condition's result is read where it lies
        separate(node.regions[1], node.regions[1].arguments);
      }
      if (node.kind == NodeKind::kCase) {
        for (Block& region : node.regions) separate(region, Replaced(region.results.size(), kNoValue));
      }
    }
    own_operands(block, replaced);
    own_results(block, replaced);
    drop_unread(block);
  }

 private:
  // --- copies ---

  void add_source(const Node& node) {
    for (const ValueId result : node.results) sources_[result] = node;
  }

  // A node that makes `value`, which is what another value is.
  struct Copy {
    Node node;
    ValueId value;
  };

  // What is made from nothing is made again.
  Copy copy_of(ValueId value) {
    if (const auto source = sources_.find(value); source != sources_.end()) {
      const size_t index = std::ranges::find(source->second.results, value) - source->second.results.begin();
      Renaming names;
      const Node node = made_again(function_, source->second, names);
      add_source(node);
      return {node, node.results[index]};
    }
    const ValueId copy = function_.add_value("", TensorType(function_.type(value)));
    const auto constant = constants_.find(value);
    if (constant == constants_.end() || !constant->second->is_splat) {
      return {{.kind = NodeKind::kCopy, .operands = {value}, .results = {copy}}, copy};
    }
    const Node node{.kind = NodeKind::kFill, .results = {copy}, .fill = constant->second};
    add_source(node);
    return {node, copy};
  }

  // Nodes that are to stand before those of a block.
  class Insertions {
   public:
    void add(int before, Node node) { made_[before].push_back(std::move(node)); }
    void apply(Block& block) {
      for (auto at = made_.rbegin(); at != made_.rend(); ++at) {
        auto& [before, nodes] = *at;
        block.nodes.insert(block.nodes.begin() + before, std::make_move_iterator(nodes.begin()),
                           std::make_move_iterator(nodes.end()));
      }
    }

   private:
    std::map<int, std::vector<Node>> made_;
  };

  // What was made again everywhere is left without readers.
  static void drop_unread(Block& block) {
    std::set<ValueId> read(block.results.begin(), block.results.end());
    for (const Node& node : block.nodes) {
      for (const ValueId value : lowered::read_by(node)) read.insert(value);
    }
    std::erase_if(block.nodes, [&](const Node& node) {
      return is_source(node) && std::ranges::none_of(node.results, [&](ValueId value) { return read.contains(value); });
    });
  }

  // --- operands that are overwritten ---

  // A node makes a result in the place of an operand.
  struct InPlaceWrite {
    int node;
    ValueId result;
  };

  ValueId operand(const Block& block, const InPlaceWrite& write) const {
    return lowered::predecessor(function_, block.nodes[write.node], write.result);
  }

  // Before the node the operand is copied, and the copy is overwritten.
  void copy_operand(Block& block, const InPlaceWrite& write, Insertions& copies) {
    const ValueId old = operand(block, write);
    Copy copy = copy_of(old);
    copies.add(write.node, std::move(copy.node));
    Node& node = block.nodes[write.node];
    if (node.kind == NodeKind::kWhile) {
      node.operands[std::ranges::find(node.results, write.result) - node.results.begin()] = copy.value;
    } else {
      redirect(node, old, copy.value);
    }
  }

  // Of arguments whose place holds what replaces them all along: the node that is the first to write there.
  using FirstWriters = std::map<ValueId, int>;

  static FirstWriters first_writers(const Block& block, const Replaced& replaced, const Dependencies& dependencies) {
    FirstWriters writers;
    for (size_t i = 0; i < replaced.size(); ++i) {
      ValueId result = block.results[i];
      if (replaced[i] == kNoValue || result == replaced[i] || dependencies.in_place_root(result) != replaced[i]) {
        continue;
      }
      while (dependencies.predecessor(result) != replaced[i]) result = dependencies.predecessor(result);
      writers[replaced[i]] = dependencies.maker(result);
    }
    return writers;
  }

  // Nobody reads an operand after the node that overwrites it, and it may be written at all: else the node gets a copy.
  void own_operands(Block& block, const Replaced& replaced) {
    Dependencies dependencies(function_, block);
    std::vector<InPlaceWrite> writes;
    for (int node = 0; node < dependencies.node_count(); ++node) {
      for (const ValueId result : block.nodes[node].results) {
        if (dependencies.predecessor(result) != kNoValue) writes.push_back({node, result});
      }
    }
    if (writes.empty()) return;
    FirstWriters writers = first_writers(block, replaced, dependencies);
    std::vector<InPlaceWrite> refused;
    std::set<ValueId> taken;
    for (const InPlaceWrite& write : writes) {
      if (!may_overwrite(block, write, writers, taken, dependencies)) refused.push_back(write);
    }
    Insertions copies;
    // An argument that is copied somewhere on the way to what replaces it is copied at the start.
    for (const InPlaceWrite& write : refused) {
      const ValueId first = dependencies.in_place_root(operand(block, write));
      if (!writers.erase(first) || first == operand(block, write)) continue;
      for (const InPlaceWrite& other : writes) {
        if (operand(block, other) == first) copy_operand(block, other, copies);
      }
    }
    for (const InPlaceWrite& write : refused) copy_operand(block, write, copies);
    copies.apply(block);
  }

  bool may_overwrite(const Block& block, const InPlaceWrite& write, const FirstWriters& writers,
                     std::set<ValueId>& taken, Dependencies& dependencies) const {
    const ValueId value = operand(block, write);
    const Node& node = block.nodes[write.node];
    const auto writer = writers.find(value);
    const bool may_be_written =
        dependencies.maker(value) >= 0 || (writer != writers.end() && writer->second == write.node);
    if (!may_be_written || taken.contains(value) || std::ranges::count(node.operands, value) > 1) return false;
    const auto is_captured = [&](const Block& region) {
      return std::ranges::binary_search(lowered::read_by(region), value);
    };
    if (std::ranges::any_of(node.regions, is_captured) || std::ranges::count(block.results, value) > 0) return false;
    const std::vector<int>& readers = dependencies.readers(value);
    for (const int reader : readers) {
      if (reader != write.node && dependencies.depends(reader, write.node)) return false;
    }
    for (const int reader : readers) dependencies.add(reader, write.node);
    taken.insert(value);
    return true;
  }

  // --- results ---

  void own_results(Block& block, const Replaced& replaced) {
    Dependencies dependencies(function_, block);
    dependencies.add_in_place_writes();
    std::set<ValueId> claimed;
    std::vector<int> copied;
    for (int i = 0; i < std::ssize(replaced); ++i) {
      const ValueId value = block.results[i];
      if (replaced[i] != value && !is_direct(value, replaced[i], block, dependencies, claimed)) copied.push_back(i);
    }
    const auto copy = [&](ValueId value) {
      Copy made = copy_of(value);
      block.nodes.push_back(std::move(made.node));
      return made.value;
    };
    for (const int i : copied) {
      ValueId value = block.results[i];
      // Two states may trade places: what one of them was is saved before either is written.
      const bool is_argument = contains(block.arguments, value);
      if (replaced[i] != kNoValue && is_argument) value = copy(value);
      block.results[i] = copy(value);
    }
  }

  // A jump reads the value: the number of a case, what a loop's condition returns. Jumps read no outputs, which the
  // host may have put anywhere.
  bool is_tested(ValueId value) const { return tested_.contains(value); }

  // Of the type of what a jump reads: a loop's condition may return what it carries.
  bool may_be_tested(ValueId value) const {
    const TensorType& type = function_.type(value);
    return type.shape.empty() && (type.dtype == DType::kI1 || type.dtype == DType::kI32);
  }

  // Whether a result is made where it belongs, in the place of `old` if there is one.
  bool is_direct(ValueId value, ValueId old, const Block& block, Dependencies& dependencies,
                 std::set<ValueId>& claimed) const {
    const ValueId first = dependencies.in_place_root(value);
    if (old != kNoValue && first == old) return claimed.insert(first).second;
    const int writer = dependencies.maker(first);
    if (writer < 0 || !block.nodes[writer].regions.empty()) return false;
    if (is_tested(value) || (first != value && (is_tested(first) || may_be_tested(value)))) return false;
    if (!claimed.insert(first).second) return false;
    if (old == kNoValue) return true;
    const std::vector<int>& readers = dependencies.readers(old);
    for (const int reader : readers) {
      const bool is_free = reader == writer ? may_replace(function_, block.nodes[writer], first, old)
                                            : !dependencies.depends(reader, writer);
      if (!is_free) return false;
    }
    for (const int reader : readers) dependencies.add(reader, writer);
    return true;
  }

  Function& function_;
  std::map<ValueId, LiteralRef> constants_;
  std::map<ValueId, Node> sources_;  // by what they make
  std::set<ValueId> tested_;
};

}  // namespace

void separate_results(Function& function) {
  Separator(function).separate(function.body, lowered::replaced_state(function));
}

}  // namespace ingot::plan
