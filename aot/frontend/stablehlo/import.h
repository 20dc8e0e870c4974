// Makes a StableHLO program, as JAX and others write it, into one of ours.
#pragma once

#include <string>
#include <vector>

#include "aot/graph/graph.h"

namespace ingot {

// Names the arguments and results of public functions, and finds their state. Calls of linear algebra libraries become
// the ops that they stand for (library_calls.h), and windows that reach outside what they mean to XLA (xla_windows.h).
//
//   State is a donated argument and the result that takes its place:
//     tf.aliasing_output = N    result N
//     jax.buffer_donor          the first result of the argument's type that no argument before it took; none: no state
//     ingot.state = "name"      the result with the same attribute; none: the state is only read
//   Both get ingot.state; the other attributes of donation go. A result with ingot.state and no such argument sets it.
//
//   Names, in this order:
//     ingot.state or ingot.name as given
//     an argument's loc("state['opt'][0].mu")            state.opt.0.mu
//     a result's jax.result_info = "result[1]['loss']"   loss: without `result` and its index, unless two results
//                                                        would then have one name
//     a result that is state                             its argument's name
//     any other                                          arg2, result0
//   A dimension that JAX's program reads as `batch` has that name, in the argument's attributes::kDims.
//   Names are unique among a function's arguments, and among its results: a second `x` becomes `x_1`.
//
// Throws an error for a donation that cannot be: no such result, another type, two arguments for one result, a state
// whose result is missing; and for a default of another type, or of state.
void import_stablehlo(Module& module);

// The names that import_stablehlo gave, in order.
std::vector<std::string> argument_names(const Function& function);
std::vector<std::string> result_names(const Function& function);

}  // namespace ingot
