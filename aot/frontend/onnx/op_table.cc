#include "aot/frontend/onnx/op_table.h"

#include <array>
#include <map>

namespace ingot::onnx {

// The functions are defined in ops/.
#define ONNX_OP(domain, name, first, last, inputs_min, inputs_max, function) Items function(NodeArgs&);
#include "aot/frontend/onnx/ops.def"
#undef ONNX_OP

namespace {

constexpr int kAny = OpRow::kAny;

constexpr OpRow kRows[] = {
#define ONNX_OP(domain, name, first, last, inputs_min, inputs_max, function) \
  {domain, #name, first, last, inputs_min, inputs_max, function},
#include "aot/frontend/onnx/ops.def"
#undef ONNX_OP
};

}  // namespace

std::span<const OpRow> op_table() { return kRows; }

const OpRow* find_op(std::string_view domain, std::string_view name, int64_t version) {
  static const auto* const rows = [] {
    auto* map = new std::multimap<std::pair<std::string_view, std::string_view>, const OpRow*>;
    for (const OpRow& row : kRows) map->emplace(std::pair(row.domain, row.name), &row);
    return map;
  }();
  const auto [begin, end] = rows->equal_range({domain, name});
  for (auto at = begin; at != end; ++at) {
    if (version >= at->second->first && version <= at->second->last) return at->second;
  }
  return nullptr;
}

}  // namespace ingot::onnx
