#include <algorithm>
#include <set>
#include <span>

#include "aot/base/contains.h"
#include "aot/base/divide.h"
#include "aot/schedule/reduce/reduce_space.h"

namespace ingot::schedule {

using loops::Expr;
using loops::Index;

int64_t ReduceGroup::run() const {
  int64_t product = 1;
  for (const int d : run_dims) product *= shape[d];
  return product;
}

int64_t ReduceGroup::reduced_count() const {
  int64_t product = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!contains(kept, static_cast<int>(d))) product *= shape[d];
  }
  return product;
}

Values ReduceGroup::roots() const {
  Values results;
  for (const Op* op : reduces) {
    for (const auto& result : op->results) results.push_back(result.get());
  }
  return results;
}

bool ReduceGroup::all_known() const {
  return std::ranges::all_of(reduces, [](const Op* op) { return known_op(op->region()).has_value(); });
}

int64_t split_extent(const ReduceGroup& group) {
  if (!group.outer.empty()) return group.shape[group.outer[0]];
  return group.is_rows ? group.run() : 1;
}

std::vector<Index> kept_of(const ReduceGroup& group, const std::vector<Index>& index) {
  std::vector<Index> kept;
  for (const int d : group.kept) kept.push_back(index[d]);
  return kept;
}

namespace {

// The walk along one of the outer dimensions is cut into blocks.
struct OuterBlocks {
  size_t level = 0;   // which of them
  int64_t each = 0;   // 0: it is not cut
  int64_t first = 0;  // how long the first one is
  std::function<void()> after = {};
};

using OuterBody = std::function<void(const Index& offset)>;

// Loops over the outer reduced dimensions, the first within `part`.
void walk_outer(Step& step, const ReduceGroup& group, const ReducedPart& part, const OuterBlocks& blocks,
                std::vector<Index>& index, size_t at, const Index& offset, const OuterBody& body) {
  if (at == group.outer.size()) return body(offset);
  const int dim = group.outer[at];
  const int64_t extent = group.shape[dim];
  const bool is_cut = at == 0 && part.each > 0;
  const Index lower = is_cut ? part.lower : Index(0), upper = is_cut ? part.lower + part.each : Index(extent);
  const auto walk = [&](Index r) {
    index[dim] = r;
    walk_outer(step, group, part, blocks, index, at + 1, offset * extent + r, body);
  };
  if (blocks.each == 0 || at != blocks.level) {
    step.b().loop("r", lower, upper, 1, walk, {Index(extent)});
    return;
  }
  const auto walk_block = [&](const Index& from, const Index& to) {
    step.b().loop("r", from, to, 1, walk, {upper, Index(extent)});
    blocks.after();
  };
  if (blocks.first != blocks.each) walk_block(lower, lower + blocks.first);
  step.b().loop("block", blocks.first != blocks.each ? lower + blocks.first : lower, upper, blocks.each,
                [&](Index block) { walk_block(block, block + blocks.each); }, {Index(extent)});
}

bool is_sum(const Op& reduce) {
  return known_op(reduce.region()) == loops::ScalarOp::kAdd && is_float(reduce.result()->type.dtype);
}

// Sums down columns: those of more than `longest` elements are cut into blocks.
struct ColumnBlocks {
  int64_t longest, block;
};
constexpr ColumnBlocks kWide = {1024, 256};
constexpr ColumnBlocks kNarrow = {32, 32};  // partial sums are rounded to 8 or 11 bits; as XLA's tree reductions

// How many elements the blocks of the group's sums have, about; 0: they are not cut.
int64_t column_block(const ReduceGroup& group) {
  if (group.outer.empty() || !group.all_known()) return 0;
  int64_t least = 0;
  for (const Op* op : group.reduces) {
    if (!is_sum(*op)) continue;
    const ColumnBlocks& blocks = info(op->result()->type.dtype).bits < 32 ? kNarrow : kWide;
    if (group.reduced_count() > blocks.longest) least = least == 0 ? blocks.block : std::min(least, blocks.block);
  }
  return least;
}

// Inner dimensions that are shorter than a block are not cut. What the blocks of narrow sums lack of whole ones is at
// both ends, as if there were zeros.
OuterBlocks outer_blocks(const ReduceGroup& group, std::function<void()> after) {
  const int64_t block = column_block(group);
  if (block == 0) return {};
  size_t level = group.outer.size() - 1;
  int64_t inner = 1;
  for (; level > 0 && inner * group.shape[group.outer[level]] < block; --level)
    inner *= group.shape[group.outer[level]];
  const int64_t each = std::max<int64_t>(1, block / inner), extent = group.shape[group.outer[level]];
  const int64_t missing = block == kNarrow.block ? (each - extent % each) % each : 0;
  return {level, each, each - missing / 2, std::move(after)};
}

// How many of the first accumulators one walk takes: as many as registers hold, and more that read what those do.
size_t count_of_one_walk(const Draft& draft, std::span<const Accumulator> accumulators, int vectors) {
  std::set<const Value*> read;
  size_t count = 0;
  for (const Accumulator& accumulator : accumulators) {
    Values inputs = draft.inputs_of(accumulator.op().operands);
    std::erase_if(inputs, [](const Value* input) { return input->type.elements() == 1; });
    const bool is_near = std::ranges::any_of(inputs, [&](const Value* input) { return read.contains(input); });
    if (count > 0 && !is_near && static_cast<int>(count + 1) * vectors > draft.target().vector_registers) break;
    read.insert(inputs.begin(), inputs.end());
    ++count;
  }
  return count;
}

}  // namespace

