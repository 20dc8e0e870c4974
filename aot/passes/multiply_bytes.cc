// u v, where u = x + a and v = y + b, x has unsigned bytes and y signed ones, and a and b are numbers:
//   sum u v = sum x y + a sum y + b sum x + K a b, over a depth of K.
// x y is multiplied four bytes at a time; the sums over y are constants where the weights are.
#include <algorithm>
#include <optional>

#include "aot/analysis/integer_range.h"
#include "aot/analysis/made_literal.h"
#include "aot/analysis/walk.h"
#include "aot/analysis/word_depth.h"
#include "aot/graph/attributes.h"
#include "aot/graph/evaluate.h"
#include "aot/loops/contraction.h"
#include "aot/ops/support/algebra.h"
#include "aot/ops/support/contraction.h"
#include "aot/ops/support/index.h"
#include "aot/passes/pass.h"
#include "aot/passes/rewrite_contractions.h"

namespace ingot {
namespace {

constexpr IntegerRange kUnsigned{0, 255}, kSigned{-128, 127};

// --- operands as bytes ---------------------------------------------------------------------------------------------

// An operand as bytes, to each of which a number is added: `shift`, and `moved`, which only the run knows; null: none.
struct Bytes {
  Value* bytes = nullptr;
  int64_t shift = 0;
  Value* moved = nullptr;

