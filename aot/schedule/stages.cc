#include <algorithm>
#include <map>

#include "aot/base/contains.h"
#include "aot/graph/attributes.h"
#include "aot/ops/support/build.h"
#include "aot/schedule/blocks.h"

namespace ingot::schedule {
namespace {

// The stages of a kernel's region, one after the other, as kernels.
class Stages {
 public:
  Stages(const Op& kernel, const loops::Target& target, const LowerOptions& options)
      : kernel_(kernel), target_(target), options_(options) {
    for (const auto& argument : body().arguments)
      places_[argument.get()] = {KernelBinding::Kind::kOperand, argument->index};
  }

  Lowering lower() {
    std::map<int64_t, Values> stages;
    const Values& results = body().terminator()->operands;
    for (const auto& op : body().ops) {
      if (op->attr_map.contains(kStage)) stages[op->attrs().integer(kStage)].push_back(op->result());
    }
    Values rest;
    for (Value* result : results) {
      if (result->op && !result->op->attr_map.contains(kStage) && !contains(rest, result)) rest.push_back(result);
    }
    for (const auto& [stage, values] : stages) lower_stage(values);
    if (!rest.empty()) lower_stage(rest);
    return std::move(whole_);
  }

 private:
  const Block& body() const { return kernel_.region(); }

  void lower_stage(const Values& values) {
    Block block;
    auto region = std::make_unique<Block>();
    ValueMap map;
    Values operands, inputs, yielded;
    const auto copy = [&](const auto& self, const Value* value) -> Value* {
      if (const auto made = map.find(value); made != map.end()) return made->second;
      if (places_.contains(value)) {
        inputs.push_back(const_cast<Value*>(value));
        operands.push_back(block.add_argument(value->type, value->name));
        return map[value] = region->add_argument(value->type, value->name);
      }
      for (const Value* operand : value->op->operands) self(self, operand);
      Op* copied = copy_op(*value->op, *region, map);
      copied->attr_map.erase(kStage);
      return copied->result(value->index);
    };
    for (const Value* value : values) yielded.push_back(copy(copy, value));
    GraphBuilder b;
    b.location = kernel_.location;
    b.at_end(*region);
    b.create(kYield, yielded);
    b.at_end(block);
    std::vector<std::unique_ptr<Block>> regions;
    regions.push_back(std::move(region));
    const std::string name = attr_text(kernel_.attr_map, "name");
    const Op* stage = b.create(kKernel, operands, {{"name", Attr(name)}}, {}, std::move(regions));
    add(ingot::lower(*stage, target_, options_), inputs, values);
  }

  // The steps of a stage that reads `inputs` and makes `values`.
  void add(Lowering stage, const Values& inputs, const Values& values) {
    std::vector<KernelBinding> results;
    for (const Value* value : values) results.push_back(place_result(value));
    const auto first_temporary = static_cast<int>(whole_.temporaries.size());
    std::ranges::move(stage.temporaries, std::back_inserter(whole_.temporaries));
    std::ranges::move(stage.choices, std::back_inserter(whole_.choices));
    for (LoweredKernel& step : stage.steps) {
      for (KernelBinding& binding : step.bindings) {
        if (binding.kind == KernelBinding::Kind::kTemporary) {
          binding.index += first_temporary;
        } else if (binding.kind == KernelBinding::Kind::kOperand) {
          binding = places_.at(inputs[binding.index]);
        } else {
          const bool is_update = binding.is_update;
          binding = results[binding.index];
          binding.is_update = is_update;
        }
      }
      whole_.steps.push_back(std::move(step));
    }
    for (size_t i = 0; i < values.size(); ++i) places_[values[i]] = results[i];
  }

  KernelBinding place_result(const Value* value) {
    const Values& results = body().terminator()->operands;
    const auto found = std::ranges::find(results, value);
    if (found != results.end()) return {KernelBinding::Kind::kResult, static_cast<int>(found - results.begin())};
    whole_.temporaries.push_back(value->type);
    return {KernelBinding::Kind::kTemporary, static_cast<int>(whole_.temporaries.size()) - 1};
  }

  const Op& kernel_;
  const loops::Target& target_;
  const LowerOptions& options_;
  Lowering whole_;
  std::map<const Value*, KernelBinding> places_;
};

}  // namespace

Lowering lower_stages(const Op& kernel, const loops::Target& target, const LowerOptions& options) {
  return Stages(kernel, target, options).lower();
}

}  // namespace ingot::schedule
