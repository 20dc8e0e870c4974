#include "aot/schedule/blocks.h"

#include <algorithm>
#include <map>
#include <set>

#include "aot/graph/attributes.h"
#include "aot/loops/element.h"

namespace ingot::schedule {
namespace {

using loops::BufferId;
using loops::Index;
using BufferPart = loops::KernelBuilder::BufferPart;

// Vectors of all steps that have any; nullopt where these differ.
std::optional<int> common_lanes(const Lowering& block) {
  int lanes = 1;
  for (const LoweredKernel& step : block.steps) {
    const int own = step.kernel.lanes();
    if (own == 1 || own == lanes) continue;
    if (lanes != 1) return std::nullopt;
    lanes = own;
  }
  return lanes;
}

// Which temporaries of a block lie in one place of its scratch: those that are not needed at the same time, and what is
// written over what it is made of.
class ScratchPlaces {
 public:
  explicit ScratchPlaces(const Lowering& block) : block_(block), last_step_(block.temporaries.size(), -1) {
    for (size_t s = 0; s < block.steps.size(); ++s) {
      for (const KernelBinding& binding : block.steps[s].bindings) {
        if (binding.kind == KernelBinding::Kind::kTemporary) last_step_[binding.index] = static_cast<int>(s);
      }
    }
    places_.assign(block.temporaries.size(), -1);
    for (size_t s = 0; s < block.steps.size(); ++s) place_step(static_cast<int>(s));
  }

  int count() const { return static_cast<int>(types_.size()); }
  const TensorType& type(int place) const { return types_[place]; }
  int of(int temporary) const { return places_[temporary]; }

 private:
  void place_step(int s) {
    const LoweredKernel& step = block_.steps[s];
    for (size_t i = 0; i < step.bindings.size(); ++i) {
      const KernelBinding& binding = step.bindings[i];
      if (binding.kind != KernelBinding::Kind::kTemporary || places_[binding.index] >= 0) continue;
      const TensorType& type = block_.temporaries[binding.index];
      const int over = overwritten(step, static_cast<int>(i), s);
      places_[binding.index] = over >= 0 ? over : free_place(type, s);
      needed_until_[places_[binding.index]] = last_step_[binding.index];
    }
  }

  // The place of the temporary that the output may be written over in its last step; -1: there is none.
  int overwritten(const LoweredKernel& step, int output, int s) const {
    const BufferId input = step.kernel.buffers[output].may_alias;
    if (input < 0 || step.bindings[input].kind != KernelBinding::Kind::kTemporary) return -1;
    const int temporary = step.bindings[input].index;
    const bool is_alike = block_.temporaries[temporary] == block_.temporaries[step.bindings[output].index];
    return is_alike && needed_until_.at(places_[temporary]) == s ? places_[temporary] : -1;
  }

  int free_place(const TensorType& type, int s) {
    for (int place = 0; place < count(); ++place) {
      if (types_[place] == type && needed_until_.at(place) < s) return place;
    }
    types_.push_back(type);
    return count() - 1;
  }

  const Lowering& block_;
  std::vector<int> last_step_;  // of each temporary
  std::vector<int> places_;
  std::vector<TensorType> types_;
  std::map<int, int> needed_until_;  // the step, of each place
};

class BlockKernel {
 public:
  BlockKernel(const Op& kernel, const KernelBlocks& blocks, const BlockRegion& region, Lowering block, int lanes)
      : kernel_(kernel),
        blocks_(blocks),
        region_(region),
        block_(std::move(block)),
        b_(attr_text(kernel.attr_map, "name"), lanes) {}

  Lowering lower() {
    declare();
    enter_block();
    for (const LoweredKernel& step : block_.steps) {
      std::vector<BufferPart> parts;
      for (const KernelBinding& binding : step.bindings) parts.push_back(part(binding));
      b_.run(step.kernel, parts);
    }
    Lowering whole;
    whole.steps.push_back({b_.finish(), std::move(bindings_)});
    whole.choices = std::move(block_.choices);
    return whole;
  }

 private:
  using Role = BlockRegion::Role;

  void declare() {
    for (const BlockRegion::Argument& argument : region_.arguments) {
      if (argument.role != Role::kOperand || operands_.contains(argument.index)) continue;
      const Value& operand = *kernel_.operand(argument.index);
      operands_[argument.index] =
          b_.input(operand.name.empty() ? "in" : operand.name, operand.type.dtype, operand.type.elements());
      bindings_.push_back({KernelBinding::Kind::kOperand, argument.index});
    }
    for (int r = 0; r < std::ssize(kernel_.results); ++r) {
      const Value& result = *kernel_.result(r);
      results_.push_back(b_.output(result.name.empty() ? "out" : result.name, result.type.dtype, result.type.elements(),
                                   overwritten(r)));
      bindings_.push_back({KernelBinding::Kind::kResult, r});
    }
    const ScratchPlaces places(block_);
    std::vector<BufferId> scratch;
    for (int k = 0; k < places.count(); ++k)
      scratch.push_back(b_.scratch("block", places.type(k).dtype, places.type(k).elements()));
    for (size_t t = 0; t < block_.temporaries.size(); ++t)
      temporaries_.push_back(places.of(static_cast<int>(t)) < 0 ? -1 : scratch[places.of(static_cast<int>(t))]);
  }

