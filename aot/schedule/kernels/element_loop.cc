// A loop inside a kernel: all iterations for a few vectors of elements at a time, what is carried in registers.
#include <algorithm>

#include "aot/analysis/flops.h"
#include "aot/analysis/trip_count.h"
#include "aot/base/contains.h"
#include "aot/base/divide.h"
#include "aot/graph/op.h"
#include "aot/schedule/step.h"
#include "aot/schedule/templates.h"

namespace ingot::schedule {
namespace {

using loops::Expr;
using loops::Index;

class ElementLoop {
 public:
  ElementLoop(Draft& draft, const Op& loop) : draft_(draft), loop_(loop), counter_(*counter_of(loop)) {
    for (int i = 0; i < std::ssize(loop.results); ++i) {
      if (i == counter_.index) continue;
      carried_.push_back(i);
      starts_.push_back(loop.operand(i));
      if (draft.is_result(loop.result(i))) makes_.push_back(loop.result(i));
    }
    outside_ = captured_values(body());
  }

  void build() {
    Values reads = starts_;
    reads.insert(reads.end(), outside_.begin(), outside_.end());
    Step step(draft_, starts_[0]->type.elements() == 1 ? 1 : lanes_for(draft_, reads));
    step.read(reads);
    step.write(makes_, {starts_.begin(), starts_.end()});
    loops::KernelBuilder& b = step.b();

    const int64_t elements = starts_[0]->type.elements(), lanes = b.vector_lanes();
    const loops::Machine& machine = draft_.target().machine;
    const int64_t vectors = std::max<int64_t>(1, machine.chains() / std::ssize(carried_));
    const int64_t block = vectors * lanes, whole = elements / block * block;
    const double work = work_ns(draft_, starts_) + machine.flop_ns * static_cast<double>(count_flops(loop_));
    const TaskPart part = part_of_task(b, elements, wanted_tasks(draft_, work), block);
    if (elements == 0) return step.finish();
    b.loop("block", part.first, part.end, block, [&](Index at) { emit(step, at, vectors, block); }, {Index(whole)});
    if (whole < elements) {
      const Expr owns_end = part.tasks == 1 ? nullptr : b.in_range(b.task(), part.tasks - 1, part.tasks);
      b.if_then(owns_end, [&] { emit(step, whole, divide_up(elements - whole, lanes), elements - whole); });
    }
    step.finish();
  }

 private:
  const Block& body() const { return loop_.region(1); }

  // A value's index whose place, flattened, is `at`.
  static std::vector<Index> index_of(const Value* value, const Index& at) {
    std::vector<Index> index(value->type.shape.size(), Index(0));
    if (!index.empty()) index.back() = at;
    return index;
  }

  // All iterations of `vectors` vectors from `at`, of which `count` elements exist.
  void emit(Step& step, const Index& at, int64_t vectors, int64_t count) {
    loops::KernelBuilder& b = step.b();
    Pull& pull = step.pull();
    const int64_t lanes = b.vector_lanes();
    std::vector<loops::TileId> tiles;
    for (const Value* start : starts_) {
      tiles.push_back(b.tile("carried", loops::register_dtype(start->type.dtype), b.vector_lanes(), {vectors}));
    }
    // body(v, index, mask) for each vector.
    const auto each = [&](const std::function<void(const Index&, const Index&, const Expr&)>& work) {
      b.unrolled("v", vectors, [&](Index v) {
        Pull::Scope scope(pull);
        const Index i = v * lanes + b.lane();
        work(v, at + i, count < vectors * lanes ? b.in_range(i, 0, count) : nullptr);
      });
    };
    each([&](const Index& v, const Index& i, const Expr& mask) {
      for (size_t k = 0; k < tiles.size(); ++k) {
        b.set(tiles[k], {v}, pull.element(starts_[k], index_of(starts_[k], i), mask));
      }
    });
    b.loop("iteration", 0, counter_.trips(), 1, [&](Index iteration) {
      each([&](const Index& v, const Index& i, const Expr& mask) {
        const Value* counter = body().argument(counter_.index);
        pull.answer(counter, [&b, counter, count = iteration * counter_.step + counter_.start](
                                 const auto&, const Expr&) { return b.index_value(count, counter->type.dtype); });
        std::vector<Expr> next;
        for (size_t k = 0; k < tiles.size(); ++k) {
          pull.answer(body().argument(carried_[k]),
                      [&b, tile = tiles[k], v](const auto&, const Expr&) { return b.read(tile, {v}); });
        }
        for (const int carried : carried_) {
          const Value* value = body().terminator()->operand(carried);
          next.push_back(b.let("next", pull.element(value, index_of(value, i), mask)));
        }
        for (size_t k = 0; k < tiles.size(); ++k) b.set(tiles[k], {v}, next[k]);
      });
    });
    each([&](const Index& v, const Index& i, const Expr& mask) {
      for (size_t k = 0; k < carried_.size(); ++k) {
        const Value* result = loop_.result(carried_[k]);
        if (contains(makes_, result)) step.store(result, index_of(result, i), b.read(tiles[k], {v}), mask);
      }
    });
  }

  Draft& draft_;
  const Op& loop_;
  Counter counter_;
  std::vector<int> carried_;  // numbers of carried values but the counter; in step with ...
  Values starts_;             // ... these
  Values makes_;              // results
  Values outside_;            // what the body reads from outside
};

}  // namespace

void lower_element_loop(Draft& draft, const Op& root) { ElementLoop(draft, root).build(); }

}  // namespace ingot::schedule
