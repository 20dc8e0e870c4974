#include <algorithm>
#include <map>
#include <set>

#include "aot/analysis/regions.h"
#include "aot/analysis/repetition.h"
#include "aot/analysis/stacks.h"
#include "aot/analysis/walk.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/loop.h"
#include "aot/passes/pass.h"

namespace ingot {
namespace {

constexpr int64_t kTripsMin = 8;  // fewer are not worth the loop's own steps

using Kind = RepeatedOperand::Kind;

Shape stack_shape(const Value* row, int64_t rows) {
  Shape shape = row->type.shape;
  shape.insert(shape.begin(), rows);
  return shape;
}

// `start + step * iteration`, a scalar.
Value* start_at(GraphBuilder& b, Value* iteration, int64_t start, int64_t step) {
  const auto number = [&](int64_t value) { return ops::constant(b, iteration->type, static_cast<double>(value)); };
  if (step == 0) return number(start);
  if (step == -1) return ops::subtract(b, number(start), iteration);
  Value* moved = step == 1 ? iteration : ops::multiply(b, iteration, number(step));
  return start == 0 ? moved : ops::add(b, moved, number(start));
}

Values starts_at(GraphBuilder& b, Value* iteration, const Shape& start, const Shape& step) {
  Values starts;
  for (size_t i = 0; i < start.size(); ++i) starts.push_back(start_at(b, iteration, start[i], step[i]));
  return starts;
}

// The concatenations that a value is an operand of, perhaps reshaped.
void find_concatenations(const Value* value, std::vector<Op*>& found) {
  for (const Value::Use& use : value->uses) {
    if (use.op->is(kReshape)) find_concatenations(use.op->result(), found);
    if (use.op->is(kConcatenate)) found.push_back(use.op);
  }
}

// A repetition as a loop.
class Roller {
 public:
  explicit Roller(Repetition& repetition)
      : repetition_(repetition), members_(repetition.ops.begin(), repetition.ops.end()) {}

  void run() {
    Op& behind = **std::next(repetition_.ops.back()->self);
    b_.before(behind);
    b_.location = repetition_.ops.front()->location;
    keep_invariants(behind);
    keep_views();
    read_handed_stacks();
    find_seen();
    const Values starts = make_starts();
    const Values results = ops::counted_loop(
        b_, repetition_.trips(), starts,
        [this](GraphBuilder& b, Value* iteration, const Values& carried) { return make_body(b, iteration, carried); });
    for (const Seen& seen : seen_) show(seen, results);
    for (auto op = repetition_.ops.rbegin(); op != repetition_.ops.rend(); ++op) {
      if (members_.contains(*op)) erase(*op);
    }
  }

 private:
  // What somebody outside reads: of all iterations, as rows of a stack, or only of the last.
  struct Seen {
    int position, result;
    int carried;  // its number among the loop's
    bool is_stack = false;
    bool is_backward = false;  // the stack's first row is of the last iteration
  };

  bool is_seen(const Value* value) const {
    return std::ranges::any_of(value->uses, [&](const Value::Use& use) { return !members_.contains(use.op); });
  }

  // One of each is left, before the loop.
  void keep_invariants(Op& behind) {
    for (size_t q = 0; q < repetition_.body.size(); ++q) {
      if (!repetition_.body[q].is_invariant) continue;
      Op* kept = repetition_.body[q].op;
      Block& block = *kept->block;
      block.ops.splice(behind.self, block.ops, kept->self);
      members_.erase(kept);
      for (const std::vector<Values>& made : repetition_.made) {
        for (size_t r = 0; r < made[q].size(); ++r) {
          if (made[q][r] != kept->result(static_cast<int>(r)))
            replace_all_uses(made[q][r], kept->result(static_cast<int>(r)));
        }
      }
    }
  }

  // Who reads a window behind the loop reads it as before.
  void keep_views() {
    for (size_t q = 0; q < repetition_.body.size(); ++q) {
      if (!repetition_.body[q].is_view) continue;
      for (const std::vector<Values>& made : repetition_.made) {
        if (!made[q].empty()) members_.erase(made[q][0]->op);
      }
    }
  }

  // Windows of what another loop was handed become those of a stack that it writes.
  void read_handed_stacks() {
    for (RepeatedOp& op : repetition_.body) {
      for (RepeatedOperand& operand : op.operands) {
        if (operand.window.is_before) operand.window.source = handed_stack(operand.window.source);
      }
    }
  }

