// One use of an op with inputs drawn for it: what the generic op test runs.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "aot/graph/evaluate.h"
#include "aot/graph/text/parse.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/region.h"

namespace ingot {

struct OpCase {
  const OpDef* def;
  Sample sample;
  std::unique_ptr<Module> module;
  std::vector<RefTensor> inputs;
  std::vector<RefTensor> expected;  // as evaluated, each op's results rounded to their dtypes
  std::vector<RefTensor> exact;     // evaluated in f64 throughout
  // How large the terms of an element were together: an error is judged by it, as sums may cancel. A root's result for
  // the magnitudes of its operands; for what expands into sums the largest element; for other ops the exact result.
  std::vector<RefTensor> magnitudes;

  const Function& main() const { return *module->find("main"); }
  // The use of the op in @main.
  const Op& op() const {
    return **std::ranges::find(main().body.ops, def, [](const auto& op) { return op->def; });
  }
};

// Below the graph nothing knows complex numbers: split_test compiles these.
inline bool has_complex(const Function& function) {
  const auto is_one = [](const auto& value) { return is_complex(value->type.dtype); };
  return std::ranges::any_of(function.body.arguments, is_one) ||
         std::ranges::any_of(function.body.ops,
                             [&](const auto& op) { return std::ranges::any_of(op->results, is_one); });
}

// Where definitions differ and mistakes hide.
inline std::vector<double> special_floats(DType dtype) {
  const double least = dtype == DType::kF16 ? 0x1p-14 : dtype == DType::kF64 ? 0x1p-1022 : 0x1p-126;
  const double denormal = dtype == DType::kF16    ? 0x1p-24
                          : dtype == DType::kBF16 ? 0x1p-133
                          : dtype == DType::kF32  ? 0x1p-149
                                                  : 0x1p-1074;
  const double most = dtype == DType::kF16    ? 65504
                      : dtype == DType::kBF16 ? 0x1.FEp127
                      : dtype == DType::kF32  ? std::numeric_limits<float>::max()
                                              : std::numeric_limits<double>::max();
  return {0, -0.0, 1, -1, NAN, INFINITY, -INFINITY, least, denormal, -denormal, most, -most, 0.5, 2.5, -3.5};
}

inline std::vector<int64_t> special_integers(DType dtype) {
  const int64_t lowest = wrap_to(dtype, static_cast<int64_t>(uint64_t{1} << (info(dtype).bits - 1)));
  return {0, 1, wrap_to(dtype, -1), lowest, wrap_to(dtype, ~lowest)};
}

// `salt` puts special values elsewhere in each argument, so that pairs of them meet.
inline RefTensor draw(const TensorType& type, const Sample& sample, std::mt19937_64& random, size_t salt) {
  RefTensor tensor(type);
  std::uniform_real_distribution<double> floats(sample.low, sample.high);
  std::uniform_int_distribution<int64_t> integers(sample.integer_low, sample.integer_high);
  for (double& value : tensor.f) value = floats(random);
  for (int64_t& value : tensor.i) value = is_bool(type.dtype) ? integers(random) & 1 : integers(random);
  if (sample.specials) {
    const auto seed = [&](auto& values, const auto& specials) {
      for (size_t k = 0; k < values.size(); k += 1 + salt % 2)
        values[k] = k / 2 % 3 == 2 ? values[k] : specials[(k * (2 * salt + 1) + salt) % specials.size()];
    };
    if (tensor.is_float() || tensor.is_complex()) {
      seed(tensor.f, special_floats(part_of(type.dtype)));
    } else if (!is_bool(type.dtype)) {
      seed(tensor.i, special_integers(type.dtype));
    }
  }
  round_in_place(tensor);
  return tensor;
}

inline bool is_other_product(const OpDef& def) { return def.name == "stablehlo.dot" || def.name == "chlo.ragged_dot"; }

// Whether OpDef::ulp speaks of the largest element of the result: of what is made of other ops (not of what only
// converts its operands first, nor of products that another op sums up alike), and of sums of terms of either sign.
inline bool is_bound_by_largest(const OpDef& def) {
  if (def == kSplitTiles || def == kJoinTiles) return true;
  return def.expand && def.expand != ops::converted_for_region && !def.is_elementwise && !is_other_product(def);
}

inline OpCase make_case(const OpDef& def, const Sample& sample) {
  OpCase result{&def, sample, parse_module(sample.text, std::string(def.name) + " sample", all_ops()), {}, {}, {}, {}};
  std::mt19937_64 random(std::hash<std::string>()(sample.text) +
                         static_cast<uint64_t>(static_cast<int64_t>(sample.low * 16)));
  for (const auto& argument : result.main().body.arguments) {
    result.inputs.push_back(draw(argument->type, sample, random, result.inputs.size()));
  }
  result.expected = evaluate(result.main(), result.inputs);
  result.exact = result.magnitudes = evaluate(result.main(), result.inputs, {.round = false});
  if (is_bound_by_largest(def)) {
    for (RefTensor& result : result.magnitudes) {
      double most = 0;
      for (const double value : result.f) most = std::max(most, std::abs(value));
      std::ranges::fill(result.f, most);
    }
  } else if (is_other_product(def) || (def.root != KernelRoot::kElement && def.root != KernelRoot::kNone)) {
    std::vector<RefTensor> inputs = result.inputs;
    for (RefTensor& input : inputs) {
      for (double& value : input.f) value = std::abs(value);
    }
    result.magnitudes = evaluate(result.main(), inputs, {.round = false});
  }
  return result;
}

}  // namespace ingot