  bool are_shifted() const { return shift != 0 || moved; }
};

Value* number(GraphBuilder& b, int64_t value) { return ops::constant(b, splat_int({DType::kI32, {}}, value)); }

Value* shift_of(GraphBuilder& b, const Bytes& it) {
  if (!it.moved) return number(b, it.shift);
  return it.shift == 0 ? it.moved : ops::add(b, it.moved, number(b, it.shift));
}

// x - z, with a number z that only the run knows.
struct Moved {
  Value* x;
  Value* z;
};

std::optional<Moved> moved(Value* value) {
  if (!value->op || !value->op->is(kSubtract) || value->type.dtype != DType::kI32) return std::nullopt;
  const Op* broadcast = value->op->operand(1)->op;
  if (!broadcast || !broadcast->is(kBroadcastInDim) || constant_of(broadcast->operand(0))) return std::nullopt;
  Value* z = broadcast->operand(0);
  if (z->type.elements() != 1) return std::nullopt;
  return Moved{value->op->operand(0), z};
}

// value - less, as bytes; it is known to fit.
Value* in_bytes(GraphBuilder& b, Value* value, int64_t less, DType dtype) {
  if (const LiteralRef literal = made_literal(value)) {
    std::vector<std::byte> bytes(value->type.elements());
    for (size_t k = 0; k < bytes.size(); ++k)
      store_int(dtype, literal->int_at(literal->is_splat ? 0 : static_cast<int64_t>(k)) - less, &bytes[k]);
    return ops::constant(b, dense({dtype, value->type.shape}, std::move(bytes)));
  }
  while (value->op) {
    const Op& op = *value->op;
    const LiteralRef shift = op.is(kSubtract) || op.is(kAdd) ? constant_of(op.operand(1)) : nullptr;
    if (shift && shift->is_splat) {
      less += op.is(kSubtract) ? shift->int_at(0) : -shift->int_at(0);
    } else if (!op.is(kConvert) || !range_of(op.operand(0)->type.dtype) ||
               info(op.operand(0)->type.dtype).bits > info(value->type.dtype).bits) {
      break;
    }
    value = op.operand(0);
  }
  if (less == 0) return ops::convert(b, value, dtype);
  const Term wide = converted({b, value}, DType::kI32);
  return converted(wide - static_cast<double>(less), dtype);
}

// Nothing where numbers are too far apart for a byte. `has_zero`: 0 has to be among the numbers that bytes can say.
std::optional<Bytes> as_bytes(GraphBuilder& b, Value* value, bool is_unsigned, bool has_zero) {
  const std::optional<Moved> by_number = moved(value);
  Value* const x = by_number ? by_number->x : value;
  const LiteralRef literal = made_literal(x);
  std::optional<IntegerRange> range = integer_range(x);
  if (literal && range) range = range_of(*literal);
  if (range && has_zero) {
    const std::optional<IntegerRange> zero = by_number ? integer_range(by_number->z) : IntegerRange{0, 0};
    if (!zero) return std::nullopt;
    range = joined(*range, *zero);
  }
  if (!range || range->width() > kUnsigned.width()) return std::nullopt;
  const IntegerRange all = is_unsigned ? kUnsigned : kSigned;
  const int64_t less = range->is_within(all) ? 0 : range->low - all.low;
  Bytes result{in_bytes(b, x, less, is_unsigned ? DType::kUI8 : DType::kI8), less};
  if (by_number) result.moved = ops::negate(b, ops::reshape(b, by_number->z, {}));
  return result;
}

// Four bytes in each word. Constants at once, however large they are.
Value* packed(GraphBuilder& b, Value* bytes, int64_t dim) {
  Value* const words = b.make(kPackWords, {bytes}, {{"dimension", IntAttr{dim}}});
  const LiteralRef literal = constant_of(bytes);
  if (!literal) return words;
  const RefTensor input = from_literal(*literal);
  return ops::constant(b, to_literal(evaluate(*words->op, std::span(&input, 1))[0]));
}

// --- what is added to the sums --------------------------------------------------------------------------------------

// Dimensions of an operand that are dimensions of the result, and those.
struct Kept {
  std::vector<int64_t> dims, result_dims, summed;
};

Kept kept_dims(const loops::Contraction& space, const std::vector<AxisMap>& operand) {
  Kept kept;
  for (size_t d = 0; d < operand.size(); ++d) {
    const int64_t result_dim = space.result_dim(operand[d]);
    (result_dim < 0 ? kept.summed : kept.dims).push_back(static_cast<int64_t>(d));
    if (result_dim >= 0) kept.result_dims.push_back(result_dim);
  }
  return kept;
}

Value* summed_bytes(GraphBuilder& b, Value* bytes, const Kept& kept) {
  return ops::reduce(b, kAdd, ops::convert(b, bytes, DType::kI32), kept.summed);
}

// The sums of constant bytes, times a number.
Value* summed_constants(GraphBuilder& b, const Literal& bytes, const Kept& kept, int64_t factor) {
  const Shape shape = ops::extents(bytes.type.shape, kept.dims), strides = row_major_strides(shape);
  std::vector<int64_t> sums(element_count(shape));
  ops::for_each_index(bytes.type.shape, [&](const Shape& at, int64_t element) {
    sums[linear_index(ops::extents(at, kept.dims), strides)] += factor * bytes.int_at(bytes.is_splat ? 0 : element);
  });
  return ops::constant(b, with_shape(*dense_ints(sums, DType::kI32), shape));
}

// What is added to each byte times the sums of the other operand's, for each element of the result.
Value* correction(GraphBuilder& b, const Bytes& it, Value* others, const Kept& kept, const Shape& result) {
  const LiteralRef literal = it.moved ? nullptr : constant_of(others);
  Value* sums = literal ? summed_constants(b, *literal, kept, it.shift) : summed_bytes(b, others, kept);
  if (!literal) sums = ops::multiply(b, sums, ops::broadcast_scalar(b, shift_of(b, it), sums->type.shape));
  return ops::broadcast_in_dim(b, sums, result, kept.result_dims);
}

// --- products ------------------------------------------------------------------------------------------------------

class Product {
 public:
  Product(GraphBuilder& b, Op& op) : b_(b), op_(op), space_(op.def->contraction(op)) {}

  // In place of the op; null where it stays.
  Value* in_bytes() {
    if (op_.result()->type.dtype != DType::kI32 || op_.attr_map.contains(attributes::kUnsignedBytes)) return nullptr;
    const std::optional<WordDepth> depth = byte_depth(op_);
    if (op_.result()->type.elements() == 0 || !depth || !find_bytes()) return nullptr;
    if (pads_by_hand_) pad();
    AttrMap attrs = op_.attr_map;
    if (pads_by_hand_) attrs["padding"] = ops::padding_attr(convolution_.window);
    attrs[attributes::kUnsignedBytes] = IntAttr{unsigned_};
    const Values words{packed(b_, bytes_[0].bytes, depth->lhs), packed(b_, bytes_[1].bytes, depth->rhs)};
    return corrected(b_.make(*op_.def, words, attrs, {op_.result()->type}));
  }

