// What the rows of elementwise ops share: their columns, from the one or two lines in which the ops differ.
//
//   double value(double x) { return std::tanh(x); }
//   constexpr auto dx = [](Term, Term y, Term dy) { return dy * (1 - y * y); };
//   extern const OpDef kTanh = unary<kFloats>({.name = "stablehlo.tanh",
//                                              .evaluate = evaluate_unary<value>,
//                                              .gradient = unary_gradient<dx>,
//                                              .element = element_of<ScalarOp::kTanh>, ...});
#pragma once

#include <cmath>
#include <optional>

#include "aot/loops/algebra.h"
#include "aot/loops/element.h"
#include "aot/ops/support/algebra.h"

namespace ingot {

using loops::Scalar;
using loops::ScalarOp;

// Sets of dtypes, as bits.
using DTypeSet = unsigned;
inline constexpr DTypeSet kFloats = 1, kSignedIntegers = 2, kUnsignedIntegers = 4, kBooleans = 8, kComplex = 16;
inline constexpr DTypeSet kIntegers = kSignedIntegers | kUnsignedIntegers;
inline constexpr DTypeSet kNumbers = kFloats | kIntegers;
inline constexpr DTypeSet kAnyDType = kNumbers | kBooleans | kComplex;
bool contains(DTypeSet set, DType dtype);

// --- infer ---

// One result of the type of the operands, which all have the same one; its dtype is in `allowed`.
std::vector<TensorType> infer_same(const InferArgs& args, size_t operand_count, DTypeSet allowed);

template <DTypeSet allowed, size_t operand_count>
std::vector<TensorType> same_as_operand(const InferArgs& args) {
  return infer_same(args, operand_count, allowed);
}

// --- evaluate ---

// Integers come as the dtype's value (ui64 as bits); what a function returns is wrapped to the dtype afterwards.
using FloatUnary = double (*)(double);
using FloatBinary = double (*)(double, double);
using IntUnary = int64_t (*)(int64_t, DType);
using IntBinary = int64_t (*)(int64_t, int64_t, DType);
std::vector<RefTensor> map_unary(const EvaluateArgs& args, FloatUnary f, IntUnary i);
std::vector<RefTensor> map_binary(const EvaluateArgs& args, FloatBinary f, IntBinary i);

template <FloatUnary f, IntUnary i = nullptr>
std::vector<RefTensor> evaluate_unary(const EvaluateArgs& args) {
  return map_unary(args, f, i);
}

template <FloatBinary f, IntBinary i = nullptr>
std::vector<RefTensor> evaluate_binary(const EvaluateArgs& args) {
  return map_binary(args, f, i);
}

// NaN where either is NaN; +0 is above -0.
double maximum(double x, double y);
double minimum(double x, double y);

// x < y for values of an integer dtype or i1.
inline bool less(int64_t x, int64_t y, DType dtype) {
  return is_signed(dtype) ? x < y : static_cast<uint64_t>(x) < static_cast<uint64_t>(y);
}

// --- gradient ---

// dx(x, y, dy) gives the gradient of x for y = op(x).
template <auto dx>
Values unary_gradient(GradientArgs& args) {
  if (!args.needed[0]) return {nullptr};
  GraphBuilder& b = args.b;
  return {dx(Term(b, args.operand(0)), Term(b, args.result()), Term(b, args.dy()))};
}

// dx(x, y, z, dz) and dy(x, y, z, dz) give the gradients of x and y for z = op(x, y).
template <auto dx, auto dy>
Values binary_gradient(GradientArgs& args) {
  GraphBuilder& b = args.b;
  const Term x(b, args.operand(0)), y(b, args.operand(1)), z(b, args.result()), dz(b, args.dy());
  return {args.needed[0] ? static_cast<Value*>(dx(x, y, z, dz)) : nullptr,
          args.needed[1] ? static_cast<Value*>(dy(x, y, z, dz)) : nullptr};
}

// 0, 1, ... rank - 1.
std::vector<int64_t> all_dims(const Shape& shape);

// --- element ---

template <ScalarOp op>
loops::Expr element_of(loops::ElementArgs& args) {
  return loops::elementwise(args, op);
}

// Operand `i` at the wanted index, or, where it is a scalar that stands for all elements, its only element.
inline loops::Expr operand_or_scalar(loops::ElementArgs& args, int i) {
  return args.op.operand(i)->type.shape.empty() ? args.operand_at(i, {}) : args.operand(i);
}

// --- samples ---

struct Range {
  double low, high;
};

// Samples `func @main(%x...) -> ... { NAME %x... }` of several dtypes and shapes (scalar and empty ones too), with
// floats from `wide` and special values; and, where `smooth` is given, one in f64 for the gradient,
// with floats from `smooth`.
std::vector<Sample> unary_samples(std::string_view name, DTypeSet dtypes, Range wide = {-100, 100},
                                  std::optional<Range> smooth = {});
std::vector<Sample> binary_samples(std::string_view name, DTypeSet dtypes, Range wide = {-100, 100},
                                   std::optional<Range> smooth = {});

// Integer samples whose second operand is an amount of bits: any, and small ones.
std::vector<Sample> shift_samples(std::string_view name);

// "func.func @main(%x: A, %y: B) -> R { %r = OP : ...", where `op` is the op's whole line after "%r = ".
std::string sample_text(const std::vector<TensorType>& operands, const TensorType& result, std::string_view op);

// --- rows ---

template <DTypeSet allowed>
constexpr OpDef unary(OpDef def) {
  def.assembly = "operands attr-dict :same";
  def.infer = same_as_operand<allowed, 1>;
  def.is_elementwise = true;
  return def;
}

template <DTypeSet allowed>
constexpr OpDef binary(OpDef def) {
  def.assembly = "operands attr-dict :same";
  def.infer = same_as_operand<allowed, 2>;
  def.is_elementwise = true;
  return def;
}

// An op of the chlo dialect, whose pretty form has every type.
template <DTypeSet allowed>
constexpr OpDef chlo_unary(OpDef def) {
  def = unary<allowed>(def);
  def.assembly = "operands attr-dict :arrow";
  return def;
}

template <DTypeSet allowed>
constexpr OpDef chlo_binary(OpDef def) {
  def = binary<allowed>(def);
  def.assembly = "operands attr-dict :arrow";
  return def;
}

inline constexpr int kMathFlops = 20;  // of a transcendental function

}  // namespace ingot
