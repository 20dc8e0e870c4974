#include "aot/schedule/contraction/window_cost.h"

#include <cmath>

#include "aot/base/divide.h"

namespace ingot::schedule {
namespace {

constexpr double kBeginNs = 2;      // to begin and end a tile
constexpr double kLineNs = 0.5;     // ... each line that it reads
constexpr double kRangeNs = 2;      // ... where a loop walks the places of the line
constexpr double kAwaited = 16;     // vectors that a tile may be the first to read, from an outer cache, and not wait
constexpr double kLateNs = 0.8;     // ... each of more than these
constexpr double kPiecesShare = 4;  // of streaming from the second-level cache: a piece of each row at a time

}  // namespace

WindowCost::WindowCost(const ContractionProblem& problem, const BlockedCandidate& blocked,
                       const loops::Machine& machine)
    : p_(problem),
      c_(blocked.candidate),
      way_(problem.ways[c_.way]),
      depth_(blocked.depth),
      runs_(blocked.runs),
      m_(machine),
      vector_bytes_(static_cast<double>(way_.lanes * p_.accumulator_bytes())),
      is_from_outer_cache_(is_from_outer_cache(p_, way_.rows, m_)) {}

// Places of the operand that `count` rows reach along one dimension of theirs with so many places of the depth.
int64_t WindowCost::reached(int row, int64_t count, int depth, int64_t places) const {
  int64_t reached = count * places;
  for (const AxisMap& access : way_.rows.side.accesses) {
    const int64_t step = row < 0 ? 0 : std::abs(access.coefficients[row]);
    const int64_t dilation = depth < 0 ? 0 : std::abs(access.coefficients[depth]);
    if (step + dilation > 0)
      reached = std::min(reached, ((count - 1) * step + (places - 1) * dilation) / access.divisor + 1);
  }
  return reached;
}

// To begin a tile that reads so many lines, and is the first to read so many vectors: only some are on their way at a time.
double WindowCost::begin_ns(int64_t lines, double line_ns, double first_read) const {
  const double late_ns = is_from_outer_cache_ ? kLateNs * std::max(0.0, first_read - kAwaited) : 0;
  return kBeginNs + line_ns * static_cast<double>(lines) + late_ns;
}

// Vectors of rows that several of the tile's products share are read once. What they read of a line comes from the
// second-level cache, but for what the tile before has read.
double WindowCost::tile_ns(double rows, double vectors) const {
  const int64_t lines = c_.tile_lines, width = depth_.width(), at_once = places_at_once(*runs_, depth_);
  const std::vector<int>&row_dims = way_.rows.dims, &depth_dims = way_.depth;
  const int row = last_or_none(row_dims), place = last_or_none(depth_dims);
  const int line = row_dims.size() > 1 ? row_dims[row_dims.size() - 2] : -1;
  const int outer_place = depth_dims.size() > 1 ? depth_dims[depth_dims.size() - 2] : -1;
  const int64_t in_line = place < 0 ? 1 : std::min(at_once, p_.space.dims[place].extent);
  const int64_t in_run = std::min(static_cast<int64_t>(rows) / lines, runs_->run().count);
  const int64_t runs = divide_up(static_cast<int64_t>(rows), in_run);  // lines, or runs that are walked together
  const auto across_of = [&](int64_t places) {
    return lines > 1 ? reached(line, lines, outer_place, places / in_line) : runs * (width / in_line);
  };
  const int64_t across = across_of(at_once), read = across * reached(row, in_run, place, in_line);
  const double products = rows * vectors * static_cast<double>(width) / gaps();
  const double loads = vectors * static_cast<double>(read + width);
  const double issue_ns =
      std::max(std::max(products, loads) / m_.multiply_adds_per_ns, (products + loads) / m_.instructions_per_ns);
  const int64_t fresh = across * (at_once == 1 ? 1 : reached(row, in_run + 1, -1, 1) - 1);
  const double stream_ns = static_cast<double>(fresh) * vectors * vector_bytes_ / m_.l2_bytes_per_ns;
  const int64_t first_read =
      across_of(width) * (reached(row, 2 * in_run, place, in_line) - reached(row, in_run, place, in_line));
  return static_cast<double>(depth_.count()) *
         (std::max(issue_ns, kPiecesShare * stream_ns) +
          begin_ns(across, at_once == width ? kLineNs : kRangeNs, static_cast<double>(first_read) * vectors));
}

double WindowCost::depth_tile_ns(double rows, double vectors) const {
  const std::vector<int>&row_dims = way_.rows.dims, &depth_dims = way_.depth;
  const int line = row_dims.size() > 1 ? row_dims[row_dims.size() - 2] : -1;
  const int64_t in_run = runs_->run().count, places = c_.depth_lines * c_.depth_places;
  const int64_t across =
      reached(line, static_cast<int64_t>(rows) / in_run, depth_dims[depth_dims.size() - 2], c_.depth_lines);
  const int64_t in_line = reached(row_dims.back(), in_run, depth_dims.back(), c_.depth_places);
  const double products = rows * vectors * static_cast<double>(places + 1), stores = vectors * rows;
  const double loads = vectors * (static_cast<double>(across * in_line + places) + rows);
  const double issue_ns = std::max(std::max(products, loads + stores) / m_.multiply_adds_per_ns,
                                   (products + loads + stores) / m_.instructions_per_ns);
  const double stream_ns =
      static_cast<double>((across + c_.depth_lines) * c_.depth_places) * vectors * vector_bytes_ / m_.l2_bytes_per_ns;
  const int64_t first_read =
      across * (reached(row_dims.back(), in_run, depth_dims.back(), 2 * c_.depth_places) - in_line);
  return static_cast<double>(depth_.total() / places) *
         (std::max(issue_ns, kPiecesShare * stream_ns) +
          begin_ns(across, kLineNs, static_cast<double>(first_read) * vectors));
}

// Places of a dilated operand for each of its elements.
double WindowCost::gaps() const {
  double gaps = 1;
  for (const AxisMap& access : way_.rows.side.accesses) gaps *= static_cast<double>(access.divisor);
  return gaps;
}

}  // namespace ingot::schedule