  // The operand that the result may be written over, or -1: a block's first step to write its part does so over the same
  // part of that, which no other argument is of, and no later step reads.
  BufferId overwritten(int result) {
    const auto writes = [&](const KernelBinding& binding) {
      return binding.kind == KernelBinding::Kind::kResult && binding.index == result;
    };
    for (auto step = block_.steps.begin(); step != block_.steps.end(); ++step) {
      const auto written = std::ranges::find_if(step->bindings, writes);
      if (written == step->bindings.end()) continue;
      const BufferId input = step->kernel.buffers[written - step->bindings.begin()].may_alias;
      if (input < 0 || step->bindings[input].kind != KernelBinding::Kind::kOperand) return -1;
      const int argument = step->bindings[input].index;
      const BlockRegion::Argument& part = region_.arguments[argument];
      const bool is_same = part.role == Role::kOperand && part.starts == region_.results[result] &&
                           kernel_.operand(part.index)->type == kernel_.result(result)->type;
      const bool is_only = std::ranges::count_if(region_.arguments, [&](const BlockRegion::Argument& other) {
                             return other.role == Role::kOperand && other.index == part.index;
                           }) == 1;
      const bool is_read_later = std::any_of(step + 1, block_.steps.end(), [&](const LoweredKernel& later) {
        return std::ranges::any_of(later.bindings, [&](const KernelBinding& binding) {
          return binding.kind == KernelBinding::Kind::kOperand && binding.index == argument;
        });
      });
      if (!is_same || !is_only || is_read_later || !overwritten_.insert(part.index).second) return -1;
      return operands_.at(part.index);
    }
    return -1;
  }

  // Where the task's block begins, and scalars that say so.
  void enter_block() {
    b_.set_task_count(blocks_.count());
    Shape counts;
    for (const KernelBlocks::Axis& axis : blocks_.axes) counts.push_back(axis.extent / axis.block);
    first_ = loops::unflatten(b_, b_.task(), counts);
    for (size_t k = 0; k < first_.size(); ++k) first_[k] = first_[k] * blocks_.axes[k].block;
    for (const BlockRegion::Argument& argument : region_.arguments) {
      if (argument.role != Role::kStart) {
        starts_.push_back(-1);
        continue;
      }
      starts_.push_back(b_.scratch("start", DType::kI64, 1));
      b_.store(starts_.back(), 0, b_.index_value(sum(argument.starts)));
    }
  }

  Index sum(const BlockStarts& starts) {
    Index sum = 0;
    for (const BlockStart& start : starts) {
      Index at = b_.divide(first_[start.axis], start.divisor);
      if (start.modulus > 0) at = b_.modulo(at, start.modulus);
      sum = sum + at * start.factor;
    }
    return sum;
  }

  // What stands for a buffer of a step.
  BufferPart part(const KernelBinding& binding) {
    if (binding.kind == KernelBinding::Kind::kTemporary) return {temporaries_[binding.index], 0};
    if (binding.kind == KernelBinding::Kind::kResult)
      return {results_[binding.index], sum(region_.results[binding.index])};
    const BlockRegion::Argument& argument = region_.arguments[binding.index];
    if (argument.role == Role::kStart) return {starts_[binding.index], 0};
    return {argument.role == Role::kWhole ? results_[argument.index] : operands_.at(argument.index),
            sum(argument.starts)};
  }

  const Op& kernel_;
  const KernelBlocks& blocks_;
  const BlockRegion& region_;
  Lowering block_;  // of one block
  loops::KernelBuilder b_;
  std::vector<KernelBinding> bindings_;
  std::map<int, BufferId> operands_;
  std::set<int> overwritten_;  // operands that results may be written over
  std::vector<BufferId> results_, temporaries_, starts_;
  std::vector<Index> first_;  // place of the block along each axis
};

}  // namespace

std::optional<Lowering> lower_in_blocks(const Op& kernel, const KernelBlocks& blocks, const loops::Target& target,
                                        const LowerOptions& options) {
  const std::unique_ptr<BlockRegion> region = block_region(kernel, blocks);
  if (!region) return std::nullopt;
  loops::Target alone = target.order();  // sums go on from block to block
  alone.machine.tasks_max = 1;           // a block is a task
  Lowering block = lower_stages(*region->kernel, alone, options);
  const std::optional<int> lanes = common_lanes(block);
  if (!lanes) return std::nullopt;
  return BlockKernel(kernel, blocks, *region, std::move(block), *lanes).lower();
}

}  // namespace ingot::schedule
