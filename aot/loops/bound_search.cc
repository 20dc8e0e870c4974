#include "aot/loops/bound_search.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <queue>
#include <vector>

#include "aot/base/divide.h"

namespace ingot::loops {
namespace {

// So much is looked at before a search ends without a proof; then it begins anew with more, up to the widest.
struct Limits {
  size_t sums = 256;          // of facts, for what is wanted
  size_t sums_of_range = 64;  // ... for the range of a value
  int cases = 100;
};
constexpr int kWider = 4;
constexpr size_t kWidestSums = 1024;

constexpr size_t kMaxCuts = 256;
constexpr int64_t kMaxCases = 16;  // of one variable

// Greater numbers are not added up.
constexpr int64_t kMaxSummand = std::numeric_limits<int64_t>::max() / 4;

// An affine index as numbers: a coefficient for each variable of the search, then the constant. Many are made for each
// proof, and all of a search are equally long.
using Row = std::vector<int64_t>;

struct Range {
  int64_t low, high;
};
using Ranges = std::vector<Range>;  // of the variables of the search; multiples of what divides their values

// False where it grows too great.
bool multiply(int64_t number, int64_t factor, int64_t& product) {
  return !__builtin_mul_overflow(number, factor, &product) && product >= -kMaxSummand && product <= kMaxSummand;
}

// difference = a * by_a - b * by_b; false where numbers grow too great.
bool subtract(const Row& a, int64_t by_a, const Row& b, int64_t by_b, Row& difference) {
  difference.resize(a.size());
  for (size_t k = 0; k < a.size(); ++k) {
    int64_t whole = 0, part = 0;
    if (!multiply(a[k], by_a, whole) || !multiply(b[k], by_b, part)) return false;
    difference[k] = whole - part;
  }
  return true;
}

Row negative(Row row) {
  for (int64_t& number : row) number = -number;
  return row;
}

// Rows, each once, up to a number of them.
class KnownRows {
 public:
  explicit KnownRows(size_t rows_max) : rows_max_(rows_max) {}

  bool is_full() const { return rows_.size() == rows_max_; }
  const Row& operator[](size_t k) const { return rows_[k]; }
  size_t size() const { return rows_.size(); }

  // False where it is known or they are full.
  bool add(const Row& row) {
    if (is_full()) return false;
    const uint64_t mark = mark_of(row);
    for (size_t k = 0; k < rows_.size(); ++k) {
      if (marks_[k] == mark && rows_[k] == row) return false;
    }
    marks_.push_back(mark);
    rows_.push_back(row);
    return true;
  }

 private:
  static uint64_t mark_of(const Row& row) {
    uint64_t mark = 0;
    for (const int64_t number : row) mark = (mark ^ static_cast<uint64_t>(number)) * 0x9E3779B97F4A7C15;
    return mark;
  }

  size_t rows_max_;
  std::vector<Row> rows_;
  std::vector<uint64_t> marks_;  // two rows of different marks differ
};

class BoundSearch {
 public:
  BoundSearch(std::span<const Var> vars, std::span<const Index> facts, const Index& index, int64_t& steps_left)
      : vars_(vars), steps_left_(steps_left) {
    const auto note_vars = [&](const Index& of) {
      for (const Index::Term& term : of.terms) ids_.push_back(term.var);
    };
    note_vars(index);
    std::ranges::for_each(facts, note_vars);
    std::ranges::sort(ids_);
    ids_.erase(std::ranges::unique(ids_).begin(), ids_.end());
    with_.resize(ids_.size());
    for (const VarId id : ids_) ranges_.push_back(inner({vars[id].low, vars[id].high}, vars[id].multiple_of));
    for (const Index& fact : facts) add_fact(row_of(fact));
    goal_ = row_of(index);
  }

  bool finds_proof() {
    if (follows_by_sum(ranges_)) return true;
    add_cuts();
    for (; !follows_by_cases(ranges_); limits_ = wider(limits_)) {
      if (!is_cut_short_ || steps_left_ == 0 || limits_.sums == kWidestSums) return false;
    }
    return true;
  }

 private:
  static Limits wider(const Limits& limits) {
    return {limits.sums * kWider, limits.sums_of_range * kWider, limits.cases * kWider};
  }

