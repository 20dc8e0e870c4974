// Attention as it is written: scores (a product for each batch and head, larger than both its operands), what is done to
// their rows, and products with them. The kernels that make or read scores, or tensors of that size, become one.
#include <algorithm>
#include <map>
#include <set>

#include "aot/analysis/block_region.h"
#include "aot/analysis/regions.h"
#include "aot/analysis/walk.h"
#include "aot/base/contains.h"
#include "aot/graph/attributes.h"
#include "aot/loops/contraction.h"
#include "aot/passes/chained_axes.h"
#include "aot/passes/pass.h"
#include "aot/passes/row_statistics.h"

namespace ingot {
namespace {

constexpr int64_t kRowsMin = 24;           // of a block, so that register tiles are full
constexpr int kMaskFlopsMax = 8;           // of an element that each reader computes by itself
constexpr int64_t kRepeatedShare = 4;      // scores of so many times the elements of what they are made of
constexpr int64_t kScratchMax = 16 << 20;  // of scores of one block, in bytes
constexpr int64_t kBlocksMin = 8;          // which threads share

const Op* contraction_in(const Op& kernel) {
  const auto is_contraction = [](const auto& op) { return op->def->root == KernelRoot::kContraction; };
  const auto found = std::ranges::find_if(kernel.region().ops, is_contraction);
  return found == kernel.region().ops.end() ? nullptr : found->get();
}

// Places of the batch.
int64_t batch_count(const Op& contraction) {
  int64_t count = 1;
  for (const loops::ContractionDim& dim : contraction.def->contraction(contraction).dims) {
    if (dim.kind == loops::ContractionDim::Kind::kBatch) count *= dim.extent;
  }
  return count;
}

// Elements of the scores that a kernel makes; 0 where it makes none.
int64_t score_elements(const Op& kernel) {
  const Op* product = contraction_in(kernel);
  if (!product || batch_count(*product) == 1) return 0;
  const int64_t elements = product->result()->type.elements();
  const bool is_large =
      std::ranges::all_of(product->operands, [&](const Value* operand) { return operand->type.elements() < elements; });
  return is_large ? elements : 0;
}

// Made of nothing, by a few operations: members make their own.
bool is_mask(const Op& op) {
  if (!op.is(kKernel) || !op.operands.empty()) return false;
  int flops = 0;
  for (const auto& inner : op.region().ops) {
    if (!inner->def->is_terminator && !inner->def->has_elements()) return false;
    flops += inner->def->is_elementwise ? inner->def->flops : 0;
  }
  return flops <= kMaskFlopsMax;
}

// What may stand in a chain: products of a batch, rows and whatever is elementwise.
bool may_join(const Op& op) {
  if (!op.is(kKernel) || op.attr_map.contains(attributes::kBlocks)) return false;
  return std::ranges::all_of(op.region().ops, [](const auto& inner) {
    const KernelRoot root = inner->def->root;
    if (root == KernelRoot::kContraction) return batch_count(*inner) > 1;
    return inner->def->is_terminator || inner->def->has_elements() || root == KernelRoot::kReduce;
  });
}

// Copies of kernels that make scores, or what is made of them.
struct RepeatedScores {
  Op* scores = nullptr;
  std::vector<Op*> copies;
  std::vector<std::pair<Value*, Value*>> pairs;  // an original, its copy

  void undo() const {
    for (const auto& [original, copy] : pairs) replace_all_uses(copy, original);
    for (auto copy = copies.rbegin(); copy != copies.rend(); ++copy) erase(*copy);
  }
};

class KernelChain {
 public:
  KernelChain(Block& block, Op& scores) : block_(block), large_(score_elements(scores)), members_{&scores} {
    while (grow()) {
    }
  }

  bool is_chain() const { return members_.size() > 1; }

  // Large values that others read, too.
  Values large_outputs() const {
    Values outputs;
    for (const Op* member : members_) {
      for (const auto& result : member->results) {
        if (!is_mask(*member) && is_large(*result) && is_read_outside(*result)) outputs.push_back(result.get());
      }
    }
    return outputs;
  }

  // Whether the large values that others read are worth making again for them: these could be a chain of their own, and
  // scores are much larger than what they are made of.
  bool should_repeat() const {
    for (const Op* member : members_) {
      const Op* product = contraction_in(*member);
      if (score_elements(*member) == 0) continue;
      int64_t operands = 0;
      for (const Value* operand : product->operands) operands += operand->type.elements();
      const TensorType& scores = product->result()->type;
      const int64_t batch = batch_count(*product);
      if (scores.elements() < kRepeatedShare * operands) return false;
      if (batch < kBlocksMin || scores.bytes() / batch > kScratchMax) return false;
    }
    return std::ranges::all_of(large_outputs(), [&](const Value* value) {
      return std::ranges::all_of(value->uses,
                                 [&](const Value::Use& use) { return use.op->block == &block_ && may_join(*use.op); });
    });
  }

