// stablehlo.custom_call: something that only its target's name says. Known targets:
//   check.*           a test's expectation, as the ops of check.cc; no results
//   check.eq          whether two tensors are equal, floats within 0.0001
//   Sharding, ...     where a tensor is among devices, or how it lies in memory: here, the tensor itself
//   shape_assertion   the first operand, a condition on sizes, must hold; it is checked as the program is compiled
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "aot/base/contains.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/callee.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/known_value.h"

namespace ingot::custom_call_op {
namespace {

constexpr std::string_view kIdentities[] = {
    "Sharding",
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
    "annotate_device_placement",
    "MoveToDevice",
    "MoveToHost",
    "xla.sdy.FuncResultSharding",
    "xla.sdy.GlobalToLocalShape",
    "xla.sdy.LocalToGlobalShape",
    "LayoutConstraint",
};

enum class Kind : uint8_t { kIdentity, kCheck, kEqual, kShapeAssertion, kCallback, kUnknown };

Kind kind_of(std::string_view target) {
  if (contains(kIdentities, target)) return Kind::kIdentity;
  if (target == "check.eq") return Kind::kEqual;
  if (target.starts_with("check.")) return Kind::kCheck;
  if (target == "shape_assertion") return Kind::kShapeAssertion;
  return target.find("callback") != target.npos ? Kind::kCallback : Kind::kUnknown;
}

const std::string& target_of(const Op& op) { return op.attrs().string("call_target_name"); }

[[noreturn]] void fail_unknown(const Op& op) {
  const std::string_view advice =
      kind_of(target_of(op)) == Kind::kCallback
          ? "calls the host's Python while the program runs, which no device has; compute it in the program, or "
            "outside "
            "of it and pass it as an argument"
          : "is not known here; express it in StableHLO ops, or as a stablehlo.composite with a decomposition";
  throw_limit(op.location, fmt::format("custom_call @{} {}", target_of(op), advice));
}

std::vector<TensorType> infer(const InferArgs& args) {
  const Kind kind = kind_of(args.attrs().string("call_target_name"));
  if (kind == Kind::kEqual) {
    ops::check_operand_count(args, 2);
    if (args.operands[0] != args.operands[1]) args.fail("compares two tensors of one type");
    return {{DType::kI1, {}}};
  }
  if (kind != Kind::kIdentity) return declared_results(args);
  if (args.operands.size() != args.declared.size()) args.fail("this target gives its operands back");
  return {args.operands.begin(), args.operands.end()};
}

// "{0}" and so on in the message of an assertion stand for the operands after the first.
std::string assertion_text(const Op& op, std::span<const RefTensor> values) {
  if (!op.attr_map.contains("error_message"))
    return "a condition on the sizes of the program's arguments does not hold";
  std::string text = op.attrs().string("error_message");
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string mark = fmt::format("{{{}}}", i),
                      value = values[i].i.size() == 1 ? fmt::to_string(values[i].i[0]) : "?";
    for (size_t at = text.find(mark); at != text.npos; at = text.find(mark, at + value.size())) {
      text.replace(at, mark.size(), value);
    }
  }
  return text;
}

void check_assertion(const Op& op, std::span<const RefTensor> operands) {
  if (operands[0].i.size() == 1 && operands[0].i[0]) return;
  throw_error(op.location, assertion_text(op, operands.subspan(1)));
}

constexpr double kTolerance = 0.0001;

bool are_equal(const RefTensor& x, const RefTensor& y) {
  const auto is_close = [](double a, double b) { return a == b || std::abs(a - b) <= kTolerance; };
  return std::ranges::equal(x.i, y.i) && std::ranges::equal(x.f, y.f, is_close);
}

Value* are_equal(GraphBuilder& b, Value* x, Value* y) {
  Value* equal = ops::compare(b, "EQ", x, y);
  if (is_float(x->type.dtype)) {
    Value* distance = ops::unary(b, kAbs, ops::subtract(b, x, y));
    Value* is_close = ops::compare(b, "LE", distance, ops::constant_like(b, distance, kTolerance));
    equal = ops::binary(b, kOr, equal, is_close);
  }
  return ops::reduce(b, kAnd, equal, ops::iota_dims(x->type.rank()));
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  switch (kind_of(target_of(args.op))) {
    case Kind::kIdentity:
      return {args.inputs.begin(), args.inputs.end()};
    case Kind::kCheck:
      if (args.op.results.empty()) return {};
      break;
    case Kind::kEqual: {
      RefTensor result(args.result_type());
      result.i[0] = are_equal(args.inputs[0], args.inputs[1]);
      return {std::move(result)};
    }
    case Kind::kShapeAssertion:
      if (args.inputs.empty()) break;
      check_assertion(args.op, args.inputs);
      return {};
    default:
      break;
  }
  fail_unknown(args.op);
}

Values expand(ExpandArgs& args) {
  switch (kind_of(target_of(args.op))) {
    case Kind::kIdentity:
      return args.op.operands;
    case Kind::kCheck:
      if (args.op.results.empty()) return {};
      break;
    case Kind::kEqual:
      return {are_equal(args.b, args.operand(0), args.operand(1))};
    case Kind::kShapeAssertion: {
      if (args.op.operands.empty()) break;
      std::vector<RefTensor> operands;
      for (const Value* operand : args.op.operands) {
        const auto value = ops::known_value(operand);
        if (!value) throw_error(args.op.location, "shape_assertion: its condition does not follow from sizes alone");
        operands.push_back(*value);
      }
      check_assertion(args.op, operands);
      return {};
    }
    default:
      break;
  }
  fail_unknown(args.op);
}

Values gradient(GradientArgs& args) {
  if (kind_of(target_of(args.op)) != Kind::kIdentity) {
    throw_error(args.op.location, fmt::format("custom_call @{} has no gradient", target_of(args.op)));
  }
  return {args.result_gradients.begin(), args.result_gradients.end()};
}

std::vector<Sample> samples() {
  return {{.text = "func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
                   "  %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = \"{replicated}\"} : "
                   "(tensor<2x3xf32>) -> tensor<2x3xf32>\n"
                   "  return %0 : tensor<2x3xf32>\n"
                   "}\n"}};
}

}  // namespace

extern const OpDef kCustomCall = {
    .name = "stablehlo.custom_call",
    .doc = "What the named target computes; few targets are known.",
    .assembly = "symbol(call_target_name) `(` operands `)` attr-dict :functional",
    .infer = infer,
    .evaluate = evaluate,
    .gradient = gradient,
    .expand = expand,
    .samples = samples,
    .root = KernelRoot::kNone,
    .has_side_effect = true,
    .infers_dynamic_shapes = true,
    .keeps_bits = true,
    .infer_sees_quantized = true,
};

}  // namespace ingot::custom_call_op