  // Rows of what a loop was handed in each iteration, beside those of what it handed on.
  Value* handed_stack(const Value* handed_on_stack) {
    const auto [found, is_new] = handed_stacks_.emplace(handed_on_stack, nullptr);
    if (!is_new) return found->second;
    Op& loop = *handed_on_stack->op;
    Block& body = loop.region(1);
    const Op* update = body.terminator()->operand(handed_on_stack->index)->op;
    GraphBuilder b;
    b.location = loop.location;
    b.before(loop);
    const int carried = add_carried(loop, ops::constant(b, handed_on_stack->type, 0), "");
    b.before(*body.terminator());
    Value* row = ops::reshape(b, body.argument(handed_on(handed_on_stack)->carried), update->operand(1)->type.shape);
    const Values starts(update->operands.begin() + 2, update->operands.end());
    set_next(loop, carried, ops::dynamic_update_slice(b, body.argument(carried), row, starts));
    return found->second = loop.result(carried);
  }

  void find_seen() {
    int next = static_cast<int>(repetition_.carried.size());
    std::set<const Value*> found;
    for (int q = 0; q < std::ssize(repetition_.body); ++q) {
      if (repetition_.body[q].is_invariant || repetition_.body[q].is_view) continue;
      for (int r = 0; r < std::ssize(repetition_.body[q].op->results); ++r) {
        bool is_seen_before_last = false, is_last_seen = false;
        for (const std::vector<Values>& made : repetition_.made) {
          if (made[q].empty() || !found.insert(made[q][r]).second || !is_seen(made[q][r])) continue;
          (&made == &repetition_.made.back() ? is_last_seen : is_seen_before_last) = true;
        }
        if (!is_seen_before_last && !is_last_seen) continue;
        const int carried = is_seen_before_last ? -1 : number_of(q, r);
        seen_.push_back({q, r, carried < 0 ? next++ : carried, is_seen_before_last});
        if (is_seen_before_last) seen_.back().is_backward = is_read_backward(q, r);
      }
    }
  }

  // The number of a carried value; -1: none.
  int number_of(int position, int result) const {
    for (size_t i = 0; i < repetition_.carried.size(); ++i) {
      const CarriedValue& carried = repetition_.carried[i];
      if (carried.position == position && carried.result == result) return static_cast<int>(i);
    }
    return -1;
  }

  // Whether a concatenation has what the last iteration made in front.
  bool is_read_backward(int position, int result) const {
    std::vector<Op*> concatenations;
    find_concatenations(repetition_.made[1][position][result], concatenations);
    if (concatenations.empty()) return false;
    const auto place = [&](int64_t iteration) {
      const Value* value = repetition_.made[iteration][position][result];
      return std::ranges::find(concatenations[0]->operands, value, under_reshapes);
    };
    return place(2) < place(1);
  }

  Values make_starts() {
    Values starts;
    for (const CarriedValue& carried : repetition_.carried) {
      const Value* made = repetition_.body[carried.position].op->result(carried.result);
      starts.push_back(carried.start ? carried.start : ops::constant(b_, made->type, 0));
    }
    for (const Seen& seen : seen_) {
      if (seen.carried < std::ssize(starts)) continue;
      TensorType type = row_of(seen)->type;
      if (seen.is_stack) type.shape = stack_shape(row_of(seen), repetition_.trips());
      starts.push_back(ops::constant(b_, type, 0));
    }
    return starts;
  }

  const Value* row_of(const Seen& seen) const { return repetition_.body[seen.position].op->result(seen.result); }

  Values make_body(GraphBuilder& b, Value* iteration, const Values& carried) {
    std::vector<Values> made;
    for (const RepeatedOp& repeated : repetition_.body) made.push_back(make_op(b, repeated, iteration, carried, made));
    Values next(carried.size());
    for (size_t i = 0; i < repetition_.carried.size(); ++i) {
      next[i] = made[repetition_.carried[i].position][repetition_.carried[i].result];
    }
    for (const Seen& seen : seen_) {
      Value* row = made[seen.position][seen.result];
      Value*& handed = next[seen.carried];
      handed = seen.is_stack ? write_row(b, carried[seen.carried], row, iteration, seen.is_backward) : row;
    }
    return next;
  }

  Values make_op(GraphBuilder& b, const RepeatedOp& repeated, Value* iteration, const Values& carried,
                 const std::vector<Values>& made) {
    const Op& op = *repeated.op;
    if (repeated.is_invariant) return results_of(op);
    b.location = op.location;
    Values operands;
    for (int j = 0; j < std::ssize(op.operands); ++j) {
      const RepeatedOperand& operand = repeated.operands[j];
      switch (operand.kind) {
        case Kind::kOutside:
          operands.push_back(operand.value);
          break;
        case Kind::kWithin:
          operands.push_back(made[operand.position][operand.result]);
          break;
        case Kind::kCarried:
          operands.push_back(carried[number_of(operand.position, operand.result)]);
          break;
        case Kind::kWindow:
          Value* window = read_window(b, operand.window.source, operand.window, iteration);
          operands.push_back(ops::reshape(b, window, op.operand(j)->type.shape));
      }
    }
    if (repeated.window) {
      return {op.is(kPad) ? write_window(b, op, operands, *repeated.window, iteration)
                          : read_window(b, operands[0], *repeated.window, iteration)};
    }
    ValueMap map;
    Op* copy = copy_op(op, *b.block(), map);
    for (int j = 0; j < std::ssize(operands); ++j) copy->set_operand(j, operands[j]);
    return results_of(*copy);
  }

