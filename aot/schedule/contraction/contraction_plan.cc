#include "aot/schedule/contraction/contraction_plan.h"

#include <algorithm>
#include <cmath>

#include "aot/analysis/joined_depth.h"
#include "aot/base/divide.h"
#include "aot/graph/op.h"
#include "aot/ops/ops.h"
#include "aot/schedule/sweep.h"

namespace ingot::schedule {

using loops::ContractionAccess;
using loops::ContractionDim;

namespace {

constexpr double kFlopsPerNs = 80;
constexpr int64_t kColumnBlockBytes = 160 << 10;  // of a packed block of columns: stays in the second-level cache
constexpr int64_t kWholeRowsBytes = 2 << 20;      // rows packed whole are read again from the outer caches at worst
constexpr int64_t kLongestSinglePass = 1024;      // a depth up to this is not cut
static_assert(kJoinedDepthMax <= kLongestSinglePass, "operands that are joined are not packed in blocks");
constexpr int64_t kMostRowsEach = 768;
constexpr int64_t kPageBytes = 4096;

int64_t round_up(int64_t a, int64_t multiple) { return divide_up(a, multiple) * multiple; }

// A chunk of at most `most` that cuts `extent` evenly where that needs at most twice as many chunks.
int64_t even_chunk(int64_t extent, int64_t most) {
  const int64_t fewest = divide_up(extent, most);
  for (int64_t count = fewest; count <= 2 * fewest; ++count) {
    if (extent % count == 0) return extent / count;
  }
  return divide_up(extent, fewest);
}

// Result elements between neighbours along an iteration dimension.
int64_t result_stride(const loops::Contraction& space, const Shape& shape, int dim) {
  const Shape strides = row_major_strides(shape);
  int64_t stride = 0;
  for (size_t j = 0; j < space.out.size(); ++j) stride += space.out[j].coefficients[dim] * strides[j];
  return stride;
}

// Rows of the register tile: the time of a tile grows with its rows, but few accumulators wait for each other.
int choose_tile_rows(int64_t rows, int most, int vectors) {
  const auto cost = [&](int64_t r) {
    return r == 0 ? 0.0 : std::max<double>(static_cast<double>(r), 8.0 / vectors) + 0.3;
  };
  int best = most;
  double best_cost = INFINITY;
  for (int r = most; r >= std::max(1, most - 2); --r) {
    const double total = static_cast<double>(rows / r) * cost(r) + cost(rows % r);
    if (total < best_cost - 1e-9) {
      best_cost = total;
      best = r;
    }
  }
  return static_cast<int>(std::min<int64_t>(best, rows));
}

}  // namespace

int64_t Blocked::inner() const {
  int64_t product = 1;
  for (size_t k = cut + 1; k < axes.size(); ++k) product *= axes[k].extent;
  return product;
}

int64_t Blocked::total() const {
  int64_t product = 1;
  for (const Axis& axis : axes) product *= axis.extent;
  return product;
}

Shape Blocked::block_shape() const {
  Shape shape;
  for (int k = 0; k < cut; ++k) shape.push_back(axes[k].extent);
  shape.push_back(chunks());
  return shape;
}

bool ContractionSide::is_affine() const {
  return std::ranges::all_of(accesses,
                             [](const ContractionAccess& access) { return access.always && access.divisor == 1; });
}

int64_t ContractionSide::stride(int dim) const {
  const Shape strides = row_major_strides(value->type.shape);
  int64_t stride = 0;
  for (size_t j = 0; j < accesses.size(); ++j) stride += accesses[j].coefficients[dim] * strides[j];
  return stride;
}

int64_t ContractionSide::constant() const {
  const Shape strides = row_major_strides(value->type.shape);
  int64_t constant = 0;
  for (size_t j = 0; j < accesses.size(); ++j) constant += accesses[j].constant * strides[j];
  return constant;
}

std::optional<int64_t> ContractionSide::linear(const std::vector<int>& dims,
                                               const std::vector<ContractionDim>& space) const {
  if (!is_affine()) return std::nullopt;
  for (size_t k = 0; k + 1 < dims.size(); ++k) {
    if (stride(dims[k]) != stride(dims[k + 1]) * space[dims[k + 1]].extent) return std::nullopt;
  }
  return dims.empty() ? 0 : stride(dims.back());
}

int64_t ContractionPlan::extent(const std::vector<int>& dims) const { return element_count(extents(dims)); }

Shape ContractionPlan::extents(const std::vector<int>& dims) const {
  Shape shape;
  for (const int d : dims) shape.push_back(space.dims[d].extent);
  return shape;
}

namespace {

class Planner {
 public:
  Planner(const Draft& draft, const Op& root) : draft_(draft), result_(root.result()) {
    plan_.op = &root;
    plan_.space = root.def->contraction(root);
    held_ = loops::register_dtype(plan_.space.accumulate);
    plan_.lanes = draft.target().lanes(held_);
  }

