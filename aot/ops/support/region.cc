#include "aot/ops/support/region.h"

#include <algorithm>
#include <cmath>

#include "aot/ops/support/build.h"

namespace ingot::ops {
namespace {

// The only op before the terminator, when its result is all that the region gives.
const Op* only_op(const Block& region) {
  if (region.ops.size() != 2 || region.arguments.size() != 2) return nullptr;
  const Op* op = region.ops.front().get();
  const Op* end = region.terminator();
  const bool returned = end->operands.size() == 1 && op->results.size() == 1 && end->operand(0) == op->result();
  return returned && op->operands.size() == 2 && op->regions.empty() ? op : nullptr;
}

bool takes_arguments(const Op& op, const Block& region, int first) {
  return op.operand(0) == region.argument(first) && op.operand(1) == region.argument(1 - first);
}

RefTensor scalar_of(const TensorType& type, const RefTensor& from, int64_t at) {
  RefTensor scalar(type);
  scalar.copy_element(0, from, at);
  return scalar;
}

double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return NAN;
  if (a == b) return std::signbit(a) ? b : a;
  return std::max(a, b);
}

double minimum(double a, double b) { return -maximum(-a, -b); }

int64_t wrapping_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

int64_t wrapping_multiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

// Order of the values that the representation stands for: ui64 is kept as bits.
bool less(DType dtype, int64_t a, int64_t b) {
  return is_unsigned(dtype) ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
}

template <typename T>
bool compare(std::string_view direction, T a, T b) {
  if (direction == "EQ") return a == b;
  if (direction == "NE") return a != b;
  if (direction == "LT") return a < b;
  if (direction == "LE") return a <= b;
  if (direction == "GT") return a > b;
  return a >= b;
}

}  // namespace

const OpDef* binary_region_op(const Block& region) {
  const Op* op = only_op(region);
  if (!op || !op->name().starts_with("stablehlo.") || !op->attr_map.empty()) return nullptr;
  if (!takes_arguments(*op, region, 0) && !(op->def->is_commutative && takes_arguments(*op, region, 1))) return nullptr;
  return op->def;
}

std::string_view compare_region_direction(const Block& region) {
  const Op* op = only_op(region);
  if (!op || !op->is(kCompare) || !takes_arguments(*op, region, 0)) return "";
  const Attrs attrs = op->attrs();
  if (attrs.has("compare_type") && attrs.string("compare_type") == "TOTALORDER") return "";
  const auto* direction = attrs.at("comparison_direction").as<EnumAttr>();
  return direction ? std::string_view(direction->value) : std::string_view();
}

int returned_argument(const Block& region) {
  if (region.ops.size() != 1 || region.terminator()->operands.size() != 1) return -1;
  const Value* value = region.terminator()->operand(0);
  return value->block == &region ? value->index : -1;
}

const Value* region_argument(const Op& op, size_t operand) {
  const auto& arguments = op.region().arguments;
  const size_t indices = op.operands.size() - arguments.size(), first_indices = arguments.size() / 2;
  if (operand < first_indices) return arguments[operand].get();
  return operand < first_indices + indices ? nullptr : arguments[operand - indices].get();
}

Values converted_for_region(ExpandArgs& args) {
  Values operands;
  for (Value* operand : args.op.operands) {
    const Value* argument = region_argument(args.op, operands.size());
    operands.push_back(argument ? convert(args.b, operand, argument->type.dtype) : operand);
  }
  if (operands == args.op.operands) return {};
  ValueMap map;
  Block& block = *args.op.block;
  Op* copy = copy_op(args.op, block, map);
  block.ops.splice(args.op.self, block.ops, copy->self);
  for (size_t i = 0; i < operands.size(); ++i) copy->set_operand(static_cast<int>(i), operands[i]);
  Values results;
  for (const auto& result : copy->results) results.push_back(result.get());
  return results;
}

