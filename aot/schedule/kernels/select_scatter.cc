// select_and_scatter: start values everywhere; then each window, once, finds its winner from its first element on and
// combines its source element into that.
//
// Tasks have slices of the dimensions that windows pass through: no two write the same element, and within a slice
// windows come in ascending order. Where such a dimension is innermost, vectors lie along it, and each element of a
// window asks in which lanes it has won. Elsewhere a vector finds the winners of several windows, which are then
// served one by one.
#include <algorithm>
#include <limits>

#include "aot/base/contains.h"
#include "aot/schedule/kernels/window_walk.h"
#include "aot/schedule/sweep.h"
#include "aot/schedule/templates.h"

namespace ingot::schedule {
namespace {

using loops::Expr;
using loops::Index;
using loops::ScalarOp;

class SelectScatter {
 public:
  SelectScatter(Draft& draft, const Op& root)
      : root_(root),
        window_(ops::read_window(root.attrs())),
        shape_(root.operand(0)->type.shape),
        positions_(root.operand(1)->type.shape),
        place_dtype_(element_count(shape_) <= std::numeric_limits<int32_t>::max() ? DType::kI32 : DType::kI64),
        step_(draft, lanes_of(draft)),
        b_(step_.b()) {
    choose_dims(collapsible_dims(draft, window_, {root.operand(0), root.operand(1)}, static_cast<int>(shape_.size())));
    step_.read({root.result()});
    step_.write({root.result()});
  }

  void build() {
    if (element_count(shape_) == 0) {
      b_.set_task_count(0);
      return step_.finish();
    }
    const auto visits = static_cast<double>(element_count(positions_) * element_count(ops::sizes(window_)));
    const int64_t wanted =
        wanted_tasks(step_.draft(), step_.draft().target().machine.flop_ns * root_.def->flops * visits);
    const Shape slices = extents(slice_dims_);
    const int64_t run = element_count(extents(run_dims_));
    const int64_t wanted_pieces = passes_through_ ? std::max<int64_t>(1, wanted / element_count(slices)) : 1;
    const TaskSplit pieces = split_tasks(run, wanted_pieces, b_.vector_lanes());
    declare();
    for_each_unit(b_, "part", element_count(slices) * pieces.tasks, wanted, [&](const Index& part) {
      const std::vector<Index> slice = loops::unflatten(b_, b_.divide(part, pieces.tasks), slices);
      std::vector<Index> at(shape_.size(), Index(0));
      for (size_t d = 0; d < slice.size(); ++d) at[slice_dims_[d]] = slice[d];
      const Run piece{b_.modulo(part, pieces.tasks) * pieces.each, pieces.each, run};
      start(at, piece);
      serve_windows(at, passes_through_ ? piece : Run{0, positions_at(lane_dim_), positions_at(lane_dim_)});
    });
    step_.finish();
  }

 private:
  // first .. first + each of `extent` elements
  struct Run {
    Index first;
    int64_t each, extent;
  };

  int lanes_of(const Draft& draft) const {
    if (shape_.empty()) return 1;
    return std::min(summing_lanes_for(draft, {root_.result()}),
                    draft.target().order().vector_bytes / info(place_dtype_).bytes);
  }

  bool slides(int dim) const { return !window_[dim].is_trivial(); }
  int64_t positions_at(int dim) const { return dim < 0 ? 1 : positions_[dim]; }

  Shape extents(const std::vector<int>& dims) const {
    Shape result;
    for (const int d : dims) result.push_back(shape_[d]);
    return result;
  }

  // `merged`: so many of the innermost dimensions may be walked as one if windows pass through them.
  void choose_dims(int merged) {
    const std::vector<int> dims = long_dims(shape_);
    last_ = dims.empty() ? static_cast<int>(shape_.size()) - 1 : dims.back();
    passes_through_ = last_ >= 0 && !slides(last_);
    lane_dim_ = passes_through_ ? last_ : find_lane_dim();
    const auto is_slice = [&](int d) { return !slides(d) && d != lane_dim_; };
    for (auto d = dims.rbegin(); d != dims.rend(); ++d) {
      if (passes_through_ ? merged-- <= 0 : is_slice(*d)) break;
      run_dims_.push_back(*d);
    }
    for (const int d : dims) {
      if (is_slice(d) && !contains(run_dims_, d)) slice_dims_.push_back(d);
    }
  }

