// Ops whose result's shape is a value: stablehlo.dynamic_reshape and its like. Once that value is known, each is a
// static op of the same family; that is how they are evaluated and how they expand.
//
// The result's type may be declared with unknown dimensions. Such an op has its type for as long as nothing is known;
// refine_shapes expands it when it is. Where the declared type is static, it says the shape.
#pragma once

#include <functional>
#include <optional>

#include "aot/ops/support/build.h"

namespace ingot::ops {

// The parameters of a dynamic op that its operands hold.
class DynamicOperands {
 public:
  using Find = std::function<std::optional<RefTensor>(int operand, const Value** blame)>;

  DynamicOperands(const Op& op, Find find) : op_(op), find_(std::move(find)) {}

  bool is_known(int operand) const { return find_(operand, nullptr).has_value(); }
  // The integers in an operand; an error that says what they depend on when they are not known.
  std::vector<int64_t> ints(int operand) const;

  // The result's shape: as declared, or, where that has unknown dimensions, the integers in an operand. An error where
  // both differ in a dimension.
  Shape result_shape(int operand) const;

 private:
  [[noreturn]] void fail_unknown(int operand, const Value* blame) const;

  const Op& op_;
  Find find_;
};

// Makes the static op. `operands` are those of `op`, or stand for them.
using MakeStatic = Value* (*)(GraphBuilder& b, const Op& op, const Values& operands, const DynamicOperands& known);

DynamicOperands known_operands(const ExpandArgs& args);
Values expand_dynamic(ExpandArgs& args, MakeStatic make);
std::vector<RefTensor> evaluate_dynamic(const EvaluateArgs& args, MakeStatic make);

template <MakeStatic make>
Values expand_dynamic(ExpandArgs& args) {
  return expand_dynamic(args, make);
}
template <MakeStatic make>
std::vector<RefTensor> evaluate_dynamic(const EvaluateArgs& args) {
  return evaluate_dynamic(args, make);
}

// Operand `i` is a list of `count` integers (any number where it is unknown).
void check_int_list(const InferArgs& args, size_t i, std::string_view what, int64_t count);

// The declared result, which has the operand's element type.
const TensorType& declared_like(const InferArgs& args, const TensorType& operand);

// The columns that these ops share.
template <MakeStatic make>
constexpr OpDef dynamic(OpDef def) {
  def.evaluate = evaluate_dynamic<make>;
  def.expand = expand_dynamic<make>;
  def.root = KernelRoot::kNone;
  def.infers_dynamic_shapes = true;
  return def;
}

// A function that returns the %r of its body.
Sample dynamic_sample(const std::string& arguments, const std::string& body, const std::string& result);

}  // namespace ingot::ops
