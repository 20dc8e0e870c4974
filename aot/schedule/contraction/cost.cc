#include "aot/schedule/contraction/cost.h"

#include <algorithm>
#include <cmath>

#include "aot/base/divide.h"
#include "aot/schedule/contraction/cache_sets.h"
#include "aot/schedule/contraction/depth_tile.h"
#include "aot/schedule/contraction/row_lines.h"
#include "aot/schedule/contraction/window_cost.h"

namespace ingot::schedule {
namespace {

using loops::Machine;

constexpr double kTransposeNs = 0.25;    // a packed element, through a transposed square of vectors
constexpr double kGatherNs = 0.7;        // ... by itself
constexpr double kMaskedNs = 0.1;        // more where elements may be missing
constexpr double kPrefetchShare = 0.07;  // rows of the next tile that a step of the depth prefetches, of all of them
constexpr double kBeside = 6;            // how sharply the longest counts of what goes on side by side
constexpr double kManyStreamsShare = 2;  // of streaming from the second-level cache: where each operand is many streams
constexpr double kRangeNs = 2;           // to begin another range of the depth within it
constexpr double kHalveNs = 0.55;        // to add the halves of a vector of partial sums
constexpr double kStoreFarNs = 3;        // ... more, each to another page
constexpr double kStoreElementNs = 0.7;  // ... element by element
constexpr double kFarRowsShare = 0.8;    // of a step: more, where each is in another page
constexpr double kCrowdedRowsNs = 0.15;  // ... where they fill the sets that they share, for a vector of columns
constexpr double kInLineFarShare = 0.05;    // ... of columns of which a block has all, so that memory is read in line
constexpr double kPrefetching = 0.03;       // ... and as much for each step of these
constexpr double kForeseenShare = 0.2;      // of what fetching columns anew takes: where processors foresee them
constexpr double kOddLinesShare = 0.1;      // ... more where they are an odd count of lines: these come in pairs
constexpr double kOddForeseenShare = 0.25;  // ... of that, and of what pieces in other pages take more: foreseen
constexpr double kWriteShare = 0.3;         // of the speed of reading: with writing
constexpr double kStreamedShare = 1;        // ... where sums are walked in line
constexpr double kOneStreamShare = 0.7;     // of reading from outer caches: all in one stream, from memory
constexpr double kShortStreamsShare = 1.6;  // ... in several at once, each ending after a few lines
constexpr double kAskedShare = 0.3;         // ... of reading what was asked for while others were multiplied
constexpr double kAloneSteps = 64;          // of a tile: with fewer, the next begins before it has ended
constexpr int64_t kStreamPages = 4;         // that a stream has at least, or it is short
constexpr int64_t kFarBytes = 16;           // times the second-level cache: as optimizers of large weights, from memory
constexpr int64_t kStaysPart = 4;           // of the second-level cache: in which what one run reads is for the next

class Model {
 public:
  Model(const ContractionProblem& problem, const BlockedCandidate& blocked, const loops::Target& target)
      : p_(problem),
        c_(blocked.candidate),
        way_(problem.ways[c_.way]),
        columns_(blocked.columns),
        depth_(blocked.depth),
        runs_(blocked.runs),
        m_(target.machine),
        bytes_(static_cast<double>(problem.accumulator_bytes())),
        batch_(static_cast<double>(problem.extent(way_.batch))),
        rows_(problem.extent(way_.rows.dims)),
        window_cost_(problem, blocked, target.machine),
        row_lines_(problem, blocked, target.machine),
        begin_ns_(begin_ns()) {}

  ContractionCost cost() const {
    ContractionCost cost;
    cost.multiply_ns = batch_ * multiply_ns();
    cost.pack_rows_ns = batch_ * pack_rows_ns();
    cost.pack_columns_ns = batch_ * pack_columns_ns();
    cost.outer_cache_ns =
        std::max(batch_ * outer_cache_ns(),
                 std::max(columns_from_memory_ns(), rows_from_memory_ns()) - m_.hidden_share * cost.multiply_ns);
    cost.result_ns = batch_ * result_ns();
    cost.tasks_ns = m_.task_ns * batch_ * static_cast<double>(c_.row_parts * c_.column_parts * c_.depth_parts);
    return cost;
  }

