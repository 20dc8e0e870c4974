#include <fmt/format.h>

#include "aot/ops/support/complex/split.h"
#include "aot/ops/support/elementwise.h"
#include "aot/ops/support/total_order.h"

namespace ingot::compare_op {
namespace {

// What a direction answers for each outcome. No outcome holds where a NaN is compared (except in total order).
struct Direction {
  std::string_view name;
  ScalarOp op;
  bool when_less, when_equal, when_greater, when_unordered;
};
constexpr Direction kDirections[] = {
    {"EQ", ScalarOp::kEqual, false, true, false, false},   {"NE", ScalarOp::kNotEqual, true, false, true, true},
    {"LT", ScalarOp::kLess, true, false, false, false},    {"LE", ScalarOp::kLessEqual, true, true, false, false},
    {"GT", ScalarOp::kGreater, false, false, true, false}, {"GE", ScalarOp::kGreaterEqual, false, true, true, false},
};

const Direction* find_direction(std::string_view name) {
  for (const Direction& direction : kDirections) {
    if (direction.name == name) return &direction;
  }
  return nullptr;
}

bool is_total_order(const Attrs& attrs) {
  return attrs.has("compare_type") && attrs.string("compare_type") == "TOTALORDER";
}

std::vector<TensorType> infer(const InferArgs& args) {
  const std::vector<TensorType> type = infer_same(args, 2, kAnyDType);
  const std::string& direction = args.attrs().string("comparison_direction");
  if (!find_direction(direction))
    args.fail("unknown comparison_direction " + direction + "; there are EQ NE LT LE GT GE");
  if (is_complex(type[0].dtype) && direction != "EQ" && direction != "NE") {
    args.fail(fmt::format("{} has no order: {} does not compare it; EQ and NE do", to_string(type[0]), direction));
  }
  return {{DType::kI1, type[0].shape}};
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const RefTensor& x = args.inputs[0];
  const RefTensor& y = args.inputs[1];
  const Direction& direction = *find_direction(args.attrs().string("comparison_direction"));
  const bool total_order = is_total_order(args.attrs());
  const auto answer = [&](bool is_less, bool is_equal, bool is_unordered) {
    if (is_unordered) return direction.when_unordered;
    return is_less ? direction.when_less : is_equal ? direction.when_equal : direction.when_greater;
  };
  RefTensor z(args.result_type());
  for (int64_t k = 0; k < z.elements(); ++k) {
    if (x.is_complex()) {
      z.i[k] = answer(false, x.complex_at(k) == y.complex_at(k), x.complex_at(k) != y.complex_at(k));
    } else if (!x.is_float()) {
      z.i[k] = answer(less(x.i[k], y.i[k], x.type.dtype), x.i[k] == y.i[k], false);
    } else if (total_order) {
      const int64_t x_key = ops::total_order_key(x.f[k]), y_key = ops::total_order_key(y.f[k]);
      z.i[k] = answer(x_key < y_key, x_key == y_key, false);
    } else {
      z.i[k] = answer(x.f[k] < y.f[k], x.f[k] == y.f[k], std::isnan(x.f[k]) || std::isnan(y.f[k]));
    }
  }
  return {std::move(z)};
}

loops::Expr element(loops::ElementArgs& args) {
  Scalar x(args.b, args.operand(0)), y(args.b, args.operand(1));
  if (is_total_order(args.op.attrs()) && is_float(x.dtype())) {
    const DType integer = loops::signed_of(x.dtype());
    x = ops::total_order_key(x.bitcast(integer));
    y = ops::total_order_key(y.bitcast(integer));
  }
  return x.apply(find_direction(args.op.attrs().string("comparison_direction"))->op, y);
}

// Equal where both parts are.
std::vector<Parts> split(SplitArgs& args) {
  const std::string& direction = args.attrs().string("comparison_direction");
  Value* re = ops::compare(args.b, direction, args.re(0), args.re(1));
  Value* im = ops::compare(args.b, direction, args.im(0), args.im(1));
  return {{ops::binary(args.b, direction == "EQ" ? kAnd : kOr, re, im)}};
}

std::vector<Sample> samples() {
  const auto text = [](std::string_view direction, const TensorType& type, std::string_view suffix) {
    const TensorType result{DType::kI1, type.shape};
    return sample_text({type, type}, result,
                       fmt::format("stablehlo.compare {}, %a0, %a1{} : ({}, {}) -> {}", direction, suffix,
                                   to_string(type), to_string(type), to_string(result)));
  };
  std::vector<Sample> samples;
  for (const Direction& direction : kDirections) {
    for (const DType dtype : {DType::kF32, DType::kF64, DType::kI32, DType::kUI32, DType::kI1}) {
      samples.push_back(
          {.text = text(direction.name, {dtype, {37}}, ""), .integer_low = -3, .integer_high = 3, .specials = true});
    }
  }
  for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
    samples.push_back({.text = text("LT", {dtype, {3, 7}}, ", TOTALORDER"), .specials = true});
  }
  for (const DType dtype : {DType::kC64, DType::kC128}) {
    for (const std::string_view direction : {"EQ", "NE"}) {
      samples.push_back({.text = text(direction, {dtype, {11}}, ", FLOAT"), .specials = true});
    }
  }
  samples.push_back({.text = text("GE", {DType::kUI8, {5}}, ", UNSIGNED"), .specials = true});
  samples.push_back({.text = text("EQ", {DType::kF32, {}}, ", FLOAT")});
  samples.push_back({.text = text("EQ", {DType::kF32, {0}}, "")});
  return samples;
}

}  // namespace

extern const OpDef kCompare = {
    .name = "stablehlo.compare",
    .doc = "z = whether x and y compare as comparison_direction says; with a NaN only NE holds.",
    .assembly =
        "enum(comparison_direction, comparison_direction) `,` operands (`,` enum(compare_type, comparison_type))? "
        "attr-dict :functional",
    .infer = infer,
    .evaluate = evaluate,
    .zero_gradient = true,
    .split = split,
    .samples = samples,
    .element = element,
    .is_elementwise = true,
};

}  // namespace ingot::compare_op
