// The attributes that ingot itself writes into a graph: what one stage tells the stages after it.
#pragma once

namespace ingot::attributes {

// name                                            on                    value                      written by, read by

// Of a public function's arguments and results: by frontends or by hand, for all that follow.
inline constexpr const char* kState = "ingot.state";      // both              the state's name: a result replaces the
                                                          //                   argument of the same name
inline constexpr const char* kName = "ingot.name";        // both              the name of every argument and result
inline constexpr const char* kDefault = "ingot.default";  // argument          a literal: its value until one is bound
inline constexpr const char* kRole = "ingot.role";        // both, with state  what the state is: "parameter", ...
inline constexpr const char* kDims = "ingot.dims";        // argument          names of dimensions, "" for none

// Of ops, from pass to pass.
inline constexpr const char* kRecomputed = "ingot.recomputed";   // a copy      rematerialize, for simplify and flops
inline constexpr const char* kLayoutCopy = "ingot.layout_copy";  // transpose   assign_layouts, for fuse: laid out once
inline constexpr const char* kTripCount = "ingot.trip_count";    // while       count_trips, for costs

// Of ingot.kernel, for schedule and plan.
inline constexpr const char* kInvariantOperands = "invariant";  // indices of operands that no iteration of the loop
                                                                // around it changes: by fuse
inline constexpr const char* kReplacedOperands = "replaces";    // pairs of indices: a result takes the place of an
                                                                // operand if the plan can: by mark_replaced
}  // namespace ingot::attributes
