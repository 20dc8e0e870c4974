#include "aot/schedule/kernels/window_walk.h"

#include <algorithm>

#include "aot/schedule/sweep.h"

namespace ingot::schedule {

using loops::Expr;
using loops::Index;

void walk_offsets(loops::KernelBuilder& b, const Shape& sizes,
                  const std::function<void(const std::vector<Index>&)>& body) {
  constexpr int64_t kUnrolledOffsets = 16;
  std::vector<Index> offset(sizes.size(), Index(0));
  const auto walk = [&](const auto& self, size_t d) -> void {
    if (d == sizes.size()) return body(offset);
    const auto enter = [&](Index k) {
      offset[d] = k;
      self(self, d + 1);
    };
    if (element_count(sizes) <= kUnrolledOffsets) {
      for (int64_t k = 0; k < sizes[d]; ++k) enter(k);
    } else {
      b.loop("w", 0, sizes[d], 1, enter);
    }
  };
  walk(walk, 0);
}

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
      mask = b.both(mask, b.apply(loops::ScalarOp::kEqual, {rest, b.constant_int(DType::kI64, 0)}));
      i = b.divide(i, dim.base_dilation);
    }
    mask = b.both(mask, b.in_range(i, 0, shape[d]));
    at.push_back(i);
  }
  return at;
}

int collapsible_dims(const Draft& draft, const ops::Window& window, const Values& operands, int merged) {
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

}  // namespace ingot::schedule
