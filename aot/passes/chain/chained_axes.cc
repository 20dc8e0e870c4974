#include "aot/passes/chain/chained_axes.h"

#include <algorithm>
#include <map>

#include "aot/analysis/block_part.h"
#include "aot/base/contains.h"
#include "aot/graph/access_map.h"
#include "aot/loops/contraction.h"

namespace ingot {
namespace {

using Axes = std::vector<int>;  // of each dimension; -1: none
using Kind = loops::ContractionDim::Kind;

class AxesFollower {
 public:
  AxesFollower(const Op& kernel, const Op& scores) : kernel_(kernel), scores_(scores) {}

  std::optional<ChainedAxes> follow() {
    start();
    bool is_behind = false;
    for (const auto& op : kernel_.region().ops) {
      if (op.get() == &scores_) {
        is_behind = true;
      } else if (is_behind && !op->def->is_terminator && op->results.size() == 1) {
        follow(*op);
      }
    }
    for (const Value* result : kernel_.region().terminator()->operands) {
      const auto axes = axes_.find(result);
      if (axes == axes_.end()) return std::nullopt;
      found_.result_axes.push_back(axes->second);
    }
    for (const Axes& axes : found_.result_axes) {
      for (size_t axis = 0; axis < found_.batch.size(); ++axis) {
        if (!has(axes, static_cast<int>(axis))) return std::nullopt;
      }
      is_summed_ |= !has(axes, rows_axis());
    }
    if (is_summed_ || found_.rows == 0) drop_rows();
    return std::move(found_);
  }

 private:
  int rows_axis() const { return static_cast<int>(found_.batch.size()); }
  static bool has(const Axes& axes, int axis) { return contains(axes, axis); }

  void drop_rows() {
    found_.rows = 0;
    for (Axes& axes : found_.result_axes) std::ranges::replace(axes, rows_axis(), -1);
  }

  void start() {
    const loops::Contraction space = scores_.def->contraction(scores_);
    std::vector<int> of_dim(space.dims.size(), -1);
    std::vector<int> rows;
    for (size_t d = 0; d < space.dims.size(); ++d) {
      if (space.dims[d].extent == 1) continue;
      if (space.dims[d].kind == Kind::kM) rows.push_back(static_cast<int>(d));
      if (space.dims[d].kind != Kind::kBatch) continue;
      of_dim[d] = static_cast<int>(found_.batch.size());
      found_.batch.push_back(space.dims[d].extent);
    }
    if (rows.size() == 1) {
      of_dim[rows[0]] = rows_axis();
      found_.rows = space.dims[rows[0]].extent;
    }
    axes_[scores_.result()] = out_axes(space, of_dim);
  }

  static Axes out_axes(const loops::Contraction& space, const std::vector<int>& of_dim) {
    Axes axes;
    for (const AxisMap& out : space.out) {
      const std::optional<int> dim = followed_dim(out);
      axes.push_back(dim ? of_dim[*dim] : -1);
    }
    return axes;
  }

  void follow(const Op& op) {
    if (std::ranges::none_of(op.operands, [&](const Value* operand) { return axes_.contains(operand); })) return;
    Axes axes(op.result()->type.shape.size(), -1);
    if (op.def->root == KernelRoot::kContraction) {
      axes = through_contraction(op);
    } else if (op.def->root == KernelRoot::kReduce) {
      axes = through_reduce(op);
    } else if (op.def->is_elementwise) {
      for (const Value* operand : op.operands) take(axes, operand);
    } else {
      axes = through_view(op);
    }
    axes_[op.result()] = std::move(axes);
  }

  void take(Axes& axes, const Value* from) const {
    const auto found = axes_.find(from);
    if (found == axes_.end() || found->second.size() != axes.size()) return;
    for (size_t d = 0; d < axes.size(); ++d) axes[d] = std::max(axes[d], found->second[d]);
  }

  Axes through_contraction(const Op& op) {
    const loops::Contraction space = op.def->contraction(op);
    std::vector<int> of_dim(space.dims.size(), -1);
    for (int i = 0; i < 2; ++i) {
      const auto found = axes_.find(op.operand(i));
      if (found == axes_.end()) continue;
      const std::vector<AxisMap>& maps = i == 0 ? space.lhs : space.rhs;
      for (size_t j = 0; j < maps.size(); ++j) {
        const std::optional<int> dim = followed_dim(maps[j]);
        if (dim) of_dim[*dim] = std::max(of_dim[*dim], found->second[j]);
      }
    }
    for (size_t d = 0; d < space.dims.size(); ++d)
      is_summed_ |= space.dims[d].kind == Kind::kK && of_dim[d] == rows_axis();
    return out_axes(space, of_dim);
  }

  Axes through_reduce(const Op& op) {
    Axes axes;
    const auto found = axes_.find(op.operand(0));
    if (found == axes_.end()) return Axes(op.result()->type.shape.size(), -1);
    const std::vector<int64_t> reduced = op.attrs().ints("dimensions");
    for (int64_t d = 0; d < std::ssize(found->second); ++d) {
      const int axis = found->second[d];
      if (!contains(reduced, d)) {
        axes.push_back(axis);
      } else {
        is_summed_ |= axis == rows_axis();
      }
    }
    return axes;
  }

  Axes through_view(const Op& op) const {
    Axes axes(op.result()->type.shape.size(), -1);
    const auto found = axes_.find(op.operand(0));
    const std::optional<std::vector<int>> dims = renamed_dims(op);
    if (found == axes_.end() || !dims) return axes;
    for (size_t j = 0; j < dims->size(); ++j) {
      if ((*dims)[j] >= 0) axes[(*dims)[j]] = found->second[j];
    }
    return axes;
  }

  const Op& kernel_;
  const Op& scores_;
  ChainedAxes found_;
  std::map<const Value*, Axes> axes_;
  bool is_summed_ = false;  // over the rows, somewhere
};

}  // namespace

std::optional<ChainedAxes> chained_axes(const Op& kernel, const Op& scores) {
  return AxesFollower(kernel, scores).follow();
}

}  // namespace ingot
