#include "aot/analysis/element_loop.h"

#include <algorithm>

#include "aot/analysis/regions.h"
#include "aot/analysis/trip_count.h"
#include "aot/analysis/walk.h"

namespace ingot {
namespace {

constexpr size_t kOpsMax = 200;           // more would not stay in registers
constexpr int64_t kIterationsMax = 4096;  // a running kernel cannot be interrupted: longer loops stay steps of a plan

// Makes an element of `shape` from those at the same index and from single numbers, or a single number from such.
bool stays_in_place(const Op& op, const Shape& shape) {
  if (op.def->is_terminator) return true;
  if (op.results.size() != 1) return false;
  const auto is_number = [](const Value* value) { return value->type.elements() == 1; };
  const Value* result = op.result();
  if (!is_number(result) && result->type.shape != shape) return false;
  if (const LiteralRef literal = constant_of(result)) return literal->is_splat;
  if (!op.def->has_elements() || !op.regions.empty()) return false;
  if (op.def->only_moves()) return std::ranges::all_of(op.operands, is_number);
  return op.def->is_elementwise && std::ranges::all_of(op.operands, [&](const Value* operand) {
           return is_number(operand) || operand->type.shape == shape;
         });
}

}  // namespace

bool is_element_loop(const Op& loop) {
  if (!is_loop(loop) || loop.results.size() < 2) return false;
  const std::optional<Counter> counter = counter_of(loop);
  if (!counter || counter->trips() < 1 || counter->trips() > kIterationsMax) return false;
  if (!loop.results[counter->index]->uses.empty()) return false;
  const Shape& shape = loop.results[counter->index == 0 ? 1 : 0]->type.shape;
  const Block& body = loop.region(1);
  return body.ops.size() <= kOpsMax &&
         std::ranges::all_of(body.arguments,
                             [&](const auto& argument) {
                               return argument->index == counter->index || argument->type.shape == shape;
                             }) &&
         std::ranges::all_of(body.ops, [&](const auto& op) { return stays_in_place(*op, shape); });
}

}  // namespace ingot
