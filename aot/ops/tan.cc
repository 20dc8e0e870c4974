#include "aot/ops/elementwise.h"

namespace ingot {
namespace {

double value(double x) { return std::tan(x); }

// dx = dy (1 + y²)
constexpr auto dx = [](Term, Term y, Term dy) { return dy * (1 + square(y)); };

std::vector<Sample> samples() { return unary_samples("stablehlo.tan", kFloats, {-1000, 1000}, Range{-1, 1}); }

constexpr OpDef tan(std::string_view name) {
  OpDef def;
  def.name = name;
  def.doc = "y = tan(x), x in radians.";
  def.evaluate = evaluate_unary<value>;
  def.gradient = unary_gradient<dx>;
  def.samples = samples;
  def.element = element_of<ScalarOp::kTan>;
  def.ulp = {.f32 = 1, .f64 = 2};
  def.flops = kMathFlops;
  return def;
}

}  // namespace

extern const OpDef kTan = unary<kFloats>(tan("stablehlo.tan"));
extern const OpDef kChloTan = chlo_unary<kFloats>(tan("chlo.tan"));

}  // namespace ingot
