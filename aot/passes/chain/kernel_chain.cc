#include "aot/passes/chain/kernel_chain.h"

#include <algorithm>

#include "aot/analysis/block_region.h"
#include "aot/analysis/regions.h"
#include "aot/analysis/walk.h"
#include "aot/graph/attributes.h"
#include "aot/loops/contraction.h"
#include "aot/passes/chain/row_statistics.h"

namespace ingot {
namespace {

constexpr int kMaskFlopsMax = 8;  // of an element that each reader computes by itself

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

template <typename Ops>
bool reads_from(const Op& op, const Ops& makers) {
  const auto is_made = [&](const Value* value) { return value->op && makers.contains(const_cast<Op*>(value->op)); };
  if (std::ranges::any_of(op.operands, is_made)) return true;
  return std::ranges::any_of(
      op.regions, [&](const auto& region) { return std::ranges::any_of(captured_values(*region), is_made); });
}

}  // namespace

const Op* contraction_in(const Op& kernel) {
  const auto is_contraction = [](const auto& op) { return op->def->root == KernelRoot::kContraction; };
  const auto found = std::ranges::find_if(kernel.region().ops, is_contraction);
  return found == kernel.region().ops.end() ? nullptr : found->get();
}

int64_t batch_count(const Op& contraction) {
  int64_t count = 1;
  for (const loops::ContractionDim& dim : contraction.def->contraction(contraction).dims) {
    if (dim.kind == loops::ContractionDim::Kind::kBatch) count *= dim.extent;
  }
  return count;
}

int64_t score_elements(const Op& kernel) {
  const Op* product = contraction_in(kernel);
  if (!product || batch_count(*product) == 1) return 0;
  const int64_t elements = product->result()->type.elements();
  const bool is_large =
      std::ranges::all_of(product->operands, [&](const Value* operand) { return operand->type.elements() < elements; });
  return is_large ? elements : 0;
}

bool may_join_chain(const Op& op) {
  if (!op.is(kKernel) || op.attr_map.contains(attributes::kBlocks)) return false;
  return std::ranges::all_of(op.region().ops, [](const auto& inner) {
    const KernelRoot root = inner->def->root;
    if (root == KernelRoot::kContraction) return batch_count(*inner) > 1;
    return inner->def->is_terminator || inner->def->has_elements() || root == KernelRoot::kReduce;
  });
}

KernelChain::KernelChain(Block& block, Op& scores) : block_(block), large_(score_elements(scores)), members_{&scores} {
  while (grow()) {
  }
}

std::vector<Op*> KernelChain::members() const {
  std::vector<Op*> members;
  for (auto& op : block_.ops) {
    if (contains(op.get())) members.push_back(op.get());
  }
  return members;
}

Values KernelChain::large_outputs() const {
  Values outputs;
  for (const Op* member : members()) {
    for (const auto& result : member->results) {
      if (!is_mask(*member) && is_large(*result) && is_read_outside(*result)) outputs.push_back(result.get());
    }
  }
  return outputs;
}

std::set<const Op*> KernelChain::makers_of(const Values& values) const {
  std::set<const Op*> makers;
  for (const Value* value : values) add_makers(*value->op, makers);
  return makers;
}

void KernelChain::add_makers(const Op& op, std::set<const Op*>& makers) const {
  if (!makers.insert(&op).second) return;
  for (const Value* operand : op.operands) {
    if (operand->op && contains(operand->op) && !is_mask(*operand->op)) add_makers(*operand->op, makers);
  }
}

std::map<const Op*, Values> KernelChain::give_statistics() {
  std::map<const Op*, Values> statistics;
  for (Op* member : members()) {
    if (is_mask(*member) || reduces_in(*member).empty()) continue;
    members_.erase(member);
    const Values given = give_reduced(member);
    members_.insert(member);
    statistics[member] = given;
  }
  return statistics;
}

Op* KernelChain::merge() {
  ordered_ = members();
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

void KernelChain::replace_by(Op& kernel) {
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

// Takes in one more kernel that makes or reads a large value of the chain.
bool KernelChain::grow() {
  for (const auto& op : block_.ops) {
    if (contains(op.get()) || !may_join_chain(*op) || !is_linked(*op)) continue;
    members_.insert(op.get());
    if (needs_nothing_of_itself()) return true;
    members_.erase(op.get());
  }
  return false;
}

bool KernelChain::is_linked(const Op& op) const {
  const bool reads = std::ranges::any_of(
      op.operands, [&](const Value* operand) { return operand->op && contains(operand->op) && is_large(*operand); });
  if (reads) return true;
  const auto is_for_members = [&](const Value::Use& use) { return contains(use.op); };
  // What makes a large value for members alone, or a mask.
  return std::ranges::all_of(op.results, [&](const auto& result) {
    if (is_mask(op)) return std::ranges::any_of(result->uses, is_for_members);
    return is_large(*result) && !result->uses.empty() && std::ranges::all_of(result->uses, is_for_members);
  });
}

// No op outside of the chain reads what it makes and makes what it reads; but masks.
bool KernelChain::needs_nothing_of_itself() const {
  std::set<const Op*> behind;
  std::set<Op*> makers = members_;
  std::erase_if(makers, [](const Op* member) { return is_mask(*member); });
  for (const auto& op : block_.ops) {
    const bool is_member = contains(op.get());
    if (reads_from(*op, behind)) {
      if (is_member) return false;
      behind.insert(op.get());
    } else if (!is_member && reads_from(*op, makers)) {
      behind.insert(op.get());
    }
  }
  return true;
}

bool KernelChain::is_read_outside(const Value& value) const {
  return std::ranges::any_of(value.uses, [&](const Value::Use& use) { return !contains(use.op); });
}

// A product that one member reads, element by element: both are one stage.
bool KernelChain::is_finished_by_reader(const Op& member) const {
  if (!contraction_in(member) || member.results.size() != 1) return false;
  const Value& product = *member.result();
  if (product.uses.size() != 1 || !contains(product.uses[0].op)) return false;
  const Op& reader = *product.uses[0].op;
  const bool is_elementwise = std::ranges::all_of(
      reader.region().ops, [](const auto& op) { return op->def->is_terminator || op->def->has_elements(); });
  return is_elementwise && std::ranges::all_of(reader.results, [&](const auto& result) {
           return result->uses.empty() || result->type.shape == product.type.shape;
         });
}

void KernelChain::copy_member(const Op& member, int stage, Block& body, std::map<const Value*, Value*>& inner,
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
std::string KernelChain::name() const {
  const auto scores = std::ranges::find_if(ordered_, [](const Op* op) { return score_elements(*op) > 0; });
  return "chain_" + attr_text((*scores)->attr_map, "name") + "_and_" + std::to_string(ordered_.size() - 1);
}

// What stands between the members and reads what they make goes behind the kernel, in its order.
void KernelChain::move_readers_behind(Op& kernel) {
  std::set<Op*> behind, makers = members_;
  std::erase_if(makers, [](const Op* member) { return is_mask(*member); });
  const auto last = std::next(kernel.self);
  for (auto at = ordered_.front()->self; at != kernel.self;) {
    Op* op = at->get();
    ++at;
    if (contains(op) || !(reads_from(*op, makers) || reads_from(*op, behind))) continue;
    behind.insert(op);
    block_.ops.splice(last, block_.ops, op->self);
  }
}

}  // namespace ingot
