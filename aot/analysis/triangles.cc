#include "aot/analysis/triangles.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <ranges>

#include "aot/analysis/walk.h"
#include "aot/graph/access_map.h"
#include "aot/graph/literal.h"
#include "aot/loops/contraction.h"
#include "aot/ops/ops.h"

namespace ingot {
namespace {

using Number = std::optional<double>;
using Numbers = std::vector<Number>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kExactIntegers = int64_t{1} << 53;  // of f64
constexpr int64_t kIndexMax = int64_t{1} << 23;       // sums of a few such are exact in i32 and f32

// --- what an op makes of what is known ---

bool is_zero(const Number& x) { return x == 0; }
bool is_infinite(const Number& x) { return x && std::isinf(*x); }

Number if_number(double x) { return std::isnan(x) ? Number{} : Number{x}; }

// As `dtype` holds it. What an integer wraps to is left unknown.
Number held(DType dtype, const Number& x) {
  if (!x || is_bool(dtype)) return x;
  if (is_float(dtype)) return round_to(dtype, *x);
  if (!is_integer(dtype) || std::abs(*x) > kExactIntegers) return {};
  const auto whole = static_cast<int64_t>(*x);
  return wrap_to(dtype, whole) == whole ? x : Number{};
}

Number product(const Op&, const Numbers& x) {
  if (is_zero(x[0]) || is_zero(x[1])) return 0;
  return x[0] && x[1] ? if_number(*x[0] * *x[1]) : Number{};
}

Number quotient(const Op& op, const Numbers& x) {
  return is_float(op.result()->type.dtype) && is_zero(x[0]) && !is_zero(x[1]) ? x[0] : Number{};
}

Number sum(const Op&, const Numbers& x) {
  if (x[0] && x[1]) return if_number(*x[0] + *x[1]);
  return is_infinite(x[0]) ? x[0] : is_infinite(x[1]) ? x[1] : Number{};
}

Number difference(const Op& op, const Numbers& x) { return sum(op, {x[0], x[1] ? Number{-*x[1]} : Number{}}); }

Number selected(const Op&, const Numbers& x) {
  if (x[0]) return *x[0] != 0 ? x[1] : x[2];
  return x[1] == x[2] ? x[1] : Number{};
}

Number conjunction(const Op&, const Numbers& x) {
  return is_zero(x[0]) || is_zero(x[1]) ? Number{0} : x[0] == x[1] ? x[0] : Number{};
}

Number disjunction(const Op& op, const Numbers& x) {
  if (is_bool(op.result()->type.dtype) && (x[0] == 1 || x[1] == 1)) return 1;
  return x[0] == x[1] ? x[0] : Number{};
}

Number inverse(const Op& op, const Numbers& x) {
  return x[0] && is_bool(op.result()->type.dtype) ? Number{1 - *x[0]} : Number{};
}

Number comparison(const Op& op, const Numbers& x) {
  if (!x[0] || !x[1]) return {};
  const std::string& direction = op.attrs().string("comparison_direction");
  if (direction == "EQ" || direction == "NE") return (*x[0] == *x[1]) == (direction == "EQ");
  const bool is_swapped = direction == "GT" || direction == "LE";
  const bool is_less = is_swapped ? *x[1] < *x[0] : *x[0] < *x[1];
  return is_less == (direction == "LT" || direction == "GT");
}

Number converted(const Op& op, const Numbers& x) {
  if (!x[0]) return {};
  if (is_bool(op.result()->type.dtype)) return *x[0] != 0;
  return is_float(op.result()->type.dtype) || *x[0] == 0 || *x[0] == 1 ? x[0] : Number{};
}

Number negative(const Op&, const Numbers& x) { return x[0] ? Number{-*x[0]} : Number{}; }

// Others than 0 and 1 are rounded as the function's approximation has it.
Number exponential(const Op&, const Numbers& x) {
  const double y = x[0] ? std::exp(*x[0]) : NAN;
  return y == 0 || y == 1 ? Number{y} : Number{};
}

// `keeps_numbers`: of whatever numbers these operands hold, the result holds numbers.
struct Rule {
  const OpDef& op;
  Number (*value)(const Op& op, const Numbers& x);
  std::vector<int> keeps_numbers;
};

const std::vector<Rule>& rules() {
  static const std::vector<Rule> table = {
      {kAdd, sum, {0, 1}},         {kSubtract, difference, {0, 1}}, {kMultiply, product, {0, 1}},
      {kDivide, quotient, {0}},    {kNegate, negative, {0}},        {kSelect, selected, {1, 2}},
      {kConvert, converted, {0}},  {kTanh, nullptr, {0}},           {kMaximum, nullptr, {0, 1}},
      {kMinimum, nullptr, {0, 1}}, {kExponential, exponential, {}}, {kCompare, comparison, {}},
      {kAnd, conjunction, {}},     {kOr, disjunction, {}},          {kNot, inverse, {}},
  };
  return table;
}

const Rule* rule_of(const Op& op) {
  const auto found = std::ranges::find_if(rules(), [&](const Rule& rule) { return op.is(rule.op); });
  return found == rules().end() ? nullptr : &*found;
}

// --- triangles ---

void add(std::vector<Triangle>& triangles, const Triangle& it) {
  const auto found = std::ranges::find_if(
      triangles, [&](const Triangle& other) { return other.ahead == it.ahead && other.behind == it.behind; });
  if (found == triangles.end()) return triangles.push_back(it);
  found->offset = std::min(found->offset, it.offset);
}

void add(std::vector<KnownTriangle>& triangles, const KnownTriangle& it) {
  const auto found = std::ranges::find_if(triangles, [&](const KnownTriangle& other) {
    return other.where.ahead == it.where.ahead && other.where.behind == it.where.behind && other.value == it.value;
  });
  if (found == triangles.end()) return triangles.push_back(it);
  found->where.offset = std::min(found->where.offset, it.where.offset);
}

std::vector<Triangle> common(const std::vector<Triangle>& a, const std::vector<Triangle>& b) {
  std::vector<Triangle> both;
  for (const Triangle& x : a) {
    for (const Triangle& y : b) {
      if (x.ahead == y.ahead && x.behind == y.behind) both.push_back({x.ahead, x.behind, std::max(x.offset, y.offset)});
    }
  }
  return both;
}

// --- views ---

// An index that is another plus a constant; dim -1: it is none.
struct Followed {
  int dim = -1;
  int64_t constant = 0;
};

Followed followed(const AxisMap& axis) {
  for (int d = 0; d < std::ssize(axis.coefficients); ++d) {
    if (follows(axis, d) && axis.start < 0) return {d, axis.constant};
  }
  return {};
}

// For each dimension of a view's operand, the dimension of the result that its index follows.
std::optional<std::vector<Followed>> followed_dims(const Op& op) {
  if (!op.def->access || op.results.size() != 1) return std::nullopt;
  const AccessMap map = access_map(op);
  if (map.pieces.size() != 1 || !map.is_view()) return std::nullopt;
  const Shape& from = op.operand(0)->type.shape;
  std::vector<Followed> dims;
  for (int d = 0; d < std::ssize(from); ++d) {
    if (from[d] == 1) {
      dims.emplace_back();
    } else {
      dims.push_back(map.is_flat ? Followed{renamed_dim(op, d), 0} : followed(map.pieces[0].axes[d]));
    }
  }
  return dims;
}

std::optional<Triangle> in_result(const std::vector<Followed>& dims, const Triangle& it) {
  const Followed &ahead = dims[it.ahead], &behind = dims[it.behind];
  if (ahead.dim < 0 || behind.dim < 0) return std::nullopt;
  return Triangle{ahead.dim, behind.dim, it.offset + behind.constant - ahead.constant};
}

std::optional<Triangle> in_operand(const std::vector<Followed>& dims, const Triangle& it) {
  const auto at = [&](int dim) { return std::ranges::find(dims, dim, &Followed::dim); };
  const auto ahead = at(it.ahead), behind = at(it.behind);
  if (ahead == dims.end() || behind == dims.end()) return std::nullopt;
  return Triangle{static_cast<int>(ahead - dims.begin()), static_cast<int>(behind - dims.begin()),
                  it.offset + ahead->constant - behind->constant};
}

// --- constants ---

Number number_at(const Literal& literal, int64_t k) {
  if (is_complex(literal.type.dtype)) return {};
  if (is_float(literal.type.dtype)) return if_number(literal.float_at(k));
  const int64_t value = literal.int_at(k);
  return std::abs(value) <= kExactIntegers ? Number(static_cast<double>(value)) : Number{};
}

// The largest triangle of equal elements in the corner of a matrix where `ahead` is greatest and `behind` is 0, where
// it is no less than about a half of that.
std::optional<KnownTriangle> corner(const Literal& literal, int ahead, int behind) {
  const Shape& shape = literal.type.shape;
  const Shape strides = row_major_strides(shape);
  const auto at = [&](int64_t i, int64_t j) { return number_at(literal, i * strides[ahead] + j * strides[behind]); };
  const Number value = at(shape[ahead] - 1, 0);
  if (!value) return std::nullopt;
  int64_t offset = -1;
  for (int64_t j = 0; j < shape[behind]; ++j) {
    for (int64_t i = shape[ahead] - 1; i > j + offset; --i) {
      if (at(i, j) == value) continue;
      offset = i - j;
      if (2 * offset > shape[ahead]) return std::nullopt;
    }
  }
  return KnownTriangle{{ahead, behind, offset}, *value};
}

}  // namespace

void Triangles::read(const Block& block) {
  for (const auto& op : block.ops) read_op(*op);
  if (known_.empty()) return;
  for (const auto& op : block.ops | std::views::reverse) read_uses(*op);
}

void Triangles::read_op(const Op& op) {
  if (op.results.size() != 1) return;
  read_linear(op);
  read_changes(op);
  if (op.is(kConstant)) return read_constant(*op.result());
  if (op.is(kCompare)) read_compare(op);
  if (known_.empty()) return;
  if (op.def->is_elementwise) return read_elementwise(op);
  const auto dims = followed_dims(op);
  if (!dims || !known_.contains(op.operand(0))) return;
  for (const KnownTriangle& it : known_[op.operand(0)]) {
    if (const auto where = in_result(*dims, it.where)) add(known_[op.result()], {*where, it.value});
  }
}

const Triangles::Linear* Triangles::linear_of(const Value* value) {
  if (const auto found = linear_.find(value); found != linear_.end()) return &found->second;
  const LiteralRef literal = constant_of(value);
  if (!literal || !literal->is_splat) return nullptr;
  const Number number = number_at(*literal, 0);
  if (!number || std::abs(*number) > kIndexMax || *number != std::floor(*number)) return nullptr;
  return &(linear_[value] = {static_cast<int64_t>(*number), std::vector<int64_t>(value->type.rank())});
}

void Triangles::read_linear(const Op& op) {
  const TensorType& type = op.result()->type;
  const bool is_exact =
      is_float(type.dtype) ? info(type.dtype).bits >= 32 : is_signed(type.dtype) && info(type.dtype).bits >= 32;
  if (!is_exact || std::ranges::any_of(type.shape, [](int64_t extent) { return extent > kIndexMax; })) return;
  if (op.is(kIota)) {
    Linear& made = linear_[op.result()] = {0, std::vector<int64_t>(type.rank())};
    made.coefficients[op.attrs().integer("iota_dimension")] = 1;
  } else if (op.is(kAdd) || op.is(kSubtract)) {
    const Linear *x = linear_of(op.operand(0)), *y = linear_of(op.operand(1));
    if (!x || !y) return;
    const int64_t sign = op.is(kAdd) ? 1 : -1;
    Linear made = *x;
    made.constant += sign * y->constant;
    if (std::abs(made.constant) > kIndexMax) return;
    for (size_t d = 0; d < made.coefficients.size(); ++d) {
      made.coefficients[d] += sign * y->coefficients[d];
      if (std::abs(made.coefficients[d]) > 1) return;
    }
    linear_[op.result()] = made;
  } else if (op.is(kConvert)) {
    if (const auto x = linear_.find(op.operand(0)); x != linear_.end()) linear_[op.result()] = Linear(x->second);
  } else if (const auto x = op.operands.empty() ? linear_.end() : linear_.find(op.operand(0)); x != linear_.end()) {
    const auto dims = followed_dims(op);
    if (!dims) return;
    Linear made{x->second.constant, std::vector<int64_t>(type.rank())};
    for (size_t d = 0; d < x->second.coefficients.size(); ++d) {
      const int64_t coefficient = x->second.coefficients[d];
      if (coefficient == 0) continue;
      const auto [dim, constant] = (*dims)[d];
      if (dim < 0) return;
      made.coefficients[dim] = coefficient;
      made.constant += coefficient * constant;
    }
    linear_[op.result()] = made;
  }
}

void Triangles::read_changes(const Op& op) {
  std::vector<bool> changes(op.result()->type.rank());
  if (op.def->is_elementwise) {
    for (int d = 0; d < std::ssize(changes); ++d) {
      changes[d] = std::ranges::any_of(op.operands, [&](const Value* operand) { return changes_along(*operand, d); });
    }
  } else {
    const auto dims = followed_dims(op);
    if (!dims) return;
    for (int d = 0; d < std::ssize(*dims); ++d) {
      if (!changes_along(*op.operand(0), d)) continue;
      const int dim = (*dims)[d].dim;
      if (dim < 0) return;
      changes[dim] = true;
    }
  }
  changes_[op.result()] = std::move(changes);
}

bool Triangles::changes_along(const Value& value, int dim) const {
  if (value.type.rank() == 0) return false;  // it stands for all elements
  if (const auto found = changes_.find(&value); found != changes_.end()) return found->second[dim];
  const LiteralRef literal = constant_of(&value);
  return value.type.shape[dim] != 1 && !(literal && literal->is_splat);
}

// With constant + index[p] - index[q] compared to 0: what holds where index[q] is far ahead, and where index[p] is.
void Triangles::read_compare(const Op& op) {
  const Linear *x = linear_of(op.operand(0)), *y = linear_of(op.operand(1));
  if (!x || !y) return;
  int p = -1, q = -1;
  for (int d = 0; d < std::ssize(x->coefficients); ++d) {
    const int64_t coefficient = x->coefficients[d] - y->coefficients[d];
    if (coefficient == 0) continue;
    int& dim = coefficient > 0 ? p : q;
    if (dim >= 0 || std::abs(coefficient) > 1) return;
    dim = d;
  }
  const std::string& direction = op.attrs().string("comparison_direction");
  if (p < 0 || q < 0 || direction == "EQ" || direction == "NE") return;
  const int64_t constant = x->constant - y->constant;
  const bool splits_below = direction == "LT" || direction == "GE";  // of less than 0 and the rest
  const double when_less = direction == "LT" || direction == "LE" ? 1 : 0;
  std::vector<KnownTriangle>& known = known_[op.result()];
  add(known, {{q, p, splits_below ? constant : constant - 1}, when_less});
  add(known, {{p, q, splits_below ? -constant - 1 : -constant}, 1 - when_less});
}

void Triangles::read_constant(const Value& value) {
  const LiteralRef literal = constant_of(&value);
  std::vector<int> dims;
  for (int d = 0; d < value.type.rank(); ++d) {
    if (value.type.shape[d] != 1) dims.push_back(d);
  }
  if (literal->is_splat || dims.size() != 2 || value.type.elements() == 0) return;
  for (const auto& [ahead, behind] : {std::pair(dims[0], dims[1]), std::pair(dims[1], dims[0])}) {
    if (const auto found = corner(*literal, ahead, behind)) add(known_[&value], *found);
  }
}

Number Triangles::value_at(const Value& value, const Triangle& where) const {
  if (const LiteralRef literal = constant_of(&value); literal && literal->is_splat) return number_at(*literal, 0);
  const auto known = known_.find(&value);
  if (known == known_.end()) return {};
  for (const KnownTriangle& it : known->second) {
    if (it.where.ahead == where.ahead && it.where.behind == where.behind && it.where.offset <= where.offset)
      return it.value;
  }
  return {};
}

void Triangles::read_elementwise(const Op& op) {
  const Rule* rule = rule_of(op);
  if (!rule || !rule->value) return;
  std::vector<KnownTriangle> made;
  for (const Value* operand : op.operands) {
    const auto known = known_.find(operand);
    if (known == known_.end()) continue;
    for (const KnownTriangle& it : known->second) {
      Numbers x;
      for (const Value* other : op.operands) x.push_back(value_at(*other, it.where));
      if (const Number value = held(op.result()->type.dtype, rule->value(op, x))) made.push_back({it.where, *value});
    }
  }
  const bool supposes_numbers = is_float(op.result()->type.dtype) && !op.is(kSelect);
  for (const Value* operand : supposes_numbers ? op.operands : Values{}) {
    const auto is_any = [&](const KnownTriangle& it) { return !value_at(*operand, it.where); };
    std::vector<Triangle> hidden;
    for (const KnownTriangle& it : made | std::views::filter(is_any)) hidden.push_back(it.where);
    std::erase_if(made, [&](const KnownTriangle& it) { return is_any(it) && !shows(*operand, it.where, hidden); });
  }
  for (const KnownTriangle& it : made) add(known_[op.result()], it);
}

// Whether lines along which the value is the same have elements that are not hidden: each line, or, where it is the same
// along both dimensions, one of them.
bool Triangles::shows(const Value& value, const Triangle& where, const std::vector<Triangle>& hidden) const {
  const bool is_plane = !changes_along(value, where.ahead) && !changes_along(value, where.behind);
  if (!is_plane && changes_along(value, where.ahead) && changes_along(value, where.behind)) return true;
  const int along = changes_along(value, where.ahead) ? where.behind : where.ahead;
  const int across = along == where.ahead ? where.behind : where.ahead;
  const auto has_shown = [&](int64_t line) {
    int64_t first = 0, end = value.type.shape[along];
    for (const Triangle& it : hidden) {
      if (it.ahead == along && it.behind == across) end = std::min(end, line + it.offset + 1);
      if (it.ahead == across && it.behind == along) first = std::max(first, line - it.offset);
    }
    return first < end;
  };
  const auto lines = std::views::iota(int64_t{0}, value.type.shape[across]);
  return is_plane ? std::ranges::any_of(lines, has_shown) : std::ranges::all_of(lines, has_shown);
}

void Triangles::read_uses(const Op& op) {
  for (const auto& result : op.results) {
    std::optional<std::vector<Triangle>> unneeded;
    for (const Value::Use& use : result->uses) {
      const std::vector<Triangle> by_this = unneeded_by(*use.op, use.operand_index);
      unneeded = unneeded ? common(*unneeded, by_this) : by_this;
      if (unneeded->empty()) break;
    }
    if (unneeded && !unneeded->empty()) unneeded_[result.get()] = *unneeded;
  }
}

std::vector<Triangle> Triangles::unneeded_by(const Op& reader, int operand) const {
  std::vector<Triangle> unneeded;
  if (reader.results.size() != 1) return unneeded;
  const auto of_result = unneeded_.find(reader.result());
  if (reader.def->is_elementwise) {
    const auto choice = known_.find(reader.operand(0));
    if (reader.is(kSelect) && operand > 0 && choice != known_.end()) {
      for (const KnownTriangle& it : choice->second) {
        if ((it.value != 0) == (operand == 2)) add(unneeded, it.where);
      }
    }
    const Rule* rule = rule_of(reader);
    if (!rule || std::ranges::count(rule->keeps_numbers, operand) == 0) return unneeded;
    if (const auto known = known_.find(reader.result()); known != known_.end()) {
      for (const KnownTriangle& it : known->second) add(unneeded, it.where);
    }
    if (of_result == unneeded_.end()) return unneeded;
    for (const Triangle& it : of_result->second) add(unneeded, it);
    return unneeded;
  }
  if (of_result == unneeded_.end() || operand != 0) return unneeded;
  const auto dims = followed_dims(reader);
  if (!dims) return unneeded;
  for (const Triangle& it : of_result->second) {
    if (const auto where = in_operand(*dims, it)) add(unneeded, *where);
  }
  return unneeded;
}

std::vector<Triangle> Triangles::unneeded_products(const Op& op) const {
  const loops::Contraction space = op.def->contraction(op);
  std::vector<Triangle> unneeded;
  const auto add_of = [&](const std::vector<AxisMap>& accesses, const Triangle& it) {
    const Followed ahead = followed(accesses[it.ahead]), behind = followed(accesses[it.behind]);
    if (ahead.dim < 0 || behind.dim < 0 || ahead.constant != 0 || behind.constant != 0) return;
    const auto is_batch = [&](int dim) { return space.dims[dim].kind == loops::ContractionDim::Kind::kBatch; };
    if (is_batch(ahead.dim) || is_batch(behind.dim) || it.offset >= space.dims[ahead.dim].extent - 1) return;
    add(unneeded, {ahead.dim, behind.dim, it.offset});
  };
  for (int i = 0; i < 2; ++i) {
    const auto known = known_.find(op.operand(i));
    if (known == known_.end()) continue;
    for (const KnownTriangle& it : known->second) {
      if (it.value == 0) add_of(i == 0 ? space.lhs : space.rhs, it.where);
    }
  }
  if (const auto found = unneeded_.find(op.result()); found != unneeded_.end()) {
    for (const Triangle& it : found->second) add_of(space.out, it);
  }
  return unneeded;
}

}  // namespace ingot
