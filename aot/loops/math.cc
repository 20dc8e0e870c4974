#include "aot/loops/math.h"

#include "aot/base/error.h"
#include "aot/loops/math/functions.h"

namespace ingot::loops {
namespace {

struct Function {
  ScalarOp op;
  Scalar (*unary)(const Scalar&);
  Scalar (*binary)(const Scalar&, const Scalar&);
};

constexpr Function kFunctions[] = {
    {ScalarOp::kExp, math::exp, nullptr},           {ScalarOp::kExpm1, math::expm1, nullptr},
    {ScalarOp::kLog, math::log, nullptr},           {ScalarOp::kLog1p, math::log1p, nullptr},
    {ScalarOp::kLogistic, math::logistic, nullptr}, {ScalarOp::kTanh, math::tanh, nullptr},
    {ScalarOp::kSin, math::sin, nullptr},           {ScalarOp::kCos, math::cos, nullptr},
    {ScalarOp::kTan, math::tan, nullptr},           {ScalarOp::kAtan2, nullptr, math::atan2},
    {ScalarOp::kPower, nullptr, math::power},       {ScalarOp::kRsqrt, math::rsqrt, nullptr},
    {ScalarOp::kCbrt, math::cbrt, nullptr},         {ScalarOp::kErf, math::erf, nullptr},
    {ScalarOp::kErfc, math::erfc, nullptr},         {ScalarOp::kErfInv, math::erf_inv, nullptr},
};

}  // namespace

Expr expand(KernelBuilder& b, ScalarOp op, const std::vector<Expr>& args) {
  for (const Function& function : kFunctions) {
    if (function.op != op) continue;
    const Scalar x(b, args[0]);
    return function.unary ? function.unary(x) : function.binary(x, Scalar(b, args[1]));
  }
  throw_bug("expand: '" + std::string(info(op).text) + "' is not mathematics");
}

}  // namespace ingot::loops
