#include "aot/passes/winograd/tiled_convolution.h"

#include <algorithm>
#include <array>

#include "aot/analysis/decisions.h"
#include "aot/base/divide.h"
#include "aot/graph/attributes.h"
#include "aot/loops/contraction.h"
#include "aot/ops/support/dimension_numbers.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/tiles.h"
#include "aot/passes/winograd/constant_weights.h"

namespace ingot::winograd {
namespace {

constexpr int kRegistersMin = 16;  // in which a line of a tile and its sums stay
constexpr int kRank = 4;           // batch, two spatial dimensions, channels

// Only ops that are pulled stand around the convolution.
const Op* only_convolution(const Op& kernel) {
  const Op* found = nullptr;
  if (!kernel.is(kKernel) || kernel.attr_map.contains(attributes::kBlocks)) return nullptr;
  for (const auto& op : kernel.region().ops) {
    if (op->def->is_terminator || op->def->has_elements() || op->is(kConstant)) continue;
    if (found || !op->is(kConvolution)) return nullptr;
    found = op.get();
  }
  return found;
}

bool is_dense(const ops::WindowDim& dim) {
  return dim.stride == 1 && dim.base_dilation == 1 && dim.dilation == 1 && dim.low >= 0 && dim.high >= 0;
}

// A tensor's dimensions are the batch, the spatial ones, the channels.
bool has_channels_last(int64_t batch, const std::vector<int64_t>& spatial, int64_t channels) {
  return batch == 0 && channels == kRank - 1 && spatial == std::vector<int64_t>{1, 2};
}

// With tiles that are still to be chosen; nullopt where it is no such convolution.
std::optional<TiledConvolution> untiled(const Op& kernel, const Op& op) {
  const auto is_f32 = [](const Value* value) { return value->type.dtype == DType::kF32; };
  const Value& y = *op.result();
  if (y.type.rank() != kRank || y.type.elements() == 0 || !is_f32(&y)) return std::nullopt;
  if (!std::ranges::all_of(op.operands, is_f32)) return std::nullopt;
  const Shape& x = op.operand(0)->type.shape;
  const ops::Convolution conv = ops::read_convolution(op.attrs(), op.operand(1)->type.shape);
  const ops::ConvDims& d = conv.dims;
  if (conv.feature_groups != 1 || conv.batch_groups != 1 || !std::ranges::all_of(conv.window, is_dense))
    return std::nullopt;
  const auto is_of_taps = [](const ops::WindowDim& dim) { return dim.size == ops::kTileTaps; };
  const Shape result = ops::extents(y.type.shape, d.output_spatial);
  const std::array<int64_t, 2> low = {conv.window[0].low, conv.window[1].low};
  const auto is_alike = [&](const auto& made) { return made->type.shape == y.type.shape; };
  if (std::ranges::all_of(conv.window, is_of_taps) && std::ranges::all_of(kernel.results, is_alike) &&
      has_channels_last(d.input_batch, d.input_spatial, d.input_feature) &&
      has_channels_last(d.output_batch, d.output_spatial, d.output_feature)) {
    return TiledConvolution{&kernel, &op, false, 0, low, {}, x[0], x[3], y.type.shape[3]};
  }
  const auto is_reversed = [](const ops::WindowDim& dim) { return dim.reversed; };
  if (result == Shape{ops::kTileTaps, ops::kTileTaps} && std::ranges::none_of(conv.window, is_reversed) &&
      has_channels_last(d.input_feature, d.input_spatial, d.input_batch) &&
      has_channels_last(d.kernel_input_feature, d.kernel_spatial, d.kernel_output_feature)) {
    return TiledConvolution{&kernel, &op, true, 0, low, {}, x[0], x[3], op.operand(1)->type.shape[3]};
  }
  return std::nullopt;
}

// Of the forward convolution's result.
Shape positions(const TiledConvolution& tiled) {
  const Op& op = *tiled.convolution;
  const Shape& shape = (tiled.is_kernel_gradient ? op.operand(1) : op.result())->type.shape;
  return {shape[1], shape[2]};
}

// Times in nanoseconds, of one core.
class Costs {
 public:
  Costs(const Op& convolution, const loops::Target& target) : op_(convolution), machine_(target.machine) {
    flops_per_ns_ = 2 * target.lanes(DType::kF32) * machine_.multiply_adds_per_ns;
  }

