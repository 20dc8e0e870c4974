#include <fmt/format.h>

#include <algorithm>

#include "aot/analysis/walk.h"
#include "aot/ops/support/build.h"
#include "aot/passes/pass.h"

namespace ingot {
namespace {

bool is_complex_value(const Value* value) { return is_complex(value->type.dtype); }

bool has_complex(const std::vector<std::unique_ptr<Value>>& values) {
  return std::ranges::any_of(values, [](const auto& value) { return is_complex_value(value.get()); });
}

TensorType part_type(const TensorType& type) { return {part_of(type.dtype), type.shape}; }

// At a function's boundary: the pairs of a complex tensor are one more, last dimension.
TensorType view_type(const TensorType& type) {
  TensorType view = part_type(type);
  view.shape.push_back(2);
  return view;
}

Value* part_of_view(GraphBuilder& b, Value* view, int64_t part) {
  Shape start(view->type.shape.size(), 0), limit = view->type.shape;
  start.back() = part;
  limit.back() = part + 1;
  Value* slice = ops::slice(b, view, start, limit, Shape(limit.size(), 1));
  limit.pop_back();
  return ops::reshape(b, slice, limit);
}

Value* view_of(GraphBuilder& b, const Parts& parts) {
  Shape shape = parts.re->type.shape;
  const auto last = static_cast<int64_t>(shape.size());
  shape.push_back(1);
  Value* re = ops::reshape(b, parts.re, shape);
  Value* im = ops::reshape(b, parts.im, shape);
  return ops::concatenate(b, {re, im}, last);
}

// A complex value stays, with its parts noted, until all ops that read it are replaced, too.
class Splitter {
 public:
  // Ops that an error left unreplaced read nothing that goes.
  ~Splitter() {
    for (const auto& argument : replaced_arguments_) {
      for (const Value::Use& use : argument->uses) use.op->operands[use.operand_index] = nullptr;
    }
  }

  bool run(Function& function) {
    split_arguments(function);
    split_ops(function.body);
    split_results(function);
    while (!replaced_.empty()) {
      erase(replaced_.back());
      replaced_.pop_back();
    }
    return !parts_.empty();
  }

 private:
  bool is_split(const Value* value) const { return parts_.contains(value); }

  Parts parts_of(Value* value) const {
    const auto found = parts_.find(value);
    if (found != parts_.end()) return found->second;
    INGOT_CHECK(!is_complex_value(value));
    return {value};
  }

  void set(Value* value, Parts parts) {
    INGOT_CHECK(parts.re && parts.re->type == part_type(value->type));
    if (is_complex_value(value)) {
      INGOT_CHECK(parts.im && parts.im->type == parts.re->type);
      parts_[value] = parts;
    } else {
      INGOT_CHECK(!parts.im);
      if (parts.re->name.empty() && parts.re->op) parts.re->name = value->name;
      replace_all_uses(value, parts.re);
    }
  }

  void split_arguments(Function& function) {
    b_.before(*function.body.ops.front());
    replace_arguments(function.body, [&](const Value& argument) -> Parts {
      b_.location = argument.location;
      const bool is_complex = is_complex_value(&argument);
      const TensorType type = is_complex ? view_type(argument.type) : argument.type;
      Value* made = function.body.add_argument(type, argument.name, argument.location);
      if (!is_complex) return {made};
      Value* re = part_of_view(b_, made, 0);
      return {re, part_of_view(b_, made, 1)};
    });
  }

  void split_results(Function& function) {
    Op* end = function.body.terminator();
    b_.before(*end);
    b_.location = end->location;
    for (size_t i = 0; i < end->operands.size(); ++i) {
      if (!is_split(end->operands[i])) continue;
      end->set_operand(static_cast<int>(i), view_of(b_, parts_.at(end->operands[i])));
      function.results[i].type = end->operands[i]->type;
    }
  }

  // The ops of a block but its terminator.
  void split_ops(Block& block) {
    for (auto at = block.ops.begin(); std::next(at) != block.ops.end();) {
      Op& op = **at++;
      if (has_complex(op.results) || std::ranges::any_of(op.operands, [&](Value* value) { return is_split(value); })) {
        split(op);
      } else {
        for (const auto& region : op.regions) split_region(*region);
      }
    }
  }

  void split(Op& op) {
    if (!op.def->split) {
      throw_limit(op.location, fmt::format("{} cannot be compiled for complex numbers yet", op.name()));
    }
    std::vector<Parts> operands;
    for (Value* operand : op.operands) operands.push_back(parts_of(operand));
    b_.before(op);
    b_.location = op.location;
    const std::function<void(Block&)> split_inside = [&](Block& region) {
      split_region(region);
      b_.before(op);
      b_.location = op.location;
    };
    SplitArgs args{b_, op, operands, split_inside};
    const std::vector<Parts> results = op.def->split(args);
    INGOT_CHECK(results.size() == op.results.size());
    for (size_t i = 0; i < results.size(); ++i) set(op.result(static_cast<int>(i)), results[i]);
    replaced_.push_back(&op);
  }

  void split_region(Block& block) {
    split_arguments(block);
    split_ops(block);
    Op* end = block.terminator();
    if (!std::ranges::any_of(end->operands, [&](Value* value) { return is_split(value); })) return;
    Values operands;
    for (Value* operand : end->operands) {
      const Parts parts = parts_of(operand);
      operands.push_back(parts.re);
      if (parts.im) operands.push_back(parts.im);
    }
    b_.before(*end);
    b_.location = end->location;
    b_.create(*end->def, operands, end->attr_map);
    erase(end);
  }

  void split_arguments(Block& block) {
    replace_arguments(block, [&](const Value& argument) -> Parts {
      const TensorType type = part_type(argument.type);
      Value* re = block.add_argument(type, argument.name, argument.location);
      return {re, is_complex_value(&argument) ? block.add_argument(type, "", argument.location) : nullptr};
    });
  }

  void replace_arguments(Block& block, const std::function<Parts(const Value&)>& parts_of_argument) {
    if (!has_complex(block.arguments)) return;
    std::vector<std::unique_ptr<Value>> old = std::move(block.arguments);
    block.arguments.clear();
    for (const auto& argument : old) set(argument.get(), parts_of_argument(*argument));
    std::ranges::move(old, std::back_inserter(replaced_arguments_));
  }

  GraphBuilder b_;
  std::map<const Value*, Parts> parts_;
  std::vector<std::unique_ptr<Value>> replaced_arguments_;  // outlive the ops that read them
  std::vector<Op*> replaced_;                               // in an order in which later ones read earlier ones
};

}  // namespace

bool split_complex(Module& module, PassContext&) {
  bool changed = false;
  for (const auto& function : module.functions) changed |= Splitter().run(*function);
  return changed;
}

}  // namespace ingot
