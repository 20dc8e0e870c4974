#include "aot/schedule/rows_ahead.h"

#include <algorithm>

namespace ingot::schedule {
namespace {

constexpr int64_t kRowsAhead = 8;
constexpr int64_t kLineBytes = 64, kLinesMax = 8;

}  // namespace

bool is_far(const Draft& draft, const TensorType& table) { return table.bytes() > draft.target().machine.l2_bytes; }

loops::Index row_ahead(loops::KernelBuilder& b, const loops::Index& row, int64_t end) {
  const loops::Expr last = b.constant_int(DType::kI64, end - 1);
  const loops::Expr later = b.apply(loops::ScalarOp::kMinimum, {b.index_value(row + kRowsAhead), last});
  return b.let_index("later", later, std::min(b.kernel().low(row), end - 1), end - 1);
}

void prefetch_row(loops::KernelBuilder& b, loops::BufferId buffer, const loops::Index& first, int64_t bytes) {
  const int64_t element_bytes = info(b.kernel().buffers[buffer].dtype).bytes;
  for (int64_t at = 0; at < std::min(bytes, kLinesMax * kLineBytes); at += kLineBytes)
    b.prefetch(buffer, first + at / element_bytes);
}

}  // namespace ingot::schedule
