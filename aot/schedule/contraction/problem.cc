#include "aot/schedule/contraction/problem.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "aot/analysis/joined_depth.h"
#include "aot/base/divide.h"
#include "aot/graph/op.h"
#include "aot/schedule/sweep.h"

namespace ingot::schedule {

using loops::ContractionDim;

int64_t ContractionProblem::extent(const std::vector<int>& dims) const {
  int64_t product = 1;
  for (const int d : dims) product *= space.dims[d].extent;
  return product;
}

Shape ContractionProblem::extents(const std::vector<int>& dims) const {
  Shape shape;
  for (const int d : dims) shape.push_back(space.dims[d].extent);
  return shape;
}

namespace {

class Reader {
 public:
  Reader(const Draft& draft, const Op& root, const loops::Target& target) : draft_(draft), target_(target) {
    problem_.op = &root;
    problem_.space = root.def->contraction(root);
    problem_.accumulator = loops::register_dtype(problem_.space.accumulate);
  }

  ContractionProblem read() {
    using Kind = ContractionDim::Kind;
    batch_ = dims_of(Kind::kBatch);
    const std::vector<int> m = dims_of(Kind::kM), n = dims_of(Kind::kN);
    problem_.ways = {way(m, 0, n, 1), way(n, 1, m, 0)};
    if (n.empty()) add_way_along_batch(m, 0, 1);
    if (m.empty()) add_way_along_batch(n, 1, 0);
    if (!add_way_along_depth()) add_way_of_few_columns();
    return std::move(problem_);
  }

 private:
  const Shape& result() const { return problem_.op->result()->type.shape; }

  std::vector<int> dims_of(ContractionDim::Kind kind) const {
    std::vector<int> dims;
    for (size_t d = 0; d < problem_.space.dims.size(); ++d) {
      const ContractionDim& dim = problem_.space.dims[d];
      if (dim.kind == kind && dim.extent != 1) dims.push_back(static_cast<int>(d));
    }
    if (kind != ContractionDim::Kind::kK) {
      std::ranges::stable_sort(dims, std::greater<>{},
                               [&](int d) { return result_stride(problem_.space, result(), d); });
    }
    return dims;
  }

  // Where the elements of a slice lie in what it is of.
  ContractionSide look_through_boxes(ContractionSide side) const {
    while (side.is_affine() && !draft_.kept(side.value) && is_box(*side.value->op)) {
      const Op& box = *side.value->op;
      side = {box.operand(0), compose(side.accesses, access_map(box).pieces[0].axes)};
    }
    return side;
  }

  // Pieces side by side along the depth and nothing else, without gaps, which kernels read from where they lie.
  bool is_joined(const ContractionSide& side) const {
    const std::vector<int> depth = dims_of(ContractionDim::Kind::kK);
    if (draft_.kept(side.value) || depth.size() != 1 || side.is_dilated()) return false;
    const std::optional<Joint> joint = joint_of(*side.value->op);
    if (!joint) return false;
    const int64_t extent = side.value->type.shape[joint->dim];
    const AxisMap& access = side.accesses[joint->dim];
    return extent <= kJoinedDepthMax && extent == problem_.space.dims[depth[0]].extent && follows(access, depth[0]) &&
           access.constant == 0;
  }

  OperandSide operand_side(int operand, std::vector<int> dims) const {
    OperandSide it;
    const auto& accesses = operand == 0 ? problem_.space.lhs : problem_.space.rhs;
    it.side = look_through_boxes({problem_.op->operand(operand), accesses});
    it.operand = operand;
    it.dims = std::move(dims);
    const Value* value = it.side.value;
    it.is_kept = draft_.kept(value);
    it.is_in_buffer = it.is_kept && it.side.is_affine();
    it.is_plain = it.is_in_buffer && value->type.dtype == problem_.space.factor();
    it.is_joined = is_joined(it.side);
    const auto moves = [&](const Value* part) { return is_moved(part); };
    it.is_moved = it.is_joined ? std::ranges::any_of(value->op->operands, moves) : is_moved(value);
    note_preparing(it, batch_);
    return it;
  }

