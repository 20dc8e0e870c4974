#include "aot/graph/graph.h"

#include <algorithm>
#include <set>

#include "aot/base/contains.h"
#include "aot/base/error.h"
#include "aot/graph/op.h"

namespace ingot {
namespace {

// Latest uses first: whole blocks go from their end, and then each use is found at once.
void remove_use(Value* value, Op* op, int operand_index) {
  auto& uses = value->uses;
  const auto found = std::find(uses.rbegin(), uses.rend(), Value::Use{op, operand_index});
  INGOT_CHECK(found != uses.rend());
  *found = uses.back();
  uses.pop_back();
}

void drop_operands(Op* op) {
  for (int i = static_cast<int>(op->operands.size()) - 1; i >= 0; --i) {
    if (op->operands[i]) remove_use(op->operands[i], op, i);
    op->operands[i] = nullptr;
  }
  for (auto& region : op->regions) {
    for (auto inner = region->ops.rbegin(); inner != region->ops.rend(); ++inner) drop_operands(inner->get());
  }
}

void collect_captured(const Block& block, std::set<const Value*>& inside, Values& captured) {
  for (const auto& argument : block.arguments) inside.insert(argument.get());
  for (const auto& op : block.ops) {
    for (Value* operand : op->operands) {
      if (inside.contains(operand)) continue;
      if (!contains(captured, operand)) captured.push_back(operand);
    }
    for (const auto& region : op->regions) collect_captured(*region, inside, captured);
    for (const auto& result : op->results) inside.insert(result.get());
  }
}

}  // namespace

Op::~Op() { drop_operands(this); }

Block::~Block() {
  for (auto op = ops.rbegin(); op != ops.rend(); ++op) drop_operands(op->get());
}

std::string_view Op::name() const { return def->name; }

void Op::set_operand(int i, Value* value) {
  if (operands[i]) remove_use(operands[i], this, i);
  operands[i] = value;
  value->uses.push_back({this, i});
}

void Op::add_operand(Value* value) {
  operands.push_back(nullptr);
  set_operand(static_cast<int>(operands.size()) - 1, value);
}

bool Op::has_uses() const {
  return std::any_of(results.begin(), results.end(), [](const auto& result) { return !result->uses.empty(); });
}

Value* Block::add_argument(TensorType type, std::string name, Location location) {
  auto value = std::make_unique<Value>();
  value->type = std::move(type);
  value->name = std::move(name);
  value->location = std::move(location);
  value->block = this;
  value->index = static_cast<int>(arguments.size());
  arguments.push_back(std::move(value));
  return arguments.back().get();
}

Function* Module::find(std::string_view function_name) const {
  for (const auto& function : functions) {
    if (function->name == function_name) return function.get();
  }
  return nullptr;
}

Function* Module::add_function(std::string function_name) {
  auto function = std::make_unique<Function>();
  function->name = std::move(function_name);
  function->module = this;
  function->body.parent_function = function.get();
  functions.push_back(std::move(function));
  return functions.back().get();
}

void erase(Op* op) {
  INGOT_CHECK(!op->has_uses());
  op->block->ops.erase(op->self);
}

void replace_all_uses(Value* from, Value* to) {
  while (!from->uses.empty()) {
    const Value::Use use = from->uses.back();
    use.op->set_operand(use.operand_index, to);
  }
}

Function* function_of(const Block* block) {
  while (block->parent_op) block = block->parent_op->block;
  return block->parent_function;
}

Module* module_of(const Op* op) { return function_of(op->block)->module; }

Op* copy_op(const Op& from, Block& to, ValueMap& map) {
  auto op = std::make_unique<Op>();
  op->def = from.def;
  op->attr_map = from.attr_map;
  op->location = from.location;
  op->block = &to;
  for (Value* operand : from.operands) {
    const auto found = map.find(operand);
    op->add_operand(found == map.end() ? operand : found->second);
  }
  for (const auto& result : from.results) {
    auto value = std::make_unique<Value>();
    value->type = result->type;
    value->name = result->name;
    value->location = result->location;
    value->op = op.get();
    value->index = result->index;
    map[result.get()] = value.get();
    op->results.push_back(std::move(value));
  }
  for (const auto& region : from.regions) {
    op->regions.push_back(copy_block(*region, map));
    op->regions.back()->parent_op = op.get();
  }
  Op* raw = op.get();
  raw->self = to.ops.insert(to.ops.end(), std::move(op));
  return raw;
}

void copy_ops(const Block& from, Block& to, ValueMap& map, bool with_terminator) {
  for (const auto& op : from.ops) {
    if (with_terminator || !op->def->is_terminator) copy_op(*op, to, map);
  }
}

std::unique_ptr<Block> copy_block(const Block& from, ValueMap& map) {
  auto block = std::make_unique<Block>();
  for (const auto& argument : from.arguments) {
    map[argument.get()] = block->add_argument(argument->type, argument->name, argument->location);
  }
  copy_ops(from, *block, map);
  return block;
}

std::unique_ptr<Module> copy_module(const Module& from) {
  auto module = std::make_unique<Module>();
  module->name = from.name;
  module->attrs = from.attrs;
  module->location = from.location;
  for (const auto& function : from.functions) {
    Function* copy = module->add_function(function->name);
    copy->is_private = function->is_private;
    copy->argument_attrs = function->argument_attrs;
    copy->results = function->results;
    copy->attrs = function->attrs;
    copy->location = function->location;
    ValueMap map;
    for (const auto& argument : function->body.arguments) {
      map[argument.get()] = copy->body.add_argument(argument->type, argument->name, argument->location);
    }
    copy_ops(function->body, copy->body, map);
  }
  return module;
}

Values captured_values(const Block& block) {
  std::set<const Value*> inside;
  Values captured;
  collect_captured(block, inside, captured);
  return captured;
}

}  // namespace ingot
