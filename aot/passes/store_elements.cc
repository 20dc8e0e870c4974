#include "aot/passes/store_elements.h"

#include <algorithm>
#include <unordered_map>

#include "aot/analysis/walk.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/region.h"

namespace ingot {
namespace {

class Storing {
 public:
  explicit Storing(const ElementStorage& storage) : storage_(storage) {}

  bool changed() const { return !types_.empty(); }

  void function(Function& function) {
    statements(function.body);
    for (FunctionResult& result : function.results) {
      if (storage_.holds(result.type)) result.type = storage_.stored(result.type);
    }
  }

 private:
  // A block of stored values: a function's, or a region's of control flow.
  void statements(Block& block) {
    const DecodedScope scope(*this);
    for (const auto& argument : block.arguments) retype_stored(*argument);
    for (auto at = block.ops.begin(); at != block.ops.end();) {
      Op& op = **at++;
      if (is_control_flow(op)) {
        for (const auto& region : op.regions) statements(*region);
      } else {
        for (const auto& region : op.regions) scalars(*region);
      }
      if (!op.def->is_terminator) statement(op);
    }
  }

  void statement(Op& op) {
    if (!concerns(op)) return;
    if (op.is(kConstant)) return store_constant(op);
    b_.before(op);
    b_.location = op.location;
    if (const Values made = storage_.rewrite(b_, op, types_of(op)); !made.empty()) return replace(op, made);
    if (is_control_flow(op) || acts_on_integers(op)) {
      for (const auto& result : op.results) retype_stored(*result);
      return;
    }
    if (storage_.is_conversion(op)) return convert(op, /*keeps_computed=*/false);
    if (op.attrs().has("value") && op.attrs().literal("value")->type == op.operand(0)->type) return;  // as it is stored
    decode_operands(op);
    compute_literal(op);
    for (const auto& result : op.results) {
      if (!storage_.holds(result->type)) continue;
      const TensorType type = result->type;
      retype(*result, storage_.computed(type));
      after(op, *result, [&](Value* value) { return noted(storage_.encode(b_, value, type), type); });
    }
  }

  // A block of computed values, scalars: of a reduction, a sort, ...
  void scalars(Block& block) {
    const DecodedScope scope(*this);
    const bool is_one_op = ops::binary_region_op(block) != nullptr;
    for (const auto& argument : block.arguments) retype_computed(*argument);
    for (auto at = block.ops.begin(); at != block.ops.end();) {
      Op& op = **at++;
      for (const auto& region : op.regions) scalars(*region);
      b_.before(op);
      b_.location = op.location;
      if (concerns(op)) scalar(op, is_one_op);
    }
  }

  void scalar(Op& op, bool is_one_op) {
    if (op.is(kConstant)) return compute_constant(op);
    if (storage_.is_conversion(op)) return convert(op, /*keeps_computed=*/true);
    if (acts_on_integers(op) && op.def->infer_sees_quantized && !op.def->is_terminator) return act_on_integers(op);
    decode_operands(op);
    const bool rounds = !is_one_op && !is_control_flow(op) && !acts_on_integers(op);
    for (const auto& result : op.results) {
      if (!storage_.holds(result->type)) continue;
      const TensorType type = result->type;
      retype(*result, storage_.computed(type));
      if (rounds) after(op, *result, [&](Value* value) { return rounded(value, type); });
    }
  }

  // A bitcast among scalars.
  void act_on_integers(Op& op) {
    for (size_t i = 0; i < op.operands.size(); ++i) {
      const auto found = types_.find(op.operands[i]);
      if (found == types_.end() || is_stored(op.operands[i])) continue;
      op.set_operand(static_cast<int>(i), storage_.encode(b_, op.operands[i], found->second));
    }
    for (const auto& result : op.results) {
      if (!storage_.holds(result->type)) continue;
      const TensorType type = result->type;
      retype(*result, storage_.stored(type));
      after(op, *result, [&](Value* value) { return noted(storage_.decode(b_, value, type), type); });
    }
  }

  // The operand, decoded, as the result's type wants it.
  void convert(Op& op, bool keeps_computed) {
    Value* value = decoded(op.operand(0));
    const TensorType type = op.result()->type;
    if (!storage_.holds(type)) return replace_op(&op, {ops::convert(b_, value, type.dtype)});
    if (keeps_computed) {
      value = rounded(value, type);
      op.result()->type = storage_.computed(type);
    } else {
      value = noted(storage_.encode(b_, value, type), type);
      op.result()->type = storage_.stored(type);
    }
    replace_op(&op, {value});
  }

  void replace(Op& op, const Values& made) {
    for (size_t i = 0; i < made.size(); ++i) {
      Value& result = *op.results[i];
      if (!storage_.holds(result.type)) continue;
      noted(made[i], result.type);
      result.type = storage_.stored(result.type);
    }
    replace_op(&op, made);
  }

  // Everyone who reads the result reads what `make` makes of it, right behind the op.
  template <typename Make>
  void after(Op& op, Value& result, Make make) {
    const std::vector<Value::Use> uses = result.uses;
    b_.before(**std::next(op.self));
    Value* made = make(&result);
    if (made->name.empty()) std::swap(made->name, result.name);
    for (const Value::Use& use : uses) use.op->set_operand(use.operand_index, made);
    b_.before(op);
  }

