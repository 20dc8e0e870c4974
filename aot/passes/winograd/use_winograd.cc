// Convolutions by windows of 3x3 as products of transformed tiles, where these are predicted to take less time.
#include "aot/analysis/walk.h"
#include "aot/passes/pass.h"
#include "aot/passes/winograd/tiled_convolution.h"

namespace ingot {
namespace {

bool use_winograd(Block& block, const PassContext& context) {
  std::vector<winograd::TiledConvolution> found;
  for (const auto& op : block.ops) {
    if (const auto tiled = winograd::tiled_convolution(*op, *context.target, context.math)) found.push_back(*tiled);
  }
  bool changed = false;
  for (const winograd::TiledConvolution& tiled : found) changed |= winograd::replace_by_tiles(tiled);
  return changed;
}

}  // namespace

bool use_winograd(Module& module, PassContext& context) {
  if (context.math == Math::kExact) return false;
  bool changed = false;
  for (auto& function : module.functions) {
    for_each_block(function->body, [&](Block& block) {
      const bool is_body = !block.parent_op || is_control_flow(*block.parent_op);
      if (is_body) changed |= use_winograd(block, context);
    });
  }
  return changed;
}

}  // namespace ingot
