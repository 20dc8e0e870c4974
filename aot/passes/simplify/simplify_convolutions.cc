// Convolutions. Every dimension has a number, so transposes are renumbering.
#include <algorithm>
#include <utility>

#include "aot/analysis/spread_windows.h"
#include "aot/base/divide.h"
#include "aot/ops/support/index.h"
#include "aot/passes/simplify/simplify_rules.h"

namespace ingot {
namespace {

using Ints = std::vector<int64_t>;

ops::Convolution read(const Op& op) { return ops::read_convolution(op.attrs(), op.operand(1)->type.shape); }

// A convolution like `like` with another geometry.
Value* make_convolution(GraphBuilder& b, const Op& like, Value* x, Value* w, const ops::Convolution& geometry,
                        const TensorType& type) {
  AttrMap attrs = like.attr_map;
  for (auto& [name, attr] : ops::to_attrs(geometry)) attrs[name] = attr;
  return b.make(*like.def, {x, w}, std::move(attrs), {type});
}

void renumber(std::initializer_list<int64_t*> singles, Ints& spatial, const Ints& to) {
  for (int64_t* dim : singles) *dim = to[*dim];
  for (int64_t& dim : spatial) dim = to[dim];
}

Value* convolution_of_transposed(GraphBuilder& b, const Op& op) {
  ops::Convolution geometry = read(op);
  ops::ConvDims& dims = geometry.dims;
  if (const Op* x = made_by(op.operand(0), kTranspose)) {
    renumber({&dims.input_batch, &dims.input_feature}, dims.input_spatial, x->attrs().ints("permutation"));
    return make_convolution(b, op, x->operand(0), op.operand(1), geometry, op.result()->type);
  }
  if (const Op* w = made_by(op.operand(1), kTranspose)) {
    renumber({&dims.kernel_input_feature, &dims.kernel_output_feature}, dims.kernel_spatial,
             w->attrs().ints("permutation"));
    return make_convolution(b, op, op.operand(0), w->operand(0), geometry, op.result()->type);
  }
  return nullptr;
}

Value* transposed_convolution(GraphBuilder& b, const Op& op) {
  const Op* inner = made_by(op.operand(0), kConvolution);
  if (!inner || inner->result()->uses.size() != 1) return nullptr;
  const Ints permutation = op.attrs().ints("permutation");
  Ints place(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) place[permutation[i]] = static_cast<int64_t>(i);
  ops::Convolution geometry = read(*inner);
  ops::ConvDims& dims = geometry.dims;
  renumber({&dims.output_batch, &dims.output_feature}, dims.output_spatial, place);
  return make_convolution(b, *inner, inner->operand(0), inner->operand(1), geometry, op.result()->type);
}

Value* convolution_of_reversed(GraphBuilder& b, const Op& op) {
  const Op* reverse = made_by(op.operand(1), kReverse);
  if (!reverse) return nullptr;
  ops::Convolution geometry = read(op);
  const Ints& spatial = geometry.dims.kernel_spatial;
  for (int64_t dim : reverse->attrs().ints("dimensions")) {
    const auto found = std::find(spatial.begin(), spatial.end(), dim);
    if (found == spatial.end()) return nullptr;
    bool& reversed = geometry.window[found - spatial.begin()].reversed;
    reversed = !reversed;
  }
  return make_convolution(b, op, op.operand(0), reverse->operand(0), geometry, op.result()->type);
}

Value* convolution_of_padded(GraphBuilder& b, const Op& op) {
  const Op* pad = made_by(op.operand(0), kPad);
  if (!pad || !is_all(pad->operand(1), 0)) return nullptr;
  ops::Convolution geometry = read(op);
  const Ints low = pad->attrs().ints("edge_padding_low"), high = pad->attrs().ints("edge_padding_high");
  const Ints interior = pad->attrs().ints("interior_padding");
  for (size_t d = 0; d < low.size(); ++d) {
    const auto dim = static_cast<int64_t>(d);
    const auto found = std::find(geometry.dims.input_spatial.begin(), geometry.dims.input_spatial.end(), dim);
    if (low[d] == 0 && high[d] == 0 && interior[d] == 0) continue;
    if (found == geometry.dims.input_spatial.end() || low[d] < 0 || high[d] < 0) return nullptr;
    ops::WindowDim& window = geometry.window[found - geometry.dims.input_spatial.begin()];
    if (window.base_dilation != 1 || window.low < 0 || window.high < 0) return nullptr;
    window.low += low[d];
    window.high += high[d];
    window.base_dilation = interior[d] + 1;
  }
  return make_convolution(b, op, pad->operand(0), op.operand(1), geometry, op.result()->type);
}

// --- base dilation ---

// `to` counts the dimensions without the one that moves.
Value* move_dim(GraphBuilder& b, Value* x, int64_t from, int64_t to) {
  Ints order = ops::iota_dims(x->type.rank());
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return ops::transpose(b, x, order);
}

// `count` elements along a dimension, `step` apart.
Value* slice_dim(GraphBuilder& b, Value* x, int64_t dim, int64_t start, int64_t step, int64_t count) {
  Shape starts(x->type.rank()), limits = x->type.shape, steps(starts.size(), 1);
  starts[dim] = start;
  limits[dim] = start + step * (count - 1) + 1;
  steps[dim] = step;
  return ops::slice(b, x, starts, limits, steps);
}

// Dimension `dim` as two, of extents extent / inner and inner; and the other way round.
Value* split_dim(GraphBuilder& b, Value* x, int64_t dim, int64_t inner) {
  Shape shape = x->type.shape;
  shape[dim] /= inner;
  shape.insert(shape.begin() + dim + 1, inner);
  return ops::reshape(b, x, shape);
}
Value* merge_dims(GraphBuilder& b, Value* x, int64_t dim) {
  Shape shape = x->type.shape;
  shape[dim] *= shape[dim + 1];
  shape.erase(shape.begin() + dim + 1);
  return ops::reshape(b, x, shape);
}

Value* pad_dim(GraphBuilder& b, Value* x, int64_t dim, int64_t low, int64_t high, int64_t interior) {
  const size_t rank = x->type.shape.size();
  Shape lows(rank), highs(rank), interiors(rank);
  lows[dim] = low;
  highs[dim] = high;
  interiors[dim] = interior;
  return ops::pad(b, x, ops::constant(b, {x->type.dtype, {}}, 0), lows, highs, interiors);
}

// The result of `convolution` of x and w, whose type is like the old result's but for window and output features.
TensorType type_of(const Op& old, Value* x, Value* w, const ops::Convolution& convolution) {
  TensorType type = old.result()->type;
  const ops::ConvDims& dims = convolution.dims;
  type.shape[dims.output_feature] = w->type.shape[dims.kernel_output_feature];
  const Shape spatial = ops::positions(convolution.window, ops::extents(x->type.shape, dims.input_spatial));
  for (size_t k = 0; k < spatial.size(); ++k) type.shape[dims.output_spatial[k]] = spatial[k];
  return type;
}

// A window of one element over holes gives holes: they are put into the result instead.
Value* convolution_of_spread(GraphBuilder& b, const Op& op) {
  if (op.result()->type.elements() == 0) return nullptr;
  ops::Convolution geometry = read(op);
  for (size_t k = 0; k < geometry.window.size(); ++k) {
    ops::WindowDim& window = geometry.window[k];
    if (window.base_dilation == 1 || window.size != 1 || window.stride != 1) continue;
    const ops::WindowDim spread = std::exchange(window, {});
    Value* dense = make_convolution(b, op, op.operand(0), op.operand(1), geometry,
                                    type_of(op, op.operand(0), op.operand(1), geometry));
    return pad_dim(b, dense, geometry.dims.output_spatial[k], spread.low, spread.high, spread.base_dilation - 1);
  }
  return nullptr;
}

// Along one spatial dimension of dilation s, output s q + p + low - (s - 1) reads, through the kernel elements
// s m + s - 1 - p, which do not meet holes, the input elements q + m. So each phase p is a convolution without holes,
// of a part of the kernel; phases with equally many kernel elements are output features of one. (Shi et al. 2016, "Is
// the deconvolution layer the same as a convolutional layer?", arXiv:1609.07009.)
class Phases {
 public:
  // Of the window's dimension k.
  Phases(GraphBuilder& b, const Op& op, const ops::Convolution& geometry, size_t k)
      : b_(b), op_(op), geometry_(geometry), k_(k) {}

