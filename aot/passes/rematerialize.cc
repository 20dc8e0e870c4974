// What forward leaves for backward: instead of every value that is read late, the fewest bytes from which the others
// follow by cheap ops, found as a minimum cut (as PyTorch's partitioner of joint graphs does it).
#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_map>

#include "aot/analysis/min_cut.h"
#include "aot/analysis/walk.h"
#include "aot/base/divide.h"
#include "aot/graph/attributes.h"
#include "aot/passes/pass.h"

namespace ingot {
namespace {

constexpr int kChainFlopsMax = 64;            // of what is computed again, for each element
constexpr double kMinValueShare = 1.0 / 256;  // of the peak: smaller values stay as they are, ...
constexpr int64_t kLargeBytes = 16384;        // ... but for those that many layers may have
constexpr double kMinGainShare = 1.0 / 16;    // of the peak: less is not worth the time
constexpr size_t kCutPoints = 16;             // at which a cut is tried

bool is_cheap(const Op& op) {
  if (op.def->root != KernelRoot::kElement || op.results.size() != 1 || !op.regions.empty()) return false;
  if (const LiteralRef literal = constant_of(op.result())) return literal->is_splat;
  return op.def->is_elementwise || op.def->only_moves() || op.operands.empty();
}

class Rematerializer {
 public:
  explicit Rematerializer(Block& block) : block_(block) {
    for (auto& op : block.ops) {
      index_[op.get()] = static_cast<int>(ops_.size());
      ops_.push_back(op.get());
    }
  }

  bool run() {
    if (std::ranges::any_of(ops_, [](const Op* op) { return is_recomputed(*op); })) return false;
    find_chains();
    const std::vector<int64_t> alive = alive_bytes();
    peak_bytes_ = alive.empty() ? 0 : std::ranges::max(alive);
    const std::vector<int> moments = fullest_moments(alive);
    // Copies for an optimizer's chains part them from the kernels that make gradients: not where other copies do as well.
    cut_ = best_cut(moments, false);
    if (!is_worth_it(cut_)) cut_ = best_cut(moments, true);
    if (!is_worth_it(cut_)) return false;
    // Those first that are read first: others take what is copied for them.
    std::ranges::stable_sort(cut_.wanted, {}, [&](const Value* value) { return first_late(value); });
    for (Value* value : cut_.wanted) {
      if (!is_kept(value)) replace_late(value);
    }
    return true;
  }

 private:
  // What is made up to an op, the moment, and read later; and what of it is kept.
  struct Cut {
    int moment = 0;
    std::vector<Value*> wanted;
    std::set<const Value*> kept;
    int64_t gain_bytes = 0;
  };
  struct Copy {
    Value* value;
    int at;
  };

  // The op of the block that reads, itself or in a region.
  int reader(const Value::Use& use) const {
    const Op* op = use.op;
    while (op->block != &block_) op = op->block->parent_op;
    return index_.at(op);
  }

  int last_reader(const Value* value) const {
    int last = -1;
    for (const Value::Use& use : value->uses) last = std::max(last, reader(use));
    return last;
  }

  // Until what is made of it by moves is read, too.
  int last_reader_of_moves(const Value* value) const {
    int last = last_reader(value);
    for (const Value::Use& use : value->uses) {
      if (moved_by(*use.op)) last = std::max(last, last_reader_of_moves(use.op->result()));
    }
    return last;
  }

  // The operand whose place a move reads; null for other ops.
  static const Value* moved_by(const Op& op) {
    return op.def->only_moves() && op.operands.size() == 1 ? op.operand(0) : nullptr;
  }

  // What is in memory for a value: itself, or what it is moved from where that is not larger.
  static const Value* source_of(const Value* value) {
    const Value* moved = value->op ? moved_by(*value->op) : nullptr;
    return moved && moved->type.bytes() <= value->type.bytes() ? source_of(moved) : value;
  }

  // In the arena for it: arguments, constants, results and what is made outside of the block are there anyway.
  int64_t bytes_to_keep(const Value* value) const {
    if (!value->op || value->op->block != &block_ || constant_of(value)) return 0;
    const auto returns = [](const Value::Use& use) { return use.op->def->is_terminator; };
    return std::ranges::any_of(value->uses, returns) ? 0 : value->type.bytes();
  }

