#include "aot/graph/check.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>

#include "aot/base/error.h"
#include "aot/graph/quantization.h"

namespace ingot {
namespace {

constexpr std::string_view kPrefix = "check.expect_";

struct Row {
  std::string_view name;  // after "check.expect_"
  Check::Kind kind;
};
constexpr Row kRows[] = {
    {"eq", Check::Kind::kEqual},
    {"eq_const", Check::Kind::kEqual},
    {"almost_eq", Check::Kind::kAlmostEqual},
    {"almost_eq_const", Check::Kind::kAlmostEqual},
    {"close", Check::Kind::kClose},
    {"serialized_eq", Check::Kind::kEqual},
};
constexpr std::string_view kProbeId = "probe_id";
constexpr double kCustomCallTolerance = 1e-3;  // what StableHLO's interpreter allows a custom call, which cannot say it

// The value that a probe of the function saw.
Value* probed(const Function& function, const Op& check) {
  const std::string& id = check.attrs().string(kProbeId);
  if (check.attrs().has("iter")) {
    throw_limit(check.location,
                fmt::format("{}: what a loop's iterations show to probe '{}' is not kept", check.name(), id));
  }
  for (const auto& op : function.body.ops) {
    if (op->name() == "interpreter.probe" && op->attrs().string(kProbeId) == id) return op->operand(0);
  }
  throw_error(check.location, fmt::format("{}: there is no probe '{}'", check.name(), id));
}

std::optional<Check> check_of(const Op& op) {
  std::string name(op.name());
  const bool is_custom_call = op.name() == "stablehlo.custom_call";
  if (is_custom_call) name = op.attrs().string("call_target_name");
  if (name == "check.eq") return Check{.kind = Check::Kind::kAlmostEqual, .location = op.location};
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name = name.substr(kPrefix.size());
  for (const Row& row : kRows) {
    if (name != row.name) continue;
    Check check;
    check.kind = row.kind;
    check.location = op.location;
    if (is_custom_call) check.tolerance = kCustomCallTolerance;
    const Attrs attrs = op.attrs();
    if (attrs.has("tolerance")) {
      const auto* tolerance = attrs.at("tolerance").as<FloatAttr>();
      if (tolerance) check.tolerance = tolerance->value;
    }
    check.min_ulp = static_cast<uint64_t>(attrs.integer("min_ulp_difference", 0));
    check.max_ulp = static_cast<uint64_t>(attrs.integer("max_ulp_difference", 3));
    if (op.operands.size() == 1 && !attrs.has(kProbeId)) check.literal = attrs.literal("value");
    return check;
  }
  throw_limit(op.location, fmt::format("the check {}{} is not known here", kPrefix, name));
}

// Order-preserving: neighbouring values differ by one, and both zeros are 0.
int64_t ordinal(DType dtype, double value) {
  std::byte bytes[8] = {};
  store_float(dtype, value, bytes);
  const uint64_t bits = static_cast<uint64_t>(load_int(DType::kI64, bytes));
  const uint64_t sign = uint64_t{1} << (info(dtype).bits - 1);
  const auto magnitude = static_cast<int64_t>(bits & (sign - 1));
  return bits & sign ? -magnitude : magnitude;
}

// A quantized tensor is compared, and written in a literal, by its integers.
RefTensor in_storage(const RefTensor& tensor) { return tensor.type.quantization ? to_storage(tensor) : tensor; }

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// What is wrong between two floats, or "".
std::string difference(const Check& check, DType dtype, double actual, double expected) {
  switch (check.kind) {
    case Check::Kind::kEqual:
      return same(actual, expected) ? "" : fmt::format("{} instead of {}", actual, expected);
    case Check::Kind::kAlmostEqual:
      if (same(actual, expected)) return "";
      if (std::isfinite(actual) && std::isfinite(expected) && std::abs(actual - expected) <= check.tolerance) return "";
      return fmt::format("{} instead of {} within {}", actual, expected, check.tolerance);
    case Check::Kind::kClose: {
      const uint64_t ulp = ulp_difference(dtype, actual, expected);
      if (check.min_ulp <= ulp && ulp <= check.max_ulp) return "";
      return fmt::format("{} instead of {}: {} units in the last place, allowed are {} to {}", actual, expected, ulp,
                         check.min_ulp, check.max_ulp);
    }
  }
  throw_bug("judge: unknown kind of check");
}

// What is wrong between elements `k` of two tensors of one type, or "". The parts of a complex number are compared
// each by itself.
std::string difference(const Check& check, const RefTensor& actual, const RefTensor& expected, int64_t k) {
  const DType dtype = actual.type.dtype;
  if (actual.is_float()) return difference(check, dtype, actual.f[k], expected.f[k]);
  if (actual.is_complex()) {
    const std::complex<double> x = actual.complex_at(k), y = expected.complex_at(k);
    const std::string real = difference(check, part_of(dtype), x.real(), y.real());
    if (!real.empty()) return fmt::format("({}, {}): its real part is {}", x.real(), x.imag(), real);
    const std::string imaginary = difference(check, part_of(dtype), x.imag(), y.imag());
    if (!imaginary.empty()) return fmt::format("({}, {}): its imaginary part is {}", x.real(), x.imag(), imaginary);
    return "";
  }
  return actual.i[k] == expected.i[k] ? "" : fmt::format("{} instead of {}", actual.i[k], expected.i[k]);
}

}  // namespace

uint64_t ulp_difference(DType dtype, double a, double b) {
  if (same(a, b)) return 0;
  if (!std::isfinite(a) || !std::isfinite(b)) return std::numeric_limits<uint64_t>::max();
  const int64_t x = ordinal(dtype, a), y = ordinal(dtype, b);
  return x > y ? static_cast<uint64_t>(x) - static_cast<uint64_t>(y)
               : static_cast<uint64_t>(y) - static_cast<uint64_t>(x);
}

std::vector<Check> take_checks(Function& function) {
  std::vector<Check> checks;
  Op* end = function.body.terminator();
  const auto add_result = [&](Value* value) {
    end->add_operand(value);
    function.results.push_back({value->type, {}});
    return static_cast<int>(function.results.size()) - 1;
  };
  for (auto it = function.body.ops.begin(); it != function.body.ops.end();) {
    Op* op = (it++)->get();
    std::optional<Check> check = check_of(*op);
    if (!check) continue;
    check->actual = add_result(op->operand(0));
    if (!check->literal) {
      check->expected = add_result(op->operands.size() == 1 ? probed(function, *op) : op->operand(1));
    }
    checks.push_back(*std::move(check));
    if (op->results.empty()) erase(op);  // others say whether it holds
  }
  return checks;
}

std::string judge(const Check& check, std::span<const RefTensor> results) {
  const RefTensor actual = in_storage(results[check.actual]);
  const RefTensor expected = check.literal ? from_literal(*check.literal) : in_storage(results[check.expected]);
  INGOT_CHECK(actual.type == expected.type);
  std::string first;
  int64_t wrong = 0;
  Shape at(actual.type.rank());
  for (int64_t k = 0; k < actual.elements(); ++k) {
    const std::string text = difference(check, actual, expected, k);
    if (!text.empty() && wrong++ == 0) {
      std::string place;
      for (int64_t index : at) place += fmt::format("{}{}", place.empty() ? "" : ", ", index);
      first = fmt::format("element [{}] of {} is {}", place, to_string(actual.type), text);
    }
    next_index(at, actual.type.shape);
  }
  return wrong > 1 ? fmt::format("{}; {} of {} elements differ", first, wrong, actual.elements()) : first;
}

}  // namespace ingot
