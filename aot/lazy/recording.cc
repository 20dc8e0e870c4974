#include "aot/lazy/recording.h"

#include <fmt/format.h>

#include "aot/analysis/walk.h"
#include "aot/graph/attributes.h"
#include "aot/ops/support/build.h"

namespace ingot::lazy {
namespace {

constexpr const char* kValue = "value";  // the attribute of stablehlo.constant

// The literal of a number: a splat constant; else null.
const LiteralRef* number_of(const Op& op) {
  if (!op.is(kConstant)) return nullptr;
  const LiteralRef& literal = op.attrs().literal(kValue);
  return literal->is_splat ? &literal : nullptr;
}

// Numbers the values of a function in order, and mixes what is made of which.
class Hasher {
 public:
  uint64_t of(const Function& function) {
    for (const auto& argument : function.body.arguments) add(*argument);
    for (const auto& op : function.body.ops) {
      mix(std::hash<const void*>()(op->def));
      for (const Value* operand : op->operands) mix(numbers_.at(operand));
      for (const auto& result : op->results) add(*result);
    }
    return hash_;
  }

 private:
  void add(const Value& value) {
    numbers_.emplace(&value, numbers_.size());
    mix(static_cast<uint64_t>(value.type.dtype));
    for (const int64_t size : value.type.shape) mix(static_cast<uint64_t>(size));
  }
  void mix(uint64_t word) { hash_ = (hash_ ^ word) * 0x9E3779B97F4A7C15 ^ hash_ >> 29; }

  uint64_t hash_ = 0xCBF29CE484222325;
  std::map<const Value*, uint64_t> numbers_;
};

Value* add_input(Function& function, const TensorType& type) {
  const std::string name = input_name(function.body.arguments.size());
  function.argument_attrs.push_back({{attributes::kName, name}});
  return function.body.add_argument(type, name);
}

}  // namespace

std::string input_name(size_t index) { return fmt::format("input{}", index); }
std::string output_name(size_t index) { return fmt::format("output{}", index); }

std::set<const Op*> ops_behind(const ValueSet& roots, const std::function<bool(const Value*)>& is_end) {
  std::set<const Op*> found;
  std::vector<const Value*> open(roots.begin(), roots.end());
  while (!open.empty()) {
    const Value* value = open.back();
    open.pop_back();
    if (is_end(value) || !value->op || !found.insert(value->op).second) continue;
    for (const Value* read : read_by(*value->op)) open.push_back(read);
  }
  return found;
}

Recording cut_out(const Function& recorded, const Values& roots, const KnownValues& known) {
  Recording cut;
  cut.module = std::make_unique<Module>();
  cut.module->name = "lazy";
  Function& function = *cut.module->add_function("run");
  ValueMap map;
  const auto take = [&](Value* value) {
    const auto found = known.find(value);
    if (found == known.end() || !map.emplace(value, nullptr).second) return;
    map[value] = add_input(function, value->type);
    cut.inputs.push_back(found->second);
  };
  const auto needed =
      ops_behind({roots.begin(), roots.end()}, [&](const Value* value) { return known.contains(value); });
  for (const auto& op : recorded.body.ops) {
    if (!needed.contains(op.get())) continue;
    for (Value* read : read_by(*op)) take(read);
    Op* copy = copy_op(*op, function.body, map);
    if (const LiteralRef* number = number_of(*op)) {
      cut.numbers.push_back(*number);
      copy->attr_map[kValue] = splat((*number)->type, 0);
    }
  }
  GraphBuilder b;
  b.at_end(function.body);
  Values results;
  for (Value* root : roots) {
    take(root);
    function.results.push_back({root->type, {{attributes::kName, output_name(results.size())}}});
    results.push_back(map.at(root));
  }
  b.create(kFuncReturn, results);
  cut.hash = Hasher().of(function);
  return cut;
}

std::unique_ptr<Module> with_numbers(const Recording& recording, const Varying& varying) {
  std::unique_ptr<Module> module = copy_module(*recording.module);
  Function& function = *module->functions[0];
  size_t index = 0;
  for (auto at = function.body.ops.begin(); at != function.body.ops.end();) {
    Op* op = (at++)->get();
    if (!number_of(*op)) continue;
    const LiteralRef& number = recording.numbers[index];
    if (!varying[index++]) {
      op->attr_map[kValue] = number;
      continue;
    }
    GraphBuilder b;
    b.location = op->location;
    b.before(*op);
    Value* input = add_input(function, {number->type.dtype, {}});
    replace_all_uses(op->result(), ops::broadcast_scalar(b, input, number->type.shape));
    erase(op);
  }
  return module;
}

std::vector<MemoryRef> inputs_of(const Recording& recording, const Varying& varying) {
  std::vector<MemoryRef> inputs = recording.inputs;
  for (size_t i = 0; i < recording.numbers.size(); ++i) {
    if (!varying[i]) continue;
    const std::vector<std::byte>& number = recording.numbers[i]->data;
    auto memory = std::make_shared<Memory>(number.size());
    std::ranges::copy(number, memory->data());
    inputs.push_back(std::move(memory));
  }
  return inputs;
}

}  // namespace ingot::lazy
