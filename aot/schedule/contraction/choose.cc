#include "aot/schedule/contraction/choose.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "aot/base/divide.h"
#include "aot/schedule/contraction/columns_ahead.h"
#include "aot/schedule/contraction/tasks.h"

namespace ingot::schedule {
namespace {

constexpr int64_t kDepthLimits[] = {256, 512, 1024, 2048, 4096};
constexpr int64_t kShallow = 128;     // such blocks only to pack more rows at a time
constexpr int64_t kKeptSteps = 64;    // of the depth, by which few rows pass one panel of columns after the other
constexpr int64_t kPanelSteps = 112;  // ... by which many rows do
constexpr int64_t kPanelsOfBlock[] = {1, 2, 4, 8, 16, 32, 64, 128};
constexpr int kTileVectors[] = {1, 2, 3, 4, 6, 8};
constexpr int64_t kSpilledColumns = 2;  // of windows at once, beside those in registers: operands in memory
constexpr int64_t kWindowPlaces = 32;   // at most, where tiles have several lines
constexpr int kWindowLines[] = {1, 2, 3, 4, 7};
constexpr int64_t kParts[] = {1, 2, 3, 4, 6, 8, 12, 16};
constexpr double kInArenaShare = 1.01;    // what packing in the arena has to gain beside packing with the first rows
constexpr size_t kSerialCandidates = 10;  // that are tried with every split into tasks

// What counts: the time on one, two and four cores, weighted.
double weighted_ns(const ContractionCost& cost, const TaskShares& shares) {
  const double meet_ns = shares.tasks() > 1 ? kMeetNs : 0;
  const auto core_ns = [&](int64_t cores) { return cost.total_ns() * shares.busiest(cores) + meet_ns; };
  return 0.5 * core_ns(1) + 0.6 * core_ns(2) + 0.8 * core_ns(4);
}

class Search {
 public:
  // Of all orders of sums, or of one.
  Search(const ContractionProblem& problem, const loops::Target& target, size_t count, const SumOrder* order = nullptr)
      : p_(problem), target_(target), count_(count), order_(order) {}

  std::vector<RankedCandidate> run() {
    for (size_t way = 0; way < p_.ways.size(); ++way) try_way(static_cast<int>(way));
    keep_best(best_, serial_count());
    const std::vector<RankedCandidate> serial = std::exchange(best_, {});
    is_split_ = true;
    for (const RankedCandidate& start : serial) try_splits(start.candidate);
    keep_best(best_, count_);
    return std::move(best_);
  }

 private:
  size_t serial_count() const { return std::max(kSerialCandidates, count_); }
  const Orientation& way(const Candidate& c) const { return p_.ways[c.way]; }

  static void keep_best(std::vector<RankedCandidate>& ranked, size_t count) {
    std::ranges::stable_sort(ranked, {}, &RankedCandidate::weighted_ns);
    const auto [from, to] = std::ranges::unique(ranked, {}, &RankedCandidate::candidate);
    ranked.erase(from, to);
    if (ranked.size() > count) ranked.resize(count);
  }

  const Blocked& columns(const Candidate& c) {
    const int64_t tile = static_cast<int64_t>(c.tile_vectors) * way(c).lanes;
    const auto [found, is_new] = columns_.try_emplace({c.way, tile, c.column_limit});
    if (is_new) found->second = cut_columns(p_, way(c), tile, c.column_limit);
    return found->second;
  }

  const Blocked& depth(const Candidate& c) {
    const auto [found, is_new] = depths_.try_emplace({c.way, c.depth_limit});
    if (is_new) found->second = cut_depth(p_, way(c), c.depth_limit);
    return found->second;
  }

  // Columns that are read where they lie follow each other, and whole tiles of depth too.
  bool columns_can_stay(const Candidate& c) {
    const OperandSide& it = way(c).columns;
    if (it.made) return true;
    if (!it.is_plain || !it.depth_stride || columns(c).axes.size() > 1 || depth(c).is_ragged()) return false;
    if (way(c).is_along_depth()) return it.depth_stride == 1 && it.stride;
    return it.dims.empty() || it.side.stride(it.dims.back()) == 1;
  }

