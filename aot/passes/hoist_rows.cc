#include <optional>

#include "aot/analysis/flops.h"
#include "aot/analysis/regions.h"
#include "aot/analysis/stacks.h"
#include "aot/analysis/walk.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/contraction.h"
#include "aot/passes/pass.h"

namespace ingot {
namespace {

// The products of all rows may take as much memory as the matrix does where it lies and where each iteration would read
// it, packed.
constexpr int64_t kMatrices = 2;

// Whether an iteration's product waits for the matrix, so that products of more rows would cost little more.
bool waits_for_matrix(const Op& dot, const loops::Target& target) {
  const TensorType& matrix = dot.operand(1)->type;
  const loops::Machine& machine = target.machine;
  const bool is_near = matrix.bytes() <= machine.l2_bytes / 2;
  const double bytes_per_ns = is_near ? machine.l2_bytes_per_ns : machine.l3_bytes_per_ns;
  const int lanes = target.lanes(ops::accumulate_dtype(dot.result()->type.dtype));
  const double multiply_adds = static_cast<double>(count_flops(dot)) / 2;
  return multiply_adds / (machine.multiply_adds_per_ns * lanes) < static_cast<double>(matrix.bytes()) / bytes_per_ns;
}

// The stack whose row an iteration multiplies by a matrix that stays the same; none where `op` is something else.
std::optional<Stack> multiplied_stack(const Op& loop, const Counter& counter, const Op& op,
                                      const loops::Target& target) {
  if (!op.is(kDotGeneral) || !ops::read_dot_dims(op.attrs()).lhs_batch.empty()) return std::nullopt;
  if (!is_float(op.result()->type.dtype) || !is_outside(op.operand(1), loop.region(1))) return std::nullopt;
  if (counter.trips() * op.result()->type.bytes() > kMatrices * op.operand(1)->type.bytes()) return std::nullopt;
  const std::optional<Stack> stack = stack_of(loop, counter, op.operand(0));
  if (!stack || stack->value->op == &loop || !waits_for_matrix(op, target)) return std::nullopt;
  return stack;
}

// All rows by the matrix: before the loop, iterations in front.
Value* multiply_all(Op& loop, const Op& dot, const Stack& stack, int64_t trips) {
  GraphBuilder b;
  b.before(loop);
  b.location = dot.location;
  Shape rows = dot.operand(0)->type.shape, made = dot.result()->type.shape;
  rows.insert(rows.begin(), trips);
  made.insert(made.begin(), trips);
  ops::DotDims dims = ops::read_dot_dims(dot.attrs());
  for (int64_t& dim : dims.lhs_contract) ++dim;
  AttrMap attrs = dot.attr_map;
  attrs["dot_dimension_numbers"] = ops::to_attr(dims);
  const TensorType type{dot.result()->type.dtype, made};
  return b.make(*dot.def, {ops::reshape(b, stack.value, rows), dot.operand(1)}, attrs, {type});
}

void read_row(Op* dot, Value* products, Value* row) {
  GraphBuilder b;
  b.before(*dot);
  b.location = dot->location;
  replace_op(dot, {ops::reshape(b, ops::row_of(b, products, row), dot->result()->type.shape)});
}

bool hoist_rows(Op& loop, const loops::Target& target) {
  const std::optional<Counter> counter = counter_of(loop);
  if (!counter || counter->trips() < 2) return false;
  Block& body = loop.region(1);
  bool changed = false;
  for (auto at = body.ops.begin(); at != body.ops.end();) {
    Op* op = (at++)->get();
    const std::optional<Stack> stack = multiplied_stack(loop, *counter, *op, target);
    if (!stack) continue;
    read_row(op, multiply_all(loop, *op, *stack, counter->trips()), stack->row);
    changed = true;
  }
  return changed;
}

}  // namespace

bool hoist_rows(Module& module, PassContext& context) {
  bool changed = false;
  for_each_block(module, [&](Block& block) {
    for (auto& op : block.ops) {
      if (is_loop(*op)) changed |= hoist_rows(*op, *context.target);
    }
  });
  return changed;
}

}  // namespace ingot
