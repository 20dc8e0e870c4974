#include "aot/loops/math.h"

#include <algorithm>

#include "aot/base/error.h"
#include "aot/loops/math/functions.h"

namespace ingot::loops {
namespace {

// A function whose math::name is right only where its argument is not rare.
struct RareArguments {
  ScalarOp op;
  Scalar (*is_rare)(const Scalar&);
  Scalar (*of_rare)(const Scalar&);
};
constexpr RareArguments kRareArguments[] = {
    {ScalarOp::kSin, math::is_large_angle, math::sin_of_large},
    {ScalarOp::kCos, math::is_large_angle, math::cos_of_large},
    {ScalarOp::kTan, math::is_large_angle, math::tan_of_large},
};

const RareArguments* rare_arguments(ScalarOp op) {
  const auto found = std::ranges::find(kRareArguments, op, &RareArguments::op);
  return found == std::end(kRareArguments) ? nullptr : found;
}

Expr call(Scalar (*f)(const Scalar&), KernelBuilder& b, const std::vector<Expr>& args) { return f({b, args[0]}); }

Expr call(Scalar (*f)(const Scalar&, const Scalar&), KernelBuilder& b, const std::vector<Expr>& args) {
  return f({b, args[0]}, {b, args[1]});
}

}  // namespace

Expr expand(KernelBuilder& b, ScalarOp op, const std::vector<Expr>& args) {
  switch (op) {
#define MATH_OP(enumerator, name, arity, meaning) \
  case ScalarOp::enumerator:                      \
    return call(math::name, b, args);
#include "aot/loops/scalar_ops.def"
    default:
      throw_bug("expand: '" + std::string(info(op).text) + "' is no math function");
  }
}

Expr is_rare(KernelBuilder& b, ScalarOp op, const Expr& x) {
  const RareArguments* rare = rare_arguments(op);
  return rare ? Expr(rare->is_rare({b, x})) : nullptr;
}

Expr expand_rare(KernelBuilder& b, ScalarOp op, const Expr& x) { return rare_arguments(op)->of_rare({b, x}); }

}  // namespace ingot::loops
