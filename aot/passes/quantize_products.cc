// x = (q - zero) scale, for q of [0, 255], and w = p scales[channel], for p of [-127, 127].
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <map>

#include "aot/analysis/made_literal.h"
#include "aot/analysis/user_name.h"
#include "aot/analysis/word_depth.h"
#include "aot/loops/contraction.h"
#include "aot/ops/support/algebra.h"
#include "aot/passes/pass.h"
#include "aot/passes/rewrite_contractions.h"

namespace ingot {
namespace {

constexpr double kUnsignedMost = 255, kSignedMost = 127;

// A scale by which numbers up to `extent` are `most` steps; 1 where all are as good as 0.
double scale_of(double extent, double most) {
  const double scale = round_to(DType::kF32, extent / most);
  return scale < FLT_MIN ? 1 : scale;
}

// --- which products --------------------------------------------------------------------------------------------------

// The operand that is constant; null where neither is, or both are.
struct Weights {
  int operand = -1;
  LiteralRef literal;
};

Weights weights_of(const Op& op) {
  const LiteralRef literals[] = {made_literal(op.operand(0)), made_literal(op.operand(1))};
  if (!literals[0] == !literals[1]) return {};
  const int operand = literals[1] ? 1 : 0;
  return {operand, literals[operand]};
}

// Integers that are converted and scaled, as in QDQ models.
bool is_dequantized(const Value* value) {
  if (!value->op || !value->op->is(kMultiply)) return false;
  return std::ranges::any_of(value->op->operands, [](const Value* factor) {
    return factor->op && factor->op->is(kConvert) && is_integer(factor->op->operand(0)->type.dtype);
  });
}

std::string why_float(const Op& op, const Weights& weights) {
  const TensorType& type = op.result()->type;
  if (!op.block->parent_function) return "it stands in a loop or a branch";
  if (type.dtype != DType::kF32 || op.operand(0)->type.dtype != DType::kF32) {
    return fmt::format("its elements are {}", info(op.operand(0)->type.dtype).name);
  }
  if (type.elements() == 0) return "it is empty";
  if (!byte_depth(op)) {
    return op.is(kConvolution) ? "few channels are convolved together" : "it sums fewer than three products";
  }
  if (is_dequantized(op.operand(0)) && is_dequantized(op.operand(1))) return "the program has it in integers already";
  if (!op.has_uses()) return "nobody reads it";
  if (!weights.literal) return "neither factor is known before it runs, or both are";
  if (!are_finite(*weights.literal)) return "its weights are not finite";
  return "";
}

bool is_asked_to_stay(const std::string& name, const std::vector<std::string>& patterns) {
  return std::ranges::any_of(
      patterns, [&](const std::string& pattern) { return fnmatch(pattern.c_str(), name.c_str(), 0) == 0; });
}

std::string name_of(const Op& op, size_t number) {
  const std::string name = user_name(op.location), place = describe(op.location);
  if (!name.empty()) return name;
  return place.empty() ? fmt::format("{} {}", op.name(), number) : place;
}

// --- integers --------------------------------------------------------------------------------------------------------

// The longest dimension of the weights that is one of the result, whatever moves along it; -1: there is none.
int64_t channel_dim(const Op& op, const Weights& weights) {
  const loops::Contraction space = op.def->contraction(op);
  const std::vector<AxisMap>& axes = weights.operand == 0 ? space.lhs : space.rhs;
  const Shape& shape = weights.literal->type.shape;
  int64_t longest = -1;
  for (int64_t d = 0; d < std::ssize(axes); ++d) {
    if (space.result_dim(axes[d]) >= 0 && shape[d] > 1 && (longest < 0 || shape[d] > shape[longest])) longest = d;
  }
  return longest;
}

// The weights as integers times their scales, one for each index of dimension `channel`.
Value* dequantized_weights(GraphBuilder& b, const Literal& weights, int64_t channel) {
  const TensorType& type = weights.type;
  const int64_t channels = channel < 0 ? 1 : type.shape[channel];
  const int64_t stride = channel < 0 ? type.elements() : row_major_strides(type.shape)[channel];
  const auto weight = [&](int64_t k) { return weights.float_at(weights.is_splat ? 0 : k); };
  const auto channel_of = [&](int64_t k) { return k / stride % channels; };
  std::vector<double> scales(channels, 0);
  for (int64_t k = 0; k < type.elements(); ++k) {
    double& largest = scales[channel_of(k)];
    largest = std::max(largest, std::abs(weight(k)));
  }
  std::vector<std::byte> scale_bytes(channels * sizeof(float)), integers(type.elements());
  for (int64_t c = 0; c < channels; ++c) {
    scales[c] = scale_of(scales[c], kSignedMost);
    store_float(DType::kF32, scales[c], &scale_bytes[c * sizeof(float)]);
  }
  for (int64_t k = 0; k < type.elements(); ++k) {
    const double steps = std::nearbyint(weight(k) / scales[channel_of(k)]);
    store_int(DType::kI8, static_cast<int64_t>(std::clamp(steps, -kSignedMost, kSignedMost)), &integers[k]);
  }
  const Term wide = converted({b, ops::constant(b, dense({DType::kI8, type.shape}, std::move(integers)))}, DType::kF32);
  if (channel < 0) return wide * scales[0];
  Value* const scale = ops::constant(b, dense({DType::kF32, {channels}}, std::move(scale_bytes)));
  return wide * Term(b, ops::broadcast_in_dim(b, scale, type.shape, {channel}));
}

// x as the nearest of 256 numbers of the range, of which 0 is one.
Value* dequantized_tensor(GraphBuilder& b, Value* x, SeenRange range) {
  const double low = std::min(range.low, 0.0), high = std::max(range.high, 0.0);
  const double scale = scale_of(high - low, kUnsignedMost);
  const double zero = std::clamp(std::nearbyint(-low / scale), 0.0, kUnsignedMost);
  const Term steps = (Term(b, x) * (1 / scale)).unary(kRoundNearestEven) + zero;
  const Term below = steps.binary(kMaximum, steps.like(0)), within = below.binary(kMinimum, below.like(kUnsignedMost));
  return converted(converted(converted(within, DType::kUI8), DType::kI32) - zero, DType::kF32) * scale;
}

class ProductQuantizer {
 public:
  ProductQuantizer(const ProductQuantization& options, std::vector<ProductNote>& notes)
      : options_(options), notes_(notes) {}

