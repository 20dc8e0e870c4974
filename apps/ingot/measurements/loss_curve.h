// What a training step gave, and the loss over the steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/ingot/terminal/row.h"

namespace ingot {

// The loss among a step's scalar outputs: the one called so, or else the first; null where there is none.
const double* loss_of(const Row& row);

// Of long runs, means of equal stretches.
class LossCurve {
 public:
  LossCurve(const Row& row, int64_t first_step) : name_(name_of_loss(row)), first_step_(first_step) {}

  void add(const Row& row);
  std::string svg(const std::string& title) const;

 private:
  static std::string name_of_loss(const Row& row);

  std::string name_;
  int64_t first_step_;
  std::vector<double> values_;
};

}  // namespace ingot
