#include <fmt/format.h>

#include "aot/ops/support/elementwise.h"

namespace ingot::is_finite_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) { return {{DType::kI1, infer_same(args, 1, kFloats)[0].shape}}; }

template <bool (*holds)(double)>
std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  RefTensor y(args.result_type());
  for (int64_t k = 0; k < y.elements(); ++k) y.i[k] = holds(args.inputs[0].f[k]);
  return {std::move(y)};
}

bool is_finite(double x) { return std::isfinite(x); }
bool is_infinite(double x) { return std::isinf(x); }
bool is_plus_infinity(double x) { return x == INFINITY; }
bool is_minus_infinity(double x) { return x == -INFINITY; }

loops::Expr is_infinite_element(loops::ElementArgs& args) {
  return equal(abs(Scalar(args.b, args.operand(0))), INFINITY);
}

template <int sign>
loops::Expr is_infinity_element(loops::ElementArgs& args) {
  return equal(Scalar(args.b, args.operand(0)), sign * INFINITY);
}

std::vector<Sample> samples_of(std::string_view name, bool parenthesized) {
  std::vector<Sample> samples;
  for (const TensorType& type : {TensorType{DType::kF32, {37}}, TensorType{DType::kF64, {5, 7}},
                                 TensorType{DType::kF16, {37}}, TensorType{DType::kBF16, {}}}) {
    const TensorType result{DType::kI1, type.shape};
    const std::string from = fmt::format(fmt::runtime(parenthesized ? "({})" : "{}"), to_string(type));
    samples.push_back(
        {.text = sample_text({type}, result, fmt::format("{} %a0 : {} -> {}", name, from, to_string(result))),
         .specials = true});
  }
  return samples;
}

constexpr OpDef predicate(OpDef def) {
  def.assembly = "operands attr-dict :functional";
  def.infer = infer;
  def.zero_gradient = true;
  def.is_elementwise = true;
  return def;
}

}  // namespace

extern const OpDef kIsFinite = predicate({
    .name = "stablehlo.is_finite",
    .doc = "y = whether x is neither infinite nor NaN.",
    .evaluate = evaluate<is_finite>,
    .samples = [] { return samples_of("stablehlo.is_finite", true); },
    .element = element_of<ScalarOp::kIsFinite>,
});

extern const OpDef kIsInf = predicate({
    .name = "chlo.is_inf",
    .doc = "y = whether x is infinite.",
    .evaluate = evaluate<is_infinite>,
    .samples = [] { return samples_of("chlo.is_inf", false); },
    .element = is_infinite_element,
});

extern const OpDef kIsPosInf = predicate({
    .name = "chlo.is_pos_inf",
    .doc = "y = whether x is infinity.",
    .evaluate = evaluate<is_plus_infinity>,
    .samples = [] { return samples_of("chlo.is_pos_inf", false); },
    .element = is_infinity_element<1>,
});

extern const OpDef kIsNegInf = predicate({
    .name = "chlo.is_neg_inf",
    .doc = "y = whether x is -infinity.",
    .evaluate = evaluate<is_minus_infinity>,
    .samples = [] { return samples_of("chlo.is_neg_inf", false); },
    .element = is_infinity_element<-1>,
});

}  // namespace ingot::is_finite_op