 private:
  bool is_along_depth() const { return way_.is_along_depth(); }
  double depth() const { return static_cast<double>(depth_.total()); }
  double row_count() const { return static_cast<double>(rows_); }
  double column_count() const { return static_cast<double>(columns_.total()); }
  double block_bytes() const { return bytes_ * static_cast<double>(columns_.width() * depth_.width()); }
  // Of columns, while one block is multiplied.
  double kept_bytes() const {
    if (c_.keeps_columns && packs_with_first_rows(p_, c_, columns_, depth_, m_))
      return bytes_ * static_cast<double>(c_.tile_vectors * way_.lanes * depth_.width());
    return block_bytes() * (c_.packs_ahead ? 2 : 1);
  }

  // All steps of the depth of one register tile.
  double tile_ns(double rows, double vectors) const {
    if (c_.depth_lines > 0) return window_cost_.depth_tile_ns(rows, vectors);
    if (has_windows_in_place()) return window_cost_.tile_ns(rows, vectors) + rows * vectors * store_vector_ns();
    const double loads = way_.has_own_rows ? rows * vectors + vectors : rows + vectors;
    const double prefetches = c_.pack_rows == Packing::kNone && !is_along_depth() ? rows * kPrefetchShare : 0;
    const double makes = way_.columns.made ? vectors * static_cast<double>(way_.columns.made->element_ops) : 0;
    const double issue_ns = std::max(std::max(rows * vectors, loads + prefetches) / m_.multiply_adds_per_ns,
                                     (rows * vectors + loads + prefetches + makes) / m_.instructions_per_ns);
    const double stream_ns =
        streamed_bytes(rows, vectors) / m_.l2_bytes_per_ns * (is_along_depth() ? kManyStreamsShare : 1);
    const double chains =
        is_along_depth() ? static_cast<double>(depth_chains(std::llround(rows), std::llround(vectors))) : 1;
    const double step_ns =
        beside({std::max(issue_ns, m_.multiply_add_latency_ns / chains), stream_ns, row_lines_.step_ns()}) +
        m_.stream_share * stream_ns + crowded_rows_ns(rows, vectors);
    const double store_ns = rows * vectors * store_vector_ns();
    const double steps = static_cast<double>(steps_of_block() * depth_.count());
    return steps * step_ns * strides_share() + begin_ns_ * static_cast<double>(depth_.count()) + store_ns;
  }

  // What takes so long side by side: as long as the longest, and more the nearer others come to it.
  static double beside(std::initializer_list<double> all_ns) {
    double sum = 0;
    for (const double ns : all_ns) sum += std::pow(ns, kBeside);
    return std::pow(sum, 1 / kBeside);
  }

  bool has_windows_in_place() const { return c_.tile_lines > 0; }

  // Of a block of the depth; a vector along it ends where the range does that lies in line.
  int64_t steps_of_block() const {
    if (!is_along_depth()) return depth_.width();
    const int64_t in_line = runs_ ? depth_ranges(*runs_, depth_).back().count : depth_.width();
    return depth_.width() / in_line * divide_up(in_line, way_.depth_lanes);
  }

  // What a step reads from the second-level cache: columns, unless all columns of the block stay in the first, and rows.
  // A step along the depth reads whole lines of rows: those of a task that do not stay; windows read them again.
  double streamed_bytes(double rows, double vectors) const {
    const double l1 = static_cast<double>(m_.l1_bytes);
    if (c_.keeps_columns) return rows_ > kFewRows ? rows * bytes_ : 0;
    const double beside_bytes = m_.rows_beside_share * rows * static_cast<double>(depth_.width()) * bytes_;
    const bool columns_stay = columns_are_read_once() || cached_bytes() + beside_bytes <= l1;
    const double lanes = way_.vector_lanes();
    double bytes = columns_stay ? 0 : vectors * lanes * bytes_;
    if (way_.has_own_rows) return bytes + rows * vectors * lanes * bytes_;
    if (!is_along_depth()) return bytes + row_lines_.step_bytes();
    const double kept_rows = columns_stay ? row_count() / static_cast<double>(c_.row_parts) : rows;
    const double column_bytes = columns_stay ? cached_bytes() : vectors * lined_bytes(way_.columns, c_.pack_columns);
    const double kept_bytes = kept_rows * lined_bytes(way_.rows, c_.pack_rows) + column_bytes;
    if (kept_bytes > l1 && !runs_) bytes += rows * lanes * bytes_;
    return bytes;
  }

