#include "aot/loops/bound_search.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "aot/base/divide.h"

namespace ingot::loops {
namespace {

// So many sums of facts are looked at, for what is wanted and for the range of a value.
constexpr size_t kMaxSums = 256;
constexpr size_t kMaxSumsOfRange = 64;

constexpr int64_t kMaxCases = 16;  // of one variable
constexpr int kMaxCasesInAll = 100;

// Greater numbers are not added up.
constexpr int64_t kMaxSummand = std::numeric_limits<int64_t>::max() / 4;

std::optional<Index> product_of(const Index& index, int64_t factor) {
  const auto is_too_great = [&](int64_t& number) {
    return __builtin_mul_overflow(number, factor, &number) || number < -kMaxSummand || number > kMaxSummand;
  };
  Index product = index;
  if (is_too_great(product.constant)) return std::nullopt;
  for (Index::Term& term : product.terms) {
    if (is_too_great(term.coefficient)) return std::nullopt;
  }
  return product;
}

std::vector<int64_t> numbers_of(const Index& index) {
  std::vector<int64_t> numbers = {index.constant};
  for (const Index::Term& term : index.terms) numbers.insert(numbers.end(), {term.var, term.coefficient});
  return numbers;
}

}  // namespace

int64_t common_divisor(std::span<const Var> vars, const Index& index) {
  int64_t divisor = 0;
  for (const Index::Term& term : index.terms) {
    int64_t multiple = 0;
    if (__builtin_mul_overflow(term.coefficient, vars[term.var].multiple_of, &multiple)) return 1;
    divisor = std::gcd(divisor, multiple);
  }
  return divisor;
}

Index tightened(std::span<const Var> vars, Index index) {
  const int64_t divisor = common_divisor(vars, index);
  if (divisor > 1) index.constant = floor_divide(index.constant, divisor) * divisor;
  return index;
}

bool BoundSearch::proves(const Index& index) const {
  if (proves_by_sum(index)) return true;
  const std::vector<Index> facts = with_cuts();
  int cases_left = kMaxCasesInAll;
  return BoundSearch(vars_, facts, steps_left_).proves_by_cases(index, cases_left);
}

bool BoundSearch::proves_by_sum(const Index& index) const { return least(index, kMaxSums, 0) >= 0; }

bool BoundSearch::proves_by_cases(const Index& index, int& cases_left) const {
  if (cases_left-- == 0) return false;
  BoundSearch narrowed = *this;
  const bool is_possible = narrowed.narrow_ranges();
  if (!is_possible || narrowed.proves_by_sum(index)) return true;
  const std::optional<VarId> var = narrowed.var_of_few_values();
  if (!var) return false;
  const Range values = narrowed.range(*var);
  for (int64_t value = values.low; value <= values.high; value += vars_[*var].multiple_of) {
    narrowed.ranges_[*var] = {value, value};
    if (!narrowed.proves_by_cases(index, cases_left)) return false;
  }
  return true;
}

// The greatest bound of `index` from below that is found, or the first that is `enough`: takes facts from it, each with
// one of its variables, until the ranges of the variables that are left say enough. Goes on from the best so far.
int64_t BoundSearch::least(const Index& index, size_t max_sums, int64_t enough) const {
  std::multimap<int64_t, Rest, std::greater<>> rests;  // by the bound that ranges give
  std::set<std::vector<int64_t>> known;
  const auto add = [&](const Rest& rest) {
    if (known.size() == max_sums || !known.insert(numbers_of(rest.index)).second) return;
    rests.emplace(-floor_divide(-low(rest.index), rest.scale), rest);
  };
  add({index, 1});
  int64_t best = rests.begin()->first;
  while (!rests.empty() && best < enough) {
    const Rest from = rests.extract(rests.begin()).mapped();
    for (const Index::Term& term : from.index.terms) {
      for (const Index& fact : facts_) {
        if (const std::optional<Rest> rest = without(from, fact, term.var)) add(*rest);
      }
    }
    if (!rests.empty()) best = std::max(best, rests.begin()->first);
  }
  return best;
}

// What is left without a fact and without `var`: a step of the search. Null where their signs differ, numbers grow too
// great, or no steps are left.
std::optional<BoundSearch::Rest> BoundSearch::without(const Rest& from, const Index& fact, VarId var) const {
  const int64_t a = from.index.coefficient(var);
  const int64_t b = fact.coefficient(var);
  if (b == 0 || (a < 0) != (b < 0) || steps_left_ == 0) return std::nullopt;
  --steps_left_;
  const int64_t common = std::gcd(a, b);
  const std::optional<Index> whole = product_of(from.index, std::abs(b) / common);
  const std::optional<Index> part = product_of(fact, std::abs(a) / common);
  const std::optional<Index> scale = product_of(Index(from.scale), std::abs(b) / common);
  if (!whole || !part || !scale) return std::nullopt;
  return Rest{*whole - *part, scale->constant};
}

// With sums of two facts, one of which bounds a multiple of a value, as a quotient's definition does: rounded to that
// multiple. What follows of one quotient is there for the quotients made of it.
std::vector<Index> BoundSearch::with_cuts() const {
  std::vector<Index> facts(facts_.begin(), facts_.end());
  if (steps_left_ == 0) return facts;
  std::set<std::vector<int64_t>> known;
  const auto add_cut = [&](const Index& bound, const Index& fact, VarId eliminated, VarId value) {
    const std::optional<Rest> rest = without({bound * -1, 1}, fact, eliminated);
    if (!rest) return;
    const Index result = cut(rest->index * -1, rest->index.coefficient(value));
    if (known.insert(numbers_of(result)).second) facts.push_back(result);
  };
  for (const Index& bound : facts_) {
    for (const Index::Term& value : bound.terms) {
      if (std::abs(value.coefficient) == 1 || vars_[value.var].kind != VarKind::kLet) continue;
      for (const Index::Term& term : bound.terms) {
        for (size_t k = 0, count = facts.size(); term.var != value.var && k < count && count < kMaxSums; ++k)
          add_cut(bound, Index(facts[k]), term.var, value.var);
      }
    }
  }
  return facts;
}

// A fact about those of its terms that are multiples of a divisor: the others are as great as they can be.
Index BoundSearch::cut(const Index& fact, int64_t divisor) const {
  if (divisor == 0) return fact;
  Index rest(fact.constant), multiples;
  for (const Index::Term& term : fact.terms) {
    Index& part = term.coefficient % divisor == 0 ? multiples : rest;
    part = part + Index::variable(term.var, term.coefficient);
  }
  return tightened(vars_, multiples + Index(-low(rest * -1)));
}

// In order: what a value is made of comes before it. False: no values satisfy the facts.
bool BoundSearch::narrow_ranges() {
  std::set<VarId> values;
  for (const Index& fact : facts_) {
    for (const Index::Term& term : fact.terms) values.insert(term.var);
  }
  for (const VarId var : values) {
    const int64_t low = least(Index::variable(var), kMaxSumsOfRange);
    const int64_t high = -least(Index::variable(var, -1), kMaxSumsOfRange);
    ranges_[var] = {low, high};
    if (range(var).low > range(var).high) return false;
  }
  return true;
}

// One that others depend on, and that is no such value itself.
std::optional<VarId> BoundSearch::var_of_few_values() const {
  std::optional<VarId> best;
  int64_t fewest = kMaxCases;
  for (const Index& fact : facts_) {
    if (fact.terms.size() < 2) continue;
    for (const Index::Term& term : fact.terms) {
      const Range values = range(term.var);
      if (vars_[term.var].kind == VarKind::kLet) continue;
      const int64_t count = (values.high - values.low) / vars_[term.var].multiple_of + 1;
      if (count < 2 || count > fewest) continue;
      fewest = count;
      best = term.var;
    }
  }
  return best;
}

BoundSearch::Range BoundSearch::range(VarId id) const {
  const Var& var = vars_[id];
  const auto narrowed = ranges_.find(id);
  const Range range = narrowed == ranges_.end() ? Range(var.low, var.high) : narrowed->second;
  return {round_up(range.low, var.multiple_of), floor_divide(range.high, var.multiple_of) * var.multiple_of};
}

int64_t BoundSearch::low(const Index& index) const {
  __int128 sum = index.constant;
  for (const Index::Term& term : index.terms) {
    const Range values = range(term.var);
    sum += static_cast<__int128>(term.coefficient) * (term.coefficient > 0 ? values.low : values.high);
  }
  constexpr __int128 kLeast = std::numeric_limits<int64_t>::min() / 2;
  return static_cast<int64_t>(std::clamp(sum, kLeast, -kLeast));
}

}  // namespace ingot::loops
