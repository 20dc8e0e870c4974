#include "aot/analysis/independent_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "aot/graph/access_map.h"
#include "aot/graph/op.h"
#include "aot/loops/contraction.h"
#include "aot/ops/ops.h"
#include "aot/ops/support/dimension_numbers.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/window.h"

namespace ingot {
namespace {

// Where a tensor has the rows of a batch: place i along dimension `dim` is of row (i / each) % (number of rows). An `each`
// of 0: it is the same all along the dimension, so any number may stand there. A `dim` of -1: the tensor has no rows, and
// is the same for any number of them.
struct Rows {
  int dim = -1;
  int64_t each = 1;
  bool operator==(const Rows&) const = default;

  bool any() const { return dim >= 0; }
  bool agrees(const Rows& other) const {
    return dim == other.dim && (each == other.each || each == 0 || other.each == 0);
  }
};

bool is_same(const AxisMap& a, const AxisMap& b) {
  return a.constant == b.constant && a.coefficients == b.coefficients && a.divisor == b.divisor && a.start == b.start;
}

int64_t elements_behind(const TensorType& type, int dim) {
  int64_t elements = 1;
  for (int d = dim + 1; d < type.rank(); ++d) elements *= type.shape[d];
  return elements;
}

// Walks both programs op by op and finds for each value where it has rows.
class RowWalk {
 public:
  RowWalk(const Function& few, const Function& more, int64_t count) : few_(few), more_(more), count_(count) {}

  std::string run() {
    for (int i = 0; i < few_.argument_count(); ++i) {
      if (!enter_argument(i)) return fmt::format("argument {} has its rows elsewhere than first", i);
    }
    if (!walk(few_.body, more_.body)) return refused_ ? about(*refused_) : kAnother;
    return results();
  }

 private:
  static constexpr const char* kAnother = "it is another program for another number of rows";

  // The same value of the other program, and where both have rows.
  struct Known {
    const Value* more = nullptr;
    Rows rows;
  };

  // A dimension that is longer for more rows by so many places; none: a `dim` of -1.
  struct Grown {
    int dim = -1;
    int64_t places = 0;
  };

  static std::string about(const Op& op) {
    const std::string place = describe(op.location);
    return fmt::format("{}{}{} may not keep rows apart", place, place.empty() ? "" : ": ", op.name());
  }

  bool enter_argument(int i) {
    const Value *few = few_.body.argument(i), *more = more_.body.argument(i);
    const std::optional<Grown> grown = grown_dim(few->type, more->type);
    if (!grown || grown->dim > 0) return false;
    if (grown->dim == 0 && few_.argument_attrs[i].contains(attributes::kState)) return false;
    known_[few] = {more, {grown->dim, grown->dim < 0 ? 1 : grown->places}};
    return true;
  }

  std::string results() const {
    const Op &few = *few_.body.terminator(), &more = *more_.body.terminator();
    for (size_t i = 0; i < few.operands.size(); ++i) {
      const Value* value = few.operands[i];
      const Known& result = known_.at(value);
      if (result.more != more.operands[i]) return kAnother;
      if (!result.rows.any()) continue;
      const bool is_state = few_.results[i].attrs.contains(attributes::kState);
      const Rows first{0, grown_dim(value->type, result.more->type)->places};
      if (is_state || !result.rows.agrees(first)) return fmt::format("result {} has its rows elsewhere than first", i);
    }
    return "";
  }

  // By the types for both numbers of rows. Nullopt where they differ otherwise.
  std::optional<Grown> grown_dim(const TensorType& few, const TensorType& more) const {
    if (few.dtype != more.dtype || few.rank() != more.rank()) return std::nullopt;
    Grown grown;
    for (int d = 0; d < few.rank(); ++d) {
      if (few.shape[d] == more.shape[d]) continue;
      const int64_t places = more.shape[d] - few.shape[d];
      if (grown.dim >= 0 || places <= 0 || few.shape[d] != places * count_) return std::nullopt;
      grown = {d, places};
    }
    return grown;
  }