void walk_row(Step& step, const ReduceGroup& group, const std::vector<Index>& kept_index, const RowWalk& walk,
              const RowBody& body) {
  loops::KernelBuilder& b = step.b();
  std::vector<Index> index(group.shape.size(), Index(0));
  for (size_t d = 0; d < group.kept.size(); ++d) index[group.kept[d]] = kept_index[d];
  const int64_t run = group.run();
  const int64_t lanes = walk.vectors ? b.vector_lanes() : 1;
  const bool cuts_run = group.outer.empty() && walk.part.each > 0;
  walk_outer(step, group, walk.part, {}, index, 0, 0, [&](const Index& offset) {
    const auto emit = [&](const Index& i, const Index& chain, const Expr& mask) {
      if (!group.run_dims.empty()) index[group.run_dims.back()] = i;
      Pull::Scope scope(step.pull());
      body(index, offset * run + i, chain, mask);
    };
    if (run == 1) return emit(0, 0, nullptr);
    const Index lane = walk.vectors ? b.lane() : Index(0);
    // Stretches of `chains` vectors, then single vectors, then what fills none.
    const int64_t stretch = lanes * walk.chains;
    const int64_t stretched = run / stretch * stretch;
    const int64_t whole = run / lanes * lanes;
    const Index lower = cuts_run ? walk.part.lower : Index(0);
    const Index upper = cuts_run ? walk.part.lower + walk.part.each : Index(run);
    const auto take_stretch = [&](Index i) {
      b.unrolled("c", walk.chains, [&](Index c) { emit(i + c * lanes + lane, c, nullptr); });
    };
    const int64_t block_extent = stretch * Accumulator::kBlock;
    if (walk.after_block && stretched > block_extent) {
      b.loop("block", lower, upper, block_extent,
             [&](Index block) {
               b.loop("i", block, block + block_extent, stretch, take_stretch, {upper, Index(stretched)});
               walk.after_block();
             },
             {Index(stretched)});
    } else {
      b.loop("i", lower, upper, stretch, take_stretch, {Index(stretched)});
      if (walk.after_block) walk.after_block();
    }
    if (stretched == run) return;
    b.if_then(cuts_run ? walk.part.is_last : nullptr, [&] {
      b.loop("i", stretched, whole, lanes, [&](Index i) { emit(i + lane, 0, nullptr); });
      if (whole < run) {
        const Index i = Index(whole) + lane;
        emit(i, 0, b.in_range(i, 0, run));
      }
    });
  });
}

bool has_long_columns(const ReduceGroup& group) { return column_block(group) > 0; }

int column_vectors(const Draft& draft, const ReduceGroup& group) {
  constexpr int kFew = 4, kMany = 16;
  const int64_t bytes = group.reduces[0]->operand(0)->type.bytes();
  return bytes > draft.target().order().machine.l2_bytes / 2 ? kMany : kFew;
}

int64_t column_units(const ReduceGroup& group, int64_t lanes, int vectors) {
  if (group.kept_count() == 0) return 0;
  const int64_t width = lanes * vectors;
  return group.kept_count() / group.run() * divide_up(group.run(), width);
}

void walk_columns(Step& step, const ReduceGroup& group, const Index& unit, int vectors, const ColumnBlock& block) {
  loops::KernelBuilder& b = step.b();
  const int64_t lanes = b.vector_lanes();
  const int64_t width = lanes * vectors;
  const int64_t run = group.run();
  const int64_t blocks = divide_up(run, width);
  Shape lead_shape;
  std::vector<int> lead_dims;
  for (const int d : group.kept) {
    if (group.shape[d] != 1 && !contains(group.run_dims, d)) {
      lead_dims.push_back(d);
      lead_shape.push_back(group.shape[d]);
    }
  }
  const std::vector<Index> lead = loops::unflatten(b, b.divide(unit, blocks), lead_shape);
  std::vector<Index> at(group.shape.size(), Index(0));
  for (size_t k = 0; k < lead.size(); ++k) at[lead_dims[k]] = lead[k];
  const Index position = b.modulo(unit, blocks);
  const int64_t rest = run % width;
  const int rest_vectors = static_cast<int>(divide_up(rest, lanes));
  const auto whole = [&] { block(at, position * width, vectors, false); };
  const auto last = [&] { block(at, run - rest, rest_vectors, rest % lanes != 0); };
  if (rest == 0) return whole();
  if (blocks == 1) return last();
  b.if_then(b.apply(loops::ScalarOp::kLess, {b.index_value(position), b.constant_int(DType::kI64, blocks - 1)}), whole,
            last);
}

void take_columns(Step& step, const ReduceGroup& group, std::vector<Accumulator>& accumulators,
                  const std::vector<Index>& at, const Index& first, int vectors, bool is_ragged,
                  const ReducedPart& part) {
  loops::KernelBuilder& b = step.b();
  std::vector<Index> index = at;
  for (std::span<Accumulator> rest = accumulators; !rest.empty();) {
    const std::span<Accumulator> taken = rest.first(count_of_one_walk(step.draft(), rest, vectors));
    rest = rest.subspan(taken.size());
    const OuterBlocks blocks = outer_blocks(group, [&] {
      for (Accumulator& accumulator : taken) accumulator.fold();
    });
    walk_outer(step, group, part, blocks, index, 0, 0, [&](const Index&) {
      b.unrolled("v", vectors, [&](Index v) {
        Pull::Scope scope(step.pull());
        const Index column = first + v * b.vector_lanes() + b.lane();
        if (!group.run_dims.empty()) index[group.run_dims.back()] = column;
        const Expr mask = is_ragged ? b.in_range(column, 0, group.run()) : nullptr;
        for (Accumulator& accumulator : taken) accumulator.take(v, index, mask);
      });
    });
  }
}

}  // namespace ingot::schedule
