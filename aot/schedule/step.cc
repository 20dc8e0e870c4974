#include "aot/schedule/step.h"

#include <algorithm>
#include <utility>

#include "aot/base/divide.h"
#include "aot/ops/support/clamped_start.h"

namespace ingot::schedule {

using loops::BufferId;
using loops::Expr;
using loops::Index;

Step::Step(Draft& draft, int lanes)
    : draft_(draft),
      b_(draft.step_count() == 0 ? draft.name() : draft.name() + "." + std::to_string(draft.step_count()), lanes),
      pull_(b_) {}

void Step::read(const Values& values, const Values& provided) {
  for (const Value* value : draft_.inputs_of(values, provided)) {
    if (inputs_.contains(value)) continue;
    const BufferId buffer =
        b_.input(value->name.empty() ? "in" : value->name, value->type.dtype, value->type.elements());
    inputs_[value] = buffer;
    pull_.bind(value, buffer);
    bindings_.push_back(*draft_.place(value));
  }
}

BufferId Step::read_temporary(int temporary) {
  const TensorType& type = draft_.temporary(temporary);
  bindings_.push_back({KernelBinding::Kind::kTemporary, temporary});
  return b_.input("partial", type.dtype, type.elements());
}

BufferId Step::declare_output(const std::string& name, const TensorType& type, KernelBinding binding,
                              BufferId may_alias) {
  bindings_.push_back(binding);
  return b_.output(name, type.dtype, type.elements(), may_alias);
}

// Whether each element of a value fits where one of a temporary lies.
bool Step::may_take(const Value* value, BufferId temporary) {
  const loops::Buffer& buffer = b_.kernel().buffers[temporary];
  return !draft_.is_update(value) && buffer.elements == value->type.elements() &&
         info(buffer.dtype).bytes == info(value->type.dtype).bytes;
}

void Step::write(const Values& values, const std::set<const Value*>& in_place, BufferId sums) {
  std::set<const Value*> taken;
  for (const Value* value : values) {
    if (const Value* replaced = draft_.replaced(value)) taken.insert(replaced);
  }
  for (const Value* value : values) {
    const std::string name = value->name.empty() ? "out" : value->name;
    const auto may_replace = [&](const Value* input) {
      return input && in_place.contains(input) && inputs_.contains(input) &&
             input->type.bytes() == value->type.bytes() &&
             info(input->type.dtype).bytes == info(value->type.dtype).bytes;
    };
    BufferId may_alias = -1;
    if (const Value* replaced = draft_.replaced(value); may_replace(replaced)) {
      may_alias = inputs_.at(replaced);
    } else {
      for (const Value* input : in_place) {
        if (taken.contains(input) || !may_replace(input)) continue;
        if (may_alias == -1 || inputs_.at(input) < may_alias) may_alias = inputs_.at(input);
      }
      for (const auto& [input, buffer] : inputs_) {
        if (buffer == may_alias) taken.insert(input);
      }
    }
    if (may_alias < 0 && sums >= 0 && may_take(value, sums)) may_alias = std::exchange(sums, -1);
    const std::vector<int> results = draft_.results_of(value);
    if (results.empty()) {
      const KernelBinding binding{KernelBinding::Kind::kTemporary, draft_.add_temporary(value->type)};
      outputs_[value].push_back(declare_output(name, value->type, binding, may_alias));
      made_.emplace_back(value, binding);
      continue;
    }
    for (const int result : results) {
      if (draft_.is_update(value)) may_alias = inputs_.at(value->op->operand(0));
      const KernelBinding binding{KernelBinding::Kind::kResult, result, draft_.is_update(value)};
      outputs_[value].push_back(declare_output(name, value->type, binding, may_alias));
      may_alias = -1;
      if (result == results[0] && !draft_.is_made(value)) made_.emplace_back(value, binding);
    }
  }
}

BufferId Step::write_temporary(int temporary) {
  return declare_output("partial", draft_.temporary(temporary), {KernelBinding::Kind::kTemporary, temporary}, -1);
}

void Step::update(const Value* value, BufferId whole) {
  const std::string name = value->name.empty() ? "out" : value->name;
  std::vector<KernelBinding> bindings;
  for (const int result : draft_.results_of(value)) bindings.push_back({KernelBinding::Kind::kResult, result, true});
  if (bindings.empty()) {
    const int temporary = draft_.is_made(value) ? draft_.place(value)->index : draft_.add_temporary(value->type);
    bindings.push_back({KernelBinding::Kind::kTemporary, temporary, true});
  }
  INGOT_CHECK(whole < 0 || bindings.size() == 1);
  for (const KernelBinding& binding : bindings)
    outputs_[value].push_back(declare_output(name, value->type, binding, whole));
  made_.emplace_back(value, bindings[0]);
}

std::vector<Index> Step::place_in_whole(const Op& update, const std::vector<Index>& index) {
  const Shape& whole = update.operand(0)->type.shape;
  const Shape& window = update.operand(1)->type.shape;
  const Shape& space = draft_.source(update.result())->type.shape;
  std::vector<Index> place;
  size_t next = 0;
  for (size_t d = 0; d < window.size(); ++d) {
    Index at = 0;
    if (window[d] != 1) {
      while (space[next] == 1) ++next;
      at = index[next++];
    }
    const int64_t high = whole[d] - window[d];
    if (high > 0)
      at = at + ops::clamped_start(b_, pull_.element(update.operand(static_cast<int>(d) + 2), {}, nullptr), high);
    place.push_back(at);
  }
  return place;
}

void Step::store(const Value* value, const std::vector<Index>& index, const Expr& element, const Expr& mask) {
  const std::vector<Index> place = draft_.is_update(value) ? place_in_whole(*value->op, index) : index;
  for (const BufferId buffer : outputs_.at(value))
    b_.store(buffer, loops::flatten(place, value->type.shape), element, mask);
}

void Step::store_pulled(const Values& values, const std::vector<SweepPlace>& places) {
  std::vector<Expr> elements;
  for (const SweepPlace& place : places) {
    for (const Value* value : values) {
      Expr element = pull_.element(draft_.source(value), place.index, place.mask);
      elements.push_back(values.size() * places.size() == 1 ? element : b_.let("made", element));
    }
  }
  auto element = elements.begin();
  for (const SweepPlace& place : places) {
    for (const Value* value : values) store(value, place.index, *element++, place.mask);
  }
}

void Step::finish() {
  for (const auto& [value, place] : made_) draft_.set_place(value, place);
  draft_.add_step({b_.finish(), std::move(bindings_)});
}

namespace {

int widest_bytes_of(const Draft& draft, const Values& makes) {
  int widest_bytes = 1;
  const auto count = [&](const TensorType& type) {
    if (type.elements() > 1) widest_bytes = std::max(widest_bytes, info(loops::register_dtype(type.dtype)).bytes);
  };
  for (const Value* value : makes) count(value->type);
  for (const Value* value : draft.inputs_of(makes)) {
    // Indices are few beside the data that they choose.
    if (value->type.dtype != DType::kI64 && value->type.dtype != DType::kUI64) count(value->type);
  }
  return widest_bytes;
}

}  // namespace

int lanes_for(const Draft& draft, const Values& makes) {
  return draft.target().vector_bytes / widest_bytes_of(draft, makes);
}

int summing_lanes_for(const Draft& draft, const Values& makes) {
  return draft.target().order().vector_bytes / widest_bytes_of(draft, makes);
}

double work_ns(const Draft& draft, const Values& makes) {
  const loops::Machine& machine = draft.target().order().machine;
  double ns = 0;
  std::set<const Value*> seen;
  const auto visit = [&](const auto& self, const Value* value) -> void {
    if (!seen.insert(value).second) return;
    if (draft.is_update(value)) return self(self, draft.source(value));
    if (draft.is_made(value)) {
      ns += machine.byte_ns * static_cast<double>(value->type.bytes());
      return;
    }
    double elements = static_cast<double>(value->type.elements());
    for (const Value* operand : value->op->operands) {
      if (!value->op->def->has_elements()) elements = std::max(elements, static_cast<double>(operand->type.elements()));
      self(self, operand);
    }
    ns += machine.flop_ns * elements * value->op->def->flops;
  };
  for (const Value* value : makes) {
    visit(visit, value);
    ns += machine.byte_ns * static_cast<double>(draft.source(value)->type.bytes());
  }
  return ns;
}

int64_t wanted_tasks(const Draft& draft, double work_ns) {
  const loops::Machine& machine = draft.target().order().machine;
  return static_cast<int64_t>(std::clamp(work_ns / machine.task_work_ns, 1.0, static_cast<double>(machine.tasks_max)));
}

TaskSplit split_tasks(int64_t units, int64_t wanted, int64_t multiple) {
  if (units <= 0) return {1, multiple};
  const int64_t each = round_up(divide_up(units, wanted), multiple);
  return {divide_up(units, each), each};
}

TaskPart part_of_task(loops::KernelBuilder& b, int64_t units, int64_t wanted, int64_t multiple) {
  const TaskSplit split = split_tasks(units, wanted, multiple);
  b.set_task_count(units == 0 ? 0 : split.tasks);
  const Index first = b.task() * split.each;
  return {first, first + split.each, split.each, split.tasks};
}

TaskPiece piece_of_task(loops::KernelBuilder& b, int64_t units, int64_t run, int64_t wanted, int64_t multiple) {
  const TaskSplit split = split_tasks(run, wanted, multiple);
  b.set_task_count(units * split.tasks);
  const Index index = b.modulo(b.task(), split.tasks);
  const auto is_last = [&] {
    return b.apply(loops::ScalarOp::kEqual, {b.index_value(index), b.constant_int(DType::kI64, split.tasks - 1)});
  };
  return {b.divide(b.task(), split.tasks), index, index * split.each, split.each,
          split.tasks == 1 ? nullptr : is_last()};
}

void for_each_unit(loops::KernelBuilder& b, const std::string& name, int64_t units, int64_t wanted,
                   const std::function<void(Index)>& body) {
  const TaskPart part = part_of_task(b, units, wanted);
  b.loop(name, part.first, part.end, 1, body, {Index(units)});
}

void walk_run(loops::KernelBuilder& b, const Index& first, int64_t each, int64_t extent,
              const std::function<void(const Index&, const Expr&)>& body) {
  const int64_t lanes = b.vector_lanes();
  const int64_t whole = extent / lanes * lanes;
  b.loop("i", first, first + each, lanes, [&](Index i) { body(i + b.lane(), nullptr); }, {Index(whole)});
  if (whole == extent) return;
  const Index rest = Index(whole) + b.lane();
  b.if_then(b.in_range(Index(whole) - first, 0, each), [&] { body(rest, b.in_range(rest, 0, extent)); });
}

}  // namespace ingot::schedule
