// Windows that reach outside of a tensor, in programs of XLA's: there they mean other things than StableHLO says.
#pragma once

#include "aot/graph/graph.h"

namespace ingot {

// Makes a module that JAX lowered for XLA, which mhlo.num_partitions tells, mean in StableHLO what it means in XLA, and
// removes that attribute. Where the two differ:
//
//                    StableHLO                                  XLA
//   scatter          an update outside of the input is dropped  all updates of a window that reaches outside are
//   reduce_window    padding and holes hold the start value     padding and holes are left out
//
// Ops whose shapes are not known yet stay as they are.
void follow_xla(Module& module);

}  // namespace ingot