  // During each op in program order, where moves and what costs nothing take no place.
  std::vector<int64_t> alive_bytes() const {
    std::vector<int64_t> alive(ops_.size() + 1);
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (ops_[i]->def->only_moves() || ops_[i]->operands.empty()) continue;
      for (const auto& result : ops_[i]->results) {
        alive[i] += bytes_to_keep(result.get());
        alive[std::max(last_reader_of_moves(result.get()), static_cast<int>(i)) + 1] -= bytes_to_keep(result.get());
      }
    }
    std::partial_sum(alive.begin(), alive.end(), alive.begin());
    return alive;
  }

  // Of each part of the program, the op with most bytes alive.
  std::vector<int> fullest_moments(const std::vector<int64_t>& alive) const {
    std::vector<int> moments;
    const size_t part = divide_up(ops_.size(), kCutPoints);
    for (size_t first = 0; first < ops_.size(); first += part) {
      const auto end = alive.begin() + static_cast<std::ptrdiff_t>(std::min(first + part, ops_.size()));
      moments.push_back(
          static_cast<int>(std::max_element(alive.begin() + static_cast<std::ptrdiff_t>(first), end) - alive.begin()));
    }
    return moments;
  }

  // Which results can be computed again cheaply. A chain that gets too long starts anew from a value that is kept.
  void find_chains() {
    for (const Op* op : ops_) {
      if (!is_cheap(*op)) continue;
      int flops = op->def->flops;
      for (const Value* operand : op->operands) {
        if (const auto found = chain_flops_.find(operand); found != chain_flops_.end()) flops += found->second;
      }
      if (flops <= kChainFlopsMax) chain_flops_[op->result()] = flops;
    }
  }

  // Ops after a moment that only wait for their turn: elementwise ones of what is there at the moment, of which nothing is
  // made but results. They may follow at once, in the kernels of what they read.
  std::set<const Op*> waiting_for_turn(int moment) const {
    std::set<const Op*> ready, waiting;
    const auto is_there = [&](const Value* value) {
      const auto found = index_.find(value->op);
      return found == index_.end() || found->second <= moment || ready.contains(value->op);
    };
    for (size_t i = static_cast<size_t>(moment) + 1; i < ops_.size(); ++i) {
      if (ops_[i]->def->root == KernelRoot::kElement && std::ranges::all_of(ops_[i]->operands, is_there))
        ready.insert(ops_[i]);
    }
    const auto waits = [&](const Value::Use& use) { return use.op->def->is_terminator || waiting.contains(use.op); };
    for (size_t i = ops_.size(); i-- > static_cast<size_t>(moment) + 1;) {
      const auto only_waits = [&](const auto& result) { return std::ranges::all_of(result->uses, waits); };
      if (ready.contains(ops_[i]) && std::ranges::all_of(ops_[i]->results, only_waits)) waiting.insert(ops_[i]);
    }
    return waiting;
  }

  // Values made up to a moment, and read after it by other ops than `waiting`, that are not too small to matter.
  std::vector<Value*> read_after(int moment, const std::set<const Op*>& waiting) const {
    const auto is_needed = [&](const Value::Use& use) { return reader(use) > moment && !waiting.contains(use.op); };
    std::vector<Value*> wanted;
    for (int i = 0; i <= moment; ++i) {
      for (const auto& result : ops_[i]->results) {
        const int64_t bytes = bytes_to_keep(source_of(result.get()));
        const bool is_large =
            bytes >= kLargeBytes || static_cast<double>(bytes) > kMinValueShare * static_cast<double>(peak_bytes_);
        if (is_large && std::ranges::any_of(result->uses, is_needed)) wanted.push_back(result.get());
      }
    }
    return wanted;
  }

  Cut best_cut(const std::vector<int>& moments, bool copies_what_waits) const {
    Cut best;
    for (const int moment : moments) {
      const std::set<const Op*> waiting = waiting_for_turn(moment);
      Cut cut = find_cut(moment, read_after(moment, copies_what_waits ? std::set<const Op*>{} : waiting));
      if (copies_what_waits && keeps_for_what_waits(cut, waiting)) continue;
      if (cut.gain_bytes > best.gain_bytes) best = std::move(cut);
    }
    return best;
  }

  bool is_worth_it(const Cut& cut) const {
    return !cut.wanted.empty() &&
           static_cast<double>(cut.gain_bytes) >= kMinGainShare * static_cast<double>(peak_bytes_);
  }

