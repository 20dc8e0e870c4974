#include <algorithm>

#include "aot/analysis/walk.h"
#include "aot/graph/attributes.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/tiles.h"
#include "aot/passes/winograd/constant_weights.h"
#include "aot/passes/winograd/tiled_convolution.h"

namespace ingot::winograd {
namespace {

// A kernel in the making, with ops of another one.
class KernelMaker {
 public:
  explicit KernelMaker(const Op& from) : from_(from), body_(std::make_unique<Block>()) {
    b_.at_end(*body_);
    b_.location = from.location;
  }

  GraphBuilder& b() { return b_; }

  // The value of the other kernel's region, with what makes it.
  Value* copy(const Value* value) {
    if (const auto made = map_.find(value); made != map_.end()) return made->second;
    if (!value->op) return map_[value] = argument(from_.operand(value->index));
    for (const Value* operand : value->op->operands) copy(operand);
    return copy_op(*value->op, *body_, map_)->result(value->index);
  }
  // What the other kernel gives.
  Values copy_results() {
    Values copies;
    for (const Value* result : from_.region().terminator()->operands) copies.push_back(copy(result));
    return copies;
  }
  void put(const Value* value, Value* made) { map_[value] = made; }

  // A value from outside.
  Value* argument(Value* operand) {
    operands_.push_back(operand);
    return body_->add_argument(operand->type, operand->name, operand->location);
  }

  Op* finish(const std::string& name, const Values& yielded, bool (*is_invariant)(const Op&, const Value*)) {
    b_.create(kYield, yielded);
    GraphBuilder outer;
    outer.location = from_.location;
    outer.before(const_cast<Op&>(from_));
    std::vector<int64_t> invariant;
    for (size_t i = 0; i < operands_.size(); ++i) {
      if (is_invariant(from_, operands_[i])) invariant.push_back(static_cast<int64_t>(i));
    }
    AttrMap attrs = {{"name", Attr(name)}};
    if (!invariant.empty()) attrs[attributes::kInvariantOperands] = Attr(invariant);
    std::vector<std::unique_ptr<Block>> regions;
    regions.push_back(std::move(body_));
    return outer.create(kKernel, operands_, std::move(attrs), {}, std::move(regions));
  }