  // Where windows are read of boxes, padding is multiplied as well.
  double direct(const TiledConvolution& it, int64_t places) const {
    const auto taps = static_cast<double>(ops::kTileTaps * ops::kTileTaps * it.channels * it.features);
    return 2 * taps * static_cast<double>(it.batch * places) / (kDirectShare * flops_per_ns_);
  }

  double tiled(const TiledConvolution& it) const {
    const auto values = static_cast<double>(it.points() * it.batch * it.tiles_of_image() * (it.channels + it.features));
    const auto weights = static_cast<double>(it.points() * it.channels * it.features);
    const double products = weights * static_cast<double>(it.batch * it.tiles_of_image());
    const double multiply_ns = 2 * products / (kProductShare * flops_per_ns_);
    const double made = it.has_constant_weights ? values : values + weights;
    const double transform_ns = made * kTransformedElement / flops_per_ns_;
    // What each block reads or writes of weights, or what is handed on where there are no blocks.
    double moved = it.images == 0 ? 2 * values : weights * static_cast<double>(it.batch / it.images);
    // Constants come from memory, and there are more of them than the convolution has.
    if (it.has_constant_weights) moved += weights - static_cast<double>(op_.operand(1)->type.elements());
    return multiply_ns + transform_ns + kElementBytes * moved / machine_.l3_bytes_per_ns;
  }

 private:
  static constexpr double kDirectShare = 0.9;        // of the machine's multiply-adds
  static constexpr double kProductShare = 0.9;       // ... of products at each point
  static constexpr double kTransformedElement = 40;  // operations that take as long as to make a value at a point
  static constexpr double kElementBytes = 4;

  const Op& op_;
  const loops::Machine& machine_;
  double flops_per_ns_;
};

// Values at points that an image's tiles have, of input and result.
int64_t bytes_of_image(const TiledConvolution& it) {
  return it.tiles_of_image() * it.points() * (it.channels + it.features) * info(DType::kF32).bytes;
}

// So many images at a time that what is handed on fits in the second-level cache, and register tiles are full; 0 where
// no number of them does, or where threads would have too few blocks.
int64_t images_at_a_time(const TiledConvolution& it, const loops::Machine& machine) {
  constexpr int64_t kRowsWanted = 48, kBlocksMin = 8;
  int64_t best = 0;
  for (int64_t images = 1; images * kBlocksMin <= it.batch; ++images) {
    if (it.batch % images != 0) continue;
    if (images * bytes_of_image(it) > (best > 0 ? 1 : 2) * machine.l2_bytes) break;
    best = images;
    if (!it.is_kernel_gradient && images * it.tiles_of_image() >= kRowsWanted) break;
  }
  return best;
}

// Whether it is worth the memory to hand on all at once.
bool fits_in_memory(const TiledConvolution& it, const loops::Machine& machine) {
  constexpr int64_t kCaches = 4;
  return it.batch * bytes_of_image(it) <= kCaches * machine.l2_bytes;
}

// Whether a result is 0 where all that it is the sum of is: tiles of two outputs make each of only what it is made of anyway,
// with four outputs other elements of the tile cancel but for rounding.
bool keeps_zeros(const TiledConvolution& tiled) { return tiled.outputs == 2; }

}  // namespace

std::optional<TiledConvolution> tiled_convolution(const Op& kernel, const loops::Target& target, Math math) {
  const Op* convolution = only_convolution(kernel);
  std::optional<TiledConvolution> tiled = convolution ? untiled(kernel, *convolution) : std::nullopt;
  if (!tiled || target.vector_registers < kRegistersMin) return std::nullopt;
  tiled->has_constant_weights = is_constant(kernel, convolution->operand(1));
  const Costs costs(*convolution, target);
  const Shape all = positions(*tiled);
  std::optional<TiledConvolution> best;
  double best_ns = costs.direct(*tiled, element_count(all));
  for (const int64_t outputs : {2, 4}) {
    tiled->outputs = outputs;
    tiled->tiles = {divide_up(all[0], outputs), divide_up(all[1], outputs)};
    tiled->images = images_at_a_time(*tiled, target.machine);
    if (tiled->images == 0 && (tiled->is_kernel_gradient || !fits_in_memory(*tiled, target.machine))) continue;
    const double ns = costs.tiled(*tiled);
    if (ns >= best_ns || (math == Math::kStandard && !keeps_zeros(*tiled) && decides(*convolution->result()))) continue;
    best = tiled;
    best_ns = ns;
  }
  return best;
}

}  // namespace ingot::winograd