  ContractionPlan plan() {
    orient();
    choose_tile();
    cut_depth();
    find_stretches();
    cut_columns();
    choose_packing();
    split();
    return std::move(plan_);
  }

 private:
  std::vector<int> dims_of(ContractionDim::Kind kind) const {
    std::vector<int> dims;
    for (size_t d = 0; d < plan_.space.dims.size(); ++d) {
      if (plan_.space.dims[d].kind == kind && plan_.space.dims[d].extent != 1) dims.push_back(static_cast<int>(d));
    }
    if (kind != ContractionDim::Kind::kK) {
      std::ranges::stable_sort(dims, std::greater<>{},
                               [&](int d) { return result_stride(plan_.space, result_->type.shape, d); });
    }
    return dims;
  }

  // Where the elements of a slice lie in what it is of.
  ContractionSide beneath_slices(ContractionSide side) const {
    while (side.is_affine() && !draft_.is_made(side.value) && side.value->op->is(kSlice)) {
      const Op& slice = *side.value->op;
      const std::vector<int64_t> starts = slice.attrs().ints("start_indices");
      const std::vector<int64_t> steps = slice.attrs().ints("strides", std::vector<int64_t>(starts.size(), 1));
      for (size_t d = 0; d < side.accesses.size(); ++d) {
        ContractionAccess& access = side.accesses[d];
        for (int64_t& coefficient : access.coefficients) coefficient *= steps[d];
        access.constant = starts[d] + access.constant * steps[d];
      }
      side.value = slice.operand(0);
    }
    return side;
  }

  // A step of its own can pack the operand.
  bool can_be_prepared(int operand) const {
    return dims_of(ContractionDim::Kind::kBatch).empty() && plan_.op->operand(operand)->uses.size() == 1;
  }

  // The operand is the same in every round of a loop. What packs it has to be the first step, so that it can go before
  // the loop.
  bool can_be_hoisted(int operand) const {
    return can_be_prepared(operand) && draft_.step_count() == 0 && draft_.is_invariant(plan_.op->operand(operand));
  }

  // Which operand gives the columns, the side of vectors: whichever needs less work to pack, pad and store.
  void orient() {
    using Kind = ContractionDim::Kind;
    const std::vector<int> m = dims_of(Kind::kM), n = dims_of(Kind::kN);
    const ContractionSide lhs = beneath_slices({plan_.op->operand(0), plan_.space.lhs});
    const ContractionSide rhs = beneath_slices({plan_.op->operand(1), plan_.space.rhs});
    // Whether tiles of rows are packed by gathers: neither their depth nor they themselves follow each other, in a
    // buffer or in what is made of it element by element.
    const auto gathers = [&](const std::vector<int>& rows, const ContractionSide& side) {
      const std::vector<int> depth = dims_of(Kind::kK);
      const bool depth_in_line = std::ranges::any_of(depth, [&](int d) { return std::abs(side.stride(d)) == 1; });
      const bool rows_in_line = rows.size() == 1 && side.stride(rows[0]) == 1;
      const bool is_moved = !draft_.is_made(side.value) && side.value->op->def->only_moves &&
                            merged_dims(draft_, side.value) < std::ssize(long_dims(side.value->type.shape));
      return !rows.empty() && !depth_in_line && (!rows_in_line || is_moved);
    };
    const auto cost = [&](const std::vector<int>& rows, const ContractionSide& rows_side,
                          const std::vector<int>& columns, const ContractionSide& side, bool is_prepared) {
      const double row_count = static_cast<double>(plan_.extent(rows)),
                   column_count = static_cast<double>(plan_.extent(columns));
      const double depth = static_cast<double>(plan_.extent(dims_of(Kind::kK)));
      const double padded = std::ceil(column_count / plan_.lanes) * plan_.lanes;
      const bool loads_in_line = !columns.empty() && side.stride(columns.back()) == 1;
      const bool stores_in_line =
          !columns.empty() && result_stride(plan_.space, result_->type.shape, columns.back()) == 1;
      const int load = is_prepared ? 0 : loads_in_line ? 1 : 8;
      return 0.5 * row_count * padded * depth + depth * column_count * load +
             depth * row_count * (gathers(rows, rows_side) ? 8 : 0) +
             row_count * column_count * (stores_in_line ? 1 : 12);
    };
    const bool swap = cost(n, rhs, m, lhs, can_be_hoisted(0)) < cost(m, lhs, n, rhs, can_be_hoisted(1));
    plan_.rows_side = swap ? rhs : lhs;
    plan_.columns_side = swap ? lhs : rhs;
    plan_.columns_operand = swap ? 0 : 1;
    plan_.rows = swap ? n : m;
    columns_ = swap ? m : n;
    plan_.batch = dims_of(Kind::kBatch);
    plan_.depth_dims = dims_of(Kind::kK);
    std::ranges::stable_sort(plan_.depth_dims, std::greater<>{},
                             [&](int d) { return std::abs(plan_.rows_side.stride(d)); });
    if (columns_.empty()) plan_.lanes = 1;
  }