  // What takes the place of a product; null where it stays.
  Value* rewrite(GraphBuilder& b, Op& op) {
    const size_t number = notes_.size();
    const Weights weights = weights_of(op);
    ProductNote& note = notes_.emplace_back(ProductNote{op.location, name_of(op, number), why_float(op, weights)});
    if (note.why_float.empty() && is_asked_to_stay(note.name, options_.kept)) note.why_float = "it is asked to stay";
    if (!note.why_float.empty()) return nullptr;
    observe(op, op.operand(1 - weights.operand), number, "reads");
    observe(op, op.result(), number, "gives");
    if (options_.ranges.empty()) return nullptr;
    Value* const made = of_integers(b, op, weights, options_.ranges[number]);
    if (!options_.is_beside) return made;
    observe(op, made, number, "gives in integers");
    return nullptr;
  }

 private:
  // What stands in the place of `value` afterwards is a result of the function.
  void observe(const Op& op, Value* value, size_t number, const char* what) const {
    if (!options_.are_observed) return;
    add_result(op, value, fmt::format("product {} {}", number, what));
  }

  Value* of_integers(GraphBuilder& b, const Op& op, const Weights& weights, SeenRange range) {
    Value* const x = op.operand(1 - weights.operand);
    Value*& factor = dequantized_[x];
    if (!factor) factor = dequantized_tensor(b, x, range);
    Values operands = op.operands;
    operands[1 - weights.operand] = factor;
    operands[weights.operand] = dequantized_weights(b, *weights.literal, channel_dim(op, weights));
    return b.make(*op.def, operands, op.attr_map, {op.result()->type});
  }

  const ProductQuantization& options_;
  std::vector<ProductNote>& notes_;
  std::map<const Value*, Value*> dequantized_;  // what several products read is quantized once
};

}  // namespace

bool quantize_products(Module& module, PassContext& context) {
  if (!context.quantization) return false;
  ProductQuantizer quantizer(*context.quantization, context.product_notes);
  const bool changed = rewrite_contractions(module, [&](GraphBuilder& b, Op& op) { return quantizer.rewrite(b, op); });
  return changed || context.quantization->are_observed;
}

}  // namespace ingot
