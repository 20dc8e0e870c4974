#include "tests/support/joined_graphs.h"

#include <fmt/format.h>

#include "aot/loops/expand_math.h"
#include "aot/ops/support/build.h"
#include "aot/pipeline/passes.h"
#include "tests/support/random_graph.h"
#include "tests/support/schedule_fixture.h"

namespace ingot {

std::string entry_name(size_t k) { return fmt::format("graph{}", k); }

std::unique_ptr<Module> joined(const std::vector<const Module*>& graphs) {
  auto program = std::make_unique<Module>();
  for (size_t k = 0; k < graphs.size(); ++k) {
    const std::unique_ptr<Module> copy = copy_module(*graphs[k]);
    std::unique_ptr<Function>& function = program->functions.emplace_back(std::move(copy->functions.at(0)));
    function->module = program.get();
    function->name = entry_name(k);
    const auto own_state = [&](AttrMap& attrs) {
      attrs.erase(std::string(kExampleAttr));
      if (const std::string name = attr_text(attrs, "ingot.state"); !name.empty()) {
        attrs.insert_or_assign("ingot.state", Attr(function->name + "." + name));
      }
    };
    for (AttrMap& attrs : function->argument_attrs) own_state(attrs);
    for (FunctionResult& result : function->results) own_state(result.attrs);
    name_ports(*function);
  }
  return program;
}

std::vector<RefTensor> results_by_name(const Function& function, const std::vector<RefTensor>& arguments,
                                       const RunByName& run) {
  NamedTensors inputs, state;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const AttrMap& attrs = function.argument_attrs[i];
    const std::string name = attr_text(attrs, "ingot.state");
    (name.empty() ? inputs[attr_text(attrs, "ingot.name")] : state[name]) = arguments[i];
  }
  const NamedTensors outputs = run(state, inputs);
  std::vector<RefTensor> results;
  for (const FunctionResult& result : function.results) {
    const std::string name = attr_text(result.attrs, "ingot.state");
    results.push_back(name.empty() ? outputs.at(attr_text(result.attrs, "ingot.name")) : state.at(name));
  }
  return results;
}

std::vector<RefTensor> interpreted_results(const Module& graph, const loops::Target& first_target,
                                           const loops::Target& target, const std::vector<RefTensor>& arguments) {
  const std::unique_ptr<Module> module = copy_module(graph);
  PassContext context;
  context.target = &first_target.order();
  run_passes(compile_passes(), *module, context);
  return evaluate(*module->functions[0], arguments,
                  {.adjust = [&](const Op& op, std::span<const RefTensor> inputs, std::vector<RefTensor>& results) {
                    if (!op.is(kKernel)) return;
                    Lowering lowering = lower(op, target);
                    for (LoweredKernel& step : lowering.steps) loops::expand_math(step.kernel);
                    LoweringRun run(op, lowering);
                    run.set_operands({inputs.begin(), inputs.end()});
                    run.interpret(false);
                    results = run.results();
                  }});
}

}  // namespace ingot
