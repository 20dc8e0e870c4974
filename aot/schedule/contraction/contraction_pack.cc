// The packing half of ContractionKernel: copies of an operand's blocks, in the order in which the register tile reads.
#include <algorithm>

#include "aot/schedule/contraction/contraction_kernel.h"

namespace ingot::schedule {

using loops::Expr;
using loops::Index;
using loops::ScalarOp;

namespace {

constexpr int64_t kSpelledOut = 6;  // vectors of a short row that are packed without a loop

bool depends_on(const AxisMap& access, const Axis& axis) {
  return std::ranges::any_of(axis.dims, [&](int d) { return access.coefficients[d] != 0; });
}

}  // namespace

Index ContractionKernel::place(const AxisMap& access) const {
  Index at = access.constant;
  for (size_t d = 0; d < point_.size(); ++d) at = at + point_[d] * access.coefficients[d];
  return at;
}

Expr ContractionKernel::exists(const AxisMap& access, int64_t extent) {
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
    const AxisMap& access = side.accesses[j];
    if (!along || depends_on(access, *along)) mask = b_.both(mask, exists(access, side.value->type.shape[j]));
    index.push_back(access.divisor > 1 ? b_.divide(place(access), access.divisor) : place(access));
  }
  Expr element = b_.convert(held_, step_.pull().element(side.value, index, mask));
  // What is pulled through ops is unspecified where the mask does not hold.
  const bool is_zero_outside = element->kind == loops::ExprKind::kLoad;
  return mask && !is_zero_outside ? b_.apply(ScalarOp::kSelect, {mask, element, b_.constant_int(held_, 0)}) : element;
}

ContractionKernel::DepthWalk ContractionKernel::depth_walk(const BlockAt& block, bool whole) const {
  const Blocked& depth = plan_.depth;
  DepthWalk walk;
  for (size_t k = whole ? 0 : depth.cut; k < depth.axes.size(); ++k) {
    const Axis& axis = depth.axes[k];
    const bool is_cut = !whole && static_cast<int>(k) == depth.cut;
    walk.push_back({axis, is_cut ? block.start : Index(0), is_cut ? depth.chunk : axis.extent, is_cut});
  }
  return walk;
}

ContractionKernel::DepthWalk ContractionKernel::merged(const DepthWalk& walk, const ContractionSide& side) const {
  if (!side.is_affine() || !step_.draft().is_made(side.value)) return walk;
  DepthWalk result;
  for (const DepthRange& range : walk) {
    const bool follows = !result.empty() && !result.back().is_cut && !range.axis.dims.empty() &&
                         side.stride(result.back().axis.dims.back()) == side.stride(range.axis.dims[0]) * range.count;
    if (!follows) {
      result.push_back(range);
      continue;
    }
    DepthRange& last = result.back();
    last.axis.dims.insert(last.axis.dims.end(), range.axis.dims.begin(), range.axis.dims.end());
    last.axis.extent *= range.axis.extent;
    last.count *= range.count;
  }
  return result;
}

Expr ContractionKernel::enter_depth(const DepthRange& range, const Index& i) {
  set_axis(range.axis, range.start + i);
  const bool is_ragged = range.is_cut && plan_.depth.is_ragged();
  return is_ragged ? b_.in_range(range.start + i, 0, range.axis.extent) : nullptr;
}

void ContractionKernel::walk_outer_depth(const DepthWalk& walk, const DepthBody& body) {
  const auto enter = [&](const auto& self, size_t at, const Index& position, const Expr& mask) -> void {
    if (at + 1 == walk.size()) return body(position, mask);
    b_.loop("k", 0, walk[at].count, 1, [&](Index i) {
      const Expr more = enter_depth(walk[at], i);
      self(self, at + 1, position * walk[at].count + i, b_.both(mask, more));
    });
  };
  enter(enter, 0, 0, nullptr);
}

void ContractionKernel::walk_last_depth(const DepthWalk& walk, const Stretch& stretch, bool vectors,
                                        const Index& position, const Expr& mask, const DepthBody& body) {
  const DepthRange& range = walk.back();
  const auto enter = [&](const Index& i, const Expr& edge) {
    const Expr more = b_.both(edge, enter_depth(range, i));
    body(position * range.count + i, b_.both(mask, more));
  };
  const bool is_part = plan_.stretches.size() > 1;
  const int64_t from = is_part ? stretch.start : 0, to = is_part ? stretch.end : range.count;
  if (!vectors) return b_.loop("k", from, to, 1, [&](Index i) { enter(i, nullptr); });
  const int64_t filled = from + (to - from) / plan_.lanes * plan_.lanes;
  b_.loop("k", from, filled, plan_.lanes, [&](Index i) { enter(i + b_.lane(), nullptr); });
  if (filled < to) enter(Index(filled) + b_.lane(), b_.in_range(Index(filled) + b_.lane(), from, to));
}

