#include "aot/finetune/merge_lora.h"

#include <fmt/format.h>

#include <cmath>

#include "aot/base/error.h"
#include "aot/finetune/lora.h"
#include "aot/graph/tensor.h"

namespace ingot {
namespace {

using Tensors = std::map<std::string, SafeTensor>;

RefTensor floats_of(const std::string& name, const SafeTensor& stored) {
  for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
    if (info(dtype).safetensors != stored.dtype) continue;
    return from_literal(*dense({dtype, stored.shape}, {stored.data.begin(), stored.data.end()}));
  }
  throw_error(nullptr, fmt::format("LoRA: '{}' is of {}, not of floats", name, stored.dtype));
}

RefTensor part(const Tensors& state, const std::string& name) {
  const auto found = state.find(name);
  if (found == state.end()) throw_error(nullptr, fmt::format("LoRA: the state has no '{}', only other parts", name));
  return floats_of(name, found->second);
}

// [rows, depth] by [depth, columns], times scale, added to `sum`.
void add_product(const RefTensor& left, const RefTensor& right, double scale, RefTensor& sum) {
  const int64_t rows = left.type.shape[0], depth = left.type.shape[1], columns = right.type.shape[1];
  for (int64_t i = 0; i < rows; ++i) {
    double* const out = sum.f.data() + i * columns;
    for (int64_t k = 0; k < depth; ++k) {
      const double factor = scale * left.f[i * depth + k];
      const double* const row = right.f.data() + k * columns;
      for (int64_t j = 0; j < columns; ++j) out[j] += factor * row[j];
    }
  }
}

LiteralRef merged(const std::string& name, const SafeTensor& weight, const Tensors& state) {
  RefTensor sum = floats_of(name, weight);
  const RefTensor a = part(state, name + kLoraA), b = part(state, name + kLoraB),
                  scale = part(state, name + kLoraScale);
  const auto fits = [&](const RefTensor& left, const RefTensor& right) {
    const Shape &l = left.type.shape, &r = right.type.shape;
    return l.size() == 2 && r.size() == 2 && l[1] == r[0] && sum.type.shape == Shape{l[0], r[1]} && l[1] < l[0] &&
           l[1] < r[1];
  };
  const bool is_a_left = fits(a, b);  // of a weight [in, out]
  if (scale.elements() != 1 || !(is_a_left || fits(b, a))) {
    throw_error(nullptr,
                fmt::format("LoRA: '{0}' is {1}, and its adapters {2} and {3} do not fit; is it the model that "
                            "was trained?",
                            name, to_string(sum.type), to_string(a.type), to_string(b.type)));
  }
  add_product(is_a_left ? a : b, is_a_left ? b : a, scale.f[0], sum);
  return to_literal(sum);
}

}  // namespace

MergedWeights merge_lora(const Tensors& state, const Tensors& weights) {
  MergedWeights result{state, {}, {}};
  for (const auto& [name_of_a, _] : state) {
    if (!name_of_a.ends_with(kLoraA) || weights.contains(name_of_a)) continue;
    const std::string name = name_of_a.substr(0, name_of_a.size() - std::string_view(kLoraA).size());
    const auto own = state.find(name), other = weights.find(name);
    if (own == state.end() && other == weights.end()) {
      throw_error(nullptr,
                  fmt::format("LoRA: '{}' stands beside a weight '{}', which the model does not have; is it the "
                              "model that was trained?",
                              name_of_a, name));
    }
    const SafeTensor& weight = own == state.end() ? other->second : own->second;
    const LiteralRef& values = result.holders.emplace_back(merged(name, weight, state));
    for (const char* const suffix : {kLoraA, kLoraB, kLoraScale}) result.values.erase(name + suffix);
    result.values[name] = {weight.dtype, weight.shape, values->data};
    result.merged.push_back(name);
  }
  return result;
}

}  // namespace ingot