  void note_preparing(OperandSide& it, const std::vector<int>& batch) const {
    Value* whole = problem_.op->operand(it.operand);
    it.is_invariant = draft_.is_invariant(whole);
    it.can_be_prepared = batch.empty() && whole->uses.size() == 1;
    // What packs it has to be the first step, so that it can go before the loop, or be left to the compiler.
    it.can_be_hoisted = it.can_be_prepared && draft_.step_count() == 0 && it.is_invariant && is_small_packed(whole);
  }

  // Beside what it is made of: a broadcast is no constant of its own, nor are integers in the place of bytes.
  bool is_small_packed(Value* value) const {
    int64_t bytes = 0;
    for (const Value* input : draft_.inputs_of({value})) bytes += input->type.bytes();
    return value->type.elements() * problem_.accumulator_bytes() <= 2 * bytes;
  }

  // What is moved on the way from a buffer is read against its order.
  bool is_moved(const Value* value) const {
    return !draft_.kept(value) && value->op->def->only_moves() &&
           merged_dims(draft_, value) < std::ssize(long_dims(value->type.shape));
  }

  // So many elements of a value that is moved on the way, from each multiple of that many on, follow each other in the
  // buffer from which they are read.
  int64_t run_in_buffer(const Value* value) const {
    if (draft_.is_made(value)) return value->type.elements();
    if (!value->op->def->only_moves()) return 1;
    const Op& op = *value->op;
    const AccessMap map = access_map(op);
    if (map.is_flat) return run_in_buffer(op.operand(0));
    const std::vector<int> from = long_dims(op.operand(0)->type.shape), to = long_dims(value->type.shape);
    if (map.pieces.size() != 1 || from.empty() || to.empty()) return 1;
    const AxisMap& last = map.pieces[0].axes[from.back()];
    if (!follows(last, to.back()) || last.constant != 0 || last.start >= 0) return 1;
    return std::gcd(value->type.shape[to.back()], run_in_buffer(op.operand(0)));
  }

  std::vector<int> depth_as_it_lies(const OperandSide& it) const {
    std::vector<int> depth = dims_of(ContractionDim::Kind::kK);
    std::ranges::stable_sort(depth, std::greater<>{}, [&](int d) { return std::abs(it.side.stride(d)); });
    return depth;
  }

  // Whether columns, where they are more than the rows, can be read where they lie in that order alone.
  bool gain_by_order(const Orientation& way, const std::vector<int>& depth) const {
    const OperandSide& it = way.columns;
    return it.is_plain && problem_.extent(it.dims) > problem_.extent(way.rows.dims) &&
           it.side.linear(depth, problem_.space.dims) && !it.side.linear(way.depth, problem_.space.dims);
  }

  Orientation way(std::vector<int> rows, int rows_operand, std::vector<int> columns, int columns_operand) const {
    Orientation way;
    way.batch = batch_;
    way.rows = operand_side(rows_operand, std::move(rows));
    way.columns = operand_side(columns_operand, std::move(columns));
    way.depth = depth_as_it_lies(way.rows);
    if (const std::vector<int> other = depth_as_it_lies(way.columns); gain_by_order(way, other)) way.depth = other;
    const auto runs_along_depth = [&](const OperandSide& it) {
      return std::ranges::any_of(way.depth, [&](int d) { return std::abs(it.side.stride(d)) == 1; });
    };
    const auto runs_along_dims = [&](const OperandSide& it) {
      return !it.dims.empty() && it.side.stride(it.dims.back()) == 1;
    };
    const auto runs_in_vectors = [&](const OperandSide& it) {
      return run_in_buffer(it.side.value) % target_.lanes(problem_.accumulator) == 0;
    };
    const auto lie = [&](const OperandSide& it, bool in_line, bool across) {
      if (it.is_moved && !(&it == &way.columns && in_line && runs_in_vectors(it))) return Lie::kScattered;
      return in_line ? Lie::kInLine : across ? Lie::kAcross : Lie::kScattered;
    };
    way.rows.lie = lie(way.rows, runs_along_depth(way.rows) || way.rows.dims.empty(),
                       runs_along_dims(way.rows) && way.rows.dims.size() == 1);
    way.columns.lie = lie(way.columns, runs_along_dims(way.columns), runs_along_depth(way.columns));
    for (OperandSide* it : {&way.rows, &way.columns}) {
      it->stride = it->side.linear(it->dims, problem_.space.dims);
      it->depth_stride = it->side.linear(way.depth, problem_.space.dims);
    }
    const std::vector<int>& last = way.columns.dims;
    if (!last.empty()) way.result_stride = result_stride(problem_.space, result(), last.back());
    way.lanes = last.empty() ? 1 : target_.lanes(problem_.accumulator);
    return way;
  }

