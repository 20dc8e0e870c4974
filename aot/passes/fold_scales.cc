#include <algorithm>
#include <cmath>
#include <optional>

#include "aot/analysis/walk.h"
#include "aot/graph/access_map.h"
#include "aot/loops/contraction.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/index.h"
#include "aot/passes/pass.h"

namespace ingot {
namespace {

using Ints = std::vector<int64_t>;

// A contraction whose weights are a constant. Features are the result's dimensions that are dimensions of the weights
// too, both in the result's order.
struct Weighted {
  Op* op;
  int operand;  // that is the weights
  LiteralRef weights;
  Ints result_dims, weight_dims;

  Shape features() const {
    Shape shape;
    for (const int64_t dim : result_dims) shape.push_back(op->result()->type.shape[dim]);
    return shape;
  }
};

bool is_same(const AxisMap& a, const AxisMap& b) {
  return a.constant == b.constant && a.coefficients == b.coefficients && a.divisor == 1 && b.divisor == 1;
}

std::optional<Weighted> weighted(Op& op) {
  const TensorType& type = op.result()->type;
  const bool is_wide = type.dtype == DType::kF32 || type.dtype == DType::kF64;
  if (!op.def->contraction || !is_wide || type.elements() == 0) return std::nullopt;
  const loops::Contraction space = op.def->contraction(op);
  for (const int operand : {1, 0}) {
    Weighted it{&op, operand, constant_of(op.operand(operand)), {}, {}};
    if (!it.weights || it.weights->type.dtype != type.dtype) continue;
    const std::vector<AxisMap>& axes = operand == 0 ? space.lhs : space.rhs;
    for (size_t r = 0; r < space.out.size(); ++r) {
      const auto same = std::ranges::find_if(axes, [&](const AxisMap& axis) { return is_same(axis, space.out[r]); });
      if (type.shape[r] == 1 || same == axes.end()) continue;
      it.result_dims.push_back(static_cast<int64_t>(r));
      it.weight_dims.push_back(same - axes.begin());
    }
    return it;
  }
  return std::nullopt;
}

// A constant of the result's shape, or one that is broadcast to it, as a number for each of the features; nothing for
// other values.
std::optional<std::vector<double>> by_feature(const Value* value, const Weighted& it) {
  const bool is_broadcast = value->op && value->op->is(kBroadcastInDim);
  const LiteralRef literal = constant_of(is_broadcast ? value->op->operand(0) : value);
  if (!literal) return std::nullopt;
  const Ints dims =
      is_broadcast ? value->op->attrs().ints("broadcast_dimensions") : ops::iota_dims(literal->type.rank());
  const Shape strides = row_major_strides(literal->type.shape);
  Shape steps(it.result_dims.size());  // of the literal's elements along each feature
  for (size_t d = 0; d < dims.size() && !literal->is_splat; ++d) {
    if (literal->type.shape[d] == 1) continue;
    const auto feature = std::ranges::find(it.result_dims, dims[d]);
    if (feature == it.result_dims.end()) return std::nullopt;
    steps[feature - it.result_dims.begin()] = strides[d];
  }
  std::vector<double> numbers;
  ops::for_each_index(it.features(), [&](const Shape& at, int64_t) {
    int64_t element = 0;
    for (size_t k = 0; k < at.size(); ++k) element += at[k] * steps[k];
    numbers.push_back(literal->float_at(element));
  });
  return numbers;
}

// y scale + shift, for each feature.
struct Affine {
  std::vector<double> scale, shift;

