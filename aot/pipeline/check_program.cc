#include "aot/pipeline/check_program.h"

#include "aot/ops/build.h"
#include "aot/passes/pass.h"

namespace ingot {
namespace {

// The program's constants of several values, as arguments.
std::vector<LiteralRef> hoist_constants(Function& function) {
  std::vector<LiteralRef> inputs;
  std::vector<Op*> constants;
  for (const auto& op : function.body.ops) {
    if (op->is("stablehlo.constant") && !op->attrs().literal("value")->is_splat) constants.push_back(op.get());
  }
  for (Op* constant : constants) {
    inputs.push_back(constant->attrs().literal("value"));
    Value* argument = function.body.add_argument(constant->result()->type, "", constant->location);
    function.argument_attrs.emplace_back();
    replace_all_uses(constant->result(), argument);
    erase(constant);
  }
  return inputs;
}

}  // namespace

std::vector<CheckProgram> check_programs(const Module& module) {
  std::vector<CheckProgram> programs;
  for (const auto& function : module.functions) {
    if (function->is_private || function->argument_count() > 0) continue;
    CheckProgram program;
    program.name = function->name;
    program.module = copy_module(module);
    for (const auto& other : program.module->functions) other->is_private = other->name != program.name;
    Function& entry = *program.module->find(program.name);
    program.checks = take_checks(entry);
    PassContext context(all_ops());
    inline_calls(*program.module, context);
    program.inputs = hoist_constants(*program.module->find(program.name));
    programs.push_back(std::move(program));
  }
  return programs;
}

}  // namespace ingot