  void add_way_along_batch(const std::vector<int>& rows, int rows_operand, int columns_operand) {
    if (batch_.empty()) return;
    const int last = batch_.back();
    Orientation way = this->way(rows, rows_operand, {last}, columns_operand);
    // The columns may lie otherwise: they are packed.
    const bool rows_lie_along = !way.rows.is_moved && way.rows.side.stride(last) == 1;
    const bool is_joined = way.rows.is_joined || way.columns.is_joined;
    if (way.result_stride != 1 || !rows_lie_along || is_joined || way.columns.side.is_dilated()) return;
    way.batch.pop_back();
    way.has_own_rows = true;
    note_preparing(way.columns, way.batch);
    problem_.ways.push_back(std::move(way));
  }

  // Its columns are the operand with more of them, which is read once.
  bool add_way_along_depth() {
    const auto count = [&](const Orientation& way) { return problem_.extent(way.columns.dims); };
    Orientation way = count(problem_.ways[0]) >= count(problem_.ways[1]) ? problem_.ways[0] : problem_.ways[1];
    const auto lies_along = [](const OperandSide& it) {
      return (it.is_plain || it.made) && !it.is_joined && it.stride && it.depth_stride == 1;
    };
    if (way.depth.empty()) return false;
    if (is_whole(way.columns, way.depth) && target_.lanes(problem_.accumulator) > 1)
      way.columns.made = made_columns(draft_, way.columns.side, way.depth.back());
    if (!lies_along(way.rows) || !lies_along(way.columns)) return false;
    turn_along_depth(way);
    return true;
  }

  // Whether an operand is [columns][depth] and nothing else.
  bool is_whole(const OperandSide& it, const std::vector<int>& depth) const {
    const int64_t count = problem_.extent(it.dims) * problem_.extent(depth);
    return batch_.empty() && it.dims.size() <= 1 && it.side.value->type.elements() == count;
  }

  // Fewer columns than lanes: packed one after the other, each along the depth, as the rows lie.
  void add_way_of_few_columns() {
    const int lanes = target_.lanes(problem_.accumulator);
    for (size_t k = 0; k < 2; ++k) {
      Orientation way = problem_.ways[k];
      const int64_t columns = problem_.extent(way.columns.dims);
      const bool lies_along = !way.depth.empty() && way.rows.side.stride(way.depth.back()) == 1 && !way.rows.is_moved &&
                              !way.rows.is_joined;
      if (!lies_along || way.columns.is_joined || way.columns.dims.size() > 1) continue;
      if (columns >= lanes || problem_.extent(way.depth) < lanes || columns > problem_.extent(way.rows.dims)) continue;
      way.columns.lie = way.columns.side.stride(way.depth.back()) == 1 ? Lie::kInLine : Lie::kScattered;
      return turn_along_depth(way);
    }
  }

  void turn_along_depth(Orientation& way) {
    way.lanes = 1;
    way.depth_lanes = target_.lanes(problem_.accumulator);
    problem_.ways.push_back(std::move(way));
  }