  void decode_operands(Op& op) {
    for (size_t i = 0; i < op.operands.size(); ++i) {
      Value* value = decoded(op.operands[i]);
      if (value != op.operands[i]) value = as_region_sums(op, i, value);
      op.set_operand(static_cast<int>(i), value);
    }
  }

  // A reduction's region may have another type than what is reduced: a wider one.
  Value* as_region_sums(const Op& op, size_t operand, Value* value) {
    if (op.regions.size() != 1 || op.def->expand != ops::converted_for_region) return value;
    const Value* argument = ops::region_argument(op, operand);
    return argument ? ops::convert(b_, value, argument->type.dtype) : value;
  }

  // A value to compute with: what was decoded above need not be again.
  Value* decoded(Value* value) {
    if (!types_.contains(value) || !is_stored(value)) return value;
    Value*& found = decoded_[value];
    if (!found) {
      found = storage_.decode(b_, value, types_.at(value));
      decoded_order_.push_back(value);
    }
    return found;
  }

  // What is decoded in a block is known there alone.
  class DecodedScope {
   public:
    explicit DecodedScope(Storing& storing) : storing_(storing), mark_(storing.decoded_order_.size()) {}
    DecodedScope(const DecodedScope&) = delete;
    DecodedScope& operator=(const DecodedScope&) = delete;
    ~DecodedScope() {
      for (; storing_.decoded_order_.size() > mark_; storing_.decoded_order_.pop_back()) {
        storing_.decoded_.erase(storing_.decoded_order_.back());
      }
    }

   private:
    Storing& storing_;
    size_t mark_;
  };

  Value* rounded(Value* value, const TensorType& type) {
    return noted(storage_.decode(b_, storage_.encode(b_, value, type), type), type);
  }

  // A made value, and what it stands for.
  Value* noted(Value* value, const TensorType& type) {
    types_[value] = type;
    return value;
  }

  void retype(Value& value, const TensorType& to) {
    types_[&value] = value.type;
    value.type = to;
  }
  void retype_stored(Value& value) {
    if (storage_.holds(value.type)) retype(value, storage_.stored(value.type));
  }
  void retype_computed(Value& value) {
    if (storage_.holds(value.type)) retype(value, storage_.computed(value.type));
  }
  bool is_stored(const Value* value) const { return value->type.dtype == storage_.stored(types_.at(value)).dtype; }

  void store_constant(Op& op) {
    retype_stored(*op.result());
    auto literal = std::make_shared<Literal>(*op.attrs().literal("value"));
    literal->type = op.result()->type;
    op.attr_map.insert_or_assign("value", LiteralRef(std::move(literal)));
  }

  // Of a check, which compares an operand with it.
  void compute_literal(Op& op) {
    const auto found = op.attr_map.find("value");
    if (found == op.attr_map.end()) return;
    const LiteralRef literal = op.attrs().literal("value");
    if (!storage_.holds(literal->type)) return;
    RefTensor values = from_literal(*literal);
    values.type = storage_.computed(literal->type);
    found->second = to_literal(values);
  }

  void compute_constant(Op& op) {
    const TensorType type = op.result()->type;
    store_constant(op);
    after(op, *op.result(), [&](Value* value) { return noted(storage_.decode(b_, value, type), type); });
  }

  bool concerns(const Op& op) const {
    const auto is_held = [&](const Value* value) { return types_.contains(value); };
    return std::ranges::any_of(op.operands, is_held) ||
           std::ranges::any_of(op.results, [&](const auto& result) { return storage_.holds(result->type); });
  }

  ElementStorage::Types types_of(const Op& op) const {
    ElementStorage::Types types;
    for (const Value* operand : op.operands) {
      const auto found = types_.find(operand);
      types.operands.push_back(found == types_.end() ? operand->type : found->second);
    }
    for (const auto& result : op.results) types.results.push_back(result->type);
    return types;
  }

  // Whether the op may have the integers in the place of the values for which they stand.
  bool acts_on_integers(const Op& op) const {
    if (op.def->is_terminator) return true;
    if (!op.def->only_moves() && !op.def->keeps_bits) return false;
    if (op.def->infer_sees_quantized) return true;
    const ElementStorage::Types types = types_of(op);
    for (const TensorType& from : types.operands) {
      for (const TensorType& to : types.results) {
        if (storage_.holds(from) && storage_.holds(to) && !storage_.keeps_meaning(op, from, to)) return false;
      }
    }
    return true;
  }

  const ElementStorage& storage_;
  GraphBuilder b_;
  std::unordered_map<const Value*, TensorType> types_;  // what stored and computed values were, or stand for
  std::unordered_map<const Value*, Value*> decoded_;    // stored values, in the blocks that are open
  std::vector<const Value*> decoded_order_;
};

}  // namespace

bool store_elements(Module& module, const ElementStorage& storage) {
  Storing storing(storage);
  for (const auto& function : module.functions) storing.function(*function);
  return storing.changed();
}

}  // namespace ingot