  // What only waits for its turn is not worth keeping anything for.
  bool keeps_for_what_waits(const Cut& cut, const std::set<const Op*>& waiting) const {
    return std::ranges::any_of(cut.kept, [&](const Value* value) {
      const auto waits = [&](const Value::Use& use) { return reader(use) <= cut.moment || waiting.contains(use.op); };
      return bytes_to_keep(value) >= kLargeBytes && std::ranges::all_of(value->uses, waits);
    });
  }

  Cut find_cut(int moment, std::vector<Value*> wanted) const {
    Cut cut;
    cut.moment = moment;
    cut.wanted = std::move(wanted);
    MinCut network;
    const int source = network.add_node(), sink = network.add_node();
    struct Place {
      int in, out;
    };
    std::unordered_map<const Value*, Place> places;
    std::vector<const Value*> open;
    const auto place_of = [&](const Value* value) {
      const auto [at, is_new] = places.emplace(value, Place{});
      if (is_new) {
        at->second = {network.add_node(), network.add_node()};
        open.push_back(value);
      }
      return at->second;
    };
    std::set<const Value*> without, with;  // what is in memory
    for (const Value* value : cut.wanted) {
      network.add_edge(place_of(value).out, sink, MinCut::kUnlimited);
      if (without.insert(source_of(value)).second) cut.gain_bytes += bytes_to_keep(source_of(value));
    }
    while (!open.empty()) {
      const Value* value = open.back();
      open.pop_back();
      const Place place = places.at(value);
      network.add_edge(place.in, place.out, bytes_to_keep(value));
      if (!chain_flops_.contains(value)) {
        network.add_edge(source, place.in, MinCut::kUnlimited);
        continue;
      }
      for (const Value* operand : value->op->operands) {
        const int from = place_of(operand).out;
        network.add_edge(from, place.in, MinCut::kUnlimited);
      }
    }
    const std::vector<bool> is_source_side = network.cut(source, sink);
    for (const auto& [value, place] : places) {
      if (!is_source_side[place.in] || is_source_side[place.out]) continue;
      cut.kept.insert(value);
      if (with.insert(source_of(value)).second) cut.gain_bytes -= bytes_to_keep(source_of(value));
    }
    return cut;
  }

  bool is_kept(const Value* value) const { return cut_.kept.contains(value) || !chain_flops_.contains(value); }

  bool is_late(const Value::Use& use) const { return reader(use) > cut_.moment; }

  int first_late(const Value* value) const {
    int first = static_cast<int>(ops_.size());
    for (const Value::Use& use : value->uses) {
      if (is_late(use)) first = std::min(first, reader(use));
    }
    return first;
  }

  // Late readers of `value` get a copy that stands before the first of them.
  void replace_late(Value* value) {
    std::vector<Value::Use> late;
    std::ranges::copy_if(value->uses, std::back_inserter(late), [&](const Value::Use& use) { return is_late(use); });
    Value* recomputed = copy_chain(value, first_late(value));
    for (const Value::Use& use : late) use.op->set_operand(use.operand_index, recomputed);
  }

  // `value`, computed from what is kept, before the op `at`. A copy that stands there already, or earlier, is taken.
  Value* copy_chain(Value* value, int at) {
    if (is_kept(value)) return value;
    if (const auto found = copies_.find(value); found != copies_.end() && found->second.at <= at) {
      return found->second.value;
    }
    ValueMap map;
    for (Value* operand : value->op->operands) map[operand] = copy_chain(operand, at);
    Op* copy = copy_op(*value->op, block_, map);
    block_.ops.splice(ops_[at]->self, block_.ops, copy->self);
    copy->attr_map[attributes::kRecomputed] = UnitAttr{};
    index_[copy] = at;
    copies_[value] = {copy->result(), at};
    return copy->result();
  }

  Block& block_;
  std::vector<Op*> ops_;                               // in program order
  std::unordered_map<const Op*, int> index_;           // of ops; of copies, the op before which they stand
  std::unordered_map<const Value*, int> chain_flops_;  // of what is cheap to compute again
  std::unordered_map<const Value*, Copy> copies_;
  int64_t peak_bytes_ = 0;
  Cut cut_;  // the one that is made
};

}  // namespace

bool rematerialize(Module& module, PassContext&) {
  bool changed = false;
  for (auto& function : module.functions) {
    Op* parts = micro_batches_of(*function);
    changed |= Rematerializer(parts ? parts->region(1) : function->body).run();
  }
  return changed;
}

}  // namespace ingot
