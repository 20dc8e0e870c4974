// Pulling elements: how an op's result element is made from its operands' elements.
//
// `OpDef::element` is written once per op and serves every place: inside an elementwise kernel, as the prologue that
// packs a matrix, as the epilogue that stores a tile, inside a reduction. The one who asks gives the index of the
// wanted element; it is affine in loop variables and may contain `lane`, so one call can stand for a whole vector.
#pragma once

#include "aot/graph/op.h"
#include "aot/loops/builder.h"

namespace ingot::loops {

// Who answers for operand elements: the template that builds the kernel.
class ElementSource {
 public:
  virtual ~ElementSource() = default;
  // The element of `value` at `index` (one Index for each dimension, all within the shape wherever `mask` holds; a null
  // mask means everywhere). Its dtype is register_dtype(value->type.dtype). Where the mask is false the result is
  // unspecified but touches no memory.
  virtual Expr element(const Value* value, const std::vector<Index>& index, Expr mask) = 0;
};

struct ElementArgs {
  KernelBuilder& b;
  const Op& op;
  int result_index;
  const std::vector<Index>& index;  // of the wanted result element
  Expr mask;                        // null: always wanted
  ElementSource& source;

  // Operand `i` at the same index (elementwise ops) or at another one, perhaps under a further condition.
  Expr operand(int i) { return source.element(op.operand(i), index, mask); }
  Expr operand_at(int i, const std::vector<Index>& at) { return source.element(op.operand(i), at, mask); }
  Expr operand_if(int i, const std::vector<Index>& at, Expr condition) {
    return source.element(op.operand(i), at, b.both(mask, std::move(condition)));
  }
  DType dtype() const { return op.result(result_index)->type.dtype; }  // of the wanted element, as in the graph
};

// Scalar op on operands at the same index, in register precision, rounded to the result's dtype: what most elementwise
// ops are.
Expr elementwise(ElementArgs& args, ScalarOp op);

// A value in register precision, rounded to the result's dtype where that is f16 or bf16.
Expr rounded(ElementArgs& args, Expr value);

// A row-major index from one per dimension, and back.
Index flatten(const std::vector<Index>& index, const Shape& shape);
std::vector<Index> unflatten(KernelBuilder& b, const Index& flat, const Shape& shape);

// The index of the same element under another shape. Dimensions that both shapes have keep theirs, so that one that a
// condition bounds is not divided.
std::vector<Index> reshaped(KernelBuilder& b, const std::vector<Index>& index, const Shape& from, const Shape& to);

}  // namespace ingot::loops