  void choose_tile() {
    const loops::ContractionTile& tile = draft_.target().tile(held_);
    const int64_t rows = plan_.row_count();
    int vectors = tile.nr / plan_.lanes;
    // Few rows: wider, so that enough accumulators are under way.
    if (rows < 4) vectors = static_cast<int>(std::min<int64_t>(8, 12 / rows));
    const int64_t column_vectors = divide_up(plan_.extent(columns_), plan_.lanes);
    plan_.tile_vectors = static_cast<int>(std::min<int64_t>(vectors, column_vectors));
    plan_.tile_rows = choose_tile_rows(rows, tile.mr, plan_.tile_vectors);
  }

  void cut_depth() {
    Blocked& depth = plan_.depth;
    for (const int d : plan_.depth_dims) depth.axes.push_back({{d}, plan_.space.dims[d].extent});
    if (depth.axes.empty()) depth.axes.push_back({{}, plan_.extent(dims_of(ContractionDim::Kind::kK))});
    const int64_t most = draft_.target().tile(held_).kc;
    if (depth.total() <= kLongestSinglePass) {
      depth.cut = 0;
      depth.chunk = depth.extent();
      return;
    }
    depth.cut = static_cast<int>(depth.axes.size()) - 1;
    while (depth.cut > 0 && depth.inner() * depth.extent() * 2 <= most) --depth.cut;
    depth.chunk = even_chunk(depth.extent(), std::max<int64_t>(1, most / depth.inner()));
  }

  // Whether one of an operand's dimensions is the depth and nothing else, all of it in order.
  bool is_depth(const ContractionSide& side, int64_t dim) const {
    const ContractionAccess& access = side.accesses[dim];
    std::vector<int64_t> coefficients(plan_.space.dims.size(), 0);
    coefficients[plan_.depth_dims[0]] = 1;
    return access.coefficients == coefficients && access.constant == 0 && access.always && access.divisor == 1 &&
           side.value->type.shape[dim] == plan_.depth.extent();
  }

  // An operand's parts, by where on the depth they begin: the operands of a concatenation along it, or all of it.
  std::map<int64_t, ContractionSide> parts_along_depth(const ContractionSide& side) const {
    const Op* op = side.value->op;
    const bool is_joined = !draft_.is_made(side.value) && op->is(kConcatenate);
    if (!is_joined || plan_.depth.count() > 1 || plan_.depth_dims.size() != 1) return {{0, side}};
    const int64_t dim = op->attrs().integer("dimension");
    if (!is_depth(side, dim)) return {{0, side}};
    std::map<int64_t, ContractionSide> parts;
    int64_t start = 0;
    for (const Value* operand : op->operands) {
      const int64_t extent = operand->type.shape[dim];
      if (extent == 0) continue;
      ContractionSide& part = parts[start] = {operand, side.accesses};
      part.accesses[dim].constant -= start;
      start += extent;
    }
    return parts;
  }

  void find_stretches() {
    const auto rows = parts_along_depth(plan_.rows_side), columns = parts_along_depth(plan_.columns_side);
    std::set<int64_t> ends{plan_.depth.width()};
    for (const auto* parts : {&rows, &columns}) {
      for (const auto& [start, part] : *parts) ends.insert(start);
    }
    ends.erase(0);
    int64_t start = 0;
    for (const int64_t end : ends) {
      plan_.stretches.push_back(
          {start, end, std::prev(rows.upper_bound(start))->second, std::prev(columns.upper_bound(start))->second});
      start = end;
    }
  }

