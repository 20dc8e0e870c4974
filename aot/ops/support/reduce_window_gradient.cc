#include "aot/ops/support/reduce_window_gradient.h"

#include <algorithm>

#include "aot/ops/support/build.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/product.h"
#include "aot/ops/support/region.h"

namespace ingot::ops {
namespace {

// The terms of each result along a new last dimension: the start value, then the elements under its window, which are
// slices of the padded operand.
class Terms {
 public:
  Terms(GradientArgs& args, const Window& window) : args_(args), b_(args.b) {
    Shape low, high, interior, limit, strides;
    for (const WindowDim& dim : window) {
      low.push_back(dim.low);
      high.push_back(dim.high);
      interior.push_back(dim.base_dilation - 1);
      strides.push_back(dim.stride);
    }
    padded_ = pad(b_, args.operand(0), args.operand(1), low, high, interior);
    const Shape& positions = args.dy()->type.shape;
    Values terms{wide(broadcast_scalar(b_, args.operand(1), positions))};
    for_each_index(sizes(window), [&](const Shape& offset, int64_t) {
      Shape start, end;
      for (size_t d = 0; d < window.size(); ++d) {
        start.push_back(offset[d] * window[d].dilation);
        end.push_back(start[d] + (positions[d] - 1) * strides[d] + 1);
      }
      slices_.push_back(slice(b_, padded_, start, end, strides));
      terms.push_back(wide(slices_.back()));
    });
    all_ = concatenate(b_, terms, last());
  }

  int last() const { return args_.dy()->type.rank(); }
  Value* all() const { return all_; }
  // With a last dimension of extent 1.
  Value* wide(Value* value) const {
    Shape shape = value->type.shape;
    shape.push_back(1);
    return reshape(b_, value, shape);
  }

  // The gradients of the operand and the start value for that of the terms.
  Values back(Value* dterms) const {
    const auto part = [&](int64_t k) {
      Shape start(last() + 1, 0), limit = dterms->type.shape;
      start.back() = k;
      limit.back() = k + 1;
      return reshape(b_, slice(b_, dterms, start, limit, Shape(limit.size(), 1)), args_.dy()->type.shape);
    };
    Value* dpadded = nullptr;
    for (size_t k = 0; k < slices_.size(); ++k) {
      Value* more = of_operands(slices_[k], part(static_cast<int64_t>(k) + 1))[0];
      dpadded = dpadded ? add(b_, dpadded, more) : more;
    }
    Values gradients = of_operands(padded_, dpadded);
    if (gradients[1]) gradients[1] = add(b_, gradients[1], reduce(b_, kAdd, part(0), iota_dims(last())));
    return gradients;
  }

 private:
  Values of_operands(const Value* result, Value* gradient) const {
    GradientArgs args{b_, *result->op, {&gradient, 1}, args_.needed};
    return result->op->def->gradient(args);
  }

  GradientArgs& args_;
  GraphBuilder& b_;
  Value* padded_;
  Values slices_;
  Value* all_;
};

}  // namespace

// add: an element is in the windows whose positions read it, so dx = the sum over windows of dy, dilated by the stride,
//   with the strides and dilations exchanged (the window reversed is itself). All terms of a result count once: dstart
//   = sum(dy) * (terms of a result) - sum(dx).
// maximum, minimum: dy goes to the first greatest (least) element of its window, as in JAX: select_and_scatter. Where
//   that cannot say it (dilations, a start value that wants a gradient), the terms of each result are laid out first.
// multiply: dterms = dy * (product of the other terms of the result).
Values reduce_window_gradient(GradientArgs& args) {
  GraphBuilder& b = args.b;
  const OpDef* op = args.op.operands.size() == 2 ? binary_region_op(args.op.region()) : nullptr;
  const bool is_extreme = op == &kMaximum || op == &kMinimum;
  if (op != &kAdd && op != &kMultiply && !is_extreme) {
    throw_limit(args.op.location,
                "stablehlo.reduce_window has a gradient when it has one input and its region adds, multiplies, or "
                "takes the maximum or minimum");
  }
  Value* x = args.operand(0);
  if (args.dy()->type.elements() == 0) return {zeros_like(b, x), zeros_like(b, args.operand(1))};
  const Window window = read_window(args.op.attrs());
  const auto total = [&](Value* value) { return reduce(b, kAdd, value, iota_dims(value->type.rank())); };
  if (op == &kAdd) {
    Value* dx = reduce_window(b, kAdd, args.dy(), transposed(window, x->type.shape, args.dy()->type.shape));
    if (!args.needed[1]) return {dx, nullptr};
    Value* sum = total(args.dy());
    const auto terms = static_cast<double>(1 + element_count(sizes(window)));
    return {dx, subtract(b, multiply(b, sum, constant_like(b, sum, terms)), total(dx))};
  }
  const std::string_view direction = op == &kMaximum ? "GE" : "LE";
  const auto is_dilated = [](const WindowDim& dim) { return dim.base_dilation != 1 || dim.dilation != 1; };
  if (is_extreme && !args.needed[1] && std::ranges::none_of(window, is_dilated)) {
    return {select_and_scatter_add(b, direction, x, args.dy(), window), nullptr};
  }
  const Terms terms(args, window);
  const Shape& shape = terms.all()->type.shape;
  if (is_extreme) {
    Window along(shape.size());
    along.back().size = shape.back();
    return terms.back(select_and_scatter_add(b, direction, terms.all(), terms.wide(args.dy()), along));
  }
  Value* dy = broadcast_in_dim(b, args.dy(), shape, iota_dims(terms.last()));
  return terms.back(multiply(b, dy, product_of_others(b, terms.all(), {terms.last()})));
}

}  // namespace ingot::ops