  const Rows& rows_of(const Value* value) const { return known_.at(value).rows; }
  bool has_rows(const Value* value) const { return rows_of(value).any(); }

  // Both blocks op by op, but their terminators.
  bool walk(const Block& few, const Block& more) {
    if (few.ops.size() != more.ops.size()) return false;
    auto other = more.ops.begin();
    for (const auto& op : few.ops) {
      if (op.get() == few.terminator() || enter(*op, **other++)) continue;
      if (!refused_) refused_ = op.get();
      return false;
    }
    return true;
  }

  // Whether both ops do the same to the same operands, row by row.
  bool enter(const Op& few, const Op& more) {
    if (few.def != more.def || few.def->has_side_effect) return false;
    if (few.operands.size() != more.operands.size() || few.results.size() != more.results.size()) return false;
    for (size_t i = 0; i < few.operands.size(); ++i) {
      if (known_.at(few.operands[i]).more != more.operands[i]) return false;
    }
    if (few.is(kWhile)) return enter_loop(few, more);
    if (!regions_are_same(few, more)) return false;
    for (size_t i = 0; i < few.results.size(); ++i) {
      const Value *result = few.results[i].get(), *other = more.results[i].get();
      const std::optional<Grown> grown = grown_dim(result->type, other->type);
      if (!grown) return false;
      const std::optional<Rows> rows = grown->dim < 0 ? without_rows(few, more) : with_rows(few, more, *grown);
      if (!rows || (rows->each > 0 && rows->any() && grown->places % rows->each != 0)) return false;
      known_[result] = {other, *rows};
    }
    return true;
  }

  // What a loop carries has its rows where they are before it, in every iteration; how often it runs depends on none.
  bool enter_loop(const Op& few, const Op& more) {
    for (int r = 0; r < 2; ++r) {
      const Block &block = few.region(r), &other = more.region(r);
      for (size_t i = 0; i < few.operands.size(); ++i)
        known_[block.arguments[i].get()] = {other.arguments[i].get(), carried(few, i)};
      if (!walk(block, other)) return false;
      const Values &ends = block.terminator()->operands, &other_ends = other.terminator()->operands;
      for (size_t i = 0; i < ends.size(); ++i) {
        const Rows wanted = r == 0 ? Rows() : carried(few, i);
        if (known_.at(ends[i]).more != other_ends[i] || !rows_of(ends[i]).agrees(wanted)) return false;
      }
    }
    for (size_t i = 0; i < few.results.size(); ++i)
      known_[few.results[i].get()] = {more.results[i].get(), carried(few, i)};
    return true;
  }

  // What is the same all along its rows before a loop, as zeros are, has one place for each in it.
  Rows carried(const Op& loop, size_t i) const {
    Rows rows = rows_of(loop.operands[i]);
    rows.each = std::max<int64_t>(rows.each, 1);
    return rows;
  }

  // Regions may not read what is outside of them.
  static bool regions_are_same(const Op& few, const Op& more) {
    for (size_t r = 0; r < few.regions.size(); ++r) {
      if (!blocks_are_same(*few.regions[r], *more.regions[r])) return false;
    }
    return few.regions.size() == more.regions.size();
  }

  static bool blocks_are_same(const Block& few, const Block& more) {
    if (few.arguments.size() != more.arguments.size() || few.ops.size() != more.ops.size()) return false;
    std::map<const Value*, const Value*> same;
    for (size_t i = 0; i < few.arguments.size(); ++i) same[few.arguments[i].get()] = more.arguments[i].get();
    auto other = more.ops.begin();
    for (const auto& op : few.ops) {
      const Op& another = **other++;
      if (op->def != another.def || op->attr_map != another.attr_map || !op->regions.empty()) return false;
      if (op->operands.size() != another.operands.size()) return false;
      for (size_t i = 0; i < op->operands.size(); ++i) {
        const auto found = same.find(op->operands[i]);
        if (found == same.end() || found->second != another.operands[i]) return false;
      }
      for (size_t i = 0; i < op->results.size(); ++i) {
        if (op->results[i]->type != another.results[i]->type) return false;
        same[op->results[i].get()] = another.results[i].get();
      }
    }
    return true;
  }

