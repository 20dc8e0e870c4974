#include "tests/support/try_graphs.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "aot/base/error.h"
#include "aot/loops/expand_math.h"
#include "aot/ops/support/build.h"
#include "aot/pipeline/passes.h"
#include "tests/support/compiled_program.h"
#include "tests/support/in_memory.h"
#include "tests/support/random_graph.h"
#include "tests/support/reference.h"
#include "tests/support/schedule_fixture.h"

namespace ingot {
namespace {

constexpr uint32_t kThreads[] = {1, 3};

std::string entry_name(size_t k) { return fmt::format("graph{}", k); }

// The graphs as entry points of one program, which share no state.
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

// An entry point's results, in order. Arguments and results as they lie in memory, here and below.
std::vector<RefTensor> compiled_results(CompiledProgram& program, const Function& function, uint32_t threads,
                                        const std::vector<RefTensor>& arguments) {
  NamedTensors inputs, state;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const AttrMap& attrs = function.argument_attrs[i];
    const std::string name = attr_text(attrs, "ingot.state");
    (name.empty() ? inputs[attr_text(attrs, "ingot.name")] : state[name]) = arguments[i];
  }
  const NamedTensors outputs = program.run(function.name, threads, state, inputs);
  std::vector<RefTensor> results;
  for (const FunctionResult& result : function.results) {
    const std::string name = attr_text(result.attrs, "ingot.state");
    results.push_back(name.empty() ? outputs.at(attr_text(result.attrs, "ingot.name")) : state.at(name));
  }
  return results;
}

// Kernels are lowered and interpreted; between them the evaluator goes on.
std::vector<RefTensor> interpreted_results(const Module& graph, const std::vector<RefTensor>& arguments) {
  const std::unique_ptr<Module> module = copy_module(graph);
  PassContext context(all_ops());
  run_passes(compile_passes(), *module, context);
  const loops::Target& target = loops::find_target("host");
  return evaluate(*module->functions[0], arguments,
                  {.adjust = [&](const Op& op, std::span<const RefTensor> inputs, std::vector<RefTensor>& results) {
                    if (!op.is("ingot.kernel")) return;
                    Lowering lowering = lower(op, target);
                    for (LoweredKernel& step : lowering.steps) loops::expand_math(step.kernel);
                    LoweringRun run(op, lowering);
                    run.set_operands({inputs.begin(), inputs.end()});
                    run.interpret(false);
                    results = run.results();
                  }});
}

bool same_bits(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) || (std::isnan(a) && std::isnan(b));
}

// Where two executions that must agree do not; "" if they do.
std::string difference(const std::vector<RefTensor>& a, const std::vector<RefTensor>& b) {
  for (size_t r = 0; r < a.size(); ++r) {
    for (size_t e = 0; e < a[r].f.size(); ++e) {
      if (same_bits(a[r].f[e], b[r].f[e])) continue;
      return fmt::format("result {} element {}: {} and {}", r, e, a[r].f[e], b[r].f[e]);
    }
    for (size_t e = 0; e < a[r].i.size(); ++e) {
      if (a[r].i[e] != b[r].i[e]) return fmt::format("result {} element {}: {} and {}", r, e, a[r].i[e], b[r].i[e]);
    }
  }
  return "";
}

GraphTrial try_entry(CompiledProgram& program, const Function& entry, const Module& graph) {
  const Function& function = *graph.functions[0];
  std::vector<RefTensor> arguments;
  for (const RefTensor& example : examples(function)) arguments.push_back(in_memory(example));
  GraphTrial trial;
  const std::vector<RefTensor> results = compiled_results(program, entry, kThreads[0], arguments);
  const std::string other = difference(results, compiled_results(program, entry, kThreads[1], arguments));
  if (!other.empty()) return {"1 and 3 threads differ: " + other};
  Reference reference(function, examples(function));
  trial.elements = reference.elements();
  trial.judged_elements = reference.judged_elements();
  std::vector<RefTensor> tensors;
  for (size_t r = 0; r < results.size(); ++r) {
    tensors.push_back(from_memory(function.results[r].type, results[r]));
  }
  trial.complaint = reference.disagreement(tensors);
  if (!trial.complaint.empty()) return {"compiled: " + trial.complaint};
  const std::string interpreted = difference(results, interpreted_results(graph, arguments));
  if (!interpreted.empty()) return {"compiled and interpreted loops differ: " + interpreted};
  return trial;
}

}  // namespace

std::vector<GraphTrial> try_graphs(const std::vector<const Module*>& graphs) {
  std::vector<GraphTrial> trials;
  try {
    const std::unique_ptr<Module> program = joined(graphs);
    CompiledProgram compiled(*program);
    for (size_t k = 0; k < graphs.size(); ++k) {
      trials.push_back(try_entry(compiled, *program->functions[k], *graphs[k]));
    }
  } catch (const std::exception& error) {
    if (graphs.size() == 1) return {{.complaint = error.what()}};
    trials.clear();
    for (const Module* graph : graphs) trials.push_back(try_graph(*graph));
  }
  return trials;
}

GraphTrial try_graph(const Module& graph) { return try_graphs({&graph}).front(); }

}  // namespace ingot
