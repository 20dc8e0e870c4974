#include "apps/ingot/device/seen_values.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ingot {
namespace {

constexpr size_t kBins = 2048;
constexpr int kIntegers = 256, kNarrowings = 50;

}  // namespace

void SeenValues::widen(std::span<const float> values) {
  if (values.empty()) return;
  const auto [low, high] = std::ranges::minmax(values);
  all_ = has_values_ ? SeenRange{std::min<double>(all_.low, low), std::max<double>(all_.high, high)}
                     : SeenRange{low, high};
  has_values_ = true;
}

void SeenValues::count(std::span<const float> values) {
  bins_.resize(kBins);
  const double bins_per_unit = all_.high > all_.low ? kBins / (all_.high - all_.low) : 0;
  for (const float value : values) {
    const auto bin = static_cast<size_t>((value - all_.low) * bins_per_unit);
    ++bins_[std::min(bin, kBins - 1)];
  }
}

double SeenValues::at(double bin) const { return all_.low + bin * (all_.high - all_.low) / kBins; }

SeenRange SeenValues::range(RangeRule rule, double clipped_share) const {
  if (!are_counted(rule) || bins_.empty()) return all_;
  return rule == RangeRule::kPercentile ? without_ends(clipped_share) : of_least_error();
}

// Half of the share at either end; an end where all values are the same, as the zeros of a relu, stays.
SeenRange SeenValues::without_ends(double clipped_share) const {
  const auto total = static_cast<double>(std::accumulate(bins_.begin(), bins_.end(), uint64_t{0}));
  const double clipped = total * clipped_share / 2;
  size_t first = 0, last = kBins - 1;
  for (double below = 0; first < last && (below += static_cast<double>(bins_[first])) <= clipped;) ++first;
  for (double above = 0; last > first && (above += static_cast<double>(bins_[last])) <= clipped;) --last;
  return {at(static_cast<double>(first)), at(static_cast<double>(last + 1))};
}

// Narrows both ends in turn, as long as that makes the error less.
SeenRange SeenValues::of_least_error() const {
  SeenRange best = all_;
  double least = squared_error(best);
  for (const bool is_high : {true, false}) {
    const SeenRange start = best;
    for (int k = 1; k < kNarrowings; ++k) {
      SeenRange tried = start;
      (is_high ? tried.high : tried.low) *= 1 - static_cast<double>(k) / kNarrowings;
      const double error = squared_error(tried);
      if (error >= least) continue;
      least = error;
      best = tried;
    }
  }
  return best;
}

double SeenValues::squared_error(SeenRange range) const {
  const double low = std::min(range.low, 0.0), high = std::max(range.high, 0.0);
  const double step = (high - low) / (kIntegers - 1);
  if (step == 0) return INFINITY;
  double sum = 0;
  for (size_t bin = 0; bin < kBins; ++bin) {
    const double value = at(static_cast<double>(bin) + 0.5);
    const double said = std::clamp(std::nearbyint(value / step) * step, low, high);
    sum += static_cast<double>(bins_[bin]) * (value - said) * (value - said);
  }
  return sum;
}

}  // namespace ingot
