#include "aot/loops/math.h"

#include "aot/base/error.h"
#include "aot/loops/math/functions.h"

namespace ingot::loops {
namespace {

struct Function {
  ScalarOp op;
  Scalar (*unary)(const Scalar&);
  Scalar (*binary)(const Scalar&, const Scalar&) = nullptr;
  // Of a unary function that is right only where its argument is not rare.
  Scalar (*is_rare)(const Scalar&) = nullptr;
  Scalar (*of_rare)(const Scalar&) = nullptr;
};

constexpr Function kFunctions[] = {
    {ScalarOp::kExp, math::exp},
    {ScalarOp::kExpm1, math::expm1},
    {ScalarOp::kLog, math::log},
    {ScalarOp::kLog1p, math::log1p},
    {ScalarOp::kLogistic, math::logistic},
    {ScalarOp::kTanh, math::tanh},
    {ScalarOp::kSin, math::sin, nullptr, math::is_large_angle, math::sin_of_large},
    {ScalarOp::kCos, math::cos, nullptr, math::is_large_angle, math::cos_of_large},
    {ScalarOp::kTan, math::tan, nullptr, math::is_large_angle, math::tan_of_large},
    {ScalarOp::kAtan2, nullptr, math::atan2},
    {ScalarOp::kPower, nullptr, math::power},
    {ScalarOp::kRsqrt, math::rsqrt},
    {ScalarOp::kCbrt, math::cbrt},
    {ScalarOp::kErf, math::erf},
    {ScalarOp::kErfc, math::erfc},
    {ScalarOp::kErfInv, math::erf_inv},
    {ScalarOp::kAsin, math::asin},
    {ScalarOp::kAcos, math::acos},
    {ScalarOp::kAtan, math::atan},
    {ScalarOp::kSinh, math::sinh},
    {ScalarOp::kCosh, math::cosh},
    {ScalarOp::kAsinh, math::asinh},
    {ScalarOp::kAcosh, math::acosh},
    {ScalarOp::kAtanh, math::atanh},
    {ScalarOp::kLgamma, math::lgamma},
    {ScalarOp::kDigamma, math::digamma},
    {ScalarOp::kZeta, nullptr, math::zeta},
    {ScalarOp::kBesselI1e, math::bessel_i1e},
};

const Function& find(ScalarOp op) {
  for (const Function& function : kFunctions) {
    if (function.op == op) return function;
  }
  throw_bug("expand: '" + std::string(info(op).text) + "' is not mathematics");
}

}  // namespace

Expr expand(KernelBuilder& b, ScalarOp op, const std::vector<Expr>& args) {
  const Function& function = find(op);
  const Scalar x(b, args[0]);
  return function.unary ? function.unary(x) : function.binary(x, Scalar(b, args[1]));
}

Expr is_rare(KernelBuilder& b, ScalarOp op, const Expr& x) {
  const Function& function = find(op);
  return function.is_rare ? Expr(function.is_rare(Scalar(b, x))) : nullptr;
}

Expr expand_rare(KernelBuilder& b, ScalarOp op, const Expr& x) { return find(op).of_rare(Scalar(b, x)); }

}  // namespace ingot::loops