void ContractionKernel::walk_depth(const DepthWalk& walk, const Stretch& stretch, const DepthBody& body) {
  walk_outer_depth(walk, [&](const Index& position, const Expr& mask) {
    walk_last_depth(walk, stretch, false, position, mask, body);
  });
}

void ContractionKernel::pack_columns(const BlockAt& block, const BlockAt& depth) {
  for (const Stretch& stretch : plan_.stretches) {
    if (plan_.columns_are_transposed) {
      transpose_columns(block, depth, stretch);
    } else if (plan_.columns_in_panels) {
      pack_panels(block, depth, stretch);
    } else {
      pack_block_rows(block, depth, stretch);
    }
  }
}

void ContractionKernel::copy_columns(const Stretch& stretch, const std::function<void(const CopyVector&)>& walk) {
  const Axis& along = plan_.columns.axes.back();
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
}

// Panel after panel; each is [depth][tile columns].
void ContractionKernel::pack_panels(const BlockAt& block, const BlockAt& depth, const Stretch& stretch) {
  emit_panels(block, [&](const Index& column, int64_t count) {
    walk_depth(depth_walk(depth, false), stretch, [&](const Index& k, const Expr& mask) {
      copy_columns(stretch, [&](const CopyVector& copy) {
        b_.unrolled("v", plan_.tile_vectors, [&](Index v) {
          const Index i = v * plan_.lanes + b_.lane();
          const Expr edge = count < plan_.tile_columns() ? b_.in_range(i, 0, count) : nullptr;
          copy(column * plan_.depth.width() + k * columns_pitch_ + i, block.start + column + i, b_.both(mask, edge));
        });
      });
    });
  });
}

