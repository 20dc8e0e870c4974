#include "aot/passes/gradients/gradients.h"

#include <fmt/format.h>

#include "aot/ops/support/build.h"
#include "aot/passes/gradients/differentiate.h"

namespace ingot {

Values gradients(GraphBuilder& b, Value* loss, std::span<Value* const> wrt, const GradientOptions& options) {
  const Location location = b.location;
  if (!is_float(loss->type.dtype)) {
    throw_error(location, fmt::format("the loss must be a float, not {}", to_string(loss->type)));
  }
  if (!options.seed && loss->type.rank() != 0) {
    throw_error(location, fmt::format("the loss must be a scalar, not {}: reduce it (mean, sum) or pass its gradient",
                                      to_string(loss->type)));
  }
  if (options.seed && options.seed->type != loss->type) {
    throw_error(location, fmt::format("the gradient of the loss is {}, the loss {}", to_string(options.seed->type),
                                      to_string(loss->type)));
  }
  ValueSet active = active_values({wrt.begin(), wrt.end()}, *b.block(), options.constants);
  Values results(wrt.size(), nullptr);
  if (!active.contains(loss)) return results;

  Differentiator differentiator(b, std::move(active), options.constants);
  differentiator.accumulate(loss, options.seed ? options.seed : ops::constant_like(b, loss, 1));
  if (loss->op) {
    for (auto at = std::next(loss->op->self); at != b.block()->ops.begin();) differentiator.visit(**--at);
  }
  for (size_t i = 0; i < wrt.size(); ++i) results[i] = differentiator.find(wrt[i]);
  b.location = location;
  return results;
}

}  // namespace ingot
