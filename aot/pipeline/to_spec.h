// The compiler's tables and plans in the terms of the bundle.
#pragma once

#include "aot/bundle/bundle.h"
#include "aot/codegen/compile.h"
#include "aot/graph/graph.h"
#include "aot/loops/target.h"
#include "aot/plan/plan.h"
#include "aot/plan/tables.h"

namespace ingot {

bundle::Entry entry_signature(const Function& function);
std::vector<bundle::State> state_spec(const plan::StateTable& state, const std::vector<const Function*>& entries);
// `function` is what was planned.
bundle::Plan plan_spec(const plan::Plan& plan, const Function& function);
bundle::Target target_spec(const loops::Target& target, const plan::KernelTable& kernels, codegen::CodeImage image,
                           std::vector<std::byte> rodata, std::vector<bundle::Plan> plans);

}  // namespace ingot
