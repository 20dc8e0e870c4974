#include <algorithm>
#include <numeric>

#include "aot/passes/simplify_rules.h"

namespace ingot {
namespace {

using Ints = std::vector<int64_t>;

bool contains(const Ints& dims, int64_t dim) { return std::find(dims.begin(), dims.end(), dim) != dims.end(); }

ops::DotDims dot_dims(const Op& op) {
  const Attrs dims = op.attrs().dict("dot_dimension_numbers");
  return {dims.ints("lhs_batching_dimensions", {}), dims.ints("rhs_batching_dimensions", {}),
          dims.ints("lhs_contracting_dimensions", {}), dims.ints("rhs_contracting_dimensions", {})};
}

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
  AttrMap numbers;
  const auto put = [&](const char* name, Ints values) {
    if (!values.empty()) numbers[name] = std::move(values);
  };
  put("lhs_batching_dimensions", std::move(dims.lhs_batch));
  put("rhs_batching_dimensions", std::move(dims.rhs_batch));
  put("lhs_contracting_dimensions", std::move(dims.lhs_contract));
  put("rhs_contracting_dimensions", std::move(dims.rhs_contract));
  attrs["dot_dimension_numbers"] = DictAttr{"stablehlo.dot", std::move(numbers)};
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
  ops::DotDims dims = dot_dims(op);
  if (const Op* lhs = made_by(op.operand(0), "stablehlo.transpose")) {
    if (untranspose(*lhs, dims.lhs_batch, dims.lhs_contract)) {
      return make_dot(b, op, lhs->operand(0), op.operand(1), std::move(dims));
    }
  }
  dims = dot_dims(op);
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
  const ops::DotDims dims = dot_dims(*dot);
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

AttrMap dimension_numbers(const Op& op) { return op.attr_map.at("dimension_numbers").as<DictAttr>()->entries; }

void renumber(AttrMap& numbers, const std::string& prefix, const std::vector<std::string>& singles, const Ints& to) {
  for (const std::string& single : singles) {
    int64_t& dim = std::get<IntAttr>(numbers.at(prefix + single).value).value;
    dim = to[dim];
  }
  for (int64_t& dim : std::get<IntsAttr>(numbers.at(prefix + "spatial_dimensions").value).values) dim = to[dim];
}

Value* make_convolution(GraphBuilder& b, const Op& like, Values operands, AttrMap attrs, TensorType type) {
  return b.make(like.name(), std::move(operands), std::move(attrs), {std::move(type)});
}

Value* convolution_of_transposed(GraphBuilder& b, const Op& op) {
  for (int i = 0; i < 2; ++i) {
    const Op* transpose = made_by(op.operand(i), "stablehlo.transpose");
    if (!transpose) continue;
    AttrMap numbers = dimension_numbers(op);
    if (i == 0) {
      renumber(numbers, "input_", {"batch_dimension", "feature_dimension"}, transpose->attrs().ints("permutation"));
    } else {
      renumber(numbers, "kernel_", {"input_feature_dimension", "output_feature_dimension"},
               transpose->attrs().ints("permutation"));
    }
    AttrMap attrs = op.attr_map;
    attrs["dimension_numbers"] = DictAttr{"stablehlo.conv", std::move(numbers)};
    Values operands = op.operands;
    operands[i] = transpose->operand(0);
    return make_convolution(b, op, std::move(operands), std::move(attrs), op.result()->type);
  }
  return nullptr;
}

Value* transposed_convolution(GraphBuilder& b, const Op& op) {
  const Op* convolution = made_by(op.operand(0), "stablehlo.convolution");
  if (!convolution || convolution->result()->uses.size() != 1) return nullptr;
  const Ints permutation = op.attrs().ints("permutation");
  Ints place(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) place[permutation[i]] = static_cast<int64_t>(i);
  AttrMap numbers = dimension_numbers(*convolution);
  renumber(numbers, "output_", {"batch_dimension", "feature_dimension"}, place);
  AttrMap attrs = convolution->attr_map;
  attrs["dimension_numbers"] = DictAttr{"stablehlo.conv", std::move(numbers)};
  return make_convolution(b, *convolution, convolution->operands, std::move(attrs), op.result()->type);
}

Value* convolution_of_reversed(GraphBuilder& b, const Op& op) {
  const Op* reverse = made_by(op.operand(1), "stablehlo.reverse");
  if (!reverse) return nullptr;
  const Ints spatial = op.attrs().dict("dimension_numbers").ints("kernel_spatial_dimensions");
  Ints reversal = op.attrs().ints("window_reversal", Ints(spatial.size(), 0));
  for (int64_t dim : reverse->attrs().ints("dimensions")) {
    const auto found = std::find(spatial.begin(), spatial.end(), dim);
    if (found == spatial.end()) return nullptr;
    reversal[found - spatial.begin()] ^= 1;
  }
  AttrMap attrs = op.attr_map;
  attrs["window_reversal"] = IntsAttr{reversal, DType::kI1};
  return make_convolution(b, op, {op.operand(0), reverse->operand(0)}, std::move(attrs), op.result()->type);
}

constexpr SimplifyRule kRules[] = {
    {"stablehlo.dot_general", "dot(transpose x, y) == dot(x, y) with renumbered dimensions", dot_of_transposed},
    {"stablehlo.transpose", "transpose(dot(x, y)) == dot(y, x), when it swaps their free dimensions", transposed_dot},
    {"stablehlo.convolution", "conv(transpose x, w) == conv(x, w) with renumbered dimensions",
     convolution_of_transposed},
    {"stablehlo.transpose", "transpose(conv(x, w)) == conv(x, w) with renumbered dimensions", transposed_convolution},
    {"stablehlo.convolution", "conv(x, reverse w) == conv(x, w) with window_reversal", convolution_of_reversed},
};

}  // namespace

std::span<const SimplifyRule> contraction_rules() { return kRules; }

}  // namespace ingot
