// Element types that kernels do not have lie in memory as integers, and are computed with as floats: what narrow floats
// and quantized types share.
#pragma once

#include "aot/graph/builder.h"

namespace ingot {

// How tensors of some types are kept and computed with. "Stored" values have the type `stored`, "computed" ones the
// type `computed`.
class ElementStorage {
 public:
  virtual ~ElementStorage() = default;

  virtual bool holds(const TensorType& type) const = 0;  // whether it is such a type
  virtual TensorType stored(const TensorType& type) const = 0;
  virtual TensorType computed(const TensorType& type) const = 0;

  // Whether an integer of an operand of this type still means the same value where `op`, which moves or passes on
  // elements, puts it in a result of that type.
  virtual bool keeps_meaning(const Op& op, const TensorType& from, const TensorType& to) const = 0;

  virtual Value* decode(GraphBuilder& b, Value* stored, const TensorType& type) const = 0;
  // From `computed`, or from any number where `op` says that it takes them.
  virtual Value* encode(GraphBuilder& b, Value* computed, const TensorType& type) const = 0;

  // Whether the op converts to or from such types: its result is its decoded operand, encoded or converted.
  virtual bool is_conversion(const Op& op) const = 0;

  // A way to compute the stored results of an op from its stored operands that is better than decoding these, or none.
  // `types` are those that operands and results had.
  struct Types {
    std::vector<TensorType> operands, results;
  };
  virtual Values rewrite(GraphBuilder& b, const Op& op, const Types& types) const = 0;
};

// Makes stored values of all that `storage` holds. Ops that only move elements, or pass them on, do so with the
// integers; of others the operands are decoded, and the results encoded. In a region of scalars values are computed
// ones and are rounded by an encoding and a decoding after each op, unless the region is one op: sums are rounded at
// their end. Functions take and give stored values.
bool store_elements(Module& module, const ElementStorage& storage);

}  // namespace ingot
