#include "tests/support/try_graphs.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdlib>

#include "aot/base/error.h"
#include "tests/support/code_runner.h"
#include "tests/support/compiled_program.h"
#include "tests/support/in_memory.h"
#include "tests/support/joined_graphs.h"
#include "tests/support/random_graph.h"
#include "tests/support/reference.h"
#include "tests/support/walked_program.h"

namespace ingot {
namespace {

CompileOptions for_every_target() {
  CompileOptions options;
  options.targets = every_target();
  return options;
}

constexpr uint32_t kThreads[] = {1, 3};

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

// Graphs as one program, compiled for every target.
class Trials {
 public:
  explicit Trials(const std::vector<const Module*>& graphs)
      : graphs_(graphs), program_(joined(graphs)), compiled_(*program_, for_every_target()) {}

  // The engine's target is tried with every graph, the others in turn; all with a graph that is alone.
  GraphTrial run(size_t k) {
    const Function& function = *graphs_[k]->functions[0];
    std::vector<RefTensor> arguments;
    for (const RefTensor& example : examples(function)) arguments.push_back(in_memory(example));
    const auto on_engine = [&](uint32_t threads) {
      return results_by_name(entry(k), arguments, [&](NamedTensors& state, const NamedTensors& inputs) {
        return compiled_.run(entry(k).name, threads, state, inputs);
      });
    };
    const std::vector<RefTensor> results = on_engine(kThreads[0]);
    const std::string other = difference(results, on_engine(kThreads[1]));
    if (!other.empty()) return {"1 and 3 threads differ: " + other};
    Reference reference(function, examples(function));
    GraphTrial trial{"", reference.elements(), reference.judged_elements()};
    const auto try_target = [&](const loops::Target& target, const std::optional<std::vector<RefTensor>>& compiled) {
      trial.complaint = complaint(k, target, reference, arguments, compiled);
      if (compiled) trial.targets.push_back(target.name);
    };
    const loops::Target& host = loops::find_target("host");
    try_target(host, results);
    for (size_t t = 0; t < loops::all_targets().size() && trial.complaint.empty(); ++t) {
      const loops::Target& target = loops::all_targets()[t];
      const bool is_its_turn = takes_every_target() || k % loops::all_targets().size() == t;
      if (!is_its_turn || target.name == host.name) continue;
      WalkedProgram* const walked = walked_program(target);
      const bool is_run = walked && walked->is_faithful(entry(k).name);
      if (walked && !is_run) trial.left_out.push_back(target.name);
      try_target(target, is_run ? std::optional(walked_results(k, *walked, arguments)) : std::nullopt);
    }
    return trial;
  }

 private:
  const Function& entry(size_t k) const { return *program_->functions[k]; }
  bool takes_every_target() const { return graphs_.size() == 1 || std::getenv("INGOT_EVERY_TARGET"); }

  // Null where code for the target cannot be run.
  WalkedProgram* walked_program(const loops::Target& target) {
    if (!can_run(target)) return nullptr;
    return &walked_.try_emplace(std::string(target.name), compiled_.spec(), target).first->second;
  }

  std::vector<RefTensor> walked_results(size_t k, WalkedProgram& walked,
                                        const std::vector<RefTensor>& arguments) const {
    return results_by_name(entry(k), arguments, [&](NamedTensors& state, const NamedTensors& inputs) {
      return walked.run(entry(k).name, state, inputs);
    });
  }

  // What is wrong with a target's loops or with what its code gave; "" if nothing is.
  std::string complaint(size_t k, const loops::Target& target, Reference& reference,
                        const std::vector<RefTensor>& arguments,
                        const std::optional<std::vector<RefTensor>>& compiled) const {
    const Function& function = *graphs_[k]->functions[0];
    const auto disagreement = [&](const std::vector<RefTensor>& results) {
      std::vector<RefTensor> tensors;
      for (size_t r = 0; r < results.size(); ++r) tensors.push_back(from_memory(function.results[r].type, results[r]));
      return reference.disagreement(tensors);
    };
    std::string wrong = compiled ? disagreement(*compiled) : "";
    if (!wrong.empty()) return fmt::format("compiled for {}: {}", target.name, wrong);
    const loops::Target& first_target = loops::find_target(every_target().front());
    const std::vector<RefTensor> interpreted = interpreted_results(*graphs_[k], first_target, target, arguments);
    wrong = compiled ? difference(*compiled, interpreted) : disagreement(interpreted);
    if (wrong.empty()) return "";
    return fmt::format("{} loops for {}: {}", compiled ? "compiled and interpreted" : "interpreted", target.name,
                       wrong);
  }

  const std::vector<const Module*>& graphs_;
  std::unique_ptr<Module> program_;
  CompiledProgram compiled_;
  std::map<std::string, WalkedProgram> walked_;  // by target
};

}  // namespace

std::vector<GraphTrial> try_graphs(const std::vector<const Module*>& graphs) {
  std::vector<GraphTrial> trials;
  try {
    Trials all(graphs);
    for (size_t k = 0; k < graphs.size(); ++k) trials.push_back(all.run(k));
  } catch (const std::exception& error) {
    if (graphs.size() == 1) return {{.complaint = error.what()}};
    trials.clear();
    for (const Module* graph : graphs) trials.push_back(try_graph(*graph));
  }
  return trials;
}

GraphTrial try_graph(const Module& graph) { return try_graphs({&graph}).front(); }

}  // namespace ingot
