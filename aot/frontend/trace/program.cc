#include "aot/frontend/trace/program.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/frontend/trace/entry_trace.h"
#include "aot/frontend/trace/functions.h"
#include "aot/graph/attributes.h"

namespace ingot {
namespace {

constexpr const char* kInit = "init";

void name_outputs(Outputs& outputs, EntryTrace& trace) {
  std::set<std::string> seen;
  for (auto& [name, tensor] : outputs.tensors) {
    if (name.empty()) name = trace.is_loss(tensor) ? "loss" : "output";
    if (!seen.insert(name).second) throw_error(nullptr, fmt::format("two outputs are named '{}'", name));
  }
}

void set_default(Function& function, const Spec& spec) {
  if (!spec.value) return;
  for (AttrMap& attrs : function.argument_attrs) {
    if (attr_text(attrs, attributes::kName) != spec.name) continue;
    attrs.emplace(attributes::kDefault, splat(spec.type, *spec.value));
  }
}

// Removes a half-traced function when tracing fails.
class FunctionGuard {
 public:
  FunctionGuard(Module& module, std::string name) : module_(module), function_(module.add_function(std::move(name))) {}
  ~FunctionGuard() {
    if (function_) std::erase_if(module_.functions, [&](const auto& f) { return f.get() == function_; });
  }
  FunctionGuard(const FunctionGuard&) = delete;
  FunctionGuard& operator=(const FunctionGuard&) = delete;

  Function& function() { return *function_; }
  void keep() { function_ = nullptr; }

 private:
  Module& module_;
  Function* function_;
};

}  // namespace

struct Program::Data {
  Module module;
  std::vector<std::shared_ptr<Variable>> variables;
  std::map<std::string, Variable*> by_name;
  bool has_own_init = false;

  // From its first use on a variable keeps its name, also when the model that owns it is gone.
  void remember(const std::vector<std::shared_ptr<Variable>>& used, const std::string& entry) {
    for (const auto& variable : used) {
      const std::string name = variable->name();
      const auto [found, is_new] = by_name.emplace(name, variable.get());
      if (is_new) {
        variables.push_back(variable);
        variable->name = [name] { return name; };
      } else if (found->second != variable.get()) {
        throw_error(nullptr, fmt::format("@{}: two variables are named '{}'; give one of their modules or optimizers a "
                                         "name: net.named(\"generator\")",
                                         entry, name));
      }
    }
  }

  void generate_init() {
    std::erase_if(module.functions, [](const auto& f) { return f->name == kInit; });
    const auto is_initialized = [](const auto& variable) { return static_cast<bool>(variable->initializer); };
    if (std::ranges::none_of(variables, is_initialized)) return;
    FunctionGuard guard(module, kInit);
    EntryTrace trace(guard.function());
    const Tensor seed = trace.add_input({DType::kI64, {}}, "seed");
    for (const auto& variable : variables) {
      if (!is_initialized(variable)) continue;
      const Scope scope(named_location(variable->name()));
      trace.write(variable, trace.value(first_value(*variable, seed)));
    }
    trace.finish({});
    guard.keep();
  }
};

Program::Program(std::string name) : data_(std::make_unique<Data>()) { data_->module.name = std::move(name); }
Program::~Program() = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;

void Program::add(std::string name, std::vector<Spec> specs, const Body& body) {
  Module& module = data_->module;
  if (name != kInit ? module.find(name) != nullptr : data_->has_own_init) {
    throw_error(nullptr, fmt::format("the program has an entry point '{}' already", name));
  }
  if (name == kInit) {
    std::erase_if(module.functions, [](const auto& f) { return f->name == kInit; });
    data_->has_own_init = true;
  }
  FunctionGuard guard(module, name);
  EntryTrace trace(guard.function());
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < specs.size(); ++i) {
    inputs.push_back(trace.add_input(specs[i].type, specs[i].name.empty() ? fmt::format("arg{}", i) : specs[i].name));
  }
  Outputs outputs = body(inputs);
  name_outputs(outputs, trace);
  if (trace.drew_random_numbers()) {
    Tensor step = tensor_of(random_step());
    step.copy_(step + 1);
  }
  data_->remember(trace.variables(), name);
  trace.finish(outputs.tensors);
  for (const Spec& spec : specs) set_default(guard.function(), spec);
  guard.keep();
}

Module& Program::module() {
  if (!data_->has_own_init) data_->generate_init();
  return data_->module;
}

std::vector<Spec> Program::state() const {
  std::vector<Spec> specs;
  for (const auto& variable : data_->variables) specs.push_back({variable->type, variable->name()});
  return specs;
}

}  // namespace ingot
