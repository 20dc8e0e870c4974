#include "aot/analysis/row_use.h"

#include <algorithm>
#include <span>
#include <utility>

#include "aot/analysis/walk.h"
#include "aot/base/contains.h"
#include "aot/graph/access_map.h"
#include "aot/loops/contraction.h"
#include "aot/ops/ops.h"
#include "aot/ops/support/dimension_numbers.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/region.h"
#include "aot/ops/support/window.h"

namespace ingot {
namespace {

constexpr const OpDef* kCombiners[] = {&kAdd, &kMaximum, &kMinimum, &kAnd, &kOr};

int64_t extent(const Op& op, int operand, int dim) { return op.operand(operand)->type.shape[dim]; }

bool is_zero(const Value* value) {
  const LiteralRef literal = constant_of(value);
  return literal && std::ranges::all_of(literal->data, [](std::byte byte) { return byte == std::byte{0}; });
}

// Follows the rows through one op. Each rule says of an op's operands where it reads rows.
class RowRule {
 public:
  RowRule(const Op& op, const std::vector<RowDim>& rows) : op_(op), rows_(rows) {
    use_.operands.assign(op.operands.size(), -1);
    first_ = static_cast<int>(std::ranges::find_if(rows, &RowDim::any) - rows.begin());
  }

  std::optional<RowUse> run() {
    if (op_.def->has_side_effect || op_.def->root == KernelRoot::kControlFlow) return std::nullopt;
    if (!is_understood() || !operands_agree()) return std::nullopt;
    return use_;
  }

 private:
  using Follow = bool (RowRule::*)();
  struct Row {
    const OpDef* op;
    Follow follow;
  };

  static std::span<const Row> table() {
    static const Row kTable[] = {
        {&kReduce, &RowRule::reduce},
        {&kReduceWindow, &RowRule::windows},
        {&kSelectAndScatter, &RowRule::windows},
        {&kSort, &RowRule::sort},
        {&kDynamicUpdateSlice, &RowRule::put},
        {&kGather, &RowRule::gather},
        {&kScatter, &RowRule::scatter},
        {&kTopK, &RowRule::top_k},
    };
    return kTable;
  }

  bool is_understood() {
    const auto found = std::ranges::find(table(), op_.def, &Row::op);
    if (found != table().end()) return (this->*found->follow)();
    if (op_.def->is_elementwise) return elements();
    if (op_.def->access) return moves();
    return op_.def->contraction && contraction();
  }

  // Operands that have rows have them where the op reads them; what has none is cut into as many.
  bool operands_agree() const {
    for (size_t i = 0; i < rows_.size(); ++i) {
      const int dim = use_.operands[i];
      if (rows_[i].any() && (dim != rows_[i].dim || rows_[i].each != each())) return false;
      if (dim >= 0 && extent(op_, static_cast<int>(i), dim) != extent(op_, first_, rows_[first_].dim)) return false;
    }
    return true;
  }

  const RowDim& first() const { return rows_[first_]; }
  int64_t each() const { return first().each; }
  void gives(int64_t dim) { use_.results = {static_cast<int>(dim), each()}; }
  void read(size_t operand, int64_t dim) { use_.operands[operand] = static_cast<int>(dim); }

  // Elements stand beside each other; a scalar stands for all.
  bool elements() {
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (op_.operand(static_cast<int>(i))->type.rank() > 0) read(i, first().dim);
    }
    gives(first().dim);
    return true;
  }

  bool moves() {
    const AccessMap map = access_map(op_);
    if (map.is_flat) {
      const auto to = reshaped_rows(first(), op_.operand(0)->type.shape, op_.result()->type.shape);
      read(0, first().dim);
      if (to) use_.results = *to;
      return to.has_value();
    }
    const Shape& space = op_.result()->type.shape;
    const auto of_first = std::ranges::find(map.pieces, first_, &AccessPiece::operand);
    if (of_first == map.pieces.end()) return false;
    const std::optional<int> dim = followed(of_first->axes[first().dim], space);
    if (!dim) return false;
    for (const AccessPiece& piece : map.pieces) {
      const std::optional<int> from = read_along(piece.axes, *dim, space[*dim], op_.operand(piece.operand)->type.shape);
      if (!from || (use_.operands[piece.operand] >= 0 && use_.operands[piece.operand] != *from)) return false;
      read(piece.operand, *from);
    }
    gives(*dim);
    return true;
  }