  bool rows_can_stay(const Candidate& c) {
    const OperandSide& it = way(c).rows;
    if (way(c).has_own_rows) return c.tile_lines > 0;
    return it.is_joined || (it.is_plain && !depth(c).is_ragged());
  }

  // One step leads from row to row, and one from place to place of the depth.
  bool rows_are_even(const Candidate& c) {
    return way(c).rows.is_joined || (!way(c).has_own_rows && way(c).rows.stride && way(c).rows.depth_stride);
  }

  // So many parts that the partial sums of a task stay in its cache, where the depth is cut.
  int64_t min_row_parts(const Candidate& c) {
    if (depth(c).count() == 1) return 1;
    const int64_t rows = p_.extent(way(c).rows.dims);
    const int64_t bytes = rows * round_up(columns(c).width(), way(c).lanes) * p_.accumulator_bytes();
    return std::min(divide_up(2 * bytes, target_.machine.l2_bytes), divide_up(rows, c.tile_rows));
  }

  // Rows that the register tile reads by runs.
  const RowRuns* runs(const Candidate& c) {
    const bool in_place = c.pack_rows == Packing::kNone && !rows_are_even(c);
    if (!in_place && c.pack_rows != Packing::kBox) return nullptr;
    const int64_t columns_of_box = way(c).has_own_rows && !in_place ? columns(c).chunk : 0;
    const auto [found, is_new] =
        runs_.try_emplace({c.way, c.depth_limit, in_place ? -c.tile_lines : c.row_block, columns_of_box});
    if (is_new) {
      found->second = in_place ? runs_in_place(p_, way(c), depth(c), c.tile_lines)
                               : runs_in_box(p_, way(c), cut_rows(p_, way(c), c.row_block), depth(c), columns(c));
    }
    return found->second ? &*found->second : nullptr;
  }

  // Boxes of so many rows as stay in the cache beside the columns, and as every part has.
  bool fit_box(Candidate& c) {
    const bool gains = way(c).has_own_rows || has_windows(way(c));
    if (way(c).rows.is_joined || !gains || way(c).vector_lanes() == 1) return false;
    const int64_t rows = p_.extent(way(c).rows.dims);
    for (int64_t limit = rows / c.row_parts; limit > 0; limit = c.row_block / 2) {
      c.row_block = cut_rows(p_, way(c), limit).width();
      const RowRuns* box = runs(c);
      if (!box) return false;
      const int64_t bytes = element_count(box->box) * p_.accumulator_bytes();
      if (2 * bytes <= target_.machine.l2_bytes) return rows / c.row_block % c.row_parts == 0;
    }
    return false;
  }

  // Whether rows overlap.
  bool has_windows(const Orientation& way) const {
    return std::ranges::any_of(way.rows.side.accesses, [&](const AxisMap& access) {
      const auto depends = [&](int d) { return access.coefficients[d] != 0; };
      return std::ranges::any_of(way.rows.dims, depends) && std::ranges::any_of(way.depth, depends);
    });
  }

  RankedCandidate rank(const BlockedCandidate& blocked) const {
    const ContractionCost cost = predict(p_, blocked, target_);
    const double ns = is_split_ ? weighted_ns(cost, TaskShares(p_, blocked)) : cost.total_ns();
    const Candidate& c = blocked.candidate;
    const bool is_in_arena = c.pack_columns == Packing::kPrepared && !way(c).columns.can_be_hoisted;
    return {c, cost, ns * (is_in_arena && target_.machine.packs_with_first_rows ? kInArenaShare : 1)};
  }

  // Columns are packed ahead where they can be and it takes less time.
  void consider(Candidate c) {
    if (order_ && is_split_ && c.depth_parts != order_->depth_parts) return;
    c.row_parts = std::max(c.row_parts, min_row_parts(c));
    if (c.pack_rows == Packing::kBox && !fit_box(c)) return;
    const BlockedCandidate blocked{c, columns(c), depth(c), runs(c)};
    c.packs_ahead = false;
    RankedCandidate ranked = rank(blocked);
    if (can_pack_ahead(p_, blocked, target_.machine)) {
      c.packs_ahead = true;
      const RankedCandidate ahead = rank(blocked);
      if (ahead.weighted_ns < ranked.weighted_ns) ranked = ahead;
    }
    best_.push_back(ranked);
    if (best_.size() > 4 * serial_count()) keep_best(best_, serial_count());
  }