// [depth][all columns of the block]. Vectors may run past an axis' end: what follows overwrites what they leave.
void ContractionKernel::pack_block_rows(const BlockAt& block, const BlockAt& depth, const Stretch& stretch) {
  const Blocked& columns = plan_.columns;
  const int64_t lanes = plan_.lanes;
  walk_depth(depth_walk(depth, false), stretch, [&](const Index& k, const Expr& mask) {
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
      copy_columns(stretch, [&](const CopyVector& copy) {
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

void ContractionKernel::transpose_squares(const DepthWalk& walk, const Stretch& stretch, const SquareElement& element,
                                          const SquareStore& store) {
  const int64_t lanes = plan_.lanes;
  const DepthRange& range = walk.back();
  const bool is_part = plan_.stretches.size() > 1;
  const int64_t from = is_part ? stretch.start : 0, to = is_part ? stretch.end : range.count;
  walk_outer_depth(walk, [&](const Index& position, const Expr& outer) {
    const auto square = [&](const Index& k, int64_t count) {
      const loops::TileId vectors = b_.tile("square", held_, plan_.lanes, {lanes});
      const Expr edge = count < lanes ? b_.in_range(b_.lane(), 0, count) : nullptr;
      const Expr mask = b_.both(b_.both(outer, edge), enter_depth(range, k + b_.lane()));
      for (int64_t i = 0; i < lanes; ++i) {
        Pull::Scope scope(step_.pull());
        b_.set(vectors, {i}, element(i, mask));
      }
      b_.transpose(vectors);
      for (int64_t i = 0; i < count; ++i) store(position * range.count + k + i, b_.read(vectors, {i}));
    };
    const int64_t filled = from + (to - from) / lanes * lanes;
    b_.loop("k", from, filled, lanes, [&](Index k) { square(k, lanes); });
    if (filled < to) square(filled, to - filled);
  });
}

void ContractionKernel::transpose_columns(const BlockAt& block, const BlockAt& depth, const Stretch& stretch) {
  const Axis& along = plan_.columns.axes.back();
  emit_panels(block, [&](const Index& column, int64_t count) {
    for (int64_t first = 0; first < plan_.tile_columns(); first += plan_.lanes) {
      const auto element = [&](int64_t i, const Expr& mask) {
        if (first + i >= count) return b_.constant_int(held_, 0);
        set_axis(along, block.start + column + (first + i));
        return operand_element(stretch.columns_side, mask);
      };
      transpose_squares(depth_walk(depth, false), stretch, element, [&](const Index& k, const Expr& vector) {
        const Index to = column * plan_.depth.width() + k * columns_pitch_ + first + b_.lane();
        b_.store(packed_columns_, packed_start_ + to, vector);
      });
    }
  });
}

void ContractionKernel::enter_row(const Index& row) {
  const std::vector<Index> at = loops::unflatten(b_, row, plan_.extents(plan_.rows));
  for (size_t k = 0; k < at.size(); ++k) point_[plan_.rows[k]] = at[k];
}

void ContractionKernel::pack_rows(const Index& first, int64_t count, const BlockAt& depth, bool whole) {
  for (const Stretch& stretch : plan_.stretches) {
    if (stretch.rows_in_place) continue;
    const DepthWalk walk = depth_walk(depth, whole);
    if (plan_.rows_are_transposed) {
      transpose_rows(first, count, walk, stretch);
    } else if (plan_.rows_k_major) {
      pack_rows_across(first, count, walk, stretch);
    } else {
      pack_rows_by_row(first, count, merged(walk, stretch.rows_side), stretch);
    }
  }
}

void ContractionKernel::pack_rows_by_row(const Index& first, int64_t count, const DepthWalk& walk,
                                         const Stretch& stretch) {
  const auto each_row = [&](const std::function<void(const Index&)>& body) {
    b_.loop("row", 0, count, 1,
            [&](Index row) {
              enter_row(first + row);
              body(row);
            },
            {Index(plan_.row_count()) - first});
  };
  const auto copy_last = [&](const Index& row, const Index& position, const Expr& outer) {
    walk_last_depth(walk, stretch, true, position, outer, [&](const Index& k, const Expr& mask) {
      Pull::Scope scope(step_.pull());
      b_.store(packed_rows_, row * rows_pitch_ + k, operand_element(stretch.rows_side, mask));
    });
  };
  // Memory is walked in its own order.
  const bool rows_inside =
      plan_.rows.size() == 1 && walk.size() > 1 && !walk[0].axis.dims.empty() &&
      std::abs(stretch.rows_side.stride(plan_.rows[0])) < std::abs(stretch.rows_side.stride(walk[0].axis.dims.back()));
  if (rows_inside) {
    walk_outer_depth(walk, [&](const Index& position, const Expr& mask) {
      each_row([&](const Index& row) { copy_last(row, position, mask); });
    });
  } else {
    each_row([&](const Index& row) {
      walk_outer_depth(walk, [&](const Index& position, const Expr& mask) { copy_last(row, position, mask); });
    });
  }
}

// All tiles side by side, as the operand lies; vectors run past a tile's rows and are overwritten there.
void ContractionKernel::pack_rows_across(const Index& first, int64_t count, const DepthWalk& walk,
                                         const Stretch& stretch) {
  const int64_t tile = plan_.tile_rows, rows = plan_.row_count();
  walk_depth(walk, stretch, [&](const Index& k, const Expr& mask) {
    b_.loop("row", 0, count, tile,
            [&](Index row) {
              for (int64_t v = 0; v < tile; v += plan_.lanes) {
                Pull::Scope scope(step_.pull());
                const Index i = first + row + v + b_.lane();
                point_[plan_.rows[0]] = i;
                const Expr element = operand_element(stretch.rows_side, b_.both(mask, b_.in_range(i, 0, rows)));
                b_.store(packed_rows_, row * rows_pitch_ + k * tile + v + b_.lane(), element);
              }
            },
            {Index(rows) - first});
  });
}

// Tile after tile, each from its last rows to its first: vectors run past a tile's rows and are overwritten by those of
// the next place of the depth.
void ContractionKernel::transpose_rows(const Index& first, int64_t count, const DepthWalk& walk,
                                       const Stretch& stretch) {
  const int64_t tile = plan_.tile_rows, rows = plan_.row_count();
  b_.loop("row", 0, count, tile,
          [&](Index row) {
            for (int64_t v = (tile - 1) / plan_.lanes * plan_.lanes; v >= 0; v -= plan_.lanes) {
              const auto element = [&](int64_t i, const Expr& mask) {
                if (v + i >= tile) return b_.constant_int(held_, 0);
                enter_row(first + row + (v + i));
                const Expr exists = b_.in_range(first + row + (v + i), 0, rows);
                return operand_element(stretch.rows_side, b_.both(mask, exists));
              };
              transpose_squares(walk, stretch, element, [&](const Index& k, const Expr& vector) {
                b_.store(packed_rows_, row * rows_pitch_ + k * tile + v + b_.lane(), vector);
              });
            }
          },
          {Index(rows) - first});
}

}  // namespace ingot::schedule