  // The dimension of the space that the map follows from its first place on.
  static std::optional<int> followed(const AxisMap& axis, const Shape& space) {
    for (int d = 0; d < std::ssize(space); ++d) {
      if (axis.constant == 0 && follows(axis, d)) return d;
    }
    return std::nullopt;
  }

  // The dimension of an operand that is read along `dim` of the space, place by place; -1: none depends on it.
  static std::optional<int> read_along(const std::vector<AxisMap>& axes, int dim, int64_t places, const Shape& shape) {
    int found = -1;
    for (int d = 0; d < std::ssize(axes); ++d) {
      if (axes[d].coefficients[dim] == 0) continue;
      if (found >= 0 || axes[d].constant != 0 || !follows(axes[d], dim) || shape[d] != places) return std::nullopt;
      found = d;
    }
    return found;
  }

  // One dimension of the space is the rows: the result's, or one that is summed over.
  bool contraction() {
    const loops::Contraction space = op_.def->contraction(op_);
    Shape extents;
    for (const loops::ContractionDim& dim : space.dims) extents.push_back(dim.extent);
    const std::vector<AxisMap>* axes[] = {&space.lhs, &space.rhs};
    const std::optional<int> dim = followed((*axes[first_])[first().dim], extents);
    if (!dim) return false;
    for (int i = 0; i < 2; ++i) {
      const std::optional<int> from = read_along(*axes[i], *dim, extents[*dim], op_.operand(i)->type.shape);
      if (!from) return false;
      read(i, *from);
    }
    const bool is_summed = space.dims[*dim].kind == loops::ContractionDim::Kind::kK;
    if (is_summed) return use_.operands[0] >= 0 && use_.operands[1] >= 0;
    const std::optional<int> to = read_along(space.out, *dim, extents[*dim], op_.result()->type.shape);
    if (!to || *to < 0) return false;
    gives(*to);
    return true;
  }

  bool reduce() {
    const size_t count = op_.operands.size() / 2;
    for (size_t i = 0; i < count; ++i) read(i, first().dim);
    const std::vector<int64_t> dims = op_.attrs().ints("dimensions");
    if (!contains(dims, first().dim)) {
      gives(ops::position_of(ops::other_dims(op_.operand(0)->type.rank(), dims), first().dim));
      return true;
    }
    const OpDef* combiner = row_combiner(op_);
    return count == 1 && contains(kCombiners, combiner) && (combiner != &kAdd || is_zero(op_.operand(1)));
  }

  // The dimension of the rows passes through; the last operands are where windows start from.
  bool windows() {
    if (!ops::read_window(op_.attrs())[first().dim].is_trivial()) return false;
    const size_t starts = op_.is(kSelectAndScatter) ? 1 : op_.operands.size() / 2;
    for (size_t i = 0; i + starts < op_.operands.size(); ++i) read(i, first().dim);
    gives(first().dim);
    return true;
  }

  bool sort() {
    const int64_t dim = op_.attrs().integer("dimension", -1);
    if ((dim < 0 ? dim + op_.result()->type.rank() : dim) == first().dim) return false;
    return elements();
  }

  bool top_k() { return first().dim + 1 < op_.operand(0)->type.rank() && elements(); }

  // A part of each row is overwritten.
  bool put() {
    for (const int i : {0, 1}) read(i, first().dim);
    gives(first().dim);
    return true;
  }

  // From a table that all rows read, or from each row of one.
  bool gather() {
    const ops::IndexedDims dims = ops::read_gather_dims(op_.attrs());
    return indexed(dims, 0, 1) && use_.results.any();
  }