  // Neighbouring column dimensions that both the operand and the result walk through evenly become one axis.
  void cut_columns() {
    Blocked& columns = plan_.columns;
    const Shape& shape = result_->type.shape;
    const bool may_merge = plan_.columns_side.is_affine() && draft_.is_made(plan_.columns_side.value);
    for (const int d : columns_) {
      const int64_t extent = plan_.space.dims[d].extent;
      if (may_merge && !columns.axes.empty()) {
        Axis& last = columns.axes.back();
        const int outer = last.dims.back();
        if (plan_.columns_side.stride(outer) == plan_.columns_side.stride(d) * extent &&
            result_stride(plan_.space, shape, outer) == result_stride(plan_.space, shape, d) * extent) {
          last.dims.push_back(d);
          last.extent *= extent;
          continue;
        }
      }
      columns.axes.push_back({{d}, extent});
    }
    if (columns.axes.empty()) columns.axes.push_back({{}, plan_.extent(columns_)});
    const int64_t width = plan_.tile_columns();
    const int64_t bytes = info(held_).bytes;
    const int64_t most = std::max(
        width, std::min<int64_t>(draft_.target().tile(held_).nc, kColumnBlockBytes / (bytes * plan_.depth.width())) /
                   width * width);
    columns.cut = static_cast<int>(columns.axes.size()) - 1;
    // Short inner axes are taken whole, several times over, as long as the result's elements follow each other, or do
    // so within each vector, or there are not enough of them for a tile.
    const auto step_of = [&](int axis) {
      return columns.axes[axis].dims.empty() ? 1 : result_stride(plan_.space, shape, columns.axes[axis].dims.back());
    };
    const auto may_cross = [&] {
      const int64_t inner = columns.width_of_cut();
      const bool follows = step_of(columns.cut - 1) == inner * step_of(static_cast<int>(columns.axes.size()) - 1);
      return follows || inner % plan_.lanes == 0 || inner < width;
    };
    while (columns.cut > 0 && columns.width_of_cut() * 2 <= most && columns.width_of_cut() < 4 * width && may_cross())
      --columns.cut;
    const int64_t inner = columns.inner();
    if (columns.cut == static_cast<int>(columns.axes.size()) - 1) {
      const int64_t panels = divide_up(columns.extent(), width);
      columns.chunk = divide_up(panels, divide_up(panels, most / width)) * width;
      if (columns.chunk >= columns.extent()) columns.chunk = columns.extent();
    } else {
      // As many of the cut axis as waste least of the tiles' width.
      int64_t least = std::numeric_limits<int64_t>::max();
      for (int64_t chunk = 1; chunk <= columns.extent() && chunk * inner <= std::max(most, inner); ++chunk) {
        const int64_t last = columns.extent() % chunk;
        const int64_t padded =
            columns.extent() / chunk * round_up(chunk * inner, width) + round_up(last * inner, width);
        if (padded <= least) {
          least = padded;
          columns.chunk = chunk;
        }
      }
    }
    // Whether result elements of a block follow each other.
    plan_.result_is_linear = true;
    int64_t expected = 1;
    std::vector<int> dims;
    for (size_t k = columns.cut; k < columns.axes.size(); ++k)
      dims.insert(dims.end(), columns.axes[k].dims.begin(), columns.axes[k].dims.end());
    for (size_t t = dims.size(); t-- > 0;) {
      plan_.result_is_linear &= result_stride(plan_.space, shape, dims[t]) == expected;
      expected *= plan_.space.dims[dims[t]].extent;
    }
  }

  void choose_packing() {
    const auto is_plain = [&](const ContractionSide& side) {
      return draft_.is_made(side.value) && side.value->type.dtype == plan_.space.accumulate && side.is_affine();
    };
    const int64_t bytes = info(held_).bytes;
    const int64_t rows = plan_.row_count();
    const int64_t column_count = plan_.columns.total();
    // Columns: read in place when they are few, or when the rows are too few to pay for a copy.
    const auto depth_stride = plan_.columns_side.linear(plan_.depth_dims, plan_.space.dims);
    const bool in_line =
        is_plain(plan_.columns_side) && plan_.columns.axes.size() == 1 && depth_stride &&
        (plan_.columns.axes[0].dims.empty() || plan_.columns_side.stride(plan_.columns.axes[0].dims.back()) == 1);
    const bool few_columns = column_count <= 64 && depth_stride && *depth_stride * bytes < kPageBytes;
    const bool few_rows = rows <= 2 * plan_.tile_rows;
    plan_.pack_columns = !(in_line && !plan_.depth.is_ragged() && (few_columns || few_rows));
    plan_.columns_are_hoisted = plan_.pack_columns && can_be_hoisted(plan_.columns_operand);
    plan_.columns_in_panels = plan_.columns.cut == static_cast<int>(plan_.columns.axes.size()) - 1;
    // Rows: read in place when a row's neighbours are one stride apart and
    // that stride does not make them share cache sets.
    const int64_t panels = divide_up(column_count, plan_.tile_columns());
    for (Stretch& stretch : plan_.stretches) {
      const ContractionSide& side = stretch.rows_side;
      const auto row_stride = side.linear(plan_.rows, plan_.space.dims);
      const auto depth_step = side.linear(plan_.depth_dims, plan_.space.dims);
      const bool steps = is_plain(side) && row_stride && depth_step && !plan_.depth.is_ragged();
      const bool walks_pages = depth_step && std::abs(*depth_step) * bytes >= kPageBytes / 8;
      stretch.rows_in_place = steps && (panels <= 2 || !walks_pages);
    }
    const bool all_in_place = std::ranges::all_of(plan_.stretches, &Stretch::rows_in_place);
    plan_.pack_rows = all_in_place ? Packing::kNone : Packing::kBlock;
    plan_.rows_lie_across = plan_.rows.size() == 1 && plan_.rows_side.stride(plan_.rows[0]) == 1 &&
                            (plan_.depth_dims.empty() || plan_.rows_side.stride(plan_.depth_dims.back()) != 1);
  }