  bool no_operand_has_rows(const Op& op) const {
    return std::ranges::none_of(op.operands, [&](const Value* operand) { return has_rows(operand); });
  }

  // Of a result that is the same for any number of rows.
  std::optional<Rows> without_rows(const Op& few, const Op& more) const {
    const bool is_same_op = few.def->access ? access_is_same(few, more) : few.attr_map == more.attr_map;
    return is_same_op && no_operand_has_rows(few) ? std::optional(Rows()) : std::nullopt;
  }

  static bool access_is_same(const Op& few, const Op& more) {
    const AccessMap map = access_map(few), other = access_map(more);
    return map.is_flat == other.is_flat &&
           std::ranges::equal(map.pieces, other.pieces, [](const AccessPiece& a, const AccessPiece& b) {
             return a.operand == b.operand && std::ranges::equal(a.axes, b.axes, is_same);
           });
  }

  // Of a result that has rows.
  std::optional<Rows> with_rows(const Op& few, const Op& more, const Grown& grown) const {
    if (few.is(kConstant)) return of_constant(few, more, grown);
    if (few.is(kGather)) return of_gather(few, more, grown);
    if (few.def->access) return access_is_same(few, more) ? of_moves(few, grown) : std::nullopt;
    if (few.attr_map != more.attr_map) return std::nullopt;
    if (few.def->is_elementwise) return of_elements(few, grown);
    if (few.def->contraction) return of_contraction(few, grown);
    const auto rule = std::ranges::find(rules(), few.def, &Rule::op);
    return rule == rules().end() ? std::nullopt : (this->*rule->rows)(few, grown);
  }

  static std::optional<Rows> of_constant(const Op& few, const Op& more, const Grown& grown) {
    const LiteralRef &a = few.attrs().literal("value"), &b = more.attrs().literal("value");
    if (!a->is_splat || !b->is_splat || a->data != b->data) return std::nullopt;
    return Rows{grown.dim, 0};
  }

  std::optional<Rows> of_iota(const Op& op, const Grown& grown) const {
    return Rows{grown.dim, op.attrs().integer("iota_dimension") == grown.dim ? grown.places : 0};
  }

  // Elements stand beside each other; a scalar stands for all.
  std::optional<Rows> of_elements(const Op& op, const Grown& grown) const {
    Rows rows{grown.dim, 0};
    for (const Value* operand : op.operands) {
      if (operand->type.rank() == 0) continue;
      if (!rows_of(operand).agrees(rows)) return std::nullopt;
      rows.each = std::max(rows.each, rows_of(operand).each);
    }
    return rows;
  }

  std::optional<Rows> of_moves(const Op& op, const Grown& grown) const {
    const AccessMap map = access_map(op);
    if (map.is_flat) return of_reshape(op, grown);
    Rows rows{grown.dim, 0};
    for (const AccessPiece& piece : map.pieces) {
      const std::optional<Rows> mine = of_piece(op, piece, grown);
      if (!mine || !mine->agrees(rows)) return std::nullopt;
      rows.each = std::max(rows.each, mine->each);
    }
    return rows;
  }

  std::optional<Rows> of_piece(const Op& op, const AccessPiece& piece, const Grown& grown) const {
    const Value* operand = op.operand(piece.operand);
    for (const AxisMap& axis : piece.axes) {
      if (axis.start >= 0 && has_rows(op.operand(axis.start))) return std::nullopt;
    }
    if (!has_rows(operand)) return Rows{grown.dim, depends_on(piece.axes, grown.dim) ? grown.places : 0};
    if (!follows_rows(piece.axes, rows_of(operand).dim, grown.dim)) return std::nullopt;
    // A start among all of the rows is clamped to the first.
    const int dim = rows_of(operand).dim;
    const bool is_whole = operand->type.shape[dim] == op.result()->type.shape[grown.dim];
    if (piece.axes[dim].start >= 0 && !is_whole) return std::nullopt;
    return Rows{grown.dim, rows_of(operand).each};
  }

