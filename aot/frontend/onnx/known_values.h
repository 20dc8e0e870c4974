// What values are, as far as a graph says: shapes are computed by ops like any other tensor, and must be known while a
// model is imported.
#pragma once

#include <map>
#include <optional>

#include "aot/graph/graph.h"
#include "aot/graph/tensor.h"

namespace ingot::onnx {

class KnownValues {
 public:
  // Values that are known although no op makes them: weights. Asked for when they are needed.
  using Outside = std::function<LiteralRef(const Value*)>;
  explicit KnownValues(Outside outside) : outside_(std::move(outside)) {}

  // The value, evaluated from constants; nothing where it depends on an input, or is too large to be a shape.
  std::optional<RefTensor> find(const Value* value);

 private:
  bool is_ready(const Value* value);
  void evaluate_op(const Op& op);

  Outside outside_;
  std::map<const Value*, std::optional<RefTensor>> values_;
};

}  // namespace ingot::onnx