  void try_way(int way_index) {
    Candidate c;
    c.way = way_index;
    if (order_ && (way(c).is_along_depth() || way(c).depth != order_->depth)) return;
    for (const int64_t depth_limit : depth_limits(way(c))) {
      c.depth_limit = depth_limit;
      for (const int vectors : kTileVectors) try_tiles(c, vectors);
    }
  }

  std::vector<int64_t> depth_limits(const Orientation& way) const {
    if (order_) return {order_->depth_limit};
    const int64_t whole = p_.extent(way.depth);
    if (way.columns.made) return {whole};
    std::vector<int64_t> limits;
    const bool is_joined = way.rows.is_joined || way.columns.is_joined;
    const bool is_foreseen = p_.extent(way.rows.dims) <= kFewRows && way.columns.is_plain && way.columns.depth_stride;
    const int64_t lines = lines_at_once(target_.machine);
    if (is_foreseen && lines < whole && !is_joined) limits.push_back(lines);
    if (is_foreseen && kKeptSteps < whole && !is_joined) limits.push_back(kKeptSteps);
    if (may_keep_panels(way) && kPanelSteps < whole && !is_joined) limits.push_back(kPanelSteps);
    if (packs_wide_rows(way) && kShallow < whole && !is_joined) limits.push_back(kShallow);
    for (const int64_t limit : kDepthLimits) {
      if (limit < whole && !is_joined) limits.push_back(limit);
    }
    if (whole <= kDepthLimits[std::size(kDepthLimits) - 1] || is_joined) limits.push_back(whole);
    return limits;
  }

  // Whether more rows than are multiplied best may be packed at a time: all that lies between a step of the depth and the
  // next, of which fewer rows are a piece.
  bool packs_wide_rows(const Orientation& way) const {
    const int64_t rows = p_.extent(way.rows.dims);
    return way.rows.lie == Lie::kAcross && way.vector_lanes() > 1 && rows > target_.machine.packed_rows &&
           way.rows.depth_stride && std::abs(*way.rows.depth_stride) <= rows;
  }

  // Tiles with as many sums as registers hold, and such with a row or two less.
  void try_tiles(Candidate c, int vectors) {
    const Orientation& way = this->way(c);
    const loops::RegisterTile& tile = target_.tile(p_.accumulator);
    // Beside the sums, registers hold the columns of a step and an element of the rows.
    const int sums = std::min(tile.rows * tile.columns / target_.lanes(p_.accumulator), free_registers() - vectors);
    const int64_t column_vectors = divide_up(p_.extent(way.columns.dims), way.lanes);
    if (way.columns.made && vectors > kMadeColumnsMax) return;
    if (vectors > sums || (vectors > column_vectors && vectors != 1)) return;
    const int64_t rows = p_.extent(way.rows.dims);
    const int most = static_cast<int>(std::min<int64_t>(sums / vectors, rows));
    c.tile_vectors = vectors;
    if (way.has_own_rows && !order_) try_windows(c);
    std::set<int> tile_rows;
    for (int r = most; r >= std::max(1, most - 2); --r) tile_rows.insert(r);
    // Rows that are read once, along the depth: one after the other they are one stream of memory.
    if (way.is_along_depth() && column_vectors <= vectors) tile_rows.insert(1);
    // Runs in tiles of about one size, and several short ones.
    if (has_windows(way)) {
      int64_t run = 1;
      for (size_t k = way.rows.dims.size(); k-- > 0 && run < most;) {
        run *= p_.space.dims[way.rows.dims[k]].extent;
        tile_rows.insert(static_cast<int>(divide_up(run, divide_up(run, most))));
      }
    }
    for (const int r : tile_rows) {
      c.tile_rows = r;
      try_blocks(c);
    }
  }

  // Of a dilated operand: so many of the innermost rows are from one of its elements to the next.
  static int64_t rows_apart(const Orientation& way) {
    int64_t rows = 1;
    for (const AxisMap& access : way.rows.side.accesses) {
      if (!way.rows.dims.empty() && access.coefficients[way.rows.dims.back()] != 0)
        rows = std::lcm(rows, access.divisor);
    }
    return rows;
  }

