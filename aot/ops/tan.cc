#include "aot/ops/support/complex/complex_term.h"

namespace ingot::tan_op {
namespace {

double value(double x) { return std::tan(x); }

Complex value(Complex z) { return std::tan(z); }

constexpr auto parts = [](ComplexTerm z) { return divided_by_i(tanh(times_i(z))); };

// dx = dy (1 + y²)
constexpr auto dx = [](Term, Term y, Term dy) { return dy * (1 + square(y)); };

std::vector<Sample> samples_of(std::string_view name) {
  return unary_samples(name, kFloats | kComplex, {-1000, 1000}, Range{-1, 1});
}
std::vector<Sample> samples() { return samples_of("stablehlo.tan"); }
std::vector<Sample> chlo_samples() { return samples_of("chlo.tan"); }

constexpr OpDef tan(std::string_view name, std::vector<Sample> (*samples)()) {
  OpDef def;
  def.name = name;
  def.doc = "y = tan(x), x in radians.";
  def.evaluate = evaluate_unary<value, nullptr, value>;
  def.gradient = unary_gradient<dx>;
  def.split = ops::split_function<parts>;
  def.samples = samples;
  def.element = element_of<ScalarOp::kTan>;
  def.ulp = {.f32 = 1, .f64 = 2};
  def.flops = kMathFlops;
  return def;
}

}  // namespace

extern const OpDef kTan = unary<(kFloats | kComplex)>(tan("stablehlo.tan", samples));
extern const OpDef kChloTan = chlo_unary<(kFloats | kComplex)>(tan("chlo.tan", chlo_samples));

}  // namespace ingot::tan_op
