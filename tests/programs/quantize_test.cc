// Quantized tensors: what evaluation says beside StableHLO's formulas written out,
// and compiled programs beside evaluation.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "aot/graph/quantization.h"
#include "aot/graph/text/parse.h"
#include "aot/graph/text/print.h"
#include "aot/ops/support/build.h"
#include "tests/support/compiled_case.h"
#include "tests/support/error_of.h"

namespace ingot {
namespace {

TensorType type_of(const std::string& text) {
  const auto module = parse_module("func.func private @f(%x: " + text + ") { return }", "type", all_ops());
  return module->functions[0]->body.argument(0)->type;
}

// Any integers of the storage type, with its ends.
RefTensor drawn(const std::string& text, uint64_t seed) {
  const TensorType type = type_of(text);
  std::mt19937_64 random(seed);
  if (!type.quantization) {
    RefTensor tensor(type);
    std::uniform_real_distribution<double> values(-3, 3);
    for (double& value : tensor.f) value = values(random);
    for (int64_t& value : tensor.i) value = static_cast<int64_t>(random() & 1);
    round_in_place(tensor);
    return tensor;
  }
  const Quantization& q = *type.quantization;
  RefTensor integers(storage_type(type));
  std::uniform_int_distribution<int64_t> values(std::max<int64_t>(q.storage_min, -3000),
                                                std::min<int64_t>(q.storage_max, 3000));
  for (int64_t& value : integers.i) value = values(random);
  if (integers.i.size() > 2) integers.i[0] = values.max(), integers.i[1] = values.min();
  return from_storage(type, integers);
}

// `op` is "stablehlo.add %x0, %x1".
CompiledCase make_case(const std::string& op, const std::vector<std::string>& types, const std::string& result,
                       int64_t tolerance = 0) {
  CompiledCase it;
  std::string written;
  for (const std::string& type : types) {
    written += (written.empty() ? "" : ", ") + type;
    it.inputs.push_back(drawn(type, 7 + it.inputs.size()));
  }
  it.body = fmt::format("%r = {} : ({}) -> {}", op, written, result);
  it.result = type_of(result);
  it.tolerance = tolerance;
  return it;
}

// --- definitions -----------------------------------------------------------------------------------------------------

// The specification's formulas, in floats.
int64_t quantize(float x, float scale, int64_t zero_point, int64_t least, int64_t greatest) {
  const float scaled = x / scale + static_cast<float>(zero_point);
  const float clamped = std::min(std::max(scaled, static_cast<float>(least)), static_cast<float>(greatest));
  return static_cast<int64_t>(std::nearbyintf(clamped));
}
float dequantize(int64_t integer, float scale, int64_t zero_point) {
  return static_cast<float>(integer - zero_point) * scale;
}

TEST(Quantize, FollowsTheFormulas) {
  const auto module = parse_module(
      "func.func @to(%x: tensor<64x2xf32>) -> tensor<64x2x!quant.uniform<i8<-100:120>:f32:1, {0.1:-30,0.07:5}>> {\n"
      "  %0 = stablehlo.uniform_quantize %x : (tensor<64x2xf32>) -> tensor<64x2x!quant.uniform<i8<-100:120>:f32:1, "
      "{0.1:-30,0.07:5}>>\n"
      "  return %0 : tensor<64x2x!quant.uniform<i8<-100:120>:f32:1, {0.1:-30,0.07:5}>>\n}\n"
      "func.func @from(%x: tensor<64x2x!quant.uniform<i8<-100:120>:f32:1, {0.1:-30,0.07:5}>>) -> tensor<64x2xf32> {\n"
      "  %0 = stablehlo.uniform_dequantize %x : (tensor<64x2x!quant.uniform<i8<-100:120>:f32:1, {0.1:-30,0.07:5}>>) -> "
      "tensor<64x2xf32>\n"
      "  return %0 : tensor<64x2xf32>\n}\n",
      "formulas", all_ops());
  const float scales[] = {0.1F, 0.07F};
  const int64_t zero_points[] = {-30, 5};
  RefTensor x({DType::kF32, {64, 2}});
  for (int64_t k = 0; k < 128; ++k) x.f[k] = (static_cast<double>(k) - 64) * 0.35;  // 0.35 / 0.07 and 0.35 / 0.1: ties
  round_in_place(x);
  const RefTensor q = evaluate(*module->functions[0], {x})[0];
  const RefTensor integers = to_storage(q);
  const RefTensor back = evaluate(*module->functions[1], {q})[0];
  for (int64_t k = 0; k < 128; ++k) {
    const int64_t expected = quantize(static_cast<float>(x.f[k]), scales[k % 2], zero_points[k % 2], -100, 120);
    EXPECT_EQ(integers.i[k], expected) << x.f[k];
    EXPECT_EQ(back.f[k], dequantize(expected, scales[k % 2], zero_points[k % 2]));
  }
}

TEST(Quantize, TextsAreReadAndWritten) {
  for (const char* type : {
           "tensor<2x!quant.uniform<i8:f32, 1.000000e-01:-30>>",
           "tensor<2x!quant.uniform<i8<-127:127>:f32, 5.000000e-03>>",
           "tensor<2x3x!quant.uniform<ui8:bf16:1, {1.000000e-01:3,2.000000e+00,5.000000e-01:255}>>",
           "tensor<!quant.uniform<i32:f64, 1.5377650949769248e-05>>",
           "tensor<?x!quant.uniform<i4:f16, 1.000000e+00:-8>>",
           "tensor<1x!quant.uniform<i16:f32:0, {3.000000e+00}>>",
       }) {
    EXPECT_EQ(to_string(type_of(type)), type);
    EXPECT_EQ(type_of(type).quantization, type_of(type).quantization) << "one object";
  }
  EXPECT_EQ(to_string(type_of("tensor<2x!quant.uniform<u8:f32,0.5:1 >>")),
            "tensor<2x!quant.uniform<ui8:f32, 5.000000e-01:1>>");
  const auto module = parse_module(
      "!q = !quant.uniform<i8:f32, 0.5:1>\n"
      "func.func @f(%x: tensor<2x!q>) -> tensor<2x!q> {\n"
      "  %0 = stablehlo.constant dense<[1, -2]> : tensor<2x!q>\n"
      "  %1 = stablehlo.add %x, %0 : tensor<2x!q>\n"
      "  return %1 : tensor<2x!q>\n}\n",
      "alias", all_ops());
  const std::string text = print(*module);
  EXPECT_NE(text.find("tensor<2x!quant.uniform<i8:f32, 5.000000e-01:1>>"), text.npos);
  EXPECT_EQ(print(*parse_module(text, "again", all_ops())), text);
}

TEST(Quantize, ThereAreAsManyScalesAsElements) {
  const TensorType type = type_of("tensor<3x!quant.uniform<i8:f32:0, {1.0,0.5,0.25}>>");
  Module module;
  Function& function = *module.add_function("f");
  GraphBuilder b;
  b.at_end(function.body);
  Value* x = function.body.add_argument(type);
  const std::string error = error_of([&] { ops::slice(b, x, {1}, {3}, {1}); });
  EXPECT_NE(error.find("dimension 0 has 2 elements, but there are 3 scales"), std::string::npos) << error;
}

// --- compiled --------------------------------------------------------------------------------------------------------

const std::string kA = "tensor<5x37x!quant.uniform<i8:f32, 0.11:-30>>";
const std::string kB = "tensor<5x37x!quant.uniform<i8:f32, 0.053:7>>";
const std::string kC = "tensor<5x37x!quant.uniform<i8<-127:127>:f32, 0.13>>";
const std::string kTruth = "tensor<5x37xi1>";

// Products may be contracted with sums, and functions be off by a few units: then the next integer is as good.
TEST(Quantize, ElementwiseOps) {
  std::vector<CompiledCase> cases;
  for (const char* op : {"abs", "cbrt", "ceil", "cosine", "exponential", "exponential_minus_one", "floor", "log",
                         "log_plus_one", "logistic", "negate", "round_nearest_afz", "round_nearest_even", "rsqrt",
                         "sign", "sine", "sqrt", "tan", "tanh"}) {
    cases.push_back(make_case(fmt::format("stablehlo.{} %x0", op), {kA}, kC, 1));
  }
  for (const char* op :
       {"add", "atan2", "divide", "maximum", "minimum", "multiply", "power", "remainder", "subtract"}) {
    cases.push_back(make_case(fmt::format("stablehlo.{} %x0, %x1", op), {kA, kB}, kC, 1));
  }
  for (const char* direction : {"EQ", "NE", "LT", "LE", "GT", "GE"}) {
    cases.push_back(make_case(fmt::format("stablehlo.compare {}, %x0, %x1", direction), {kA, kB}, kTruth));
  }
  cases.push_back(make_case("stablehlo.select %x0, %x1, %x2", {kTruth, kA, kB}, kC));
  cases.push_back(make_case("stablehlo.select %x0, %x1, %x2", {kTruth, kA, kA}, kA));
  cases.push_back(make_case("stablehlo.clamp %x0, %x1, %x2", {kA, kA, kA}, kA));
  cases.push_back(make_case("stablehlo.is_finite %x0", {kA}, kTruth));
  cases.push_back(make_case("stablehlo.reduce_precision %x0, format = e5m2", {kA}, kA));
  expect_agreement(cases);
}

TEST(Quantize, BetweenTypes) {
  std::vector<CompiledCase> cases;
  const std::vector<std::string> kElements = {
      "i8:f32, 0.11:-30",    "ui8:f32, 0.05:128",  "i4:f32, 0.5:1",        "ui4:f32, 0.25",
      "i16:f32, 0.002:-100", "i32:f32, 0.0007:12", "i8<-100:90>:f32, 0.2", "i8:f32:0, {0.1:-30,0.5:-20,0.3}"};
  for (const std::string& from : kElements) {
    const std::string x = "tensor<3x37x!quant.uniform<" + from + ">>";
    cases.push_back(make_case("stablehlo.uniform_dequantize %x0", {x}, "tensor<3x37xf32>"));
    cases.push_back(make_case("stablehlo.uniform_quantize %x0", {"tensor<3x37xf32>"}, x));
    for (const std::string& to : kElements) {
      cases.push_back(make_case("stablehlo.uniform_quantize %x0", {x}, "tensor<3x37x!quant.uniform<" + to + ">>"));
    }
  }
  for (const char* expressed : {"f16", "bf16", "f64"}) {
    const std::string x = fmt::format("tensor<3x37x!quant.uniform<i8:{}, 0.11:-30>>", expressed);
    const std::string f = fmt::format("tensor<3x37x{}>", expressed);
    cases.push_back(make_case("stablehlo.uniform_dequantize %x0", {x}, f));
    cases.push_back(make_case("stablehlo.uniform_quantize %x0", {f}, x));
  }
  cases.push_back(make_case("stablehlo.bitcast_convert %x0", {kA}, "tensor<5x37xi8>"));
  cases.push_back(make_case("stablehlo.bitcast_convert %x0", {kA}, kB));
  expect_agreement(cases);
}

TEST(Quantize, MovesAndReductions) {
  const std::string q = "!quant.uniform<i8:f32, 0.11:-30>", x = "tensor<4x6x" + q + ">", scalar = "tensor<" + q + ">";
  const std::string wide = "tensor<4x6x!quant.uniform<i32:f32, 0.0011:3>>";
  const auto axis = [](int d, const std::string& shape) {
    return "tensor<" + shape + "x!quant.uniform<i8:f32:" + std::to_string(d) + ", {0.1:-30,0.5:-20,0.3,0.2:1}>>";
  };
  std::vector<CompiledCase> cases = {
      make_case("stablehlo.transpose %x0, dims = [1, 0]", {x}, "tensor<6x4x" + q + ">"),
      make_case("stablehlo.reshape %x0", {x}, "tensor<24x" + q + ">"),
      make_case("stablehlo.reverse %x0, dims = [0]", {wide}, wide),
      make_case("stablehlo.slice %x0 [1:3, 0:6:2]", {x}, "tensor<2x3x" + q + ">"),
      make_case("stablehlo.pad %x0, %x1, low = [1, 0], high = [0, 2], interior = [0, 1]", {x, scalar},
                "tensor<5x13x" + q + ">"),
      make_case("stablehlo.concatenate %x0, %x1, dim = 0", {x, x}, "tensor<8x6x" + q + ">"),
      make_case("stablehlo.broadcast_in_dim %x0, dims = [1]", {"tensor<6x" + q + ">"}, x),
      make_case("stablehlo.transpose %x0, dims = [1, 0]", {axis(0, "4x6")}, axis(1, "6x4")),
      make_case("stablehlo.reshape %x0", {axis(1, "6x4")}, axis(2, "2x3x4")),
      make_case("stablehlo.broadcast_in_dim %x0, dims = [0]", {axis(0, "4")}, axis(0, "4x6")),
      make_case("stablehlo.broadcast_in_dim %x0, dims = [0, 1]", {"tensor<1x6x!quant.uniform<i8:f32:0, {0.1:-30}>>"},
                "tensor<2x6x!quant.uniform<i8:f32:0, {0.1:-30,0.1:-30}>>"),
      // Elements that come to lie where another scale holds.
      make_case("stablehlo.reverse %x0, dims = [0]", {axis(0, "4x6")}, axis(0, "4x6")),
      make_case("stablehlo.transpose %x0, dims = [1, 0]", {axis(0, "4x4")}, axis(0, "4x4")),
      make_case("stablehlo.reshape %x0", {axis(0, "4x4x2")}, axis(1, "2x4x4")),
      make_case("stablehlo.concatenate %x0, %x1, dim = 0", {axis(1, "2x4"), axis(1, "3x4")}, axis(1, "5x4")),
      make_case("stablehlo.select %x0, %x1, %x2", {"tensor<4x4xi1>", axis(0, "4x4"), axis(1, "4x4")}, axis(0, "4x4")),
      make_case("stablehlo.reduce(%x0 init: %x1) applies stablehlo.maximum across dimensions = [1]", {x, scalar},
                "tensor<4x" + q + ">"),
      make_case("stablehlo.reduce(%x0 init: %x1) applies stablehlo.add across dimensions = [0]", {x, scalar},
                "tensor<6x" + q + ">", 1),
  };
  const auto with_region = [&](const std::string& op, const std::string& region, const std::vector<std::string>& types,
                               const std::string& result) {
    return make_case(fmt::format("{0} ({{\n  ^bb0(%a: {1}, %b: {1}):\n{2}\n  }})", op, scalar, region), types, result);
  };
  const std::string maximum =
      fmt::format("    %s = stablehlo.maximum %a, %b : {0}\n    stablehlo.return %s : {0}", scalar);
  const std::string twice = fmt::format(
      "    %t = stablehlo.add %b, %b : {0}\n    %s = stablehlo.maximum %a, %t : {0}\n    stablehlo.return %s : {0}",
      scalar);
  const std::string less = fmt::format(
      "    %s = stablehlo.compare LT, %a, %b : ({0}, {0}) -> tensor<i1>\n    stablehlo.return %s : tensor<i1>", scalar);
  cases.push_back(with_region("\"stablehlo.reduce\"(%x0, %x1) <{dimensions = array<i64: 1>}>", twice, {x, scalar},
                              "tensor<4x" + q + ">"));
  cases.push_back(with_region("\"stablehlo.reduce_window\"(%x0, %x1) <{window_dimensions = array<i64: 2, 3>}>", maximum,
                              {x, scalar}, "tensor<3x4x" + q + ">"));
  cases.push_back(with_region("\"stablehlo.sort\"(%x0) <{dimension = 1 : i64, is_stable = true}>", less, {x}, x));
  expect_agreement(cases);
}

TEST(Quantize, Contractions) {
  const std::string kConvolution =
      "stablehlo.convolution(%x0, %x1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, "
      "2], pad = "
      "[[1, 1], [0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}";
  const std::string kDot = "stablehlo.dot_general %x0, %x1, contracting_dims = [1] x [0]";
  const auto t = [](const std::string& shape, const std::string& element) {
    return "tensor<" + shape + "x!quant.uniform<" + element + ">>";
  };
  const std::string per_axis = "{0.021:3,0.5:-20,0.3,0.2:1}";
  expect_agreement({
      make_case(kDot, {t("7x33", "i8:f32, 0.11"), t("33x4", "i8:f32, 0.07")}, t("7x4", "i32:f32, 0.0077"), 1),
      make_case(kDot, {t("7x33", "i8:f32, 0.11:-30"), t("33x4", "i8:f32, 0.07:11")}, t("7x4", "i8:f32, 0.9:5"), 1),
      make_case(kDot, {t("7x33", "ui8:f32, 0.11:130"), t("33x4", "ui8:f32, 0.07:90")}, t("7x4", "ui8:f32, 0.9:128"), 1),
      make_case(kDot, {t("3x500", "i8:f32, 0.11:-30"), t("500x4", "i8:f32, 0.07:11")}, t("3x4", "i8:f32, 4.0:5"), 1),
      make_case(kDot, {t("3x2000", "i8:f32, 0.11"), t("2000x4", "i8:f32, 0.07")}, t("3x4", "i8:f32, 8.0"), 1),
      make_case(kDot, {t("7x33", "i4:f32, 0.11:-3"), t("33x4", "i4:f32, 0.07:2")}, t("7x4", "i16:f32, 0.03"), 1),
      make_case(kDot, {t("7x33", "i16:f32, 0.0011:-300"), t("33x4", "i16:f32, 0.0007:11")}, t("7x4", "i16:f32, 0.05"),
                1),
      make_case(kDot, {t("7x33", "i8:f32, 0.11:-30"), t("33x4", "i8:f32:1, " + per_axis)}, t("7x4", "i8:f32, 2.5"), 1),
      make_case(kDot, {t("7x33", "i8:f32, 0.11:-30"), t("33x4", "i8:f32:1, " + per_axis)},
                t("7x4", "i32:f32:1, {0.00231,0.055:9,0.033,0.022}"), 1),
      make_case("stablehlo.dot_general %x0, %x1, batching_dims = [0] x [0], contracting_dims = [2] x [1]",
                {t("4x5x9", "i8:f32, 0.11:-30"), t("4x9x3", "i8:f32:0, " + per_axis)}, t("4x5x3", "i8:f32, 1.5"), 1),
      make_case(kConvolution, {t("2x5x6x3", "i8:f32, 0.11:-30"), t("2x3x3x4", "i8:f32, 0.07:11")},
                t("2x6x3x4", "i8:f32, 0.9:5"), 1),
      make_case(kConvolution, {t("2x5x6x3", "i8:f32, 0.11:-30"), t("2x3x3x4", "i8:f32:3, " + per_axis)},
                t("2x6x3x4", "i32:f32:3, {0.00231,0.055:9,0.033,0.022}"), 1),
  });
}

// Their shapes are operands: they become static ops that are quantized alike.
TEST(Quantize, OpsWhoseShapesAreValues) {
  const auto with_shape = [](const std::string& dims, const std::string& op, const std::string& from,
                             const std::string& to) {
    CompiledCase it = make_case("", {from}, to);
    const std::string type = fmt::format("tensor<{}xi64>", std::ranges::count(dims, ',') + 1);
    it.body = fmt::format("%s = stablehlo.constant dense<[{0}]> : {1}\n  %r = stablehlo.{2} : ({3}, {1}) -> {4}", dims,
                          type, op, from, to);
    return it;
  };
  const std::string x = "tensor<4x6x!quant.uniform<i8:f32, 0.11:-30>>";
  CompiledCase iota = make_case("", {x}, "tensor<5x!quant.uniform<i8:f32, 0.5:3>>");
  iota.body =
      "%s = stablehlo.constant dense<[5]> : tensor<1xi64>\n"
      "  %r = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi64>) -> tensor<5x!quant.uniform<i8:f32, 0.5:3>>";
  expect_agreement({
      with_shape("3, 8", "dynamic_reshape %x0, %s", x, "tensor<3x8x!quant.uniform<i8:f32, 0.11:-30>>"),
      with_shape("24, 4", "dynamic_reshape %x0, %s",
                 "tensor<4x6x4x!quant.uniform<i8:f32:2, {0.1:-30,0.5:-20,0.3,0.2:1}>>",
                 "tensor<24x4x!quant.uniform<i8:f32:1, {0.1:-30,0.5:-20,0.3,0.2:1}>>"),
      with_shape("2, 4, 6", "dynamic_broadcast_in_dim %x0, %s, dims = [1, 2]", x,
                 "tensor<2x4x6x!quant.uniform<i8:f32, 0.11:-30>>"),
      iota,
  });
}

// Floats by quantized weights: sums of a few products of short numbers, exact in f32 in any order.
TEST(Quantize, FloatsByQuantizedWeights) {
  CompiledCase it =
      make_case("stablehlo.dot_general %x0, %x1, contracting_dims = [1] x [0]",
                {"tensor<7x16xf32>", "tensor<16x2x!quant.uniform<i8:f32:1, {0.5:-30,0.25}>>"}, "tensor<7x2xf32>");
  for (double& value : it.inputs[0].f) value = std::nearbyint(value * 8) / 8;
  CompiledCase dot = it;  // the older form
  dot.body =
      "%r = stablehlo.dot %x0, %x1 : (tensor<7x16xf32>, tensor<16x2x!quant.uniform<i8:f32:1, {0.5:-30,0.25}>>) -> "
      "tensor<7x2xf32>";
  expect_agreement({it, dot});
}

TEST(Quantize, CarriedByLoops) {
  const std::string type = "tensor<9x!quant.uniform<i8:f32, 0.11:-30>>";
  CompiledCase it;
  it.body = fmt::format(
      "%n = stablehlo.constant dense<3> : tensor<i32>\n"
      "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
      "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
      "  %o:2 = stablehlo.while(%i = %zero, %v = %x0) : tensor<i32>, {0}\n"
      "  cond {{\n"
      "    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "    stablehlo.return %c : tensor<i1>\n"
      "  }} do {{\n"
      "    %j = stablehlo.add %i, %one : tensor<i32>\n"
      "    %w = stablehlo.maximum %v, %x1 : {0}\n"
      "    stablehlo.return %j, %w : tensor<i32>, {0}\n"
      "  }}\n"
      "  %r = stablehlo.negate %o#1 : {0}",
      type);
  it.inputs = {drawn(type, 1), drawn(type, 2)};
  it.result = type_of(type);
  expect_agreement({it});
}

}  // namespace
}  // namespace ingot