  // The last dimension along which windows slide, unless it has few positions: then it may be one that they pass
  // through. Along any other, the windows of a vector would not be in order.
  int find_lane_dim() const {
    int found = last_;
    bool is_last = true;
    for (int d = static_cast<int>(positions_.size()) - 1; d >= 0; --d) {
      if (positions_[d] == 1 || (slides(d) && !is_last)) continue;
      if (slides(d) && positions_[d] >= b_.vector_lanes()) return d;
      is_last &= !slides(d);
      if (positions_[d] > positions_[found]) found = d;
    }
    return found;
  }

  void declare() {
    const DType key = loops::register_dtype(root_.operand(0)->type.dtype);
    best_ = b_.tile("best", key, b_.vector_lanes());
    chosen_ = b_.tile("chosen", place_dtype_, b_.vector_lanes());
    if (passes_through_) return;
    winners_ = b_.scratch("winners", place_dtype_, b_.vector_lanes());
    sources_ = b_.scratch("sources", loops::register_dtype(root_.operand(1)->type.dtype), b_.vector_lanes());
  }

  // Walks `at` through all dimensions but those of slices and `other` ones.
  void walk(const Shape& shape, const std::vector<int>& other, std::vector<Index>& at,
            const std::function<void()>& body, int d = 0) {
    if (d == static_cast<int>(shape.size())) return body();
    if (contains(slice_dims_, d) || contains(other, d)) return walk(shape, other, at, body, d + 1);
    b_.loop("d", 0, shape[d], 1, [&](const Index& i) {
      at[d] = i;
      walk(shape, other, at, body, d + 1);
    });
  }

  void start(std::vector<Index> at, const Run& run) {
    Pull::Scope scope(step_.pull());
    const Expr value = b_.let("start", step_.pull().element(root_.operand(2), {}, nullptr));
    walk(shape_, run_dims_, at, [&] {
      walk_run(b_, run.first, run.each, run.extent, [&](const Index& i, const Expr& mask) {
        if (last_ >= 0) at[last_] = i;
        step_.store(root_.result(), at, value, mask);
      });
    });
  }

  void serve_windows(std::vector<Index> position, const Run& run) {
    walk(positions_, passes_through_ ? run_dims_ : std::vector<int>{lane_dim_}, position, [&] {
      walk_run(b_, run.first, run.each, run.extent, [&](const Index& i, const Expr& mask) {
        Pull::Scope scope(step_.pull());
        if (lane_dim_ >= 0) position[lane_dim_] = i;
        find_winners(position, mask);
        const Expr source = b_.let("source", step_.pull().element(root_.operand(1), position, mask));
        passes_through_ ? combine_lanes(position, source, mask) : combine_one_by_one(position, i - b_.lane(), source);
      });
    });
  }

  // The place from which those of a window's elements are counted.
  Index origin(const std::vector<Index>& position) const {
    std::vector<Index> first = position;
    for (size_t d = 0; d < window_.size(); ++d) {
      const ops::WindowDim& dim = window_[d];
      if (!dim.is_trivial()) first[d] = dim.base_dilation > 1 ? Index(0) : position[d] * dim.stride - dim.low;
    }
    return loops::flatten(first, shape_);
  }

  // body(element's index, its place in the window, mask) for the elements of the windows at `position`.
  void walk_elements(const std::vector<Index>& position, const Expr& mask,
                     const std::function<void(const std::vector<Index>&, const Expr&, const Expr&)>& body) {
    walk_offsets(b_, ops::sizes(window_), [&](const std::vector<Index>& offset) {
      Expr exists = nullptr;
      const std::vector<Index> at = place_of(b_, window_, shape_, position, offset, exists);
      const Expr place = b_.index_value(loops::flatten(at, shape_) - origin(position), place_dtype_);
      const bool is_same = exists && exists->lanes == 1;
      b_.if_then(is_same ? exists : nullptr, [&] {
        Pull::Scope scope(step_.pull());
        body(at, place, is_same ? mask : b_.both(mask, exists));
      });
    });
  }

