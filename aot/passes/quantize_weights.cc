// Weights that programs have as integers stay such. Others become w = q scale: of 8 bits with a scale for each channel of
// the result, of 4 with one for each block of 32 along the depth.
#include <fmt/format.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>

#include "aot/analysis/made_literal.h"
#include "aot/analysis/user_name.h"
#include "aot/analysis/walk.h"
#include "aot/base/contains.h"
#include "aot/ops/support/algebra.h"
#include "aot/passes/dequantized_weights.h"
#include "aot/passes/pass.h"
#include "aot/passes/rewrite_contractions.h"

namespace ingot {
namespace {

constexpr int64_t kBlock = 32;             // of the depth, that share a scale of 4 bits
constexpr int64_t kElementsMin = 1 << 12;  // of weights that are worth it
constexpr double kByteMost = 127, kNibbleLeast = -8, kNibbleMost = 7;
constexpr double kShares[] = {1, 0.95, 0.9, 0.85, 0.8};  // of the extreme of a block, which scales are tried for

// --- which weights ---------------------------------------------------------------------------------------------------

// A constant through transposes: element [i, j, ...] is at the sum of its indices times `strides`.
struct ConstantView {
  LiteralRef literal;
  Shape strides;

  double at(int64_t place) const { return literal->float_at(literal->is_splat ? 0 : place); }
};

ConstantView constant_view(const Value* value) {
  if (value->op && value->op->is(kTranspose)) {
    const ConstantView inner = constant_view(value->op->operand(0));
    if (!inner.literal) return {};
    ConstantView view{inner.literal, {}};
    for (const int64_t dim : value->op->attrs().ints("permutation")) view.strides.push_back(inner.strides[dim]);
    return view;
  }
  const LiteralRef literal = made_literal(value);
  return literal ? ConstantView{literal, row_major_strides(literal->type.shape)} : ConstantView{};
}

// A product of two tensors, and the one of them that is weights.
struct WeightedProduct {
  const Op* op;
  int operand;  // that is the weights
  ConstantView view;
  std::vector<int64_t> free, summed;              // dimensions of the weights
  std::vector<int64_t> other_free, other_summed;  // of the other operand; those that are summed in step with `summed`