RegionRunner::RegionRunner(const EvaluateArgs& args, const Block& region) : args_(args), region_(region) {
  static constexpr std::pair<const OpDef*, Fast> kFast[] = {
      {&kAdd, Fast::kAdd},         {&kMultiply, Fast::kMultiply}, {&kMaximum, Fast::kMaximum},
      {&kMinimum, Fast::kMinimum}, {&kAnd, Fast::kAnd},           {&kOr, Fast::kOr},
      {&kXor, Fast::kXor},
  };
  const OpDef* op = binary_region_op(region);
  for (const auto& [known, fast] : kFast) {
    if (op == known) fast_ = fast;
  }
  if (region.arguments.size() == 2 && returned_argument(region) == 1) fast_ = Fast::kSecond;
  // A float sum or product of one step is the region itself.
  if (args.round_partial_sums && (fast_ == Fast::kAdd || fast_ == Fast::kMultiply)) fast_ = Fast::kNone;
  direction_ = compare_region_direction(region);
}

bool RegionRunner::combine_fast(RefTensor& into, int64_t at, const RefTensor& from, int64_t from_at) const {
  if (fast_ == Fast::kNone || into.is_float() != from.is_float() || into.is_complex()) return false;
  if (fast_ == Fast::kSecond) {
    into.copy_element(at, from, from_at);
    return true;
  }
  if (into.is_float()) {
    double& a = into.f[at];
    const double b = from.f[from_at];
    switch (fast_) {
      case Fast::kAdd:
        a += b;
        return true;
      case Fast::kMultiply:
        a *= b;
        return true;
      case Fast::kMaximum:
        a = maximum(a, b);
        return true;
      case Fast::kMinimum:
        a = minimum(a, b);
        return true;
      default:
        return false;
    }
  }
  const DType dtype = into.type.dtype;
  int64_t& a = into.i[at];
  const int64_t b = from.i[from_at];
  switch (fast_) {
    case Fast::kAdd:
      a = wrap_to(dtype, wrapping_add(a, b));
      return true;
    case Fast::kMultiply:
      a = wrap_to(dtype, wrapping_multiply(a, b));
      return true;
    case Fast::kMaximum:
      a = less(dtype, a, b) ? b : a;
      return true;
    case Fast::kMinimum:
      a = less(dtype, b, a) ? b : a;
      return true;
    case Fast::kAnd:
      a &= b;
      return true;
    case Fast::kOr:
      a |= b;
      return true;
    case Fast::kXor:
      a ^= b;
      return true;
    default:
      return false;
  }
}

void RegionRunner::combine(std::span<RefTensor> into, int64_t at, std::span<const RefTensor> from,
                           int64_t from_at) const {
  if (into.size() == 1 && combine_fast(into[0], at, from[0], from_at)) return;
  std::vector<RefTensor> arguments;
  for (const RefTensor& tensor : into) {
    arguments.push_back(scalar_of(region_.argument(static_cast<int>(arguments.size()))->type, tensor, at));
  }
  for (const RefTensor& tensor : from) {
    arguments.push_back(scalar_of(region_.argument(static_cast<int>(arguments.size()))->type, tensor, from_at));
  }
  const std::vector<RefTensor> results = args_.run(region_, std::move(arguments));
  for (size_t k = 0; k < into.size(); ++k) into[k].copy_element(at, results[k], 0);
}

bool RegionRunner::test(const RefTensor& x, int64_t x_at, const RefTensor& y, int64_t y_at) const {
  if (!direction_.empty() && !x.is_complex()) {
    if (x.is_float()) return compare(direction_, x.f[x_at], y.f[y_at]);
    if (!is_unsigned(x.type.dtype)) return compare(direction_, x.i[x_at], y.i[y_at]);
    return compare(direction_, static_cast<uint64_t>(x.i[x_at]), static_cast<uint64_t>(y.i[y_at]));
  }
  const std::vector<RefTensor> results = args_.run(
      region_, {scalar_of(region_.argument(0)->type, x, x_at), scalar_of(region_.argument(1)->type, y, y_at)});
  return results[0].i[0] != 0;
}

}  // namespace ingot::ops