  static bool depends_on(const std::vector<AxisMap>& axes, int dim) {
    return std::ranges::any_of(axes, [&](const AxisMap& axis) { return axis.coefficients[dim] != 0; });
  }

  // The operand's dimension `from` is read along `to` of the space, step by step, and no other depends on `to`.
  static bool follows_rows(const std::vector<AxisMap>& axes, int from, int to) {
    for (int d = 0; d < static_cast<int>(axes.size()); ++d) {
      if (d == from ? axes[d].constant != 0 || !follows(axes[d], to) : axes[d].coefficients[to] != 0) return false;
    }
    return true;
  }

  // Elements stay in order: a row is as many of them as before. Where they are the same all along the rows, any number
  // of them may be one.
  std::optional<Rows> of_reshape(const Op& op, const Grown& grown) const {
    const Rows& from = rows_of(op.operand(0));
    if (!from.any()) return std::nullopt;
    const TensorType& type = op.operand(0)->type;
    const int64_t behind = elements_behind(type, from.dim), now_behind = elements_behind(op.result()->type, grown.dim);
    const int64_t places = type.shape[from.dim] / count_;
    for (int64_t each = std::max<int64_t>(from.each, 1); each <= (from.each > 0 ? from.each : places); ++each) {
      const int64_t row = each * behind;
      if (places % each == 0 && row % now_behind == 0 && grown.places % (row / now_behind) == 0)
        return Rows{grown.dim, row / now_behind};
    }
    return std::nullopt;
  }

  // What is reduced has rows along the dimension that becomes the result's; start values have none.
  std::optional<Rows> of_reduce(const Op& op, const Grown& grown) const {
    const std::vector<int64_t> kept = ops::other_dims(op.operand(0)->type.rank(), op.attrs().ints("dimensions"));
    return of_combined(op, static_cast<int>(kept[grown.dim]), grown);
  }

  std::optional<Rows> of_windows(const Op& op, const Grown& grown) const {
    const bool passes = ops::read_window(op.attrs())[grown.dim].is_trivial();
    return passes ? of_combined(op, grown.dim, grown) : std::nullopt;
  }

  std::optional<Rows> of_combined(const Op& op, int dim, const Grown& grown) const {
    const size_t count = op.operands.size() / 2;
    Rows rows{dim, 0};
    for (size_t i = 0; i < count; ++i) {
      if (!rows_of(op.operands[i]).agrees(rows) || has_rows(op.operands[count + i])) return std::nullopt;
      rows.each = std::max(rows.each, rows_of(op.operands[i]).each);
    }
    return Rows{grown.dim, rows.each};
  }

  std::optional<Rows> of_sort(const Op& op, const Grown& grown) const {
    const int64_t dim = op.attrs().integer("dimension", -1);
    return (dim < 0 ? dim + op.result()->type.rank() : dim) == grown.dim ? std::nullopt : of_elements(op, grown);
  }

  // A part of each row is overwritten: starts have no rows, and among all of the rows they are clamped to the first.
  std::optional<Rows> of_update(const Op& op, const Grown& grown) const {
    const Rows &whole = rows_of(op.operand(0)), &part = rows_of(op.operand(1));
    const bool starts_have_rows =
        std::any_of(op.operands.begin() + 2, op.operands.end(), [&](const Value* at) { return has_rows(at); });
    if (starts_have_rows || whole.dim != grown.dim || !whole.agrees(part)) return std::nullopt;
    const bool is_whole = op.operand(0)->type.shape[grown.dim] == op.operand(1)->type.shape[grown.dim];
    return is_whole ? std::optional(Rows{grown.dim, std::max(whole.each, part.each)}) : std::nullopt;
  }