  // What a block of columns takes of the first-level cache while tiles of rows read it one after the other. Columns that
  // are read where they lie, apart by a large part of its critical stride, share a few of its sets.
  double cached_bytes() const {
    if (is_along_depth()) return static_cast<double>(columns_.width()) * lined_bytes(way_.columns, c_.pack_columns);
    const bool is_strided = c_.pack_columns == Packing::kNone && way_.columns.depth_stride;
    if (!is_strided || columns_are_foreseen() || rows_ <= c_.tile_rows) return block_bytes();
    return column_lines_bytes(divide_up(columns_.width() * p_.accumulator_bytes(), m_.line_bytes));
  }

  // What a row or column that runs along a block of the depth takes of the first-level cache, so counted.
  double lined_bytes(const OperandSide& it, Packing packing) const {
    const int64_t line_bytes = depth_.width() * p_.accumulator_bytes();
    const bool is_apart = packing == Packing::kNone && it.stride && *it.stride != 0;
    return static_cast<double>(line_bytes) *
           (is_apart ? crowding(m_, std::abs(*it.stride) * p_.accumulator_bytes(), line_bytes) : 1);
  }

  // What the steps of a block of the depth take of the first-level cache, each so many lines of columns where they lie.
  double column_lines_bytes(int64_t lines) const {
    const int64_t apart_bytes = std::abs(*way_.columns.depth_stride) * p_.accumulator_bytes();
    return crowded_bytes(m_, depth_.width(), apart_bytes, lines * m_.line_bytes);
  }

  // To begin and end a register tile, and each range of its depth.
  double begin_ns() const {
    if (!runs_) return m_.tile_ns * std::min(1.0, static_cast<double>(steps_of_block()) / kAloneSteps);
    double count = 1;
    const std::vector<EvenRange> ranges = depth_ranges(*runs_, depth_);
    for (size_t k = 0; k + 1 < ranges.size(); ++k) count *= static_cast<double>(ranges[k].count);
    return m_.tile_ns + (count - 1) * kRangeNs;
  }

  double store_vector_ns() const {
    if (is_along_depth()) return kHalveNs * std::log2(way_.depth_lanes) + kStoreElementNs;
    if (way_.result_stride == 1) return m_.store_vector_ns;
    const double stride_bytes = static_cast<double>(std::abs(way_.result_stride)) * bytes_;
    const double far_share = std::min(1.0, stride_bytes / static_cast<double>(m_.page_bytes));
    return way_.lanes * (kStoreElementNs + far_share * kStoreFarNs);
  }

  // How much longer a step takes because operands are read where they lie.
  double strides_share() const {
    double share = 1;
    const bool by_row =
        !runs_ && c_.pack_rows != Packing::kNone && way_.rows.lie != Lie::kAcross && !c_.transposes_rows;
    if ((by_row || (runs_ && runs_->in_box() && runs_->run().step != 1)) && c_.tile_rows > 4)
      share += m_.packed_apart_share;
    if (c_.pack_rows == Packing::kNone) {
      const std::optional<int64_t> stride = runs_ ? runs_->run().step : way_.rows.stride;
      if (c_.tile_rows > 4 && stride && *stride != 1) share += m_.in_place_row_share * c_.tile_rows;
      if (!row_lines_.are_in_place()) share += kFarRowsShare * far_share(way_.rows);
    }
    if (c_.pack_columns == Packing::kNone) {
      const int64_t lines = divide_up(c_.tile_vectors * way_.lanes * p_.accumulator_bytes(), m_.line_bytes);
      const double far = far_share(way_.columns);
      const double lost = column_lines_are_lost(lines) ? m_.lost_columns_share * far : 0;
      const double odd = lines % 2 == 0 ? 0 : kOddLinesShare * far;
      const double apart = std::max(m_.far_columns_share, lost) * far + odd;
      if (columns_are_foreseen()) {
        share += kForeseenShare * lost + (is_along_depth() ? 0 : kOddForeseenShare * m_.far_piece_share * odd);
      } else if (lost == 0 && columns_are_in_line()) {
        share += std::min(apart, kPrefetching + kInLineFarShare * far);
      } else {
        share += apart;
      }
    }
    return share;
  }

