#include "aot/graph/op.h"

#include <fmt/format.h>

namespace ingot {

void InferArgs::fail(const std::string& message) const { throw_error(location, fmt::format("{}: {}", name, message)); }

const TensorType& InferArgs::declared_result() const {
  if (declared.size() != 1) fail(fmt::format("needs one result type, has {}", declared.size()));
  return declared[0];
}

OpTable::OpTable(std::span<const OpDef* const> ops) : ops_(ops.begin(), ops.end()) {
  for (const OpDef* op : ops_) by_name_.emplace(op->name, op);
}

const OpDef* OpTable::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

}  // namespace ingot