  // Beside an element of the rows.
  int free_registers() const { return target_.vector_registers - target_.spare_registers - 1; }

  // Windows in place, of one line or several, whose columns are in registers all at once.
  void try_windows(Candidate c) {
    const std::vector<int>& dims = way(c).rows.dims;
    for (const int lines : kWindowLines) {
      const bool fits = dims.size() > 1 && p_.space.dims[dims[dims.size() - 2]].extent % lines == 0;
      if (lines > 1 && (!fits || depth(c).count() > 1 || depth(c).width() > kWindowPlaces)) continue;
      c.tile_lines = lines;
      const RowRuns* const runs = this->runs(c);
      if (!runs) return;
      const int64_t columns = c.tile_vectors * places_at_once(*runs, depth(c));
      const int64_t sums = free_registers() - columns + (columns > c.tile_vectors ? kSpilledColumns : 0);
      const int64_t rows = lines > 1 ? runs->run().count : p_.extent(dims);
      // In steps after which rows meet the operand alike: what is a gap in a window is then the same in every tile.
      const int64_t alike = runs->is_dilated ? rows_apart(way(c)) : 1;
      const int64_t least = lines * c.tile_vectors == 1 ? alike : 0;  // also where registers are few
      const int64_t most = std::min(rows, std::max(least, sums / lines / c.tile_vectors / alike * alike));
      for (int64_t r = most; r >= std::max<int64_t>(1, most - 2); r -= std::min(alike, r)) {
        c.tile_rows = static_cast<int>(lines * r);
        try_blocks(c);
      }
    }
    try_depth_tiles(c);
  }

  // All rows of windows in place in registers, and so much of a long depth at once as fits beside them.
  void try_depth_tiles(Candidate c) {
    const Blocked& depth = this->depth(c);
    const std::vector<int>& dims = way(c).rows.dims;
    const int64_t rows = p_.extent(dims), line_axis = std::ssize(depth.axes) - 2;
    c.tile_lines = 1;
    c.tile_rows = static_cast<int>(rows);
    const RowRuns* const runs = this->runs(c);
    if (!runs || runs->is_dilated || dims.empty() || depth.cut > line_axis || runs->stretch(rows) != rows) return;
    const int64_t lines = depth.cut == line_axis ? depth.chunk : depth.axes[line_axis].extent;
    const int64_t places = (free_registers() + kSpilledColumns) / c.tile_vectors - rows;
    for (const int depth_lines : kWindowLines) {
      if (depth_lines == 1 || lines % depth_lines != 0 || places < 2 * depth_lines) continue;
      c.depth_lines = depth_lines;
      for (int64_t most = std::min(places / depth_lines, depth.axes.back().extent); most > 0; most /= 2) {
        c.depth_places = static_cast<int>(most);
        try_blocks(c);
      }
    }
  }

  void try_blocks(Candidate c) {
    const int64_t tile = static_cast<int64_t>(c.tile_vectors) * way(c).lanes;
    const int64_t whole = round_up(p_.extent(way(c).columns.dims), tile);
    for (const int64_t panels : kPanelsOfBlock) {
      c.column_limit = std::min(panels * tile, whole);
      try_packing(c);
      if (c.column_limit == whole) return;
    }
  }

  void try_packing(Candidate c) {
    const int64_t row_count = p_.extent(way(c).rows.dims);
    c.row_block =
        c.tile_lines > 0 ? row_count : round_up(std::min(target_.machine.packed_rows, row_count), c.tile_rows);
    const bool is_along_depth = way(c).is_along_depth();
    const bool packs_columns = !is_along_depth || !columns_can_stay(c);
    std::vector<Packing> rows, columns;
    if (packs_columns && c.tile_lines == 0) rows.push_back(Packing::kBox);
    if (!is_along_depth && !way(c).has_own_rows) rows.push_back(Packing::kBlock);
    if (rows_can_stay(c)) rows.push_back(Packing::kNone);
    if (packs_columns && way(c).columns.can_be_hoisted && c.depth_lines == 0) {
      columns = {Packing::kPrepared};
    } else {
      if (packs_columns && c.depth_lines == 0) columns.push_back(Packing::kBlock);
      if (columns_can_stay(c)) columns.push_back(Packing::kNone);
    }
    for (const Packing pack_rows : rows) {
      for (const Packing pack_columns : columns) {
        c.pack_rows = pack_rows;
        c.pack_columns = pack_columns;
        c.transposes_rows = false;
        try_wide_rows(c);
        try_kept_columns(c);
        if (is_shallow(c)) continue;
        consider(c);
        c.transposes_rows = pack_rows == Packing::kBlock && way(c).rows.lie == Lie::kInLine;
        if (c.transposes_rows) consider(c);
      }
    }
  }

