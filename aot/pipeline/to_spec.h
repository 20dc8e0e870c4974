// From functions to tables, and from tables and plans to what a bundle says of them.
#pragma once

#include "aot/bundle/bundle.h"
#include "aot/codegen/compile.h"
#include "aot/graph/graph.h"
#include "aot/loops/target.h"
#include "aot/pipeline/freeze_state.h"
#include "aot/plan/plan.h"
#include "aot/plan/tables.h"

namespace ingot {

// Every argument and result with `ingot.state`. Throws an Error when a name has two types.
plan::StateTable state_table(const std::vector<Function*>& entries);

bundle::Entry entry_signature(const Function& function);
std::vector<bundle::State> state_spec(const plan::StateTable& state);  // no state has a first value yet
std::vector<bundle::Frozen> frozen_spec(const std::vector<FrozenState>& frozen);
// `function` is what was planned.
bundle::Plan plan_spec(const plan::Plan& plan, const Function& function);
bundle::Target target_spec(const loops::Target& target, const plan::KernelTable& kernels, codegen::CodeImage image,
                           std::vector<std::byte> rodata, std::vector<bundle::Plan> plans);

}  // namespace ingot
