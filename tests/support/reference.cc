#include "tests/support/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "aot/graph/evaluate.h"
#include "aot/graph/op.h"
#include "aot/ops/support/region.h"
#include "tests/support/op_agreement.h"

namespace ingot {
namespace {

constexpr int kEvaluations = 6, kEvaluationsInDoubt = 150;
constexpr double kAmplitude = 2;           // of what an op may err
constexpr double kReachAllowed = 2;        // of what was seen
constexpr double kComplexError = 0x1p-47;  // of parts of complex numbers, computed in f64
constexpr double kReflectedError = 0x1p-52;

double greatest_finite(DType dtype) {
  if (!is_narrow_float(dtype)) return special_floats(dtype)[10];
  return narrow_float_value(narrow_float(dtype), narrow_float(dtype).greatest());
}

// Whether the op itself computes: others only hand on what their regions give, which is moved there.
bool computes(const Op& op) {
  const bool has_region = !op.regions.empty();
  return !(has_region && (op.def->root == KernelRoot::kNone || op.def->root == KernelRoot::kControlFlow));
}

// In a region of an op that computes: its bound speaks of the whole.
bool is_inside(const Op& op) { return op.block && op.block->parent_op && computes(*op.block->parent_op); }

bool is_sum(const OpDef& def) {
  return is_other_product(def) ||
         (def.root != KernelRoot::kElement && def.root != KernelRoot::kNone && def.root != KernelRoot::kControlFlow);
}

// How large the terms of each element were together.
std::vector<RefTensor> magnitudes(const Op& op, std::span<const RefTensor> inputs,
                                  const std::vector<RefTensor>& results) {
  if (is_bound_by_largest(*op.def)) {
    std::vector<RefTensor> largest = results;
    double most = 0;  // of all results: what one is made of may be another
    for (const RefTensor& result : results) {
      for (const double value : result.f) most = std::isfinite(value) ? std::max(most, std::abs(value)) : most;
    }
    for (RefTensor& result : largest) std::ranges::fill(result.f, most);
    return largest;
  }
  if (!is_sum(*op.def)) return results;
  std::vector<RefTensor> absolute(inputs.begin(), inputs.end());
  const size_t chooses = op.is(kSelectAndScatter) ? 1 : 0;  // its first operand says where terms go
  for (RefTensor& input : std::span(absolute).subspan(chooses)) {
    for (double& value : input.f) value = std::abs(value);
  }
  return evaluate(op, absolute, {.round = false});
}

bool is_integral(const RefTensor& tensor) {
  return std::ranges::all_of(tensor.f, [](double x) { return x == std::nearbyint(x); });
}

// Numbers made of complex ones, or complex ones themselves.
bool is_of_complex(const Op& op) {
  const auto is_one = [](const auto& value) { return is_complex(value->type.dtype); };
  return op.def->is_elementwise && !is_bool(op.result()->type.dtype) &&
         (std::ranges::any_of(op.operands, is_one) || std::ranges::any_of(op.results, is_one));
}

// Functions of complex numbers go through others, near branch cuts and zeros of theirs, and so do those that reflect
// negative numbers: the result for operands nearby is as good. By how much of an operand; 0 for other ops.
double operand_error(const Op& op) {
  if (is_of_complex(op)) return kComplexError;
  return op.is(kDigamma) || op.is(kLgamma) ? kReflectedError : 0;
}

void move_operands(const Op& op, std::span<const RefTensor> inputs, double error, std::vector<RefTensor>& results,
                   Random& random) {
  std::vector<RefTensor> moved(inputs.begin(), inputs.end());
  for (RefTensor& input : moved) {
    for (double& value : input.f) value += (2 * random.uniform() - 1) * error * std::max(std::abs(value), 1.0);
  }
  results = evaluate(op, moved, {.round = false});
}

// Padding that meets an infinite weight is zero times infinity, or nothing: neither is wrong. Nor is either of the
// parts of a complex product with an infinity.
bool may_meet_infinity(const Op& op, std::span<const RefTensor> inputs) {
  const bool is_complex_product = op.def->contraction && is_complex(op.result()->type.dtype);
  return (op.is(kConvolution) || is_complex_product) && std::ranges::any_of(inputs, [](const RefTensor& input) {
           return !std::ranges::all_of(input.f, [](double value) { return std::isfinite(value); });
         });
}

void spread_nan(std::vector<RefTensor>& results, Random& random) {
  for (RefTensor& result : results) {
    for (double& value : result.f) value = random.chance(0.5) ? NAN : value;
  }
}

// The last bits of what was rounded, as floats of their own: one step more and they are NaN.
bool takes_bits_apart(const Op& op) {
  if (!op.is(kBitcastConvert) || !op.operand(0)->op) return false;
  const DType from = op.operand(0)->type.dtype, to = op.result()->type.dtype;
  return is_float(from) && info(to).bits < info(from).bits;
}

bool multiplies(const Op& op) { return op.regions.size() == 1 && ops::binary_region_op(op.region()) == &kMultiply; }

// In one order of its factors a product overflows or becomes zero, and what follows does not bring it back.
void move_products(const Op& op, std::span<const RefTensor> inputs, std::vector<RefTensor>& results, Random& random) {
  const auto product_of = [&](const auto& factor) {
    std::vector<RefTensor> factors(inputs.begin(), inputs.end());
    for (RefTensor& input : factors) {
      for (double& value : input.f) value = factor(std::abs(value));
    }
    return evaluate(op, factors, {.round = false});
  };
  const std::vector<RefTensor> large = product_of([](double x) { return std::max(x, 1.0); });
  const std::vector<RefTensor> small = product_of([](double x) { return x == 0 ? 1 : std::min(x, 1.0); });
  for (size_t r = 0; r < results.size(); ++r) {
    const DType dtype = part_of(results[r].type.dtype);
    for (size_t k = 0; k < results[r].f.size(); ++k) {
      if (large[r].f[k] > greatest_finite(dtype) / 8 && random.chance(0.5)) results[r].f[k] = NAN;
      if (small[r].f[k] < unit_at(dtype, 0) * 8 && random.chance(0.5)) results[r].f[k] = 0;
    }
  }
}

// How many terms each element was summed of, about; that of a normalisation is made of sums that are results too.
double terms_of(std::span<const RefTensor> inputs, std::span<const RefTensor> results) {
  int64_t most = 0, least = std::numeric_limits<int64_t>::max();
  for (const RefTensor& input : inputs) most = std::max(most, input.elements());
  for (const RefTensor& result : results) least = std::min(least, std::max<int64_t>(result.elements(), 1));
  return static_cast<double>(most) / static_cast<double>(least);
}

// A conversion of bf16 may be of what was not rounded to it (the pass widen_results).
bool may_widen(const Op& op) {
  if (!op.is(kConvert) || op.result()->type.dtype != DType::kF32) return false;
  const Value* from = op.operand(0);
  return from->type.dtype == DType::kBF16 && from->op && (from->op->def->is_elementwise || from->op->def->contraction);
}

// A sum of products with others may be one sum, in another order (the passes join_products and join_iterations).
bool may_join(const Op& op) {
  return op.is(kAdd) && std::ranges::any_of(op.operands, [](const Value* from) {
           while (from->op && from->op->is(kTranspose)) from = from->op->operand(0);
           return from->op && (from->op->def->contraction || from->op->is(kAdd));
         });
}

void unround(RefTensor& result, Random& random) {
  for (double& value : result.f) {
    if (std::isfinite(value)) value += (random.uniform() - 0.5) * unit_at(DType::kBF16, std::abs(value));
  }
}

void move_results(const Op& op, std::span<const RefTensor> inputs, std::vector<RefTensor>& results, Random& random,
                  double amplitude) {
  if (!computes(op) || is_inside(op) || std::ranges::all_of(results, [](const RefTensor& it) { return it.f.empty(); }))
    return;
  if (may_meet_infinity(op, inputs) || takes_bits_apart(op)) spread_nan(results, random);
  if (multiplies(op)) move_products(op, inputs, results, random);
  if (may_widen(op)) unround(results[0], random);
  const std::vector<RefTensor> sizes = magnitudes(op, inputs, results);
  const bool takes_complex = is_of_complex(op);
  if (const double error = operand_error(op); error > 0) move_operands(op, inputs, error, results, random);
  const bool sums = is_sum(*op.def) || is_bound_by_largest(*op.def);
  const bool is_joined = may_join(op);
  const double terms = terms_of(inputs, results);
  const bool is_exact_sum = std::ranges::all_of(inputs, is_integral);
  for (size_t r = 0; r < results.size(); ++r) {
    if (results[r].f.empty()) continue;
    const DType dtype = part_of(results[r].type.dtype);
    const size_t parts = results[r].is_complex() ? 2 : 1;
    // Evaluation sums f64 in f64 as well, and a scatter sums, one after the other;
    // equal terms may all err the same way.
    const bool goes_along = sums && (dtype == DType::kF64 || op.is(kScatter));
    const double own_error = goes_along ? std::max(std::sqrt(terms), terms / 4) : 0;
    const double allowed = std::max({allowed_ulps(op, dtype), takes_complex ? complex_ulps(dtype) : 0, own_error});
    const double most = greatest_finite(dtype);
    for (size_t k = 0; k < results[r].f.size(); ++k) {
      double& value = results[r].f[k];
      // Sums overflow in one order, and meet the other infinity in another.
      if (sums && std::abs(sizes[r].f[k]) > most && random.chance(0.5)) value = INFINITY;
      // A start value of 0 that is left out leaves a sum of -0 as it is.
      if (std::isnan(value) || (sums && value == 0)) value = std::copysign(value, random.chance(0.5) ? 1 : -1);
      if (!std::isfinite(value)) continue;
      double size = std::max(std::abs(value), std::abs(sizes[r].f[k]));
      if (parts == 2) size = std::max(size, std::abs(sizes[r].f[k ^ 1]));  // a complex number's error is one of both
      const bool is_exact = sums ? is_exact_sum && size * unit_at(dtype, 1) <= 1 && value == std::nearbyint(value)
                                 : !is_joined && allowed < 1 && round_to(dtype, value) == value;
      if (!is_exact) {
        value += (2 * random.uniform() - 1) * amplitude * std::max(allowed, 1.0) * unit_at(dtype, size);
      }
      // Near the end of the range one order of operations overflows, and another one does not.
      if (!is_exact && std::abs(value) > most / 8 && random.chance(0.5)) value = std::copysign(INFINITY, value);
    }
  }
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

Reference::Reference(const Function& function, std::vector<RefTensor> arguments)
    : function_(function), arguments_(std::move(arguments)), results_(evaluate(function, arguments_)) {
  for (const RefTensor& result : results_) reach_.emplace_back(result.f.size() + result.i.size(), 0.0);
  move(kEvaluations, kAmplitude);
}

void Reference::move(int evaluations, double amplitude) {
  for (int k = 0; k < evaluations; ++k) {
    const std::vector<RefTensor> moved =
        evaluate(function_, arguments_,
                 {.adjust = [&](const Op& op, std::span<const RefTensor> inputs, std::vector<RefTensor>& results) {
                   move_results(op, inputs, results, random_, amplitude);
                 }});
    for (size_t r = 0; r < results_.size(); ++r) {
      for (size_t e = 0; e < reach_[r].size(); ++e) {
        double distance = 0;
        if (!results_[r].f.empty()) {
          const double a = results_[r].f[e], b = moved[r].f[e];
          distance = same(a, b) ? 0 : std::isfinite(a) && std::isfinite(b) ? std::abs(a - b) : INFINITY;
        } else {
          distance = results_[r].i[e] == moved[r].i[e] ? 0 : INFINITY;
        }
        reach_[r][e] = std::max(reach_[r][e], distance);
      }
    }
  }
}

std::string Reference::disagreement(const std::vector<RefTensor>& actual) {
  if (actual.size() != results_.size()) return fmt::format("{} results, not {}", actual.size(), results_.size());
  const auto first = [&]() -> std::string {
    for (size_t r = 0; r < results_.size(); ++r) {
      const RefTensor& expected = results_[r];
      if (actual[r].type != expected.type) {
        return fmt::format("result {} is a {}, not {}", r, to_string(actual[r].type), to_string(expected.type));
      }
      for (size_t e = 0; e < reach_[r].size(); ++e) {
        if (expected.f.empty()) {
          if (actual[r].i[e] == expected.i[e] || std::isinf(reach_[r][e])) continue;
          return fmt::format("result {} element {} is {}, not {}", r, e, actual[r].i[e], expected.i[e]);
        }
        const double a = actual[r].f[e], b = expected.f[e], allowed = kReachAllowed * reach_[r][e];
        if (same(a, b) || std::isinf(allowed) || std::abs(a - b) <= allowed) continue;
        return fmt::format("result {} element {} is {}, not {}; rounding explains {}", r, e, a, b, allowed);
      }
    }
    return "";
  };
  std::string complaint = first();
  for (const double amplitude : {kAmplitude, 2 * kAmplitude}) {
    if (complaint.empty()) break;
    move(kEvaluationsInDoubt, amplitude);
    complaint = first();
  }
  return complaint;
}

int64_t Reference::judged_elements() const {
  int64_t count = 0;
  for (const auto& reach : reach_) count += std::ranges::count_if(reach, [](double it) { return std::isfinite(it); });
  return count;
}

int64_t Reference::elements() const {
  int64_t count = 0;
  for (const auto& reach : reach_) count += static_cast<int64_t>(reach.size());
  return count;
}

}  // namespace ingot
