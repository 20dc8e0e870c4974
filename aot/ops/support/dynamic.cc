#include "aot/ops/support/dynamic.h"

#include <fmt/format.h>

#include "aot/graph/evaluate.h"
#include "aot/graph/result_types.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/known_value.h"

namespace ingot::ops {
namespace {

// What a value is to the user: an argument by its number, or the op that makes it.
std::string described(const Value* value) {
  const std::string name = value->name.empty() ? "" : fmt::format(" %{}", value->name);
  if (!value->op) return fmt::format("argument {}{}", value->index, name);
  return fmt::format("the result{} of {}", name, value->op->name());
}

}  // namespace

void DynamicOperands::fail_unknown(int operand, const Value* blame) const {
  const TensorType& type = op_.result()->type;
  int64_t dim = 0;
  while (dim < type.rank() && type.shape[dim] != kUnknownDim) ++dim;
  const std::string what = dim < type.rank() ? fmt::format("dimension {} of its result {}", dim, to_string(type))
                                             : fmt::format("its operand {}", operand);
  throw_error(op_.location, fmt::format("{}: {} is not known before the program runs: it depends on {}; give shapes "
                                        "and sizes to the compiler (ingot compile --shape NAME=SIZE)",
                                        op_.name(), what, described(blame)));
}

namespace {

void check_declared(const Op& op, const TensorType& type) {
  const TensorType& declared = op.result()->type;
  if (may_agree(type, declared)) return;
  throw_error(op.location, fmt::format("{}: the result is declared as {}, but is {}", op.name(), to_string(declared),
                                       to_string(type)));
}

// The static op; quantized as the dynamic one is, whatever the way there.
Value* made(MakeStatic make, GraphBuilder& b, const Op& op, const Values& operands, const DynamicOperands& known) {
  Value* result = make(b, op, operands, known);
  result->type.quantization = op.result()->type.quantization;
  check_declared(op, result->type);
  return result;
}

}  // namespace

std::vector<int64_t> DynamicOperands::ints(int operand) const {
  const Value* blame = op_.operand(operand);
  const std::optional<RefTensor> value = find_(operand, &blame);
  if (!value) fail_unknown(operand, blame);
  return value->i;
}

Shape DynamicOperands::result_shape(int operand) const {
  const TensorType& declared = op_.result()->type;
  if (declared.is_static()) return declared.shape;
  const TensorType type{declared.dtype, ints(operand), {}, declared.quantization};
  for (const int64_t dim : type.shape) {
    if (dim < 0) throw_error(op_.location, fmt::format("{}: a dimension cannot be {}", op_.name(), dim));
  }
  check_declared(op_, type);
  return type.shape;
}

DynamicOperands known_operands(const ExpandArgs& args) {
  return {args.op,
          [&op = args.op](int operand, const Value** blame) { return known_value(op.operand(operand), blame); }};
}

Values expand_dynamic(ExpandArgs& args, MakeStatic make) {
  return {made(make, args.b, args.op, args.op.operands, known_operands(args))};
}

std::vector<RefTensor> evaluate_dynamic(const EvaluateArgs& args, MakeStatic make) {
  Block scratch;
  GraphBuilder b;
  b.at_end(scratch);
  b.location = args.op.location;
  Values operands;
  for (const RefTensor& input : args.inputs) operands.push_back(scratch.add_argument(input.type));
  const DynamicOperands known(args.op, [&](int operand, const Value**) { return args.inputs[operand]; });
  b.create(kFuncReturn, {made(make, b, args.op, operands, known)});
  return args.run(scratch, {args.inputs.begin(), args.inputs.end()});
}

void check_int_list(const InferArgs& args, size_t i, std::string_view what, int64_t count) {
  const TensorType& type = args.operands[i];
  const bool fits = is_integer(type.dtype) && type.rank() == 1 &&
                    (type.shape[0] == count || type.shape[0] == kUnknownDim || count == kUnknownDim);
  if (!fits) args.fail(fmt::format("{} must be {} integers, not {}", what, count, ingot::to_string(type)));
}

const TensorType& declared_like(const InferArgs& args, const TensorType& operand) {
  const TensorType& type = args.declared_result();
  check_same_dtype(args, operand, type);
  return type;
}

Sample dynamic_sample(const std::string& arguments, const std::string& body, const std::string& result) {
  return {
      .text = "func.func @main(" + arguments + ") -> " + result + " {\n" + body + "\n  return %r : " + result + "\n}\n",
      .differentiable = false};
}

}  // namespace ingot::ops