  // Blocks of so few steps of the depth pay only for these.
  bool is_shallow(const Candidate& c) {
    const bool is_few = c.depth_limit == kKeptSteps || c.depth_limit == kPanelSteps || c.depth_limit == kShallow;
    return !order_ && is_few && depth(c).count() > 1;
  }

  // All rows of a block pass one panel of columns after the other: each stays in the first-level cache, beside few rows,
  // which are packed, or a tile of many.
  void try_kept_columns(Candidate c) {
    const int64_t rows = p_.extent(way(c).rows.dims);
    if (rows > kFewRows) return try_kept_panels(c);
    const bool packs_both = c.pack_rows == Packing::kBlock && c.pack_columns == Packing::kBlock;
    if (!packs_both || c.depth_limit != kKeptSteps || depth(c).count() == 1 || way(c).has_own_rows ||
        way(c).is_along_depth())
      return;
    c.row_block = round_up(rows, c.tile_rows);
    const int64_t tile = static_cast<int64_t>(c.tile_vectors) * way(c).lanes;
    if ((c.row_block + tile) * depth(c).width() * p_.accumulator_bytes() > target_.machine.l1_bytes) return;
    c.keeps_columns = true;
    consider(c);
  }

  // As in gradients of weights: both operands lie across the depth.
  bool may_keep_panels(const Orientation& way) const {
    return target_.machine.packs_with_first_rows && way.columns.has_steps_in_line() && way.rows.lie == Lie::kAcross &&
           p_.extent(way.rows.dims) > kFewRows;
  }

  void try_kept_panels(Candidate c) {
    if (!may_keep_panels(way(c)) || c.pack_rows != Packing::kBlock || depth(c).count() == 1) return;
    c.row_block = round_up(p_.extent(way(c).rows.dims), c.tile_rows);
    c.keeps_columns = true;
    const int64_t step_bytes = depth(c).width() * p_.accumulator_bytes();
    const int64_t tile = static_cast<int64_t>(c.tile_vectors) * way(c).lanes;
    const bool fits = (2 * c.tile_rows + tile) * step_bytes <= target_.machine.l1_bytes * 3 / 4 &&
                      c.row_block * step_bytes <= target_.machine.l2_bytes / 2;
    if (fits && packs_with_first_rows(p_, c, columns(c), depth(c), target_.machine)) consider(c);
  }

  // All rows packed at once, where they stay in the cache beside the columns: memory is then read in line.
  void try_wide_rows(Candidate c) {
    if (c.pack_rows != Packing::kBlock || !packs_wide_rows(way(c))) return;
    const int64_t rows = p_.extent(way(c).rows.dims), step_bytes = depth(c).width() * p_.accumulator_bytes();
    const int64_t most = target_.machine.l2_bytes * 5 / 8 / step_bytes - columns(c).width();
    if (rows > most) return;
    c.row_block = round_up(rows, c.tile_rows);
    consider(c);
  }

