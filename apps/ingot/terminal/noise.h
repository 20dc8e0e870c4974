// How far values are from what they should be.
#pragma once

#include <cmath>
#include <optional>
#include <span>

namespace ingot {

// Sums of squares, over all steps.
class Noise {
 public:
  void add(std::span<const float> expected, std::span<const float> actual) {
    for (size_t k = 0; k < expected.size(); ++k) {
      const double should = expected[k], error = actual[k] - should;
      signal_ += should * should;
      noise_ += error * error;
    }
  }

  // Signal over noise in decibels: 20 for an error of a tenth, 40 for one of a hundredth. Nothing where there is none.
  std::optional<double> ratio_db() const {
    return noise_ == 0 ? std::nullopt : std::optional(10 * std::log10(signal_ / noise_));
  }
  double relative_error() const { return noise_ == 0 ? 0 : std::sqrt(noise_ / signal_); }

 private:
  double signal_ = 0, noise_ = 0;
};

}  // namespace ingot
