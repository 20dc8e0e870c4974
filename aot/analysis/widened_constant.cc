#include "aot/analysis/widened_constant.h"

#include <optional>

#include "aot/analysis/walk.h"
#include "aot/graph/access_map.h"
#include "aot/ops/ops.h"

namespace ingot {
namespace {

constexpr int64_t kSmallerMin = 2;
constexpr int kOpsMax = 16;

// Bytes of the constants behind the value; nullopt where there is anything else.
std::optional<int64_t> constant_bytes(const Value* value, int& ops_left) {
  if (const LiteralRef literal = constant_of(value)) return literal->is_splat ? 0 : literal->type.bytes();
  if (!value->op || value->op->results.size() != 1 || --ops_left < 0) return std::nullopt;
  const Op& op = *value->op;
  if (!op.def->is_elementwise && !op.def->access && !op.is(kUnpackNibbles)) return std::nullopt;
  int64_t bytes = 0;
  for (const Value* operand : op.operands) {
    const std::optional<int64_t> more = constant_bytes(operand, ops_left);
    if (!more) return std::nullopt;
    bytes += *more;
  }
  return bytes;
}

}  // namespace

bool is_widened_constant(const Value* value) {
  int ops_left = kOpsMax;
  if (!value->op || constant_of(value)) return false;
  const std::optional<int64_t> bytes = constant_bytes(value, ops_left);
  return bytes && *bytes > 0 && *bytes * kSmallerMin <= value->type.bytes();
}

}  // namespace ingot
