// Every op of ONNX that is lowered: a row for each range of opsets in which it means the same.
#pragma once

#include <span>
#include <string_view>

#include "aot/frontend/onnx/node_args.h"

namespace ingot::onnx {

inline constexpr int64_t kOldestOpset = 7, kLatestOpset = 27;  // of ai.onnx

struct OpRow {
  static constexpr int kAny = 1 << 30;

  std::string_view domain, name;
  int64_t first, last;         // versions of the domain
  int inputs_min, inputs_max;  // left out ones, between others, count too
  LowerNode lower;
};

std::span<const OpRow> op_table();

// The row for an op of a version of its domain; null when there is none.
const OpRow* find_op(std::string_view domain, std::string_view name, int64_t version);

}  // namespace ingot::onnx