  static Value* read_window(GraphBuilder& b, Value* source, const MovingWindow& window, Value* iteration) {
    return ops::dynamic_slice(b, source, starts_at(b, iteration, window.start, window.step), window.sizes);
  }

  static Value* write_window(GraphBuilder& b, const Op& pad, const Values& operands, const MovingWindow& window,
                             Value* iteration) {
    Value* padding = ops::broadcast_scalar(b, operands[1], pad.result()->type.shape);
    return ops::dynamic_update_slice(b, padding, operands[0], starts_at(b, iteration, window.start, window.step));
  }

  Value* write_row(GraphBuilder& b, Value* stack, Value* row, Value* iteration, bool is_backward) const {
    Shape start(stack->type.shape.size()), step(start.size());
    step[0] = is_backward ? -1 : 1;
    if (is_backward) start[0] = repetition_.trips() - 1;
    Value* window = ops::reshape(b, row, stack_shape(row, 1));
    return ops::dynamic_update_slice(b, stack, window, starts_at(b, iteration, start, step));
  }

  // Whoever read a value of an iteration reads the loop's result.
  void show(const Seen& seen, const Values& results) {
    Value* result = results[seen.carried];
    if (!seen.is_stack) {
      replace_seen(repetition_.made.back()[seen.position][seen.result], [&] { return result; });
      return;
    }
    replace_concatenations(seen, result);
    const int64_t trips = repetition_.trips();
    for (int64_t i = 0; i < trips; ++i) {
      const Values& made = repetition_.made[i][seen.position];
      if (made.empty()) continue;
      replace_seen(made[seen.result], [&] {
        const int64_t row = seen.is_backward ? trips - 1 - i : i;
        Shape start(result->type.shape.size()), limit = result->type.shape;
        start[0] = row;
        limit[0] = row + 1;
        Value* slice = ops::slice(b_, result, start, limit, Shape(start.size(), 1));
        return ops::reshape(b_, slice, made[seen.result]->type.shape);
      });
    }
  }

  template <typename Make>
  void replace_seen(Value* value, const Make& make) {
    if (!is_seen(value)) return;
    Value* instead = make();
    const std::vector<Value::Use> uses = value->uses;
    for (const Value::Use& use : uses) {
      if (!members_.contains(use.op)) use.op->set_operand(use.operand_index, instead);
    }
  }

  // A concatenation of all rows is the stack, with the rows' dimension where they were concatenated.
  void replace_concatenations(const Seen& seen, Value* stack) {
    std::vector<Op*> concatenations;
    find_concatenations(repetition_.made[1][seen.position][seen.result], concatenations);
    for (Op* concatenation : concatenations) {
      if (!has_all_rows(*concatenation, seen)) continue;
      GraphBuilder b;
      b.location = concatenation->location;
      b.before(*concatenation);
      const Value* row = concatenation->operand(0);
      const int64_t dimension = concatenation->attrs().integer("dimension");
      std::vector<int64_t> order;
      for (int64_t i = 1; i <= std::ssize(row->type.shape); ++i) order.push_back(i);
      order.insert(order.begin() + dimension, 0);
      Value* rows = ops::reshape(b, stack, stack_shape(row, repetition_.trips()));
      Value* result = ops::reshape(b, ops::transpose(b, rows, order), concatenation->result()->type.shape);
      replace_op(concatenation, {result});
    }
  }

  bool has_all_rows(const Op& concatenation, const Seen& seen) const {
    const int64_t trips = repetition_.trips();
    if (std::ssize(concatenation.operands) != trips) return false;
    for (int64_t i = 0; i < trips; ++i) {
      const Values& made = repetition_.made[seen.is_backward ? trips - 1 - i : i][seen.position];
      const Value* operand = concatenation.operand(static_cast<int>(i));
      if (made.empty() || under_reshapes(operand) != made[seen.result]) return false;
      if (operand->type != concatenation.operand(0)->type) return false;
    }
    return true;
  }

  Repetition& repetition_;
  std::set<const Op*> members_;
  std::vector<Seen> seen_;
  std::map<const Value*, Value*> handed_stacks_;
  GraphBuilder b_;
};

}  // namespace

bool roll_loops(Module& module, PassContext&) {
  bool changed = false;
  for_each_block(module, [&](Block& block) {
    bool is_rolled = false;
    while (std::optional<Repetition> repetition = find_repetition(block, kTripsMin)) {
      Roller(*repetition).run();
      is_rolled = true;
    }
    if (is_rolled) erase_unread(block);
    changed |= is_rolled;
  });
  return changed;
}

}  // namespace ingot