  // What `op` makes of it and of constants.
  void follow(const Op& op, bool is_first, const std::vector<double>& numbers) {
    for (size_t k = 0; k < scale.size(); ++k) {
      const double c = numbers[k], sign = op.is(kSubtract) && !is_first ? -1 : 1;
      if (op.is(kMultiply) || op.is(kDivide)) {
        scale[k] = op.is(kMultiply) ? scale[k] * c : scale[k] / c;
        shift[k] = op.is(kMultiply) ? shift[k] * c : shift[k] / c;
      } else {
        scale[k] *= sign;
        shift[k] = op.is(kSubtract) && is_first ? shift[k] - c : sign * shift[k] + c;
      }
    }
  }
};

// The ops after a contraction that only scale and shift its features, each read by the next alone.
struct Chain {
  Affine affine;
  Op* last = nullptr;
  int length = 0;
  bool scales = false;
};

Chain chain_of(const Weighted& it) {
  const auto count = static_cast<size_t>(element_count(it.features()));
  Chain chain{{std::vector<double>(count, 1), std::vector<double>(count, 0)}, it.op};
  while (chain.last->result()->uses.size() == 1) {
    const auto [op, at] = chain.last->result()->uses[0];
    const bool is_scale = op->is(kMultiply) || (op->is(kDivide) && at == 0);
    if ((!is_scale && !op->is(kAdd) && !op->is(kSubtract)) || op->block != it.op->block) break;
    const std::optional<std::vector<double>> numbers = by_feature(op->operand(1 - at), it);
    if (!numbers) break;
    chain.affine.follow(*op, at == 0, *numbers);
    chain.last = op;
    chain.scales |= is_scale;
    ++chain.length;
  }
  return chain;
}

// The weights with each feature scaled; null where a number would be infinite or none.
LiteralRef scaled(const Weighted& it, const std::vector<double>& scale) {
  const TensorType& type = it.weights->type;
  const Shape strides = row_major_strides(it.features());
  auto made = std::make_shared<Literal>(Literal{type, std::vector<std::byte>(type.bytes())});
  bool is_finite = true;
  ops::for_each_index(type.shape, [&](const Shape& at, int64_t element) {
    int64_t feature = 0;
    for (size_t k = 0; k < strides.size(); ++k) feature += at[it.weight_dims[k]] * strides[k];
    const double weight = round_to(type.dtype, it.weights->float_at(element) * scale[feature]);
    is_finite &= std::isfinite(weight);
    store_float(type.dtype, weight, made->data.data() + element * info(type.dtype).bytes);
  });
  return is_finite ? made : nullptr;
}

LiteralRef literal_of(const TensorType& type, const std::vector<double>& numbers) {
  auto made = std::make_shared<Literal>(Literal{type, std::vector<std::byte>(type.bytes())});
  for (size_t k = 0; k < numbers.size(); ++k)
    store_float(type.dtype, numbers[k], made->data.data() + k * info(type.dtype).bytes);
  return made;
}

bool fold_into(const Weighted& it) {
  const auto [affine, last, length, scales] = chain_of(it);
  if (!scales && length < 2) return false;
  const TensorType& type = it.op->result()->type;
  const auto is_finite = [&](double x) { return std::isfinite(round_to(type.dtype, x)); };
  if (!std::ranges::all_of(affine.scale, is_finite) || !std::ranges::all_of(affine.shift, is_finite)) return false;
  const LiteralRef weights = scaled(it, affine.scale);
  if (!weights) return false;
  GraphBuilder b;
  b.before(*last);
  b.location = it.op->location;
  Values operands = it.op->operands;
  operands[it.operand] = ops::constant(b, weights);
  Value* y = b.make(*it.op->def, operands, it.op->attr_map, {type});
  const bool shifts = std::ranges::any_of(affine.shift, [](double x) { return x != 0; });
  if (!shifts) {
    replace_op(last, {y});
    return true;
  }
  b.location = last->location;
  Value* shift = ops::constant(b, literal_of({type.dtype, it.features()}, affine.shift));
  replace_op(last, {ops::add(b, y, ops::broadcast_in_dim(b, shift, type.shape, it.result_dims))});
  return true;
}

}  // namespace

bool fold_scales(Module& module, PassContext& context) {
  if (!context.folds_scales) return false;
  bool changed = false;
  for_each_block(module, [&](Block& block) {
    std::vector<Op*> contractions;
    for (const auto& op : block.ops) {
      if (op->def->contraction) contractions.push_back(op.get());
    }
    for (Op* op : contractions) {
      if (const std::optional<Weighted> it = weighted(*op)) changed |= fold_into(*it);
    }
    if (changed) erase_unread(block);
  });
  return changed;
}

}  // namespace ingot