  const Shape& shape() const { return op->operand(operand)->type.shape; }
  int64_t extent(const std::vector<int64_t>& dims) const {
    int64_t product = 1;
    for (const int64_t d : dims) product *= shape()[d];
    return product;
  }
};

std::vector<int64_t> others(size_t rank, const std::vector<int64_t>& dims) {
  std::vector<int64_t> rest;
  for (int64_t d = 0; d < static_cast<int64_t>(rank); ++d) {
    if (!contains(dims, d)) rest.push_back(d);
  }
  return rest;
}

WeightedProduct product_of(const Op& op, int operand, ConstantView view) {
  const ops::DotDims dims = ops::read_dot_dims(op.attrs());
  const bool is_right = operand == 1;
  WeightedProduct product{&op, operand, std::move(view), {}, {}, {}, {}};
  product.summed = is_right ? dims.rhs_contract : dims.lhs_contract;
  product.other_summed = is_right ? dims.lhs_contract : dims.rhs_contract;
  product.free = others(product.shape().size(), product.summed);
  product.other_free = others(op.operand(1 - operand)->type.shape.size(), product.other_summed);
  return product;
}

// Weights that are known: where both operands are, or neither, there is no view of them.
WeightedProduct product_of(const Op& op) {
  ConstantView views[] = {constant_view(op.operand(0)), constant_view(op.operand(1))};
  const int operand = views[1].literal ? 1 : 0;
  return product_of(op, operand, views[0].literal && views[1].literal ? ConstantView{} : std::move(views[operand]));
}

std::string why_weights_stay(const WeightedProduct& product) {
  const Op& op = *product.op;
  if (op.result()->type.dtype != DType::kF32 || op.operand(0)->type.dtype != DType::kF32)
    return fmt::format("its elements are {}", info(op.operand(0)->type.dtype).name);
  if (!product.view.literal) return "neither factor is known before it runs, or both are";
  if (!ops::read_dot_dims(op.attrs()).lhs_batch.empty()) return "it is many products at once";
  const int64_t elements = element_count(product.shape());
  if (elements < kElementsMin) return fmt::format("its weights are {} numbers only", elements);
  if (!are_finite(*product.view.literal)) return "its weights are not finite";
  return "";
}

// --- integers --------------------------------------------------------------------------------------------------------

// [channels][depth] of a tensor like the weights, whose element at a sum of indices times `strides` is `at`.
std::vector<float> rows_of(const WeightedProduct& product, const Shape& strides,
                           const std::function<double(int64_t place)>& at) {
  std::vector<int64_t> order = product.free;
  order.insert(order.end(), product.summed.begin(), product.summed.end());
  std::vector<int64_t> index(order.size(), 0);
  std::vector<float> values;
  for (int64_t left = element_count(product.shape()); left > 0; --left) {
    int64_t place = 0;
    for (size_t d = 0; d < order.size(); ++d) place += index[d] * strides[order[d]];
    values.push_back(static_cast<float>(at(place)));
    for (size_t d = order.size(); d-- > 0 && ++index[d] == product.shape()[order[d]];) index[d] = 0;
  }
  return values;
}

// A scale is no denormal, which would not be exact on all processors.
float usable(double scale) { return std::abs(scale) < FLT_MIN ? 1.0F : static_cast<float>(scale); }

double nearest(double value, float scale, double least, double most) {
  return std::clamp(std::nearbyint(value / scale), least, most);
}

float byte_scale(std::span<const float> channel) {
  double extent = 0;
  for (const float w : channel) extent = std::max(extent, std::abs(static_cast<double>(w)));
  return usable(extent / kByteMost);
}

// The extreme of a block is -8 steps, or a few more: the scale with the least squared error.
float nibble_scale(std::span<const float> block) {
  double extreme = 0;
  for (const float w : block) {
    if (std::abs(w) > std::abs(extreme)) extreme = w;
  }
  float best = 1;
  double least = DBL_MAX;
  for (const double share : kShares) {
    const float scale = usable(share * extreme / kNibbleLeast);
    double error = 0;
    for (const float w : block) error += std::pow(w - scale * nearest(w, scale, kNibbleLeast, kNibbleMost), 2);
    if (error < least) {
      least = error;
      best = scale;
    }
  }
  return best;
}

StoredWeights stored(const std::vector<float>& rows, int64_t channels, int64_t depth, int bits) {
  StoredWeights w{bits, channels, depth, bits == 4 ? kBlock : depth, {}, {}};
  for (size_t at = 0; at < rows.size(); at += w.block) {
    const std::span<const float> block(&rows[at], w.block);
    const float scale = bits == 4 ? nibble_scale(block) : byte_scale(block);
    w.scales.push_back(scale);
    for (const float value : block) {
      const double q =
          bits == 4 ? nearest(value, scale, kNibbleLeast, kNibbleMost) : nearest(value, scale, -kByteMost, kByteMost);
      w.integers.push_back(static_cast<int8_t>(q));
    }
  }
  return w;
}

// --- the product -----------------------------------------------------------------------------------------------------

// The other operand with its summed dimensions last, and these as the weights have them.
Value* other_factor(GraphBuilder& b, const WeightedProduct& product, const Shape& depth) {
  Value* x = product.op->operand(1 - product.operand);
  std::vector<int64_t> order = product.other_free;
  order.insert(order.end(), product.other_summed.begin(), product.other_summed.end());
  if (!std::ranges::is_sorted(order)) x = ops::transpose(b, x, order);
  Shape shape(x->type.shape.begin(), x->type.shape.begin() + std::ssize(product.other_free));
  shape.insert(shape.end(), depth.begin(), depth.end());
  return ops::reshape(b, x, shape);
}

// Which dimensions of a tensor the depth is, from dimension `first` on.
std::vector<int64_t> depth_dims(const Shape& depth, int64_t first) {
  std::vector<int64_t> dims(depth.size());
  std::iota(dims.begin(), dims.end(), first);
  return dims;
}

Value* product_with(GraphBuilder& b, const WeightedProduct& product, const StoredWeights& weights) {
  const bool scales_sums = weights.bits == 8 && weights.has_one_scale() && weights.zeros.empty();
  Value* const w = scales_sums ? ops::convert(b, bytes_of(b, weights), DType::kF32) : widened(b, weights);
  const bool is_depth_first = weights.bits == 4;
  const Shape depth = is_depth_first ? Shape{weights.depth} : Shape(w->type.shape.begin() + 1, w->type.shape.end());
  Value* const x = other_factor(b, product, depth);
  const std::vector<int64_t> of_weights = depth_dims(depth, is_depth_first ? 0 : 1),
                             of_other = depth_dims(depth, std::ssize(product.other_free));
  const bool is_right = product.operand == 1;
  Term sums(b, is_right ? ops::dot_general(b, x, w, {{}, {}, of_other, of_weights})
                        : ops::dot_general(b, w, x, {{}, {}, of_weights, of_other}));
  if (scales_sums) {
    const int64_t channel = is_right ? std::ssize(sums.shape()) - 1 : 0;
    sums = sums * Term(b, ops::broadcast_in_dim(b, scales_of(b, weights), sums.shape(), {channel}));
  }
  return ops::reshape(b, sums, product.op->result()->type.shape);
}

class WeightQuantizer {
 public:
  explicit WeightQuantizer(PassContext& context)
      : bits_(context.weight_bits), observed_(context.observed_weights), notes_(context.weight_notes) {}

