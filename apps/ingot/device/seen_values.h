// The values of a tensor over the steps of a calibration, and which range of them integers shall say.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "aot/passes/pass.h"

namespace ingot {

enum class RangeRule {
  kMinMax,      // all that was seen
  kPercentile,  // all but the ends: a share of the values is clipped
  kLeastError,  // the one with the least squared error of what was seen, rounded and clipped
};

// Every step's values are widened over first, and then, where a rule asks for it, counted.
class SeenValues {
 public:
  static bool are_counted(RangeRule rule) { return rule != RangeRule::kMinMax; }

  void widen(std::span<const float> values);  // must be finite
  void count(std::span<const float> values);

  // `clipped_share` of the values lie outside, of kPercentile.
  SeenRange range(RangeRule rule, double clipped_share) const;

 private:
  SeenRange without_ends(double clipped_share) const;
  SeenRange of_least_error() const;
  double squared_error(SeenRange range) const;
  double at(double bin) const;  // the value where it begins

  SeenRange all_;
  bool has_values_ = false;
  std::vector<uint64_t> bins_;  // equal parts of all_
};

}  // namespace ingot