  // What a step waits for rows in place that have a line for many steps. About a critical stride apart they share a few
  // sets of the first-level cache, and what streams through these displaces the more of them the fuller they are.
  double crowded_rows_ns(double rows, double vectors) const {
    const OperandSide& it = way_.rows;
    const bool are_in_place = c_.pack_rows == Packing::kNone && it.depth_stride == 1 && !runs_ && !is_along_depth();
    if (!are_in_place || it.stride.value_or(0) == 0) return 0;
    const int64_t apart_bytes = std::abs(*it.stride) * p_.accumulator_bytes();
    const double crowded = crowded_bytes(m_, std::llround(rows), apart_bytes, m_.line_bytes);
    return kCrowdedRowsNs * vectors * std::pow(crowded / static_cast<double>(m_.l1_bytes), 4);
  }

  // How far the steps of the depth are apart.
  double far_share(const OperandSide& it) const {
    if (!it.depth_stride) return 0;
    return schedule::far_share(m_, depth_.total(), std::abs(*it.depth_stride) * p_.accumulator_bytes());
  }

  // Columns that are read where they lie, of which a block has all that is between a step of the depth and the next.
  bool columns_are_in_line() const {
    return way_.columns.depth_stride && std::abs(*way_.columns.depth_stride) <= columns_.width();
  }

  bool columns_are_read_once() const { return c_.pack_columns == Packing::kNone && rows_ <= c_.tile_rows; }

  // Columns of a tile that are read where they lie, so many lines at a step: before the next tile of rows reads them, they
  // are lost from the first-level cache, whose sets they share.
  bool column_lines_are_lost(int64_t lines) const {
    return rows_ > c_.tile_rows && way_.columns.depth_stride &&
           column_lines_bytes(lines) > static_cast<double>(m_.l1_bytes);
  }

  // Columns that are read where they lie, a few lines of depth at once, each from its start to its end.
  bool columns_are_foreseen() const {
    return is_along_depth() ||
           (depth_.width() <= lines_at_once(m_) && columns_.width() * p_.accumulator_bytes() >= m_.page_bytes / 4);
  }

  // One row of tiles of `rows` rows, over all columns.
  double row_of_tiles_ns(double rows) const {
    const int64_t width = static_cast<int64_t>(c_.tile_vectors) * way_.lanes;
    const auto block_ns = [&](int64_t columns) {
      const int64_t rest = columns % width;
      return static_cast<double>(columns / width) * tile_ns(rows, c_.tile_vectors) +
             (rest == 0 ? 0 : tile_ns(rows, static_cast<double>(divide_up(rest, way_.lanes))));
    };
    const int64_t outer = columns_.count() / columns_.chunks();
    const int64_t whole = columns_.is_ragged() ? columns_.chunks() - 1 : columns_.chunks();
    return static_cast<double>(outer) * (static_cast<double>(whole) * block_ns(columns_.width()) +
                                         (columns_.is_ragged() ? block_ns(columns_.last_width()) : 0));
  }

  double multiply_ns() const {
    const int64_t stretch = runs_ ? runs_->stretch(c_.tile_rows) : rows_;
    const int64_t rest = stretch % c_.tile_rows;
    const double stretch_ns = static_cast<double>(stretch / c_.tile_rows) * row_of_tiles_ns(c_.tile_rows) +
                              (rest == 0 ? 0 : row_of_tiles_ns(static_cast<double>(rest)));
    return static_cast<double>(rows_ / stretch) * stretch_ns;
  }

  // How what is packed is moved: vectors, transposed squares of them, or elements by themselves.
  enum class Move { kVectors, kSquares, kElements };

  double element_ns(const OperandSide& it, Move move) const {
    if (it.lie == Lie::kScattered || way_.vector_lanes() == 1) move = Move::kElements;
    const double copy_ns = move == Move::kElements  ? kGatherNs * lanes_share(it)
                           : move == Move::kSquares ? kTransposeNs
                                                    : m_.packed_element_ns;
    return copy_ns + (it.side.is_affine() ? 0 : kMaskedNs);
  }

