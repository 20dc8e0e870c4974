// reduce_window and select_and_scatter: each result element walks the windows that concern it.
#include "aot/ops/window.h"

#include <algorithm>

#include "aot/schedule/accumulate.h"
#include "aot/schedule/sweep.h"
#include "aot/schedule/templates.h"

namespace ingot::schedule {
namespace {

using loops::Expr;
using loops::Index;
using loops::ScalarOp;

constexpr int64_t kUnrolledOffsets = 16;

int lanes_of(Step& step, const std::vector<Index>& index, const Shape& shape) {
  return step.b().has_lanes(loops::flatten(index, shape)) ? step.b().vector_lanes() : 1;
}

// body(offset in the window, its row-major position), for all of them in order.
void walk_offsets(loops::KernelBuilder& b, const Shape& sizes,
                  const std::function<void(const std::vector<Index>&, const Index&)>& body) {
  std::vector<Index> offset(sizes.size(), Index(0));
  const auto walk = [&](const auto& self, size_t d, const Index& position) -> void {
    if (d == sizes.size()) return body(offset, position);
    const auto enter = [&](Index k) {
      offset[d] = k;
      self(self, d + 1, position * sizes[d] + k);
    };
    if (element_count(sizes) <= kUnrolledOffsets) {
      for (int64_t k = 0; k < sizes[d]; ++k) enter(k);
    } else {
      b.loop("w", 0, sizes[d], 1, enter);
    }
  };
  walk(walk, 0, 0);
}

// Where window element `offset` at `position` finds its element; `mask` takes on the condition that there is one.
std::vector<Index> place_of(loops::KernelBuilder& b, const ops::Window& window, const Shape& shape,
                            const std::vector<Index>& position, const std::vector<Index>& offset, Expr& mask) {
  std::vector<Index> at;
  for (size_t d = 0; d < window.size(); ++d) {
    const ops::WindowDim& dim = window[d];
    if (dim.is_trivial()) {  // it may be merged: its index then runs past its extent
      at.push_back(position[d]);
      continue;
    }
    Index i = position[d] * dim.stride + offset[d] * dim.dilation - dim.low;
    if (dim.base_dilation > 1) {
      const Expr rest = b.index_value(b.modulo(i, dim.base_dilation));
      mask = b.both(mask, b.apply(ScalarOp::kEqual, {rest, b.constant_int(DType::kI64, 0)}));
      i = b.divide(i, dim.base_dilation);
    }
    mask = b.both(mask, b.in_range(i, 0, shape[d]));
    at.push_back(i);
  }
  return at;
}

// How many innermost dimensions may be walked as one beside a window: those that it passes through.
int merged_beside(const Draft& draft, const ops::Window& window, const Values& operands, int merged) {
  const Shape& shape = operands[0]->type.shape;
  const Shape positions = ops::positions(window, shape);
  int through = 0;
  for (size_t d = shape.size(); d-- > 0;) {
    if (shape[d] == 1 && positions[d] == 1) continue;
    if (!window[d].is_trivial()) break;
    ++through;
  }
  for (const Value* operand : operands) through = std::min(through, merged_dims(draft, operand));
  return std::max(1, std::min(through, merged));
}

}  // namespace

void lower_window(Draft& draft, const Op& root) {
  const ops::Window window = ops::read_window(root.attrs());
  Values roots, operands;
  for (size_t i = 0; i < root.results.size(); ++i) {
    roots.push_back(root.result(static_cast<int>(i)));
    operands.push_back(root.operand(static_cast<int>(i)));
  }
  const Shape& shape = operands[0]->type.shape;
  const Values makes = with_epilogue(draft, roots);
  SweepSpace space = sweep_space(draft, makes, roots);
  space.merged = merged_beside(draft, window, operands, space.merged);
  space.strided_dim = -1;

  Step step(draft, lanes_for(draft, roots));
  step.read(makes);
  step.read(roots);
  step.write(makes);
  loops::KernelBuilder& b = step.b();
  const double offsets = static_cast<double>(element_count(ops::sizes(window)));
  sweep(step, space, wanted_tasks(work_ns(draft, makes) * std::max(1.0, offsets / 4)),
        [&](const std::vector<Index>& index, const Expr& mask) {
          Accumulator accumulator(step, root, lanes_of(step, index, roots[0]->type.shape), 1);
          accumulator.start();
          walk_offsets(b, ops::sizes(window), [&](const std::vector<Index>& offset, const Index&) {
            Pull::Scope scope(step.pull());
            Expr exists = mask;
            const std::vector<Index> at = place_of(b, window, shape, index, offset, exists);
            // Padding and holes count: they hold the start value.
            std::vector<Expr> elements;
            for (size_t i = 0; i < operands.size(); ++i) {
              const Expr start = step.pull().element(root.operand(static_cast<int>(operands.size() + i)), {}, nullptr);
              const Expr element = step.pull().element(operands[i], at, exists);
              elements.push_back(exists ? b.apply(ScalarOp::kSelect, {exists, element, start}) : element);
            }
            accumulator.take_values(0, std::move(elements), nullptr);
          });
          for (int i = 0; i < accumulator.result_count(); ++i) {
            const Expr combined = accumulator.is_known() ? accumulator.chain_value(0) : nullptr;
            const Expr result = b.let("reduced", accumulator.result(i, combined));
            step.pull().answer(root.result(i), [result](const auto&, const Expr&) { return result; });
          }
          step.store_pulled(makes, index, mask);
        });
  step.finish();
}

// Each element of the operand asks the windows over it, in ascending order, whether they select it.
void lower_select_scatter(Draft& draft, const Op& root) {
  const ops::Window window = ops::read_window(root.attrs());
  const Value* operand = root.operand(0);
  const Value* source = root.operand(1);
  const Values roots{root.result()};
  const Shape& shape = operand->type.shape;
  const Shape& positions = source->type.shape;
  const Values makes = with_epilogue(draft, roots);
  SweepSpace space = sweep_space(draft, makes, roots);
  space.merged = merged_beside(draft, window, {root.operand(0), root.operand(1)}, space.merged);
  space.strided_dim = -1;

  Step step(draft, lanes_for(draft, roots));
  step.read(makes);
  step.read(roots);
  step.write(makes);
  loops::KernelBuilder& b = step.b();
  const DType key_dtype = loops::register_dtype(operand->type.dtype);
  const DType sum_dtype = loops::register_dtype(root.result()->type.dtype);
  // Along each dimension so many windows may lie over an element.
  Shape covers;
  for (const ops::WindowDim& dim : window) covers.push_back((dim.size - 1) / dim.stride + 1);

  sweep(step, space, wanted_tasks(work_ns(draft, makes) * 4), [&](const std::vector<Index>& index, const Expr& mask) {
    const int lanes = lanes_of(step, index, shape);
    const loops::TileId sum = b.tile("sum", sum_dtype, lanes);
    const loops::TileId best = b.tile("best", key_dtype, lanes);
    const loops::TileId chosen = b.tile("chosen", DType::kI32, lanes);
    b.set(sum, {}, step.pull().element(root.operand(2), {}, nullptr));
    walk_offsets(b, covers, [&](const std::vector<Index>& cover, const Index&) {
      Pull::Scope scope(step.pull());
      // The window's position, ascending with `cover`, and where in it the element lies.
      std::vector<Index> position;
      Index own = 0;
      Expr covered = mask;
      for (size_t d = 0; d < window.size(); ++d) {
        if (window[d].is_trivial()) {
          position.push_back(index[d]);
          continue;
        }
        const Index reach = index[d] + window[d].low;
        const Index p = b.divide(reach, window[d].stride) - (covers[d] - 1) + cover[d];
        const Index offset = reach - p * window[d].stride;
        covered = b.both(covered, b.in_range(p, 0, positions[d]));
        covered = b.both(covered, b.in_range(offset, 0, window[d].size));
        own = own * window[d].size + offset;
        position.push_back(p);
      }
      b.set(chosen, {}, b.constant_int(DType::kI32, -1));
      b.set(best, {}, b.constant_int(key_dtype, 0));
      walk_offsets(b, ops::sizes(window), [&](const std::vector<Index>& offset, const Index& number) {
        Pull::Scope inner(step.pull());
        Expr exists = covered;
        const std::vector<Index> at = place_of(b, window, shape, position, offset, exists);
        const Expr key = b.let("key", step.pull().element(operand, at, exists));
        const Expr old = b.read(best);
        const Expr keeps = b.both(run_region(b, root.region(0), {old, key})[0],
                                  b.apply(ScalarOp::kGreaterEqual, {b.read(chosen), b.constant_int(DType::kI32, 0)}));
        const Expr takes = b.let("takes", b.both(exists, b.apply(ScalarOp::kNot, {keeps})));
        b.set(best, {}, b.apply(ScalarOp::kSelect, {takes, key, old}));
        b.set(chosen, {}, b.apply(ScalarOp::kSelect, {takes, b.index_value(number, DType::kI32), b.read(chosen)}));
      });
      const Expr is_chosen =
          b.let("hit", b.both(covered, b.apply(ScalarOp::kEqual, {b.read(chosen), b.index_value(own, DType::kI32)})));
      const Expr value = step.pull().element(source, position, is_chosen);
      const Expr combined = run_region(b, root.region(1), {b.read(sum), value})[0];
      b.set(sum, {}, b.apply(ScalarOp::kSelect, {is_chosen, combined, b.read(sum)}));
    });
    const Expr result = b.let("sum", b.read(sum));
    step.pull().answer(root.result(), [result](const auto&, const Expr&) { return result; });
    step.store_pulled(makes, index, mask);
  });
  step.finish();
}

}  // namespace ingot::schedule