 private:
  const Op& from_;
  std::unique_ptr<Block> body_;
  GraphBuilder b_;
  ValueMap map_;
  Values operands_;
};

// Whether the kernel's operand is a constant, or the same in all iterations of the loop around it; so is what is made of
// such operands only.
bool is_invariant(const Op& kernel, const Value* operand) {
  const std::vector<int64_t> invariant = kernel.attrs().ints(attributes::kInvariantOperands, {});
  for (const int64_t i : invariant) {
    if (kernel.operand(static_cast<int>(i)) == operand) return true;
  }
  const auto is_kernels = [&](const Value* value) { return value == operand; };
  if (std::ranges::any_of(kernel.operands, is_kernels) || !operand->op) return false;
  return std::ranges::all_of(operand->op->operands, [&](const Value* value) { return is_invariant(kernel, value); });
}

std::string name_of(const TiledConvolution& tiled, std::string_view part) {
  const std::string tile = std::to_string(tiled.outputs);
  return "winograd_" + tile + "x" + tile + "_" + std::string(part) + attr_text(tiled.kernel->attr_map, "name");
}

Value* stage(Value* value, int64_t number) {
  value->op->attr_map.insert_or_assign(kStage, Attr(IntAttr{number}));
  return value;
}

// The convolution's kernel as [spatial, spatial, input features, output features], not reversed.
Value* straight_weights(const TiledConvolution& tiled, const ops::Convolution& conv) {
  KernelMaker maker(*tiled.kernel);
  GraphBuilder& b = maker.b();
  Value* w = maker.copy(tiled.convolution->operand(1));
  std::vector<int64_t> reversed;
  for (size_t k = 0; k < conv.window.size(); ++k) {
    if (conv.window[k].reversed) reversed.push_back(conv.dims.kernel_spatial[k]);
  }
  if (!reversed.empty()) w = ops::reverse(b, w, reversed);
  const ops::ConvDims& d = conv.dims;
  w = ops::transpose(b, w, {d.kernel_spatial[0], d.kernel_spatial[1], d.kernel_input_feature, d.kernel_output_feature});
  return folded(maker.finish(name_of(tiled, "weights_"), {w}, is_invariant)->result());
}

// Their values at points: [points, points, 1, 1, input features, output features].
Value* weights_at_points(const TiledConvolution& tiled, const ops::Convolution& conv) {
  Value* straight = straight_weights(tiled, conv);
  KernelMaker maker(*tiled.kernel);
  GraphBuilder& b = maker.b();
  Value* w = ops::split_tiles(b, maker.argument(straight), 0, "kernel", tiled.outputs);
  w = ops::split_tiles(b, w, 2, "kernel", tiled.outputs);
  return folded(maker.finish(name_of(tiled, "points_"), {w}, is_invariant)->result());
}

// A tensor of images as whole tiles: zeros before and behind it.
Value* whole_tiles(GraphBuilder& b, Value* x, const std::array<int64_t, 2>& low,
                   const std::array<int64_t, 2>& extents) {
  Shape before(x->type.rank()), behind(before.size());
  for (size_t k = 0; k < low.size(); ++k) {
    before[k + 1] = low[k];
    behind[k + 1] = extents[k] - x->type.shape[k + 1] - low[k];
  }
  const auto is_zero = [](int64_t padding) { return padding == 0; };
  if (std::ranges::all_of(before, is_zero) && std::ranges::all_of(behind, is_zero)) return x;
  Value* zero = ops::constant(b, {x->type.dtype, {}}, 0);
  return ops::pad(b, x, zero, before, behind, Shape(before.size(), 0));
}

Value* whole_input(const TiledConvolution& tiled, GraphBuilder& b, Value* x) {
  std::array<int64_t, 2> extents = tiled.tiles;
  for (int64_t& extent : extents) extent = extent * tiled.outputs + ops::kTileTaps - 1;
  return whole_tiles(b, x, tiled.low, extents);
}

// What stages make for later ones; an argument is there.
Value* staged(Value* value, int64_t number) { return value->op ? stage(value, number) : value; }

Op* convolution_by_tiles(const TiledConvolution& tiled, Value* weights) {
  KernelMaker maker(*tiled.kernel);
  GraphBuilder& b = maker.b();
  const int64_t outputs = tiled.outputs;
  const Shape& shape = tiled.convolution->result()->type.shape;
  Value* x = staged(whole_input(tiled, b, maker.copy(tiled.convolution->operand(0))), 0);
  x = ops::split_tiles(b, ops::split_tiles(b, x, 1, "input", outputs), 3, "input", outputs);
  stage(x, 1);
  Value* w = maker.argument(weights);
  const Shape& points = weights->type.shape;
  w = ops::reshape(b, w, {points[0], points[1], tiled.channels, tiled.features});
  Value* y = ops::dot_general(b, x, w, {{0, 1}, {0, 1}, {5}, {2}});
  stage(y, 2);
  y = ops::join_tiles(b, y, 3, "result", outputs, shape[2]);
  y = ops::join_tiles(b, y, 1, "result", outputs, shape[1]);
  maker.put(tiled.convolution->result(), y);
  return maker.finish(name_of(tiled, ""), maker.copy_results(), is_invariant);
}

// Images [batch, ...] as [blocks, images of a block, ...].
Value* in_blocks(const TiledConvolution& tiled, GraphBuilder& b, Value* x) {
  Shape shape = x->type.shape;
  shape[0] = tiled.images;
  shape.insert(shape.begin(), tiled.batch / tiled.images);
  return ops::reshape(b, x, shape);
}

// The kernel's gradient of each block of images: [blocks, 3, 3, input features, output features].
Op* gradient_of_blocks(const TiledConvolution& tiled) {
  KernelMaker maker(*tiled.kernel);
  GraphBuilder& b = maker.b();
  const Op& convolution = *tiled.convolution;
  std::array<int64_t, 2> extents = tiled.tiles;
  for (int64_t& extent : extents) extent *= tiled.outputs;
  Value* x = staged(whole_input(tiled, b, maker.copy(convolution.operand(0))), 0);
  Value* dy = staged(whole_tiles(b, maker.copy(convolution.operand(1)), {0, 0}, extents), 1);
  x = in_blocks(tiled, b, x);
  dy = in_blocks(tiled, b, dy);
  x = ops::split_tiles(b, ops::split_tiles(b, x, 2, "input", tiled.outputs), 4, "input", tiled.outputs);
  dy = ops::split_tiles(b, ops::split_tiles(b, dy, 2, "result", tiled.outputs), 4, "result", tiled.outputs);
  stage(x, 2);
  stage(dy, 3);
  Value* dw = ops::dot_general(b, x, dy, {{0, 1, 2}, {0, 1, 2}, {3, 4, 5}, {3, 4, 5}});
  stage(dw, 4);
  Shape shape = dw->type.shape;  // [points, points, blocks, input features, output features]
  shape.insert(shape.begin() + 3, {1, 1});
  dw = ops::join_tiles(b, ops::reshape(b, dw, shape), 3, "kernel", tiled.outputs, ops::kTileTaps);
  dw = ops::join_tiles(b, dw, 1, "kernel", tiled.outputs, ops::kTileTaps);
  return maker.finish(name_of(tiled, "blocks_"), {dw}, is_invariant);
}

// The sum of what blocks of images have, as it lies, and whatever else the convolution's kernel does with it.
Op* sum_of_blocks(const TiledConvolution& tiled, const ops::ConvDims& dims, Value* blocks) {
  KernelMaker maker(*tiled.kernel);
  GraphBuilder& b = maker.b();
  Value* dw = ops::reduce(b, kAdd, maker.argument(blocks), {0});
  const std::vector<int64_t> straight = {dims.output_spatial[0], dims.output_spatial[1], dims.output_batch,
                                         dims.output_feature};
  const std::vector<int64_t> order = ops::inverse_permutation(straight);
  if (order != ops::iota_dims(static_cast<int>(order.size()))) dw = ops::transpose(b, stage(dw, 0), order);
  maker.put(tiled.convolution->result(), dw);
  return maker.finish(name_of(tiled, "sum_"), maker.copy_results(), is_invariant);
}

// Cuts what the kernel makes along the first dimension of each result, if it can be.
bool cut(Op& kernel, int64_t block) {
  KernelBlocks blocks{.axes = {{kernel.result()->type.shape[0], block}}, .result_axes = {}};
  for (const auto& result : kernel.results) {
    blocks.result_axes.emplace_back(result->type.rank(), -1);
    blocks.result_axes.back()[0] = 0;
  }
  if (!block_region(kernel, blocks)) return false;
  set_blocks(kernel, blocks);
  return true;
}

// What gives the kernel's results; null where blocks of images cannot be made apart.
Op* kernel_by_tiles(const TiledConvolution& tiled) {
  const Op& convolution = *tiled.convolution;
  const ops::Convolution conv = ops::read_convolution(convolution.attrs(), convolution.operand(1)->type.shape);
  if (tiled.is_kernel_gradient) {
    Op* blocks = gradient_of_blocks(tiled);
    return cut(*blocks, 1) ? sum_of_blocks(tiled, conv.dims, blocks->result()) : nullptr;
  }
  Op* made = convolution_by_tiles(tiled, weights_at_points(tiled, conv));
  return tiled.images == 0 || cut(*made, tiled.images) ? made : nullptr;
}

}  // namespace

bool replace_by_tiles(const TiledConvolution& tiled) {
  auto* kernel = const_cast<Op*>(tiled.kernel);
  Block& block = *kernel->block;
  const Op* made = kernel_by_tiles(tiled);
  for (size_t i = 0; made && i < kernel->results.size(); ++i) {
    Value* result = made->result(static_cast<int>(i));
    result->name = kernel->results[i]->name;
    result->location = kernel->results[i]->location;
    replace_all_uses(kernel->results[i].get(), result);
  }
  erase_unread(block);
  return made != nullptr;
}

}  // namespace ingot::winograd