  static Range inner(const Range& range, int64_t multiple_of) {
    return {round_up(range.low, multiple_of), floor_divide(range.high, multiple_of) * multiple_of};
  }

  size_t vars() const { return ids_.size(); }
  const Var& var(size_t k) const { return vars_[ids_[k]]; }

  Row row_of(const Index& index) const {
    Row row(vars() + 1);
    for (const Index::Term& term : index.terms)
      row[std::ranges::lower_bound(ids_, term.var) - ids_.begin()] = term.coefficient;
    row.back() = index.constant;
    return row;
  }

  // A multiple of a variable.
  Row row_of(size_t k, int64_t coefficient) const {
    Row row(vars() + 1);
    row[k] = coefficient;
    return row;
  }

  void add_fact(const Row& fact) {
    for (size_t k = 0; k < vars(); ++k) {
      if (fact[k] != 0) with_[k][fact[k] > 0].push_back(facts_.size());
    }
    facts_.push_back(fact);
  }

  // The bound of an index when each term takes its least value; far ones saturate.
  int64_t low(const Row& row, const Ranges& ranges) const {
    __int128 sum = row.back();
    for (size_t k = 0; k < vars(); ++k) {
      if (row[k] != 0) sum += static_cast<__int128>(row[k]) * (row[k] > 0 ? ranges[k].low : ranges[k].high);
    }
    constexpr __int128 kLeast = std::numeric_limits<int64_t>::min() / 2;
    return static_cast<int64_t>(std::clamp(sum, kLeast, -kLeast));
  }

  // `rest` = a multiple of `from`, which grows by that factor, without a fact and without a variable: a step of the
  // search. 0 where their signs differ, numbers grow too great, or no steps are left.
  int64_t take(const Row& fact, size_t variable, const Row& from, Row& rest) {
    const int64_t a = from[variable], b = fact[variable];
    if (b == 0 || (a < 0) != (b < 0) || steps_left_ == 0) return 0;
    --steps_left_;
    const int64_t common = std::gcd(a, b);
    const int64_t factor = std::abs(b) / common;
    return subtract(from, factor, fact, std::abs(a) / common, rest) ? factor : 0;
  }

  bool follows_by_sum(const Ranges& ranges) { return least(goal_, ranges, limits_.sums, 0) >= 0; }

  // The greatest bound of an index from below that is found, or the first that is `enough`: takes facts from it, each with
  // one of its variables, until the ranges of the variables that are left say enough. Goes on from the best so far, the
  // first of several.
  int64_t least(const Row& index, const Ranges& ranges, size_t sums_max,
                int64_t enough = std::numeric_limits<int64_t>::max()) {
    struct Open {
      int64_t bound;
      size_t sum;
      bool operator<(const Open& other) const {
        return bound < other.bound || (bound == other.bound && sum > other.sum);
      }
    };
    KnownRows sums(sums_max);
    std::vector<int64_t> scales;  // what is looked for is at least sum / scale
    std::priority_queue<Open> open;
    const auto add = [&](const Row& sum, int64_t scale) {
      if (!sums.add(sum)) return;
      scales.push_back(scale);
      open.push({-floor_divide(-low(sum, ranges), scale), sums.size() - 1});
    };
    add(index, 1);
    int64_t best = open.top().bound;
    Row from, rest;
    while (!open.empty() && best < enough && !sums.is_full()) {
      const size_t sum = open.top().sum;
      open.pop();
      from = sums[sum];
      for (size_t k = 0; k < vars(); ++k) {
        if (from[k] == 0) continue;
        for (const size_t fact : with_[k][from[k] > 0]) {
          int64_t scale = 0;
          const int64_t factor = take(facts_[fact], k, from, rest);
          if (factor != 0 && multiply(scales[sum], factor, scale)) add(rest, scale);
        }
      }
      if (!open.empty()) best = std::max(best, open.top().bound);
    }
    is_cut_short_ = is_cut_short_ || sums.is_full();
    return best;
  }

  bool follows_by_cases(const Ranges& ranges) {
    is_cut_short_ = false;
    int cases_left = limits_.cases;
    return follows_by_cases(ranges, cases_left);
  }