  // From a table without rows by indices that have them, or from each row of a table by the same indices.
  std::optional<Rows> of_gather(const Op& few, const Op& more, const Grown& grown) const {
    const Rows &table = rows_of(few.operand(0)), &indices = rows_of(few.operand(1));
    const std::vector<int64_t> sizes = few.attrs().ints("slice_sizes"), other_sizes = more.attrs().ints("slice_sizes");
    AttrMap attrs = few.attr_map, others = more.attr_map;
    for (AttrMap* map : {&attrs, &others}) map->erase("slice_sizes");
    if (attrs != others || table.any() == indices.any()) return std::nullopt;
    for (int d = 0; d < static_cast<int>(sizes.size()); ++d) {
      if (d == table.dim ? sizes[d] != few.operand(0)->type.shape[d] : sizes[d] != other_sizes[d]) return std::nullopt;
    }
    const ops::IndexedDims dims = ops::read_gather_dims(few.attrs());
    const auto position = [](const std::vector<int64_t>& all, int dim) {
      return std::ranges::find(all, dim) - all.begin();
    };
    if (table.any()) {
      const std::vector<int64_t> kept = dims.kept_dims(few.operand(0)->type.rank());
      const auto at = position(kept, table.dim);
      const bool is_there = at < std::ssize(kept) && dims.window_dims[at] == grown.dim;
      return is_there ? std::optional(Rows{grown.dim, table.each}) : std::nullopt;
    }
    const std::vector<int64_t> batch = dims.batch_dims(few.result()->type.rank());
    const auto at = position(batch, grown.dim);
    const bool is_there = at < std::ssize(batch) && indices.dim == (at < dims.index_vector_dim ? at : at + 1);
    return is_there ? std::optional(Rows{grown.dim, indices.each}) : std::nullopt;
  }

  // One dimension of the space is the result's rows, and those of the operands that depend on it.
  std::optional<Rows> of_contraction(const Op& op, const Grown& grown) const {
    const loops::Contraction space = op.def->contraction(op);
    const std::vector<int64_t>& at = space.out[grown.dim].coefficients;
    const auto dim = static_cast<int>(std::ranges::find_if(at, [](int64_t c) { return c != 0; }) - at.begin());
    if (dim == std::ssize(at) || space.out[grown.dim].constant != 0 || !follows(space.out[grown.dim], dim))
      return std::nullopt;
    Rows rows{grown.dim, 0};
    for (const auto& [operand, axes] : {std::pair(op.operand(0), &space.lhs), std::pair(op.operand(1), &space.rhs)}) {
      const Rows& mine = rows_of(operand);
      if (!mine.any() && depends_on(*axes, dim)) return std::nullopt;
      if (!mine.any()) continue;
      if (!follows_rows(*axes, mine.dim, dim) || !rows.agrees({grown.dim, mine.each})) return std::nullopt;
      rows.each = std::max(rows.each, mine.each);
    }
    return rows;
  }

  // What other ops have, where their result has rows.
  struct Rule {
    const OpDef* op;
    std::optional<Rows> (RowWalk::*rows)(const Op& op, const Grown& grown) const;
  };
  static std::span<const Rule> rules() {
    static const Rule kRules[] = {
        {&kIota, &RowWalk::of_iota},
        {&kReduce, &RowWalk::of_reduce},
        {&kReduceWindow, &RowWalk::of_windows},
        {&kSort, &RowWalk::of_sort},
        {&kDynamicUpdateSlice, &RowWalk::of_update},
    };
    return kRules;
  }

  const Function &few_, &more_;
  int64_t count_;
  const Op* refused_ = nullptr;  // the first op that may not keep rows apart
  std::map<const Value*, Known> known_;
};

}  // namespace

std::string why_rows_depend(const Function& few, const Function& more, int64_t count) {
  return RowWalk(few, more, count).run();
}

}  // namespace ingot
