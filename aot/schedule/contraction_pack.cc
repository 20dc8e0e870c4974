// The packing half of ContractionKernel: copies of an operand's blocks, in the order in which the register tile reads.
#include <algorithm>

#include "aot/schedule/contraction_kernel.h"

namespace ingot::schedule {

using loops::Expr;
using loops::Index;
using loops::ScalarOp;

namespace {

constexpr int64_t kSpelledOut = 6;  // vectors of a short row that are packed without a loop

bool depends_on(const loops::ContractionAccess& access, const Axis& axis) {
  return std::ranges::any_of(axis.dims, [&](int d) { return access.coefficients[d] != 0; });
}

}  // namespace

Index ContractionKernel::place(const loops::ContractionAccess& access) const {
  Index at = access.constant;
  for (size_t d = 0; d < point_.size(); ++d) at = at + point_[d] * access.coefficients[d];
  return at;
}

Expr ContractionKernel::exists(const loops::ContractionAccess& access, int64_t extent) {
  if (access.always) return nullptr;
  Index at = place(access);
  Expr mask = nullptr;
  if (access.divisor > 1) {
    const Expr rest = b_.index_value(b_.modulo(at, access.divisor));
    mask = b_.apply(ScalarOp::kEqual, {rest, b_.constant_int(DType::kI64, 0)});
    at = b_.divide(at, access.divisor);
  }
  return b_.both(mask, b_.in_range(at, 0, extent));
}

Expr ContractionKernel::exists_beside(const ContractionSide& side, const Axis& along) {
  Expr mask = nullptr;
  for (size_t j = 0; j < side.accesses.size(); ++j) {
    if (!depends_on(side.accesses[j], along)) mask = b_.both(mask, exists(side.accesses[j], side.value->type.shape[j]));
  }
  return mask;
}

Expr ContractionKernel::operand_element(const ContractionSide& side, const Expr& outer_mask, const Axis* along) {
  std::vector<Index> index;
  Expr mask = outer_mask;
  for (size_t j = 0; j < side.accesses.size(); ++j) {
    const loops::ContractionAccess& access = side.accesses[j];
    if (!along || depends_on(access, *along)) mask = b_.both(mask, exists(access, side.value->type.shape[j]));
    index.push_back(access.divisor > 1 ? b_.divide(place(access), access.divisor) : place(access));
  }
  Expr element = b_.convert(held_, step_.pull().element(side.value, index, mask));
  // What is pulled through ops is unspecified where the mask does not hold.
  const bool is_zero_outside = element->kind == loops::ExprKind::kLoad;
  return mask && !is_zero_outside ? b_.apply(ScalarOp::kSelect, {mask, element, b_.constant_int(held_, 0)}) : element;
}

void ContractionKernel::walk_depth(const BlockAt& block, const Stretch& stretch, bool whole, bool vectors,
                                   const std::function<void(const Index&, const Expr&)>& body) {
  const Blocked& depth = plan_.depth;
  const size_t first = whole ? 0 : depth.cut;
  const auto walk = [&](const auto& self, size_t at, const Index& position, const Expr& mask) -> void {
    if (at == depth.axes.size()) return body(position, mask);
    const Axis& axis = depth.axes[at];
    const bool is_cut = !whole && static_cast<int>(at) == depth.cut;
    const int64_t count = is_cut ? depth.chunk : axis.extent;
    const Index start = is_cut ? block.start : Index(0);
    const auto enter = [&](const Index& i, Expr more) {
      set_axis(axis, start + i);
      if (is_cut && depth.is_ragged()) more = b_.both(more, b_.in_range(start + i, 0, axis.extent));
      self(self, at + 1, position * count + i, b_.both(mask, more));
    };
    const bool is_part = plan_.stretches.size() > 1;
    const int64_t from = is_part ? stretch.start : 0, to = is_part ? stretch.end : count;
    if (at + 1 < depth.axes.size() || !vectors) return b_.loop("k", from, to, 1, [&](Index i) { enter(i, nullptr); });
    const int64_t filled = from + (to - from) / plan_.lanes * plan_.lanes;
    b_.loop("k", from, filled, plan_.lanes, [&](Index i) { enter(i + b_.lane(), nullptr); });
    if (filled < to) enter(Index(filled) + b_.lane(), b_.in_range(Index(filled) + b_.lane(), from, to));
  };
  walk(walk, first, 0, nullptr);
}

void ContractionKernel::pack_columns(const BlockAt& block, const BlockAt& depth) {
  for (const Stretch& stretch : plan_.stretches) pack_columns(block, depth, stretch);
}

void ContractionKernel::pack_columns(const BlockAt& block, const BlockAt& depth, const Stretch& stretch) {
  const Blocked& columns = plan_.columns;
  const Axis& along = columns.axes.back();
  const int64_t lanes = plan_.lanes;
  // `walk` calls its argument for each vector along the last axis: where it goes, where on the axis it is, and what of
  // it counts.
  using Copy = std::function<void(const Index& to, const Index& at, const Expr& mask)>;
  const auto copy_all = [&](const std::function<void(const Copy&)>& walk) {
    const auto zeros = [&](const Index& to, const Index&, const Expr&) {
      b_.store(packed_columns_, packed_start_ + to, b_.constant_int(held_, 0));
    };
    const auto copies = [&](const Index& to, const Index& at, const Expr& mask) {
      Pull::Scope scope(step_.pull());
      set_axis(along, at);
      b_.store(packed_columns_, packed_start_ + to, operand_element(stretch.columns_side, mask, &along));
    };
    if (const Expr condition = exists_beside(stretch.columns_side, along)) {
      b_.if_then(condition, [&] { walk(copies); }, [&] { walk(zeros); });
    } else {
      walk(copies);
    }
  };
  if (plan_.columns_in_panels) {
    // Panel after panel; each is [depth][tile columns].
    emit_panels(block, [&](const Index& column, int64_t count) {
      walk_depth(depth, stretch, false, false, [&](const Index& k, const Expr& mask) {
        copy_all([&](const Copy& copy) {
          b_.unrolled("v", plan_.tile_vectors, [&](Index v) {
            const Index i = v * lanes + b_.lane();
            const Expr edge = count < plan_.tile_columns() ? b_.in_range(i, 0, count) : nullptr;
            copy(column * plan_.depth.width() + k * columns_pitch_ + i, block.start + column + i, b_.both(mask, edge));
          });
        });
      });
    });
    return;
  }
  // [depth][all columns of the block]. Vectors may run past an axis' end: what follows overwrites what they leave.
  walk_depth(depth, stretch, false, false, [&](const Index& k, const Expr& mask) {
    const auto walk = [&](const auto& self, size_t at, const Index& position) -> void {
      const Axis& axis = columns.axes[at];
      const int64_t count = static_cast<int>(at) == columns.cut ? columns.chunk : axis.extent;
      if (at + 1 < columns.axes.size()) {
        const bool is_cut = static_cast<int>(at) == columns.cut;
        const Index start = is_cut ? block.start : Index(0);
        std::vector<Index> also;
        if (is_cut && columns.is_ragged()) also.push_back(Index(axis.extent) - start);
        b_.loop(
            "c", 0, count, 1,
            [&](Index i) {
              set_axis(axis, start + i);
              self(self, at + 1, position * count + i);
            },
            also);
        return;
      }
      copy_all([&](const Copy& copy) {
        const Index to = k * columns_pitch_ + position * count;
        const auto vector_at = [&](const Index& i) {
          copy(to + i + b_.lane(), i + b_.lane(), b_.both(mask, b_.in_range(i + b_.lane(), 0, count)));
        };
        // One by one, so that vectors away from the border need no mask.
        if (count <= kSpelledOut * lanes) {
          for (int64_t i = 0; i < count; i += lanes) vector_at(i);
        } else {
          vector_at(0);
          b_.loop("c", lanes, (count - 1) / lanes * lanes, lanes, vector_at);
          vector_at((count - 1) / lanes * lanes);
        }
      });
    };
    walk(walk, columns.cut, 0);
  });
}

void ContractionKernel::pack_rows(const Index& first, int64_t count, const BlockAt& depth, bool whole) {
  const Shape extents = plan_.extents(plan_.rows);
  const int64_t rows = plan_.row_count();
  const auto enter_row = [&](const Index& row) {
    const std::vector<Index> at = loops::unflatten(b_, row, extents);
    for (size_t k = 0; k < at.size(); ++k) point_[plan_.rows[k]] = at[k];
  };
  std::vector<Stretch> packed;
  std::ranges::remove_copy_if(plan_.stretches, std::back_inserter(packed), &Stretch::rows_in_place);
  const auto copy = [&](const Stretch& stretch, const Index& at, const Expr& mask) {
    Pull::Scope scope(step_.pull());
    b_.store(packed_rows_, at, operand_element(stretch.rows_side, mask));
  };
  if (!plan_.rows_lie_across) {
    b_.loop("row", 0, count, 1,
            [&](Index row) {
              enter_row(first + row);
              for (const Stretch& stretch : packed) {
                walk_depth(depth, stretch, whole, true,
                           [&](const Index& k, const Expr& mask) { copy(stretch, row * rows_pitch_ + k, mask); });
              }
            },
            {Index(rows) - first});
    return;
  }
  // Tiles of rows, each [depth][tile rows], all of them side by side, as the operand lies; vectors run past a tile's
  // rows and are overwritten there.
  const int64_t tile = plan_.tile_rows;
  for (const Stretch& stretch : packed) {
    walk_depth(depth, stretch, whole, false, [&](const Index& k, const Expr& mask) {
      b_.loop("row", 0, count, tile,
              [&](Index row) {
                for (int64_t v = 0; v < tile; v += plan_.lanes) {
                  const Index i = first + row + v + b_.lane();
                  point_[plan_.rows[0]] = i;
                  copy(stretch, row * rows_pitch_ + k * tile + v + b_.lane(), b_.both(mask, b_.in_range(i, 0, rows)));
                }
              },
              {Index(rows) - first});
    });
  }
}

}  // namespace ingot::schedule