  // Into each row of a tensor, or the updates of all rows into one.
  bool scatter() {
    if (op_.operands.size() != 3) return false;
    const ops::IndexedDims dims = ops::read_scatter_dims(op_.attrs());
    if (!indexed(dims, 0, 1)) return false;
    read(2, use_.results.dim);
    if (use_.operands[0] >= 0) {
      gives(use_.operands[0]);
      return true;
    }
    const int batched = std::exchange(use_.results, {}).dim;
    return batched == 0 || contains(kCombiners, row_combiner(op_));
  }

  // Says where the tensor that is indexed, its indices, and what is read or updated by them (as a result) have the rows.
  bool indexed(const ops::IndexedDims& dims, int whole, int indices) {
    const int rank = static_cast<int>((op_.is(kScatter) ? op_.operand(2) : op_.result())->type.rank());
    const std::vector<int64_t> batch = dims.batch_dims(rank);
    const auto in_indices = [&](int64_t batch_dim) {
      return batch_dim < dims.index_vector_dim ? batch_dim : batch_dim + 1;
    };
    for (size_t k = 0; k < batch.size(); ++k) {
      const int64_t dim = in_indices(static_cast<int64_t>(k));
      const int paired = ops::position_of(dims.indices_batch, dim);
      const int64_t of_whole = paired < 0 ? -1 : dims.operand_batch[paired];
      if (!is_there(whole, of_whole) || !is_there(indices, dim) || !is_there(2, batch[k])) continue;
      read(whole, of_whole);
      read(indices, dim);
      gives(batch[k]);
      return true;
    }
    return window_has_rows(dims, whole, indices);
  }

  // All indices are for every row: the rows are a dimension of the windows that is read or updated as a whole.
  bool window_has_rows(const ops::IndexedDims& dims, int whole, int indices) {
    if (rows_[indices].any()) return false;
    const std::vector<int64_t> kept = dims.kept_dims(static_cast<int>(op_.operand(whole)->type.rank()));
    for (size_t k = 0; k < kept.size(); ++k) {
      const TensorType& batched = (op_.is(kScatter) ? op_.operand(2) : op_.result())->type;
      const bool is_whole = batched.shape[dims.window_dims[k]] == extent(op_, whole, static_cast<int>(kept[k]));
      if (!is_there(whole, kept[k]) || !is_there(2, dims.window_dims[k])) continue;
      if (!is_whole || contains(dims.index_map, kept[k])) return false;
      read(whole, kept[k]);
      gives(dims.window_dims[k]);
      return true;
    }
    return false;
  }

  // Whether an operand may have its rows there: it has none elsewhere, and not only others have some.
  bool is_there(int operand, int64_t dim) const {
    if (operand >= std::ssize(rows_) || !rows_[operand].any()) return true;
    return rows_[operand].dim == dim;
  }

  const Op& op_;
  const std::vector<RowDim>& rows_;
  int first_ = 0;  // the first operand that has rows
  RowUse use_;
};

int64_t elements_in(const Shape& shape, size_t first, size_t end) {
  int64_t elements = 1;
  for (size_t d = first; d < end; ++d) elements *= shape[d];
  return elements;
}

}  // namespace

std::optional<RowUse> row_use(const Op& op, const std::vector<RowDim>& rows) { return RowRule(op, rows).run(); }

const OpDef* row_combiner(const Op& op) {
  if (op.def->contraction) return &kAdd;
  return op.is(kReduce) || op.is(kScatter) ? ops::binary_region_op(op.region()) : nullptr;
}

std::optional<RowDim> reshaped_rows(const RowDim& rows, const Shape& from, const Shape& to) {
  const int64_t before = elements_in(from, 0, rows.dim), row = rows.each * elements_in(from, rows.dim + 1, from.size());
  const int64_t count = from[rows.dim] / rows.each;
  for (size_t d = 0; d < to.size(); ++d) {
    const int64_t behind = elements_in(to, d + 1, to.size());
    if (elements_in(to, 0, d) == before && behind > 0 && row % behind == 0 && to[d] == count * (row / behind))
      return RowDim{static_cast<int>(d), row / behind};
  }
  return std::nullopt;
}

}  // namespace ingot
