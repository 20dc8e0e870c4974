#include <algorithm>
#include <numeric>

#include "aot/ops/dimension_numbers.h"
#include "aot/passes/simplify_rules.h"

namespace ingot {
namespace {

using Ints = std::vector<int64_t>;

bool contains(const Ints& dims, int64_t dim) { return std::find(dims.begin(), dims.end(), dim) != dims.end(); }

// The dimensions that the result keeps, in their order.
Ints free_dims(const Value* operand, const Ints& batch, const Ints& contract) {
  Ints free;
  for (int64_t d = 0; d < operand->type.rank(); ++d) {
    if (!contains(batch, d) && !contains(contract, d)) free.push_back(d);
  }
  return free;
}

// A dot_general like `like` (precision, result dtype) with other operands and dimension numbers.
Value* make_dot(GraphBuilder& b, const Op& like, Value* lhs, Value* rhs, ops::DotDims dims) {
  TensorType type{like.result()->type.dtype, {}};
  for (int64_t d : dims.lhs_batch) type.shape.push_back(lhs->type.shape[d]);
  for (int64_t d : free_dims(lhs, dims.lhs_batch, dims.lhs_contract)) type.shape.push_back(lhs->type.shape[d]);
  for (int64_t d : free_dims(rhs, dims.rhs_batch, dims.rhs_contract)) type.shape.push_back(rhs->type.shape[d]);
  AttrMap attrs = like.attr_map;
  attrs["dot_dimension_numbers"] = ops::to_attr(dims);
  return b.make(like.name(), {lhs, rhs}, std::move(attrs), {type});
}

// Renumbers the dimensions of a transposed operand. False when its free dimensions change their order.
bool untranspose(const Op& transpose, Ints& batch, Ints& contract) {
  const Ints permutation = transpose.attrs().ints("permutation");
  Ints free = free_dims(transpose.result(), batch, contract);
  for (Ints* dims : {&batch, &contract, &free}) {
    for (int64_t& dim : *dims) dim = permutation[dim];
  }
  return std::is_sorted(free.begin(), free.end());
}

Value* dot_of_transposed(GraphBuilder& b, const Op& op) {
  ops::DotDims dims = ops::read_dot_dims(op.attrs());
  if (const Op* lhs = made_by(op.operand(0), "stablehlo.transpose")) {
    if (untranspose(*lhs, dims.lhs_batch, dims.lhs_contract)) {
      return make_dot(b, op, lhs->operand(0), op.operand(1), std::move(dims));
    }
  }
  dims = ops::read_dot_dims(op.attrs());
  if (const Op* rhs = made_by(op.operand(1), "stablehlo.transpose")) {
    if (untranspose(*rhs, dims.rhs_batch, dims.rhs_contract)) {
      return make_dot(b, op, op.operand(0), rhs->operand(0), std::move(dims));
    }
  }
  return nullptr;
}

// The result's dimensions are batch, lhs free, rhs free; swapped operands give batch, rhs free, lhs free.
Value* transposed_dot(GraphBuilder& b, const Op& op) {
  const Op* dot = made_by(op.operand(0), "stablehlo.dot_general");
  if (!dot || dot->result()->uses.size() != 1) return nullptr;
  const ops::DotDims dims = ops::read_dot_dims(dot->attrs());
  const auto batch = static_cast<int64_t>(dims.lhs_batch.size());
  const auto lhs_free = static_cast<int64_t>(free_dims(dot->operand(0), dims.lhs_batch, dims.lhs_contract).size());
  Ints swapped(dot->result()->type.rank());
  std::iota(swapped.begin(), swapped.end(), 0);
  std::rotate(swapped.begin() + batch, swapped.begin() + batch + lhs_free, swapped.end());
  if (op.attrs().ints("permutation") != swapped) return nullptr;
  return make_dot(b, *dot, dot->operand(1), dot->operand(0),
                  {dims.rhs_batch, dims.lhs_batch, dims.rhs_contract, dims.lhs_contract});
}

// --- convolution: every dimension has a number, so transposes are renumbering ---

ops::Convolution read(const Op& op) { return ops::read_convolution(op.attrs(), op.operand(1)->type.shape); }

// A convolution like `like` with another geometry.
Value* make_convolution(GraphBuilder& b, const Op& like, Value* x, Value* w, const ops::Convolution& geometry,
                        const TensorType& type) {
  AttrMap attrs = like.attr_map;
  for (auto& [name, attr] : ops::to_attrs(geometry)) attrs[name] = attr;
  return b.make(like.name(), {x, w}, std::move(attrs), {type});
}

void renumber(std::initializer_list<int64_t*> singles, Ints& spatial, const Ints& to) {
  for (int64_t* dim : singles) *dim = to[*dim];
  for (int64_t& dim : spatial) dim = to[dim];
}

Value* convolution_of_transposed(GraphBuilder& b, const Op& op) {
  ops::Convolution geometry = read(op);
  ops::ConvDims& dims = geometry.dims;
  if (const Op* x = made_by(op.operand(0), "stablehlo.transpose")) {
    renumber({&dims.input_batch, &dims.input_feature}, dims.input_spatial, x->attrs().ints("permutation"));
    return make_convolution(b, op, x->operand(0), op.operand(1), geometry, op.result()->type);
  }
  if (const Op* w = made_by(op.operand(1), "stablehlo.transpose")) {
    renumber({&dims.kernel_input_feature, &dims.kernel_output_feature}, dims.kernel_spatial,
             w->attrs().ints("permutation"));
    return make_convolution(b, op, op.operand(0), w->operand(0), geometry, op.result()->type);
  }
  return nullptr;
}

Value* transposed_convolution(GraphBuilder& b, const Op& op) {
  const Op* inner = made_by(op.operand(0), "stablehlo.convolution");
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
  const Op* reverse = made_by(op.operand(1), "stablehlo.reverse");
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
  const Op* pad = made_by(op.operand(0), "stablehlo.pad");
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

constexpr SimplifyRule kRules[] = {
    {"stablehlo.dot_general", "dot(transpose x, y) == dot(x, y) with renumbered dimensions", dot_of_transposed},
    {"stablehlo.transpose", "transpose(dot(x, y)) == dot(y, x), when it swaps their free dimensions", transposed_dot},
    {"stablehlo.convolution", "conv(transpose x, w) == conv(x, w) with renumbered dimensions",
     convolution_of_transposed},
    {"stablehlo.transpose", "transpose(conv(x, w)) == conv(x, w) with renumbered dimensions", transposed_convolution},
    {"stablehlo.convolution", "conv(pad x, w) == conv(x, w) with more padding and base dilation",
     convolution_of_padded},
    {"stablehlo.convolution", "conv(x, reverse w) == conv(x, w) with window_reversal", convolution_of_reversed},
};

}  // namespace

std::span<const SimplifyRule> contraction_rules() { return kRules; }

}  // namespace ingot