  // Makes the large outputs again right before their first reader outside, and has all those read the copies. Statistics of
  // rows are kept. The chain is not to be used any more.
  RepeatedScores repeat() {
    RepeatedScores repeated;
    std::map<const Op*, Values> statistics;
    for (Op* member : std::vector<Op*>(members_.begin(), members_.end())) {
      if (is_mask(*member) || reduces_in(*member).empty()) continue;
      members_.erase(member);
      const Values given = give_reduced(member);
      members_.insert(member);
      statistics[member] = given;
    }
    const Values outputs = large_outputs();
    std::set<const Op*> makers;
    for (const Value* output : outputs) add_makers(*output->op, makers);
    Op* first = nullptr;
    for (auto& op : block_.ops) {
      const bool reads = std::ranges::any_of(outputs, [&](Value* value) { return contains(op->operands, value); });
      if (reads && !members_.contains(op.get()) && !first) first = op.get();
    }
    ValueMap map;
    for (auto& op : block_.ops) {
      if (!makers.contains(op.get())) continue;
      repeated.copies.push_back(copy_op(*op, block_, map));
      if (score_elements(*op) > 0) repeated.scores = repeated.copies.back();
      if (const auto given = statistics.find(op.get()); given != statistics.end())
        read_reduced(*repeated.copies.back(), given->second);
    }
    for (Op* copy : repeated.copies) block_.ops.splice(first->self, block_.ops, copy->self);
    for (Value* output : outputs) {
      repeated.pairs.emplace_back(output, map.at(output));
      const std::vector<Value::Use> uses = output->uses;
      for (const Value::Use& use : uses) {
        const bool is_inside = members_.contains(use.op) || contains(repeated.copies, use.op);
        if (!is_inside) use.op->set_operand(use.operand_index, map.at(output));
      }
    }
    return repeated;
  }

  // The members as one kernel, which stands where the last of them does; they are still there.
  Op* merge() {
    ordered_.clear();
    for (auto& op : block_.ops) {
      if (members_.contains(op.get())) ordered_.push_back(op.get());
    }
    auto body = std::make_unique<Block>();
    std::map<const Value*, Value*> inner;
    Values operands, yielded;
    for (size_t stage = 0; stage < ordered_.size(); ++stage)
      copy_member(*ordered_[stage], static_cast<int>(stage), *body, inner, operands);
    for (Op* member : ordered_) {
      for (const auto& result : member->results) {
        if (is_mask(*member) || !is_read_outside(*result)) continue;
        yielded.push_back(inner.at(result.get()));
        outputs_.push_back(result.get());
      }
    }
    GraphBuilder b;
    b.location = ordered_.front()->location;
    b.at_end(*body);
    b.create(kYield, yielded);
    erase_unread(*body);
    b.before(*ordered_.back());
    std::vector<std::unique_ptr<Block>> regions;
    regions.push_back(std::move(body));
    return b.create(kKernel, operands, {{"name", Attr(name())}}, {}, std::move(regions));
  }

  // Puts the kernel in the members' place.
  void replace_by(Op& kernel) {
    move_readers_behind(kernel);
    for (size_t i = 0; i < outputs_.size(); ++i) {
      kernel.result(static_cast<int>(i))->name = outputs_[i]->name;
      kernel.result(static_cast<int>(i))->location = outputs_[i]->location;
      replace_all_uses(outputs_[i], kernel.result(static_cast<int>(i)));
    }
    for (auto member = ordered_.rbegin(); member != ordered_.rend(); ++member) {
      if (!(*member)->has_uses()) erase(*member);
    }
  }

 private:
  bool is_large(const Value& value) const { return value.type.elements() >= large_; }

  // The members that make what `op` reads of the chain, and itself.
  void add_makers(const Op& op, std::set<const Op*>& makers) const {
    if (!makers.insert(&op).second) return;
    for (const Value* operand : op.operands) {
      if (operand->op && members_.contains(operand->op) && !is_mask(*operand->op)) add_makers(*operand->op, makers);
    }
  }

  // Takes in one more kernel that makes or reads a large value of the chain.
  bool grow() {
    for (const auto& op : block_.ops) {
      if (members_.contains(op.get()) || !may_join(*op) || !is_linked(*op)) continue;
      members_.insert(op.get());
      if (needs_nothing_of_itself()) return true;
      members_.erase(op.get());
    }
    return false;
  }