  // Leaves in `chosen_` the place of each window's winner, -1 where there is none.
  void find_winners(const std::vector<Index>& position, const Expr& mask) {
    b_.set(chosen_, {}, b_.constant_int(place_dtype_, -1));
    b_.set(best_, {}, b_.constant_int(b_.kernel().tiles[best_].dtype, 0));
    walk_elements(position, mask, [&](const std::vector<Index>& at, const Expr& place, const Expr& exists) {
      const Expr key = b_.let("key", step_.pull().element(root_.operand(0), at, exists));
      const Expr stays = b_.both(run_region(b_, root_.region(0), {b_.read(best_), key})[0], is_found(b_.read(chosen_)));
      const Expr takes = b_.let("takes", b_.both(exists, b_.apply(ScalarOp::kNot, {stays})));
      b_.set(best_, {}, b_.apply(ScalarOp::kSelect, {takes, key, b_.read(best_)}));
      b_.set(chosen_, {}, b_.apply(ScalarOp::kSelect, {takes, place, b_.read(chosen_)}));
    });
  }

  Expr is_found(const Expr& place) {
    return b_.apply(ScalarOp::kGreaterEqual, {place, b_.constant_int(place_dtype_, 0)});
  }

  void combine_lanes(const std::vector<Index>& position, const Expr& source, const Expr& mask) {
    walk_elements(position, mask, [&](const std::vector<Index>& at, const Expr& place, const Expr& exists) {
      const Expr old = b_.let("old", b_.load(step_.output(root_.result()), loops::flatten(at, shape_), exists));
      const Expr has_won = b_.apply(ScalarOp::kEqual, {b_.read(chosen_), place});
      const Expr combined = run_region(b_, root_.region(1), {old, source})[0];
      step_.store(root_.result(), at, b_.apply(ScalarOp::kSelect, {has_won, combined, old}), exists);
    });
  }

  // The windows of a vector whose first one is at `first` of `lane_dim_`.
  void combine_one_by_one(std::vector<Index> position, const Index& first, const Expr& source) {
    b_.store(winners_, b_.lane(), b_.read(chosen_));
    b_.store(sources_, b_.lane(), source);
    b_.loop("lane", 0, b_.vector_lanes(), 1, [&](const Index& lane) {
      const Expr winner = b_.let("winner", b_.load(winners_, lane));
      b_.if_then(is_found(winner), [&] {
        if (lane_dim_ >= 0) position[lane_dim_] = first + lane;
        std::vector<Index> at(shape_.size(), Index(0));
        const Expr place = b_.apply(ScalarOp::kAdd, {b_.index_value(origin(position), place_dtype_), winner});
        const Index to = b_.trusted_index("to", place, 0, element_count(shape_) - 1);
        if (last_ >= 0) at[last_] = to;
        const Expr old = b_.load(step_.output(root_.result()), to);
        const Expr combined = run_region(b_, root_.region(1), {old, b_.load(sources_, lane)})[0];
        step_.store(root_.result(), at, b_.let("combined", combined), nullptr);
      });
    });
  }

  const Op& root_;
  ops::Window window_;
  Shape shape_, positions_;  // of the operand, and of the source
  DType place_dtype_;
  Step step_;
  loops::KernelBuilder& b_;

  int last_ = -1;                // the operand's innermost dimension, up to those of extent 1; -1: it has none
  bool passes_through_ = false;  // windows do not slide along `last_`
  int lane_dim_ = -1;            // along which vectors lie
  std::vector<int> slice_dims_;  // tasks split them
  std::vector<int> run_dims_;    // innermost ones that are started as one; tasks split them if windows pass through
  loops::TileId best_ = -1, chosen_ = -1;
  loops::BufferId winners_ = -1, sources_ = -1;
};

}  // namespace

void lower_select_scatter(Draft& draft, const Op& root) { SelectScatter(draft, root).build(); }

}  // namespace ingot::schedule