  // Every deal of the work to tasks, with narrower blocks of columns where parts ask for them.
  void try_splits(Candidate c) {
    const int64_t batch = p_.extent(way(c).batch);
    const int64_t rows = p_.extent(way(c).rows.dims);
    const int64_t tile = static_cast<int64_t>(c.tile_vectors) * way(c).lanes;
    const int64_t widest = c.column_limit;
    for (const int64_t column_parts : kParts) {
      if (batch * column_parts > target_.machine.tasks_max && column_parts > 1) break;
      c.column_limit = std::min(widest, round_up(divide_up(p_.extent(way(c).columns.dims), column_parts), tile));
      if (columns(c).count() < column_parts) break;
      if (!deals_out(columns(c), column_parts)) continue;
      c.column_parts = column_parts;
      for (const int64_t row_parts : kParts) {
        if (batch * column_parts * row_parts > target_.machine.tasks_max && row_parts > 1) break;
        if (row_parts > divide_up(rows, c.tile_rows)) break;
        c.row_parts = row_parts;
        c.depth_parts = 1;
        try_preparing(c);
        try_whole_rows(c);
        try_depth_parts(c);
      }
    }
  }

  // Whether so many parts have a block each at least, when all but the last have as many.
  static bool deals_out(const Blocked& blocked, int64_t parts) {
    return split_tasks(blocked.count(), parts).tasks == parts;
  }

  void try_preparing(Candidate c) {
    consider(c);
    const bool are_blocks = c.pack_columns == Packing::kBlock && !c.keeps_columns;
    const bool can_be = are_blocks && c.row_parts > 1 && way(c).columns.can_be_prepared;
    const int64_t bytes = p_.accumulator_bytes() * columns(c).total() * depth(c).total();
    if (!can_be || bytes > 2 * target_.machine.l2_bytes) return;
    c.pack_columns = Packing::kPrepared;
    consider(c);
  }

  // All rows of a task packed once, where it has several blocks of columns.
  void try_whole_rows(Candidate c) {
    const int64_t bytes =
        p_.accumulator_bytes() * divide_up(p_.extent(way(c).rows.dims), c.row_parts) * depth(c).total();
    if (c.pack_rows != Packing::kBlock || columns(c).count() == c.column_parts || depth(c).is_ragged()) return;
    if (bytes > 2 * target_.machine.l2_bytes) return;
    c.pack_rows = Packing::kWhole;
    consider(c);
  }

  // The depth in parts, where the result is small: partial results are added afterwards. Two blocks at least for each part,
  // or one where sums are in memory in any case.
  void try_depth_parts(Candidate c) {
    if (c.row_parts > 1) return;
    if (order_) {
      c.depth_parts = order_->depth_parts;
      return consider(c);
    }
    const int64_t most = depth(c).count() / (c.depth_lines > 0 ? 1 : 2);
    for (const int64_t parts : kParts) {
      if (parts == 1) continue;
      if (p_.extent(way(c).batch) * c.column_parts * parts > target_.machine.tasks_max || most < parts) return;
      if (!deals_out(depth(c), parts)) continue;
      c.depth_parts = parts;
      consider(c);
    }
  }

  const ContractionProblem& p_;
  const loops::Target& target_;
  size_t count_;
  const SumOrder* order_;
  bool is_split_ = false;  // until then candidates are compared as if one core did all
  std::vector<RankedCandidate> best_;
  std::map<std::tuple<int, int64_t, int64_t>, Blocked> columns_;
  std::map<std::pair<int, int64_t>, Blocked> depths_;
  std::map<std::tuple<int, int64_t, int64_t, int64_t>, std::optional<RowRuns>> runs_;
};

}  // namespace

std::vector<RankedCandidate> rank_candidates(const ContractionProblem& problem, const loops::Target& target,
                                             size_t count) {
  return Search(problem, target, count).run();
}

std::optional<SumOrder> sum_order(const ContractionProblem& problem, const Candidate& candidate) {
  const Orientation& way = problem.ways[candidate.way];
  if (way.is_along_depth() || candidate.tile_lines > 0) return std::nullopt;
  return SumOrder{way.depth, candidate.depth_limit, candidate.depth_parts};
}

std::optional<Candidate> choose_candidate(const ContractionProblem& problem, const loops::Target& target,
                                          const SumOrder& order) {
  const std::vector<RankedCandidate> ranked = Search(problem, target, 1, &order).run();
  return ranked.empty() ? std::nullopt : std::optional(ranked[0].candidate);
}

Candidate choose_candidate(const ContractionProblem& problem, const loops::Target& target, int rank) {
  return rank_candidates(problem, target, static_cast<size_t>(rank) + 1).back().candidate;
}

}  // namespace ingot::schedule
