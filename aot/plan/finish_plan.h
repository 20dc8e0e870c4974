// The last decisions of a plan whose steps and lifetimes are known: who takes whose place, where everything lies, what
// must wait.
#pragma once

#include <vector>

#include "aot/plan/plan.h"

namespace ingot::plan {

// The kernel of a step may write one of its buffers over another one that it reads.
struct Alias {
  int step;
  int output;
  int input;
};

// Lets outputs take the place of inputs that die in the same step, and new state that of the old.
void share_in_place(Plan& plan, const std::vector<Alias>& aliases);

// Gives the arena's buffers their offsets, and the arena its size.
void place_arena(Plan& plan);

// Marks the steps that must wait for all before them: those that touch what an unfinished step touches, jumps, and
// where jumps lead.
void set_barriers(Plan& plan);

}  // namespace ingot::plan