  bool is_linked(const Op& op) const {
    const bool reads = std::ranges::any_of(op.operands, [&](const Value* operand) {
      return operand->op && members_.contains(operand->op) && is_large(*operand);
    });
    if (reads) return true;
    const auto is_for_members = [&](const Value::Use& use) { return members_.contains(use.op); };
    // What makes a large value for members alone, or a mask.
    return std::ranges::all_of(op.results, [&](const auto& result) {
      if (is_mask(op)) return std::ranges::any_of(result->uses, is_for_members);
      return is_large(*result) && !result->uses.empty() && std::ranges::all_of(result->uses, is_for_members);
    });
  }

  // No op outside of the chain reads what it makes and makes what it reads; but masks.
  bool needs_nothing_of_itself() const {
    std::set<const Op*> behind;
    std::set<Op*> makers = members_;
    std::erase_if(makers, [](const Op* member) { return is_mask(*member); });
    for (const auto& op : block_.ops) {
      const bool is_member = members_.contains(op.get());
      if (reads_from(*op, behind)) {
        if (is_member) return false;
        behind.insert(op.get());
      } else if (!is_member && reads_from(*op, makers)) {
        behind.insert(op.get());
      }
    }
    return true;
  }

  template <typename Ops>
  static bool reads_from(const Op& op, const Ops& makers) {
    const auto is_made = [&](const Value* value) { return value->op && makers.contains(const_cast<Op*>(value->op)); };
    if (std::ranges::any_of(op.operands, is_made)) return true;
    return std::ranges::any_of(
        op.regions, [&](const auto& region) { return std::ranges::any_of(captured_values(*region), is_made); });
  }

  bool is_read_outside(const Value& value) const {
    return std::ranges::any_of(value.uses, [&](const Value::Use& use) { return !members_.contains(use.op); });
  }

  // A product that one member reads, element by element: both are one stage.
  bool is_finished_by_reader(const Op& member) const {
    if (!contraction_in(member) || member.results.size() != 1) return false;
    const Value& product = *member.result();
    if (product.uses.size() != 1 || !members_.contains(product.uses[0].op)) return false;
    const Op& reader = *product.uses[0].op;
    const bool is_elementwise = std::ranges::all_of(
        reader.region().ops, [](const auto& op) { return op->def->is_terminator || op->def->has_elements(); });
    return is_elementwise && std::ranges::all_of(reader.results, [&](const auto& result) {
             return result->uses.empty() || result->type.shape == product.type.shape;
           });
  }

  void copy_member(const Op& member, int stage, Block& body, std::map<const Value*, Value*>& inner,
                   Values& operands) const {
    ValueMap map;
    for (int i = 0; i < std::ssize(member.operands); ++i) {
      Value* operand = member.operand(i);
      const auto [found, is_new] = inner.try_emplace(operand, nullptr);
      if (is_new) {
        found->second = body.add_argument(operand->type, operand->name, operand->location);
        operands.push_back(operand);
      }
      map[member.region().argument(i)] = found->second;
    }
    copy_ops(member.region(), body, map, /*with_terminator=*/false);
    const Values& yielded = member.region().terminator()->operands;
    for (size_t i = 0; i < yielded.size(); ++i) {
      const auto made = map.find(yielded[i]);
      Value* value = made == map.end() ? yielded[i] : made->second;
      if (value->op && !is_mask(member) && !is_finished_by_reader(member))
        value->op->attr_map.insert_or_assign(kStage, Attr(IntAttr{stage}));
      inner[member.result(static_cast<int>(i))] = value;
    }
  }

  // After the scores: "chain_f32_dot_general_4x12x256x256x64_and_2".
  std::string name() const {
    const auto scores = std::ranges::find_if(ordered_, [](const Op* op) { return score_elements(*op) > 0; });
    return "chain_" + attr_text((*scores)->attr_map, "name") + "_and_" + std::to_string(ordered_.size() - 1);
  }

  // What stands between the members and reads what they make goes behind the kernel, in its order.
  void move_readers_behind(Op& kernel) {
    std::set<Op*> behind, makers = members_;
    std::erase_if(makers, [](const Op* member) { return is_mask(*member); });
    const auto last = std::next(kernel.self);
    for (auto at = ordered_.front()->self; at != kernel.self;) {
      Op* op = at->get();
      ++at;
      if (members_.contains(op) || !(reads_from(*op, makers) || reads_from(*op, behind))) continue;
      behind.insert(op);
      block_.ops.splice(last, block_.ops, op->self);
    }
  }