  // How many times as many lanes are gathered as there are elements: vectors of columns end with the innermost dimension.
  double lanes_share(const OperandSide& it) const {
    const int inner = last_or_none(it.dims);
    if (inner < 0 || is_along_depth()) return 1;
    const int64_t extent = p_.space.dims[inner].extent;
    return static_cast<double>(round_up(extent, way_.vector_lanes())) / static_cast<double>(extent);
  }

  // Reading `elements` for packing, besides the work of packing itself.
  double read_ns(double elements) const {
    const double bytes = elements * bytes_;
    return bytes / (bytes * batch_ < static_cast<double>(m_.l2_bytes) / 2 ? m_.l2_bytes_per_ns : m_.l3_bytes_per_ns);
  }

  double pack_rows_ns() const {
    if (c_.pack_rows == Packing::kNone) return 0;
    if (c_.pack_rows == Packing::kBox) return boxes_ns();
    const double elements = row_count() * depth();
    const int64_t times = c_.pack_rows == Packing::kWhole ? c_.column_parts : columns_.count();
    const double read_share = packs_in_line() ? m_.in_line_share : 1;
    return (elements * element_ns(way_.rows, c_.transposes_rows ? Move::kSquares : Move::kVectors) +
            read_ns(elements) * read_share) *
           static_cast<double>(times);
  }

  // Whether blocks of rows that lie across are read in line: all that is between a step of the depth and the next.
  bool packs_in_line() const {
    const bool is_block = c_.pack_rows == Packing::kBlock && way_.rows.lie == Lie::kAcross && way_.rows.depth_stride;
    const int64_t rows = std::min(c_.row_block, divide_up(rows_, c_.row_parts));
    return is_block && std::abs(*way_.rows.depth_stride) <= rows;
  }

  double boxes_ns() const {
    const double count = row_count() / static_cast<double>(c_.row_block) * static_cast<double>(depth_.count());
    const double elements = count * static_cast<double>(element_count(runs_->box));
    const double copy_ns = way_.rows.is_moved ? kGatherNs : m_.packed_element_ns;
    if (way_.has_own_rows)
      return (elements * copy_ns + read_ns(elements) * pieces_share()) * static_cast<double>(columns_.count());
    return (elements * copy_ns + read_ns(elements)) * static_cast<double>(columns_.count());
  }

  // How much longer memory takes to read or write where a block has only a piece of what lies in line.
  double pieces_share() const {
    const double piece_bytes = static_cast<double>(columns_.width()) * bytes_;
    return columns_.count() == 1 ? 1 : 1 + static_cast<double>(m_.page_bytes) / 4 / piece_bytes;
  }

  double pack_columns_ns() const {
    if (c_.pack_columns == Packing::kNone) return 0;
    const double elements = column_count() * depth();
    // Where no other row reads them, packing is as fast as memory is.
    const double few_share = rows_ <= c_.tile_rows && way_.columns.lie == Lie::kInLine ? pieces_share() : 1;
    const double read_share = c_.keeps_columns ? kAskedShare : few_share;
    const Move move = way_.columns.lie != Lie::kAcross ? Move::kVectors
                      : columns_.cuts_last_axis()      ? Move::kSquares
                                                       : Move::kElements;
    const double copy_ns = elements * element_ns(way_.columns, move), wait_ns = read_ns(elements) * read_share;
    const double once_ns = copy_ns + wait_ns;
    if (c_.packs_ahead) {
      const double blocks = static_cast<double>(columns_.count() * depth_.count());
      const double first_share = static_cast<double>(c_.column_parts) / blocks;
      const double beside_ns =
          (move == Move::kSquares ? 1 : m_.packed_ahead_share) * copy_ns + m_.hidden_share * wait_ns;
      return (first_share * once_ns + (1 - first_share) * beside_ns) * static_cast<double>(c_.row_parts);
    }
    if (c_.pack_columns == Packing::kBlock) return once_ns * static_cast<double>(c_.row_parts);
    // Before a loop it is as good as free. Else what one core packs, others have from the last time, and fetch again.
    const double fetch_ns = elements * bytes_ / m_.l3_bytes_per_ns;
    const double prepare_ns = way_.columns.can_be_hoisted ? 0 : once_ns + kMeetNs + fetch_ns;
    return prepare_ns + fetch_ns * m_.hidden_share * static_cast<double>(c_.row_parts);
  }