  void split() {
    const double flops = 2.0 * static_cast<double>(plan_.batch_count()) * static_cast<double>(plan_.row_count()) *
                         static_cast<double>(plan_.columns.total()) * static_cast<double>(plan_.depth.total());
    const int64_t wanted = divide_up(wanted_tasks(flops / kFlopsPerNs), plan_.batch_count());
    const int64_t rows = plan_.row_count();
    const loops::ContractionTile& tile = draft_.target().tile(held_);
    // Columns first: each packs its own. A part has a few tiles at least.
    Blocked& columns = plan_.columns;
    const bool one_axis = columns.cut == static_cast<int>(columns.axes.size()) - 1;
    const int64_t most_column_parts = std::max<int64_t>(1, columns.total() / 64);
    const int64_t least_row_part = 48;
    const int64_t most_row_parts = std::max<int64_t>(1, rows / least_row_part);
    int64_t column_parts = std::min(wanted, most_column_parts);
    if (one_axis && columns.count() < column_parts) {
      const int64_t outer = columns.count() / columns.chunks();
      columns.chunk = round_up(divide_up(columns.extent(), divide_up(column_parts, outer)), plan_.tile_columns());
    }
    const TaskSplit column_split = split_tasks(columns.count(), column_parts);
    plan_.column_parts = column_split.tasks;
    plan_.column_blocks_each = column_split.each;
    int64_t row_parts = std::min(divide_up(wanted, plan_.column_parts), most_row_parts);
    // The depth, when the result is small: partial results are added afterwards.
    const int64_t parts = plan_.column_parts * row_parts;
    if (parts * 2 < wanted && plan_.depth.count() >= 4) {
      row_parts = 1;
      const TaskSplit depth_split = split_tasks(plan_.depth.count(), divide_up(wanted, plan_.column_parts));
      plan_.depth_parts = depth_split.tasks;
      plan_.depth_blocks_each = depth_split.each;
    } else {
      plan_.depth_blocks_each = plan_.depth.count();
    }
    row_parts = std::max(row_parts, divide_up(rows, kMostRowsEach));
    plan_.rows_each = round_up(divide_up(rows, row_parts), plan_.tile_rows);
    plan_.row_parts = divide_up(rows, plan_.rows_each);
    plan_.row_block = std::min(plan_.rows_each, round_up(tile.mc, plan_.tile_rows));
    if (plan_.pack_rows == Packing::kBlock && plan_.depth_parts == 1 && plan_.column_blocks_each > 1 &&
        plan_.rows_each * plan_.depth.total() * info(held_).bytes <= kWholeRowsBytes && !plan_.depth.is_ragged()) {
      plan_.pack_rows = Packing::kWhole;
    }
    // Tasks that share columns which are hard to pack read them from one place.
    const bool is_copied_in_line =
        plan_.columns_side.is_affine() && !columns_.empty() && plan_.columns_side.stride(columns_.back()) == 1;
    const int64_t packed_bytes = columns.total() * plan_.depth.total() * info(held_).bytes;
    plan_.prepare_columns =
        plan_.columns_are_hoisted || (plan_.pack_columns && plan_.row_parts > 1 && packed_bytes <= kWholeRowsBytes &&
                                      !is_copied_in_line && can_be_prepared(plan_.columns_operand));
  }

  const Draft& draft_;
  const Value* result_;
  DType held_;
  ContractionPlan plan_;
  std::vector<int> columns_;
};

}  // namespace

ContractionPlan plan_contraction(const Draft& draft, const Op& root) { return Planner(draft, root).plan(); }

}  // namespace ingot::schedule