  Block& block_;
  int64_t large_;
  std::set<Op*> members_;
  std::vector<Op*> ordered_;
  Values outputs_;
};

// Rows of a block: so many that packing the other operand is little beside multiplying by it, as far as what a block hands
// on stays near the second-level cache and every thread has work.
int64_t rows_of_block(int64_t rows, int64_t row_bytes, int64_t batch, const loops::Machine& machine) {
  const auto fits = [&](int64_t block) { return block * row_bytes <= 2 * machine.l2_bytes; };
  const auto is_shared = [&](int64_t block) { return batch * (rows / block) >= machine.tasks_max; };
  int64_t best = rows;
  for (int64_t block = rows; block >= kRowsMin; --block) {
    if (rows % block != 0) continue;
    best = block;
    if (fits(block) && is_shared(block)) break;
  }
  return best;
}

std::optional<KernelBlocks> blocks_for(const Op& kernel, const loops::Machine& machine) {
  const auto is_score = [](const auto& op) {
    return op->def->root == KernelRoot::kContraction && std::ranges::all_of(op->operands, [&](const Value* operand) {
             return operand->type.elements() < op->result()->type.elements();
           });
  };
  const auto& ops = kernel.region().ops;
  const auto scores = std::ranges::find_if(ops, is_score);
  if (scores == ops.end()) return std::nullopt;
  const std::optional<ChainedAxes> found = chained_axes(kernel, **scores);
  if (!found) return std::nullopt;
  KernelBlocks blocks;
  blocks.result_axes = found->result_axes;
  int64_t batch = 1;
  for (const int64_t extent : found->batch) {
    blocks.axes.push_back({extent, 1});
    batch *= extent;
  }
  const TensorType& type = (*scores)->result()->type;
  int64_t bytes = type.bytes() / batch;
  if (found->rows > 0) {
    const int64_t rows = rows_of_block(found->rows, bytes / found->rows, batch, machine);
    blocks.axes.push_back({found->rows, rows});
    bytes = bytes / found->rows * rows;
  }
  if (bytes > kScratchMax || blocks.count() < kBlocksMin) return std::nullopt;
  return blocks;
}

// The chain as one kernel in blocks; null where it cannot be.
Op* chained(KernelChain& chain, const loops::Machine& machine) {
  if (!chain.is_chain() || !chain.large_outputs().empty()) return nullptr;
  Op* kernel = chain.merge();
  const std::optional<KernelBlocks> blocks = blocks_for(*kernel, machine);
  if (!blocks || !block_region(*kernel, *blocks)) {
    erase(kernel);
    return nullptr;
  }
  set_blocks(*kernel, *blocks);
  return kernel;
}

bool chain_from(Block& block, Op& scores, const loops::Machine& machine) {
  KernelChain chain(block, scores);
  if (Op* kernel = chained(chain, machine)) {
    chain.replace_by(*kernel);
    return true;
  }
  return false;
}

// Makes the chain's large outputs again for those who read them, where they become a chain by that.
bool repeat_for_readers(Block& block, Op& scores, const loops::Machine& machine) {
  KernelChain chain(block, scores);
  if (!chain.is_chain() || chain.large_outputs().empty() || !chain.should_repeat()) return false;
  const RepeatedScores repeated = chain.repeat();
  if (!repeated.scores || !chain_from(block, *repeated.scores, machine)) {
    repeated.undo();
    return false;
  }
  std::set<Op*> originals;
  for (const auto& [original, copy] : repeated.pairs) originals.insert(original->op);
  for (Op* original : originals) {
    if (!original->has_uses()) erase(original);
  }
  return true;
}

bool chain_kernels(Block& block, PassContext& context) {
  const loops::Machine& machine = context.target->machine;
  bool changed = false;
  std::vector<Op*> starts;
  for (auto& op : block.ops) {
    if (may_join(*op) && score_elements(*op) > 0) starts.push_back(op.get());
  }
  for (Op* start : starts) {
    const auto is_start = [&](const auto& op) { return op.get() == start; };
    if (std::ranges::none_of(block.ops, is_start)) continue;
    changed |= repeat_for_readers(block, *start, machine);
    changed |= chain_from(block, *start, machine);
  }
  return changed;
}

}  // namespace

bool chain_kernels(Module& module, PassContext& context) {
  bool changed = false;
  for (auto& function : module.functions) {
    for_each_block(function->body, [&](Block& block) {
      const bool is_body = !block.parent_op || is_control_flow(*block.parent_op);
      if (is_body) changed |= chain_kernels(block, context);
    });
  }
  return changed;
}

}  // namespace ingot
