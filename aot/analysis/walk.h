// Small helpers that most passes need.
#pragma once

#include <functional>

#include "aot/graph/op.h"

namespace ingot {

// A while, case or if: its regions hold ops like a function's, where those of a reduce hold scalars.
inline bool is_control_flow(const Op& op) { return op.def->root == KernelRoot::kControlFlow; }

// Calls visit(block) for the block and every region inside it, innermost first.
void for_each_block(Block& block, const std::function<void(Block&)>& visit);
void for_each_block(Module& module, const std::function<void(Block&)>& visit);

Values results_of(const Op& op);

// What an op reads: its operands, and what its regions read from outside.
Values read_by(const Op& op);

// Erases the ops of a block whose results nobody reads; the ops in its regions stay. Whether there was one.
bool erase_unread(Block& block);

// The value of which `value` is a reshape, or a reshape of one, or itself.
const Value* under_reshapes(const Value* value);

// Replaces the results of `op` by `values`, one for one, and erases it. A value without a name takes the result's.
void replace_op(Op* op, const Values& values);

// The literal of a stablehlo.constant that makes `value`, or null.
LiteralRef constant_of(const Value* value);

// Of a constant: whether every element is overwritten before it is read, so that it may hold anything.
bool is_unread(const Op& constant);

// The same bytes as a tensor of another shape; the element counts are equal, or the literal is a splat.
LiteralRef with_shape(const Literal& literal, Shape shape);

// `literal` kept as one element when all its elements have the same bytes.
LiteralRef as_splat_if_equal(LiteralRef literal);

}  // namespace ingot
