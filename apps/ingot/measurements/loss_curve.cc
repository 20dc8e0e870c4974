#include "apps/ingot/measurements/loss_curve.h"

#include <algorithm>
#include <cmath>

#include "apps/ingot/terminal/chart.h"

namespace ingot {
namespace {

Row::const_iterator find_loss(const Row& row) {
  const auto found = std::ranges::find_if(row, [](const auto& column) { return column.first.ends_with("loss"); });
  return found == row.end() ? row.begin() : found;
}

}  // namespace

const double* loss_of(const Row& row) { return row.empty() ? nullptr : std::get_if<double>(&find_loss(row)->second); }

std::string LossCurve::name_of_loss(const Row& row) { return row.empty() ? "" : find_loss(row)->first; }

void LossCurve::add(const Row& row) {
  if (const double* loss = loss_of(row)) values_.push_back(*loss);
}

std::string LossCurve::svg(const std::string& title) const {
  constexpr size_t kMostPoints = 1000;
  const size_t stretch = values_.size() / kMostPoints + 1;
  const auto first = static_cast<double>(first_step_);
  std::vector<std::pair<double, double>> points;
  double low = INFINITY, high = -INFINITY;
  for (size_t at = 0; at < values_.size(); at += stretch) {
    const size_t end = std::min(at + stretch, values_.size());
    double mean = 0;
    for (size_t i = at; i < end; ++i) mean += values_[i] / static_cast<double>(end - at);
    points.emplace_back(first + static_cast<double>(at + end - 1) / 2, mean);
    if (!std::isfinite(mean)) continue;
    low = std::min(low, mean);
    high = std::max(high, mean);
  }
  if (low > high) low = high = 0;
  const double last = first + static_cast<double>(values_.size()) - 1;
  Chart chart(title, {"step", first, std::max(first, last)}, {name_, std::min(low, 0.0), high});
  chart.add_line(points);
  return chart.svg();
}

}  // namespace ingot