  bool follows_by_cases(Ranges ranges, int& cases_left) {
    if (cases_left-- == 0) {
      is_cut_short_ = true;
      return false;
    }
    if (!narrow(ranges) || follows_by_sum(ranges)) return true;
    const std::optional<size_t> chosen = var_of_few_values(ranges);
    if (!chosen) return false;
    const Range values = ranges[*chosen];
    for (int64_t value = values.low; value <= values.high; value += var(*chosen).multiple_of) {
      ranges[*chosen] = {value, value};
      if (!follows_by_cases(ranges, cases_left)) return false;
    }
    return true;
  }

  // In order: what a value is made of comes before it. False: no values satisfy the facts.
  bool narrow(Ranges& ranges) {
    for (size_t k = 0; k < vars(); ++k) {
      if (with_[k][false].empty() && with_[k][true].empty()) continue;
      const int64_t low = least(row_of(k, 1), ranges, limits_.sums_of_range);
      const int64_t high = -least(row_of(k, -1), ranges, limits_.sums_of_range);
      ranges[k] = inner({low, high}, var(k).multiple_of);
      if (ranges[k].low > ranges[k].high) return false;
    }
    return true;
  }

  // One that others depend on, and that is no such value itself.
  std::optional<size_t> var_of_few_values(const Ranges& ranges) const {
    std::optional<size_t> best;
    int64_t fewest = kMaxCases;
    for (const Row& fact : facts_) {
      if (vars() - std::count(fact.begin(), fact.end() - 1, 0) < 2) continue;
      for (size_t k = 0; k < vars(); ++k) {
        if (fact[k] == 0 || var(k).kind == VarKind::kLet) continue;
        const int64_t count = (ranges[k].high - ranges[k].low) / var(k).multiple_of + 1;
        if (count < 2 || count > fewest) continue;
        fewest = count;
        best = k;
      }
    }
    return best;
  }

  // Sums of two facts, one of which bounds a multiple of a value, as a quotient's definition does: rounded to that
  // multiple. What follows of one quotient is there for the quotients made of it.
  void add_cuts() {
    if (steps_left_ == 0) return;
    KnownRows known(std::numeric_limits<size_t>::max());
    Row rest;
    const auto add_cut = [&](const Row& bound, size_t fact, size_t eliminated, size_t value) {
      if (take(facts_[fact], eliminated, bound, rest) == 0) return;
      const Row result = cut(negative(rest), rest[value]);
      if (known.add(result)) add_fact(result);
    };
    for (size_t given = 0, all_given = facts_.size(); given < all_given; ++given) {
      const Row bound = negative(facts_[given]);
      for (size_t value = 0; value < vars(); ++value) {
        if (std::abs(bound[value]) <= 1 || var(value).kind != VarKind::kLet) continue;
        for (size_t k = 0; k < vars(); ++k) {
          if (bound[k] == 0 || k == value) continue;
          for (size_t fact = 0, count = facts_.size(); fact < count && count < kMaxCuts; ++fact)
            add_cut(bound, fact, k, value);
        }
      }
    }
  }

  // A fact about those of its terms that are multiples of a divisor: the others are as great as they can be.
  Row cut(const Row& fact, int64_t divisor) const {
    if (divisor == 0) return fact;
    Row rest = fact;
    Index multiples;
    for (size_t k = 0; k < vars(); ++k) {
      if (fact[k] % divisor != 0) continue;
      multiples = multiples + Index::variable(ids_[k], fact[k]);
      rest[k] = 0;
    }
    return row_of(tightened(vars_, multiples + Index(-low(negative(rest), ranges_))));
  }

  std::span<const Var> vars_;
  int64_t& steps_left_;
  Limits limits_;
  bool is_cut_short_ = false;  // by its limits: there may be a proof
  std::vector<VarId> ids_;     // of the variables of the search, in order
  Ranges ranges_;
  Row goal_;
  std::vector<Row> facts_;
  std::vector<std::array<std::vector<size_t>, 2>>
      with_;  // facts with a variable: [1] where its coefficient is positive
};

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

bool follows(std::span<const Var> vars, std::span<const Index> facts, const Index& index, int64_t& steps_left) {
  return BoundSearch(vars, facts, index, steps_left).finds_proof();
}

}  // namespace ingot::loops