  Value* interleaved() {
    // The first output is of phase `start`; after the last phase, those before it follow, of the next q.
    const int64_t first_q = floor_divide(s_ - 1 - window_.low, s_), start = s_ - 1 - window_.low - s_ * first_q;
    std::vector<int64_t> cuts = {0, start, shorter_, s_};
    std::ranges::sort(cuts);
    Values parts, wrapped;
    for (size_t c = 0; c + 1 < cuts.size(); ++c) {
      if (cuts[c] == cuts[c + 1]) continue;
      const bool is_wrapped = cuts[c] < start;
      (is_wrapped ? wrapped : parts).push_back(phases(cuts[c], cuts[c + 1], is_wrapped ? first_q + 1 : first_q));
    }
    parts.insert(parts.end(), wrapped.begin(), wrapped.end());
    Value* all = merge_dims(b_, parts.size() == 1 ? parts[0] : ops::concatenate(b_, parts, out_ + 1), out_);
    return slice_dim(b_, all, out_, 0, 1, outputs_);
  }

 private:
  // Outputs s q + p for phases p = from .. to and q = first_q .. first_q + rows: [..., q, p, ...].
  Value* phases(int64_t from, int64_t to, int64_t first_q) {
    const int64_t count = from < shorter_ ? most_ - 1 : most_;
    if (count == 0) {
      TensorType none = op_.result()->type;
      none.shape[out_] = rows_;
      none.shape.insert(none.shape.begin() + out_ + 1, to - from);
      return ops::constant(b_, none, 0);
    }
    const bool is_one = to - from == 1;
    Value* x = op_.operand(0);
    Value* part = is_one ? kernel_of_phase(from, count) : kernel_of_phases(from, to, count);
    ops::Convolution dense = geometry_;
    dense.window[k_] = {.size = count,
                        .low = -first_q,
                        .high = first_q + rows_ - 1 + count - x->type.shape[geometry_.dims.input_spatial[k_]],
                        .reversed = is_one && window_.reversed};
    Value* y = make_convolution(b_, op_, x, part, dense, type_of(op_, x, part, dense));
    const int64_t feature = geometry_.dims.output_feature;
    return move_dim(b_, split_dim(b_, y, feature, to - from), feature + 1, out_ + 1);
  }

