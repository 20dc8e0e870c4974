#include "aot/lazy/recorder.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/analysis/walk.h"
#include "aot/frontend/trace/functions.h"
#include "aot/graph/text/print.h"

namespace ingot::lazy {
namespace {

std::unique_ptr<Module> empty_recording() {
  auto module = std::make_unique<Module>();
  module->add_function("recorded");
  return module;
}

const Function& function_in(const Module& module) { return *module.functions[0]; }

}  // namespace

Recorder::Recorder(Programs& programs, int64_t seed) : Recorder(programs, seed, empty_recording()) {}

Recorder::Recorder(Programs& programs, int64_t seed, std::unique_ptr<Module> recorded)
    : Trace(*recorded->functions[0], /*holds_values=*/true), programs_(programs), recorded_(std::move(recorded)) {
  this->seed(seed);
}

// --- tensors and their values ----------------------------------------------------------------------------------------

Tensor Recorder::tensor(const TensorType& type, MemoryRef memory) {
  if (held_.size() >= 2 * alive_ + kForgetMin) forget_dead();
  auto variable = std::make_shared<Variable>(Variable{[] { return std::string(); }, type, "", {}, false});
  held_[variable->number] = {variable, nullptr, std::move(memory), false};
  return tensor_of(std::move(variable));
}

Tensor Recorder::wrap(Value* value) {
  if (is_in_region()) return Trace::wrap(value);
  Tensor made = tensor(value->type, nullptr);
  held_[variable_of(made)->number].value = value;
  return made;
}

void Recorder::seed(int64_t seed) {
  auto memory = std::make_shared<Memory>(sizeof seed);
  store_int(DType::kI64, seed, memory->data());
  seed_ = tensor({DType::kI64, {}}, std::move(memory));
  held_.erase(random_seed()->number);
  held_.erase(random_step()->number);
}

Recorder::Held& Recorder::held(const std::shared_ptr<Variable>& variable) {
  const auto found = held_.find(variable->number);
  if (found != held_.end()) return found->second;
  if (!variable->is_state()) fail("this tensor belongs to a lazy::Device that is gone, or to another thread's");
  const std::string name = variable->name();
  std::weak_ptr<Variable>& owner = names_[name];
  if (const auto other = owner.lock(); other && other != variable) {
    fail(
        fmt::format("two variables are named '{}'; give one of their modules or optimizers a name: "
                    "net.named(\"generator\")",
                    name));
  }
  owner = variable;
  Value* first = record_first_value(*variable);
  return held_[variable->number] = {variable, first, nullptr, false};
}

// Outside of any region: also the first to read a parameter may be the body of a loop.
Value* Recorder::record_first_value(const Variable& variable) {
  struct Return {
    GraphBuilder& b;
    Block* block;
    Location location;
    ~Return() {
      b.at_end(*block);
      b.location = location;
    }
  };
  const Return back{b, b.block(), b.location};
  b.at_end(function_->body);
  b.location = named_location(variable.name());
  Value* first = value(first_value(variable, seed_));
  if (first->type != variable.type) {
    fail(fmt::format("'{}' is {} and cannot start as {}", variable.name(), to_string(variable.type),
                     to_string(first->type)));
  }
  return first;
}

Value* Recorder::argument(const TensorType& type, const MemoryRef& memory) {
  Value*& argument = arguments_[memory.get()];
  if (!argument) {
    argument = function_->body.add_argument(type);
    known_[argument] = memory;
  }
  return argument;
}

Value* Recorder::read(const std::shared_ptr<Variable>& variable) {
  Held& held = this->held(variable);
  if (!held.value) {
    held.value = argument(variable->type, held.memory);
    if (held.is_spent) spent_.insert(held.value);
  }
  return held.value;
}

void Recorder::store(const std::shared_ptr<Variable>& variable, Value* value) {
  Held& held = this->held(variable);
  if (variable->requires_grad && held.value) spent_.insert(held.value);
  held = {variable, value, nullptr, false};
}

std::span<const std::byte> Recorder::bytes(const Tensor& tensor) {
  const auto variable = variable_of(tensor);
  if (!variable)
    fail("this tensor was made inside of a scan, cond or while_loop, and has a value only when that has run");
  const Held& held = this->held(variable);
  if (held.value && !known_.contains(held.value)) {
    check_outside_of_regions("a value that is not computed yet cannot be asked for");
    run();
  }
  return (held.value ? known_.at(held.value) : held.memory)->bytes();
}

std::vector<std::shared_ptr<Variable>> Recorder::variables() const {
  std::vector<std::shared_ptr<Variable>> all;
  for (const auto& [number, held] : held_) {
    if (auto variable = held.variable.lock(); variable && held.value) all.push_back(std::move(variable));
  }
  return all;
}

// --- running ---------------------------------------------------------------------------------------------------------

void Recorder::run() {
  check_outside_of_regions("tensors cannot be computed");
  count_random_step();
  forget_dead();
  Values roots;
  std::set<const Value*> seen;
  for (const auto& [number, held] : held_) {
    if (held.value && !known_.contains(held.value) && seen.insert(held.value).second) roots.push_back(held.value);
  }
  if (!roots.empty()) {
    const std::vector<MemoryRef> computed = programs_.run(cut_out(*function_, roots, known_));
    for (size_t i = 0; i < roots.size(); ++i) known_[roots[i]] = computed[i];
  }
  carry_over();
}

std::string Recorder::text(const Tensor& tensor) {
  check_outside_of_regions("a tensor has no text");
  const Recording recording = cut_out(*function_, {value(tensor)}, known_);
  return print(*with_numbers(recording, Varying(recording.numbers.size())));
}

// Random numbers are drawn by call and step: what follows draws others.
void Recorder::count_random_step() {
  if (random_stream_ == 0) return;
  random_stream_ = 0;
  const Scope scope(named_location("rng.step"));
  Tensor step = tensor_of(random_step());
  step.copy_(step + 1);
}

void Recorder::forget_dead() {
  const auto is_dead = [](const auto& entry) { return entry.second.variable.expired(); };
  std::erase_if(grads_, [&](const auto& grad) {
    const auto leaf = held_.find(grad.first.first);
    return leaf != held_.end() && is_dead(*leaf);
  });
  std::erase_if(held_, is_dead);
  alive_ = held_.size();
  std::erase_if(names_, [](const auto& entry) { return entry.second.expired(); });
}

// --- gradients -------------------------------------------------------------------------------------------------------

ValueSet Recorder::trained() const {
  ValueSet values;
  for (const auto& variable : variables()) {
    if (variable->requires_grad) values.insert(held_.at(variable->number).value);
  }
  return values;
}

// What depends on something trained, also where the way back is forgotten.
ValueSet Recorder::flowing() const {
  ValueSet from = trained();
  from.insert(spent_.begin(), spent_.end());
  return active_values(from, function_->body, constants_);
}

// What no gradient may flow through when this function has run: a backward() went through it, or it depends on such.
ValueSet Recorder::spent(const ValueSet& flowing) const {
  const ValueSet leaves = trained();
  const auto behind =
      ops_behind(losses_, [&](const Value* value) { return !flowing.contains(value) || leaves.contains(value); });
  ValueSet spent = spent_;
  spent.insert(derived_.begin(), derived_.end());
  for (const auto& op : function_->body.ops) {
    const bool is_spent = behind.contains(op.get()) || std::ranges::any_of(read_by(*op), [&](const Value* read) {
                            return flowing.contains(read) && spent.contains(read);
                          });
    if (!is_spent) continue;
    for (const auto& result : op->results) spent.insert(result.get());
  }
  return spent;
}

void Recorder::backward(const Tensor& loss, const Tensor& seed) {
  Value* root = value(loss);
  const ValueSet flowing = this->flowing();
  bool is_forgotten = false;
  ops_behind({root}, [&](const Value* value) {
    is_forgotten = is_forgotten || spent_.contains(value);
    return !flowing.contains(value);
  });
  if (is_forgotten) {
    fail(
        "backward: how this loss was computed is forgotten, as a backward() went through it in an earlier step or a "
        "parameter was written since; detach() what is carried from step to step");
  }
  auto& ops = function_->body.ops;
  const size_t count = ops.size();
  Trace::backward(loss, seed);
  for (auto op = std::next(ops.begin(), static_cast<std::ptrdiff_t>(count)); op != ops.end(); ++op) {
    for (const auto& result : (*op)->results) derived_.insert(result.get());
  }
}

// Goes on in an empty function, with what gradients may still flow through: it would be computed again, from values
// that are known.
void Recorder::carry_over() {
  const ValueSet flowing = this->flowing(), spent = this->spent(flowing), leaves = trained();
  ValueSet roots;
  for (auto& [number, held] : held_) {
    if (!held.value || !flowing.contains(held.value) || leaves.contains(held.value)) continue;
    held.is_spent = spent.contains(held.value);
    if (!held.is_spent) roots.insert(held.value);
  }
  const auto is_end = [&](const Value* value) {
    return known_.contains(value) && (!flowing.contains(value) || leaves.contains(value));
  };
  const auto kept = ops_behind(roots, is_end);
  const std::unique_ptr<Module> before = std::exchange(recorded_, empty_recording());
  const KnownValues known = std::exchange(known_, {});
  const ValueSet constants = std::exchange(constants_, {});
  continue_in(*recorded_->functions[0]);
  arguments_.clear();
  spent_.clear();
  derived_.clear();

  ValueMap map;
  for (const auto& op : function_in(*before).body.ops) {
    if (!kept.contains(op.get())) continue;
    for (const Value* read : read_by(*op)) {
      if (!map.contains(read)) map[read] = argument(read->type, known.at(read));
    }
    copy_op(*op, function_->body, map);
    for (const auto& result : op->results) {
      if (known.contains(result.get())) known_[map.at(result.get())] = known.at(result.get());
      if (constants.contains(result.get())) constants_.insert(map.at(result.get()));
    }
  }
  for (auto& [number, held] : held_) {
    if (!held.value) continue;
    held.memory = known.at(held.value);
    const auto carried = map.find(held.value);
    held.value = carried == map.end() ? nullptr : carried->second;
  }
}

}  // namespace ingot::lazy
