#include "aot/graph/result_types.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/graph/quantization.h"

namespace ingot {
namespace {

bool all_static(std::span<const TensorType> types) { return std::ranges::all_of(types, &TensorType::is_static); }

// Scalars may stand for all elements; the others have one shape. Infer sees 1 where nobody knows a dimension.
std::vector<TensorType> elementwise_types(const OpDef& def, const InferArgs& args) {
  TensorType shape;
  bool has_shape = false;
  const auto meet = [&](const TensorType& type) {
    if (type.rank() == 0) return;
    const TensorType other{shape.dtype, type.shape, type.bounds};
    if (has_shape && !may_agree(shape, other)) {
      args.fail(fmt::format("shapes do not agree: {} and {}", to_string({type.dtype, shape.shape}), to_string(type)));
    }
    shape = has_shape ? refined(shape, other) : other;
    has_shape = true;
  };
  for (const TensorType& type : args.operands) meet(type);
  for (const TensorType& type : args.declared) meet(type);
  Shape one = shape.shape;
  std::ranges::replace(one, kUnknownDim, 1);
  const auto with_one = [&](std::span<const TensorType> types) {
    std::vector<TensorType> result(types.begin(), types.end());
    for (TensorType& type : result) {
      if (type.rank() > 0) type = {type.dtype, one};
    }
    return result;
  };
  const std::vector<TensorType> operands = with_one(args.operands), declared = with_one(args.declared);
  std::vector<TensorType> results =
      def.infer({args.name, operands, args.attr_map, args.regions, declared, args.location});
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].rank() > 0) results[i] = {results[i].dtype, shape.shape, shape.bounds};
    if (i < args.declared.size() && may_agree(results[i], args.declared[i])) results[i] = args.declared[i];
  }
  return results;
}

std::vector<TensorType> expressed_types(std::span<const TensorType> types) {
  std::vector<TensorType> expressed;
  for (const TensorType& type : types) expressed.push_back(expressed_type(type));
  return expressed;
}

// The types of the op on expressed values, quantized as is declared, or else as the first quantized operand. Floats are
// quantized all or none, unless the op takes floats by quantized weights.
using TypesOf = std::vector<TensorType> (*)(const OpDef& def, const InferArgs& args);
std::vector<TensorType> quantized_types(const OpDef& def, const InferArgs& args, TypesOf types_of) {
  const std::vector<TensorType> operands = expressed_types(args.operands), declared = expressed_types(args.declared);
  std::vector<TensorType> results =
      types_of(def, {args.name, operands, args.attr_map, args.regions, declared, args.location});
  const auto first = std::ranges::find_if(args.operands, is_quantized);
  const bool is_hybrid =
      def.mixes_float_and_quantized && first != args.operands.end() && !is_quantized(args.operands[0]);
  const auto check = [&](const TensorType& type) {
    if (!is_float(type.dtype) || is_quantized(type)) return;
    args.fail(fmt::format("either all floats are quantized or none, but {} is not", to_string(type)));
  };
  if (!is_hybrid) std::ranges::for_each(args.operands, check);
  for (size_t i = 0; i < results.size(); ++i) {
    if (!is_float(results[i].dtype)) continue;
    if (i < args.declared.size()) {
      results[i].quantization = args.declared[i].quantization;
    } else if (!is_hybrid && first != args.operands.end()) {
      results[i].quantization = first->quantization;
    }
    if (!is_hybrid) {
      check(results[i]);
    } else if (is_quantized(results[i])) {
      args.fail(fmt::format("floats and quantized weights give floats, not {}", to_string(results[i])));
    }
  }
  return results;
}

bool is_beyond_infer(const OpDef& def, const InferArgs& args) {
  return !def.infer_sees_quantized &&
         (std::ranges::any_of(args.operands, is_quantized) || std::ranges::any_of(args.declared, is_quantized));
}

std::vector<TensorType> unchecked_types(const OpDef& def, const InferArgs& args) {
  if (is_beyond_infer(def, args)) return quantized_types(def, args, unchecked_types);
  if (def.infers_dynamic_shapes || (all_static(args.operands) && all_static(args.declared))) return def.infer(args);
  if (def.is_elementwise) return elementwise_types(def, args);
  if (args.declared.empty()) args.fail("its result types must be written where a dimension is unknown");
  return {args.declared.begin(), args.declared.end()};
}

}  // namespace

bool may_agree(const TensorType& a, const TensorType& b) {
  return a.dtype == b.dtype && a.quantization == b.quantization &&
         std::ranges::equal(a.shape, b.shape,
                            [](int64_t x, int64_t y) { return x == y || x == kUnknownDim || y == kUnknownDim; });
}

TensorType refined(TensorType type, const TensorType& other) {
  if (type.bounds.empty()) type.bounds = other.bounds;
  for (size_t d = 0; d < type.shape.size(); ++d) {
    if (type.shape[d] == kUnknownDim) type.shape[d] = other.shape[d];
    if (type.shape[d] != kUnknownDim && !type.bounds.empty()) type.bounds[d] = kUnknownDim;  // only `?` have bounds
  }
  if (type.is_static()) type.bounds.clear();
  return type;
}

std::vector<TensorType> inferred_types(const OpDef& def, const InferArgs& args) {
  return is_beyond_infer(def, args) ? quantized_types(def, args, inferred_types) : def.infer(args);
}

std::vector<TensorType> result_types(const OpDef& def, const InferArgs& args) {
  std::vector<TensorType> types = unchecked_types(def, args);
  for (const TensorType& type : types) {
    if (const std::string misfit = scales_misfit(type); !misfit.empty()) {
      args.fail(fmt::format("would give {}: {}", to_string(type), misfit));
    }
  }
  return types;
}

}  // namespace ingot
