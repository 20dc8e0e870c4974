#include "aot/pipeline/check_program.h"

#include "aot/ops/support/build.h"
#include "aot/passes/pass.h"

namespace ingot {

std::vector<CheckProgram> check_programs(const Module& module) {
  std::vector<CheckProgram> programs;
  for (const auto& function : module.functions) {
    if (function->is_private || function->argument_count() > 0) continue;
    CheckProgram program;
    program.name = function->name;
    program.module = copy_module(module);
    for (const auto& other : program.module->functions) other->is_private = other->name != program.name;
    program.checks = take_checks(*program.module->find(program.name));
    programs.push_back(std::move(program));
  }
  return programs;
}

void hoist_constants(CheckProgram& program) {
  PassContext context;
  for (const auto pass : {inline_calls, drop_tokens, refine_shapes}) pass(*program.module, context);
  Function& function = *program.module->find(program.name);
  for (const FunctionResult& result : function.results) program.results.push_back(result.type);
  for (const auto pass : {quantize_to_integers, widen_floats, expand}) pass(*program.module, context);

  std::vector<Op*> constants;
  for (const auto& op : function.body.ops) {
    if (op->is(kConstant) && !op->attrs().literal("value")->is_splat) constants.push_back(op.get());
  }
  for (Op* constant : constants) {
    program.inputs.push_back(constant->attrs().literal("value"));
    Value* argument = function.body.add_argument(constant->result()->type, "", constant->location);
    function.argument_attrs.emplace_back();
    replace_all_uses(constant->result(), argument);
    erase(constant);
  }
}

}  // namespace ingot