  const Draft& draft_;
  const loops::Target& target_;
  ContractionProblem problem_;
  std::vector<int> batch_;
};

// A chunk of at most `limit` that cuts `extent` evenly where that needs at most twice as many chunks.
int64_t even_chunk(int64_t extent, int64_t limit) {
  const int64_t min_chunks = divide_up(extent, limit);
  for (int64_t count = min_chunks; count <= 2 * min_chunks; ++count) {
    if (extent % count == 0) return extent / count;
  }
  return divide_up(extent, min_chunks);
}

// The cut axis' chunk of at most `limit` columns that wastes least of the tiles' width.
int64_t least_padded_chunk(const Blocked& columns, int64_t tile, int64_t limit) {
  const int64_t inner = columns.inner(), extent = columns.extent();
  int64_t best = 1, min_padded = std::numeric_limits<int64_t>::max();
  for (int64_t chunk = 1; chunk <= extent && chunk * inner <= std::max(limit, inner); ++chunk) {
    const int64_t padded = extent / chunk * round_up(chunk * inner, tile) + round_up(extent % chunk * inner, tile);
    if (padded > min_padded) continue;
    min_padded = padded;
    best = chunk;
  }
  return best;
}

std::vector<Axis> column_axes(const ContractionProblem& problem, const Orientation& way) {
  const Shape& result = problem.op->result()->type.shape;
  const ContractionSide& side = way.columns.side;
  std::vector<Axis> axes;
  for (const int d : way.columns.dims) {
    const int64_t extent = problem.space.dims[d].extent;
    if (way.columns.is_in_buffer && !axes.empty()) {
      Axis& last = axes.back();
      const int outer = last.dims.back();
      if (side.stride(outer) == side.stride(d) * extent &&
          result_stride(problem.space, result, outer) == result_stride(problem.space, result, d) * extent) {
        last.dims.push_back(d);
        last.extent *= extent;
        continue;
      }
    }
    axes.push_back({{d}, extent});
  }
  if (axes.empty()) axes.push_back({{}, 1});
  return axes;
}

}  // namespace

ContractionProblem read_problem(const Draft& draft, const Op& root, const loops::Target& target) {
  return Reader(draft, root, target).read();
}

Blocked cut_depth(const ContractionProblem& problem, const Orientation& way, int64_t limit) {
  Blocked depth;
  for (const int d : way.depth) depth.axes.push_back({{d}, problem.space.dims[d].extent});
  if (depth.axes.empty()) depth.axes.push_back({{}, 1});
  if (depth.total() <= limit) {
    depth.chunk = depth.extent();
    return depth;
  }
  depth.cut = static_cast<int>(depth.axes.size()) - 1;
  while (depth.cut > 0 && depth.inner() * depth.extent() * 2 <= limit) --depth.cut;
  depth.chunk = even_chunk(depth.extent(), std::max<int64_t>(1, limit / depth.inner()));
  return depth;
}

Blocked cut_columns(const ContractionProblem& problem, const Orientation& way, int64_t tile, int64_t limit) {
  Blocked columns;
  columns.axes = column_axes(problem, way);
  columns.cut = static_cast<int>(columns.axes.size()) - 1;
  // Short inner axes are taken whole, several times over, as long as the result's elements follow each other, or do so
  // within each vector, or there are not enough of them for a tile.
  const auto step_of = [&](const Axis& axis) {
    return axis.dims.empty() ? 1 : result_stride(problem.space, problem.op->result()->type.shape, axis.dims.back());
  };
  const auto may_cross = [&] {
    const int64_t inner = columns.width_of_cut();
    const bool follows = step_of(columns.axes[columns.cut - 1]) == inner * step_of(columns.axes.back());
    return follows || inner % way.lanes == 0 || inner < tile;
  };
  while (columns.cut > 0 && columns.width_of_cut() * 2 <= limit && columns.width_of_cut() < 4 * tile && may_cross())
    --columns.cut;
  if (!columns.cuts_last_axis()) {
    columns.chunk = least_padded_chunk(columns, tile, limit);
    return columns;
  }
  const int64_t panels = divide_up(columns.extent(), tile);
  columns.chunk = std::min(columns.extent(), divide_up(panels, divide_up(panels, limit / tile)) * tile);
  return columns;
}

}  // namespace ingot::schedule