  // What takes the place of a product; null where it stays.
  Value* rewrite(GraphBuilder& b, Op& op) {
    Value* const made = product_of_integers(b, op);
    if (!made || observed_ == ObservedWeights::kNone || !op.block->parent_function) return made;
    notes_.back().is_observed = true;
    add_result(op, op.result(), fmt::format("product {} gives", notes_.size() - 1));
    if (observed_ == ObservedWeights::kGiven) return made;
    add_result(op, made, fmt::format("product {} gives in integers", notes_.size() - 1));
    return nullptr;
  }

 private:
  Value* product_of_integers(GraphBuilder& b, Op& op) {
    if (!op.is(kDotGeneral) || !op.has_uses()) return nullptr;
    if (Value* const made = as_it_is(b, op)) return made;
    if (bits_ == 0) return nullptr;
    const WeightedProduct product = product_of(op);
    const std::string why = why_weights_stay(product);
    if (!why.empty()) {
      notes_.push_back({name_of(op), why});
      return nullptr;
    }
    const ConstantView& view = product.view;
    const std::vector<float> rows = rows_of(product, view.strides, [&](int64_t place) { return view.at(place); });
    const int64_t channels = product.extent(product.free), depth = product.extent(product.summed);
    return made_of(b, product, stored(rows, channels, depth, bits_ == 4 && fits_nibbles(depth, kBlock) ? 4 : 8));
  }

  static std::string name_of(const Op& op) {
    const std::string name = user_name(op.location);
    return name.empty() ? describe(op.location) : name;
  }

  Value* made_of(GraphBuilder& b, const WeightedProduct& product, const StoredWeights& weights) {
    notes_.push_back({name_of(*product.op), "", weights.bits, weights.channels * weights.depth, weights.bytes()});
    return product_with(b, product, weights);
  }

  // With weights that the program has as integers.
  Value* as_it_is(GraphBuilder& b, const Op& op) {
    if (!ops::read_dot_dims(op.attrs()).lhs_batch.empty() || op.result()->type.dtype != DType::kF32) return nullptr;
    for (const int operand : {1, 0}) {
      const std::optional<DequantizedWeights> found = dequantized_weights(op.operand(operand));
      if (!found || op.result()->type.elements() == 0) continue;
      const WeightedProduct product = product_of(op, operand, {});
      const Shape strides = row_major_strides(product.shape());
      const auto rows = [&](const RefTensor& x) {
        return rows_of(product, strides, [&](int64_t place) { return x.f[place]; });
      };
      const auto weights = stored_as_they_are(rows(found->integers), rows(found->scales), product.extent(product.free));
      if (weights) return made_of(b, product, *weights);
    }
    return nullptr;
  }

  int bits_;
  ObservedWeights observed_;
  std::vector<WeightNote>& notes_;
};

}  // namespace

bool quantize_weights(Module& module, PassContext& context) {
  WeightQuantizer quantizer(context);
  const bool changed = rewrite_contractions(module, [&](GraphBuilder& b, Op& op) { return quantizer.rewrite(b, op); });
  return changed || context.observed_weights != ObservedWeights::kNone;
}

}  // namespace ingot
