// The attributes that ingot itself writes into a graph: what one stage tells the stages after it.
#pragma once

namespace ingot::attributes {

// Of arguments and results of public functions: by frontends or by hand, for all that follow.
//
//   name      on              value
//   kState    both            the state's name: a result replaces the argument of the same name
//   kName     both            the name of an argument or result that is no state
//   kDefault  an argument     a literal: its value until the host binds one
//   kRole     both, of state  what the state is: "parameter", ...
//   kDims     an argument     the names of its dimensions, "" for none
inline constexpr const char* kState = "ingot.state";
inline constexpr const char* kName = "ingot.name";
inline constexpr const char* kDefault = "ingot.default";
inline constexpr const char* kRole = "ingot.role";
inline constexpr const char* kDims = "ingot.dims";

// Of ops, from pass to pass.
//
//   name            on             value                    by              for
//   kRecomputed     a copy         none                     rematerialize   simplify, fuse and costs
//   kLayoutCopy     a transpose    none                     assign_layouts  fuse: it is laid out once
//   kMicroBatches   a while        none: an iteration is a part    split_batch     rematerialize
//                                  of the batch
//   kTripCount      while          how many iterations run  count_trips     costs
//   kUnread         a constant     none                     mark_unread     schedule: its kernel writes nothing
//   kUnsignedBytes  a contraction  the operand whose i32    multiply_bytes  evaluate, schedule: a product is that of
//                                  are unsigned bytes                       four bytes, summed up
//   kPairs          a contraction  none: elements of i32    schedule        evaluate, schedule: a product is that of
//                                  are two bf16                             these, summed up
//   kTriangles      dot_general    triples: two dimensions  mark_triangles  schedule: products at indices of which the
//                                  of the iteration space                   first is greater than the second by more
//                                  and an offset                            than the offset need not be made
inline constexpr const char* kRecomputed = "ingot.recomputed";
inline constexpr const char* kLayoutCopy = "ingot.layout_copy";
inline constexpr const char* kMicroBatches = "ingot.micro_batches";
inline constexpr const char* kTripCount = "ingot.trip_count";
inline constexpr const char* kUnread = "ingot.unread";
inline constexpr const char* kPairs = "ingot.pairs";
inline constexpr const char* kUnsignedBytes = "ingot.unsigned_bytes";
inline constexpr const char* kTriangles = "ingot.triangles";

// Of ingot.kernel, for schedule and plan.
//
//   name                value                                                                  by
//   kInvariantOperands  indices of operands that are constants, or that no iteration of the    fuse
//                       loop around it changes
//   kReplacedOperands   pairs of indices: a result takes the place of an operand if it can     mark_replaced
//   kBlocks             it is made block by block: what a block has of each axis               chain_kernels
//   kBlockAxes          ... the axis along each dimension of each result; -1: all of it
inline constexpr const char* kInvariantOperands = "invariant";
inline constexpr const char* kReplacedOperands = "replaces";
inline constexpr const char* kBlocks = "blocks";
inline constexpr const char* kBlockAxes = "block_axes";

}  // namespace ingot::attributes