  // The `count` kernel elements of one phase, as they lie.
  Value* kernel_of_phase(int64_t phase, int64_t count) {
    const int64_t last = s_ - 1 - phase + s_ * (count - 1);
    const int64_t first = window_.reversed ? window_.size - 1 - last : s_ - 1 - phase;
    return slice_dim(b_, op_.operand(1), tap_, first, s_, count);
  }

  // Those of phases from .. to, as output features (feature, phase).
  Value* kernel_of_phases(int64_t from, int64_t to, int64_t count) {
    Value* kernel = window_.reversed ? ops::reverse(b_, op_.operand(1), {tap_}) : op_.operand(1);
    kernel = split_dim(b_, pad_dim(b_, kernel, tap_, 0, shorter_, 0), tap_, s_);
    kernel = ops::reverse(b_, kernel, {tap_ + 1});  // [m, p]
    kernel = slice_dim(b_, slice_dim(b_, kernel, tap_, 0, 1, count), tap_ + 1, from, 1, to - from);
    const int64_t feature = geometry_.dims.kernel_output_feature;
    return merge_dims(b_, move_dim(b_, kernel, tap_ + 1, feature + 1), feature);
  }

  GraphBuilder& b_;
  const Op& op_;
  const ops::Convolution& geometry_;
  const size_t k_;
  const ops::WindowDim& window_ = geometry_.window[k_];
  const int64_t s_ = window_.base_dilation;
  const int64_t tap_ = geometry_.dims.kernel_spatial[k_], out_ = geometry_.dims.output_spatial[k_];
  const int64_t outputs_ = op_.result()->type.shape[out_];
  const int64_t rows_ = divide_up(outputs_, s_);       // of outputs of one phase
  const int64_t most_ = divide_up(window_.size, s_);   // kernel elements of a phase; ...
  const int64_t shorter_ = most_ * s_ - window_.size;  // ... the first phases have one less
};

Value* convolution_of_dilated(GraphBuilder& b, const Op& op) {
  const ops::Convolution geometry = read(op);
  const auto is_dilated = [](const ops::WindowDim& dim) {
    return dim.base_dilation > 1 && dim.size > 1 && dim.stride == 1 && dim.dilation == 1;
  };
  const auto found = std::ranges::find_if(geometry.window, is_dilated);
  if (found == geometry.window.end() || skips_gaps(op)) return nullptr;
  if (op.result()->type.elements() == 0 || op.operand(0)->type.elements() == 0) return nullptr;
  return Phases(b, op, geometry, static_cast<size_t>(found - geometry.window.begin())).interleaved();
}

constexpr SimplifyRule kConvolutionRules[] = {
    {&kConvolution, "conv(transpose x, w) == conv(x, w) with renumbered dimensions", convolution_of_transposed},
    {&kTranspose, "transpose(conv(x, w)) == conv(x, w) with renumbered dimensions", transposed_convolution},
    {&kConvolution, "conv(pad x, w) == conv(x, w) with more padding and base dilation", convolution_of_padded},
    {&kConvolution, "conv(x, reverse w) == conv(x, w) with window_reversal", convolution_of_reversed},
    {&kConvolution, "conv(dilated x, w of one element) == pad(conv(x, w))", convolution_of_spread},
    {&kConvolution, "conv(dilated x, w) == convolutions of x with parts of w, interleaved", convolution_of_dilated},
};

}  // namespace

std::span<const SimplifyRule> convolution_rules() { return kConvolutionRules; }

}  // namespace ingot