 private:
  bool has_padding() const {
    return std::ranges::any_of(convolution_.window, [](const ops::WindowDim& w) { return w.low != 0 || w.high != 0; });
  }

  // As lhs of a convolution is padded, it is the unsigned one there: as inputs mostly are.
  bool find_bytes() {
    const bool is_convolution = op_.is(kConvolution);
    if (is_convolution) convolution_ = ops::read_convolution(op_.attrs(), op_.operand(1)->type.shape);
    const auto is_unsigned = [&](int k) {
      const std::optional<IntegerRange> range = integer_range(op_.operand(k));
      return range && range->is_within(kUnsigned);
    };
    const bool turns = !is_convolution && (made_literal(op_.operand(0)) || is_unsigned(1)) && !is_unsigned(0);
    unsigned_ = turns ? 1 : 0;
    const bool has_zero = is_convolution && has_padding();
    for (int k = 0; k < 2; ++k) {
      const std::optional<Bytes> bytes = as_bytes(b_, op_.operand(k), k == unsigned_, has_zero && k == 0);
      if (!bytes) return false;
      bytes_[k] = *bytes;
    }
    if (!is_convolution) return true;
    const auto is_dilated = [](const ops::WindowDim& w) { return w.base_dilation != 1; };
    const bool are_shifted = bytes_[0].are_shifted();
    if (bytes_[1].are_shifted() || (are_shifted && std::ranges::any_of(convolution_.window, is_dilated))) return false;
    pads_by_hand_ = has_zero && are_shifted;
    return true;
  }

  // With the byte that says zero.
  void pad() {
    const auto rank = static_cast<size_t>(op_.operand(0)->type.rank());
    Shape low(rank), high(rank);
    for (size_t k = 0; k < convolution_.window.size(); ++k) {
      ops::WindowDim& window = convolution_.window[k];
      const int64_t dim = convolution_.dims.input_spatial[k];
      low[dim] = std::exchange(window.low, 0);
      high[dim] = std::exchange(window.high, 0);
    }
    const TensorType byte{bytes_[0].bytes->type.dtype, {}};
    Value* const zero = bytes_[0].moved ? ops::convert(b_, ops::negate(b_, shift_of(b_, bytes_[0])), byte.dtype)
                                        : ops::constant(b_, splat_int(byte, -bytes_[0].shift));
    bytes_[0].bytes = ops::pad(b_, bytes_[0].bytes, zero, low, high, Shape(rank));
  }

  Value* corrected(Value* sums) {
    const Shape& shape = sums->type.shape;
    const Kept kept[] = {kept_dims(space_, space_.lhs), kept_dims(space_, space_.rhs)};
    for (int k = 0; k < 2; ++k) {
      if (!bytes_[k].are_shifted()) continue;
      sums = ops::add(b_, sums, correction(b_, bytes_[k], bytes_[1 - k].bytes, kept[1 - k], shape));
    }
    if (!bytes_[0].are_shifted() || !bytes_[1].are_shifted()) return sums;
    const int64_t depth = element_count(ops::extents(op_.operand(0)->type.shape, kept[0].summed));
    Value* const shifts = ops::multiply(b_, shift_of(b_, bytes_[0]), shift_of(b_, bytes_[1]));
    return ops::add(b_, sums, ops::broadcast_scalar(b_, ops::multiply(b_, shifts, number(b_, depth)), shape));
  }

  GraphBuilder& b_;
  Op& op_;
  loops::Contraction space_;
  ops::Convolution convolution_;
  int unsigned_ = 0;  // the operand
  Bytes bytes_[2];
  bool pads_by_hand_ = false;
};

}  // namespace

bool multiply_bytes(Module& module, PassContext&) {
  return rewrite_contractions(module, [](GraphBuilder& b, Op& op) { return Product(b, op).in_bytes(); });
}

}  // namespace ingot