  // What a tile reads of a step of the depth takes longer to fetch where the next is far.
  double piece_share() const { return 1 + m_.far_piece_share * far_share(way_.columns); }

  // Columns that are read where they lie, the critical stride of the second-level cache or a multiple of it apart: of that
  // cache they use as many lines as there are such steps in it.
  bool columns_share_sets() const {
    if (c_.pack_columns != Packing::kNone || !way_.columns.depth_stride) return false;
    const int64_t step_bytes = std::abs(*way_.columns.depth_stride) * p_.accumulator_bytes();
    return step_bytes % m_.l2_critical_stride == 0 && depth_.width() * step_bytes > m_.l2_bytes;
  }

  // Rows are read again for each block of columns, columns again for each tile of rows.
  double outer_cache_ns() const {
    if (has_windows_in_place()) return operands_ns();
    const double l2 = static_cast<double>(m_.l2_bytes) * 0.75;
    double bytes = 0;
    // All of the depth passes between a block of columns and the next.
    const double rows_of_task = row_count() / static_cast<double>(c_.row_parts) * depth();
    const bool rows_stay = rows_of_task * bytes_ + kept_bytes() <= l2;
    if (c_.pack_rows != Packing::kBlock && c_.pack_rows != Packing::kBox) {
      const int64_t times = rows_stay ? c_.column_parts : columns_.count();
      bytes += row_count() * depth() * bytes_ * static_cast<double>(times);
    }
    const double column_bytes =
        way_.columns.made ? static_cast<double>(way_.columns.made->source_bytes) : column_count() * depth() * bytes_;
    if (kept_bytes() > l2 || columns_share_sets()) {
      bytes += column_bytes * static_cast<double>(divide_up(rows_, c_.tile_rows));
    }
    double ns = bytes / m_.l3_bytes_per_ns * m_.hidden_share;
    if (row_lines_.are_lost()) {
      const int64_t lines = divide_up(rows_, c_.tile_rows) * depth_.total() * columns_.count();
      ns += static_cast<double>(lines * m_.line_bytes) / m_.l3_bytes_per_ns;
    }
    if (c_.pack_columns == Packing::kNone && column_bytes * batch_ > l2) {
      const double share = is_along_depth()         ? m_.hidden_share
                           : columns_are_foreseen() ? m_.unforeseen_share * pieces_share()
                                                    : m_.unforeseen_share + piece_share() / c_.tile_vectors;
      ns += share * column_bytes * static_cast<double>(c_.row_parts) / m_.l3_bytes_per_ns;
    }
    return ns;
  }

  // Columns that are multiplied as fast as memory gives them: no other row reads them, nor does a cache hold them.
  double columns_from_memory_ns() const {
    const bool are_across = c_.pack_columns == Packing::kNone && !is_along_depth();
    if (rows_ > c_.tile_rows || are_across || way_.vector_lanes() == 1) return 0;
    return from_memory_ns(way_.columns, has_short_streams());
  }

  // ... and rows that are read along the depth where they lie, by no other column.
  double rows_from_memory_ns() const {
    if (!is_along_depth() || c_.pack_rows != Packing::kNone || column_count() > c_.tile_vectors) return 0;
    return from_memory_ns(way_.rows, c_.tile_rows > 1 && are_short(way_.rows, row_count()));
  }

  double from_memory_ns(const OperandSide& it, bool in_short_streams) const {
    const int64_t bytes = p_.operand_bytes(it);
    const bool is_stream = is_along_depth() && !it.is_invariant;
    if (bytes < m_.l2_bytes / (is_stream ? kStaysPart : 1)) return 0;
    return static_cast<double>(bytes) / m_.l3_bytes_per_ns * (in_short_streams ? kShortStreamsShare : kOneStreamShare);
  }

