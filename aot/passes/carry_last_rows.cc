#include <algorithm>
#include <optional>

#include "aot/analysis/regions.h"
#include "aot/analysis/stacks.h"
#include "aot/analysis/walk.h"
#include "aot/ops/support/build.h"
#include "aot/passes/pass.h"

namespace ingot {
namespace {

// A slice behind a loop, of a stack that may be transposed in between.
struct Reader {
  Op* slice;
  const Op* transpose;  // null: none

  // The stack's first dimension in what is sliced.
  int64_t row_dimension() const {
    if (!transpose) return 0;
    const std::vector<int64_t> order = transpose->attrs().ints("permutation");
    return std::ranges::find(order, 0) - order.begin();
  }
};

// All that read a stack; nullopt where something else than a slice does.
std::optional<std::vector<Reader>> readers_of(const Value* stack) {
  std::vector<Reader> readers;
  for (const Value::Use& use : stack->uses) {
    if (use.op->is(kSlice)) {
      readers.push_back({use.op, nullptr});
      continue;
    }
    if (!use.op->is(kTranspose)) return std::nullopt;
    for (const Value::Use& behind : use.op->result()->uses) {
      if (!behind.op->is(kSlice)) return std::nullopt;
      readers.push_back({behind.op, use.op});
    }
  }
  return readers;
}

bool reads_only(const Reader& reader, int64_t row) {
  const Attrs attrs = reader.slice->attrs();
  const int64_t dimension = reader.row_dimension();
  return attrs.ints("start_indices")[dimension] == row && attrs.ints("limit_indices")[dimension] == row + 1;
}

// The same of a stack that is only the row.
void read_row(const Reader& reader, Value* row) {
  GraphBuilder b;
  b.location = reader.slice->location;
  b.before(*reader.slice);
  const Attrs attrs = reader.slice->attrs();
  Shape start = attrs.ints("start_indices"), limit = attrs.ints("limit_indices");
  start[reader.row_dimension()] = 0;
  limit[reader.row_dimension()] = 1;
  if (reader.transpose) row = ops::transpose(b, row, reader.transpose->attrs().ints("permutation"));
  replace_op(reader.slice, {ops::slice(b, row, start, limit, attrs.ints("strides"))});
}

// Carries the row of a stack that the last iteration writes, where no other is read.
bool carry_last_row(Op& loop, const Counter& counter, int carried) {
  const Op* update = row_update(loop, counter, carried);
  const Value* stack = loop.result(carried);
  if (!update || stack->uses.empty() || loop.region(1).argument(carried)->uses.size() != 1) return false;
  const bool is_forward = row_order(loop, counter, update->operand(2)) == RowOrder::kForward;
  const int64_t last = is_forward ? counter.trips() - 1 : 0;
  const std::optional<std::vector<Reader>> readers = readers_of(stack);
  const auto is_last = [&](const Reader& reader) { return reads_only(reader, last); };
  if (!readers || readers->empty() || !std::ranges::all_of(*readers, is_last)) return false;
  GraphBuilder b;
  b.location = loop.location;
  b.before(loop);
  Value* row = update->operand(1);
  const int last_row = add_carried(loop, ops::constant(b, row->type, 0), "");
  set_next(loop, last_row, row);
  for (const Reader& reader : *readers) read_row(reader, loop.result(last_row));
  return true;
}

}  // namespace

bool carry_last_rows(Module& module, PassContext&) {
  bool changed = false;
  for_each_block(module, [&](Block& block) {
    bool is_carried = false;
    for (auto& op : block.ops) {
      const std::optional<Counter> counter = is_loop(*op) ? counter_of(*op) : std::nullopt;
      if (!counter || counter->trips() < 2) continue;
      for (int i = 0, count = static_cast<int>(op->operands.size()); i < count; ++i) {
        is_carried |= carry_last_row(*op, *counter, i);
      }
    }
    if (is_carried) erase_unread(block);
    changed |= is_carried;
  });
  return changed;
}

}  // namespace ingot