  // Columns along the depth are a stream each; of packed ones a vector is, where it fills a line (panel_columns).
  bool has_short_streams() const {
    if (c_.pack_columns == Packing::kBlock) return false;
    if (is_along_depth()) return c_.tile_vectors > 1 && are_short(way_.columns, column_count());
    const bool are_lines = way_.lanes * p_.accumulator_bytes() == m_.line_bytes;
    return are_lines && c_.tile_vectors > 1 && is_short(static_cast<double>(depth_.width() * m_.line_bytes));
  }

  // Streams along the depth, so many in each of the batch.
  bool are_short(const OperandSide& it, double count) const {
    return is_short(static_cast<double>(p_.operand_bytes(it)) / count / batch_);
  }
  bool is_short(double stream_bytes) const { return stream_bytes < static_cast<double>(kStreamPages * m_.page_bytes); }

  // To read both operands once, where they come from an outer cache.
  double operands_ns() const {
    double ns = 0;
    for (const OperandSide* it : {&way_.rows, &way_.columns}) {
      if (is_from_outer_cache(p_, *it, m_))
        ns += m_.hidden_share * pieces_share() * static_cast<double>(p_.operand_bytes(*it)) / m_.l3_bytes_per_ns;
    }
    return ns / batch_;
  }

  // Of rows, what is packed at a time, and whether it is all that a task has.
  double packed_row_bytes() const {
    if (c_.pack_rows != Packing::kBlock) return 0;
    return static_cast<double>(std::min(c_.row_block, rows_) * depth_.width()) * bytes_;
  }
  bool packs_all_rows() const {
    return c_.pack_rows == Packing::kBlock && way_.rows.lie == Lie::kAcross &&
           c_.row_block >= divide_up(rows_, c_.row_parts);
  }

  // At which share of the speed of reading the second-level cache sums are added to. Beneath multiplying they are streamed
  // where they are walked in line: with all rows of a task packed or read where they lie beside each other, or with
  // columns of whole pages that processors foresee.
  double sums_share(double sums_bytes) const {
    if (columns_are_foreseen() && columns_.width() * p_.accumulator_bytes() >= m_.page_bytes) return 2 * kStreamedShare;
    if (packs_all_rows() || row_lines_.are_in_place() || c_.keeps_columns) return kStreamedShare;
    return sums_bytes <= static_cast<double>(m_.l1_bytes) ? 2 * kWriteShare : kWriteShare;
  }

  double result_ns() const {
    const double bytes = row_count() * column_count() * bytes_;
    const double rows_of_task = row_count() / static_cast<double>(c_.row_parts);
    const double sums_bytes = rows_of_task * static_cast<double>(columns_.width()) * bytes_;
    const bool sums_stay = sums_bytes + kept_bytes() + packed_row_bytes() <= static_cast<double>(m_.l2_bytes) * 0.75;
    double ns = 0;
    const double pieces = way_.has_own_rows ? pieces_share() : 1;
    if (bytes * batch_ > static_cast<double>(m_.l2_bytes) / 2) ns += 2 * pieces * bytes / m_.l3_bytes_per_ns;
    if (p_.epilogue_bytes > kFarBytes * m_.l2_bytes) {
      const double epilogue_bytes = static_cast<double>(p_.epilogue_bytes) / batch_;
      ns += m_.epilogue_share * epilogue_bytes * (pieces_share() - 1) / m_.l3_bytes_per_ns;
    }
    if (depth_.count() > 1) {
      ns += 2 * bytes * static_cast<double>(depth_.count() + 1) /
            (sums_stay ? m_.l2_bytes_per_ns * sums_share(sums_bytes) : m_.l3_bytes_per_ns);
    }
    if (c_.depth_parts > 1) ns += kMeetNs + 3 * bytes * static_cast<double>(c_.depth_parts) / m_.l3_bytes_per_ns;
    return ns;
  }

  const ContractionProblem& p_;
  const Candidate& c_;
  const Orientation& way_;
  const Blocked& columns_;
  const Blocked& depth_;
  const RowRuns* runs_;
  const Machine& m_;
  double bytes_, batch_;
  int64_t rows_;
  WindowCost window_cost_;
  RowLines row_lines_;
  double begin_ns_;  // of a register tile
};

}  // namespace

ContractionCost predict(const ContractionProblem& problem, const BlockedCandidate& blocked,
                        const loops::Target& target) {
  return Model(problem, blocked, target).cost();
}

}  // namespace ingot::schedule
