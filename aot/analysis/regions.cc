#include "aot/analysis/regions.h"

#include "aot/analysis/walk.h"

namespace ingot {
namespace {

void keep_operands(Op* terminator, const std::vector<bool>& kept, GraphBuilder& b) {
  Values values;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (kept[i]) values.push_back(terminator->operands[i]);
  }
  b.before(*terminator);
  b.location = terminator->location;
  b.create(*terminator->def, values);
  erase(terminator);
}

void keep_arguments(Block& block, const std::vector<bool>& kept) {
  std::vector<std::unique_ptr<Value>> arguments;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (!kept[i]) {
      INGOT_CHECK(block.arguments[i]->uses.empty());
      continue;
    }
    block.arguments[i]->index = static_cast<int>(arguments.size());
    arguments.push_back(std::move(block.arguments[i]));
  }
  block.arguments = std::move(arguments);
}

}  // namespace

bool is_inside(const Block* block, const Block& outer) {
  while (block && block != &outer) block = block->parent_op ? block->parent_op->block : nullptr;
  return block;
}

bool is_outside(const Value* value, const Block& block) {
  return !is_inside(value->op ? value->op->block : value->block, block);
}

Values copy_before(Op& before, const Block& from, ValueMap& map) {
  Block& block = *before.block;
  const Op* last = block.ops.back().get();
  copy_ops(from, block, map, /*with_terminator=*/false);
  block.ops.splice(before.self, block.ops, std::next(last->self), block.ops.end());
  Values results;
  for (Value* value : from.terminator()->operands) {
    const auto found = map.find(value);
    results.push_back(found == map.end() ? value : found->second);
  }
  return results;
}

Values move_before(Op& before, Block& from) {
  for (auto at = from.ops.begin(); at != from.ops.end();) {
    Op* op = (at++)->get();
    if (op->def->is_terminator) return op->operands;
    op->block = before.block;
    before.block->ops.splice(before.self, from.ops, op->self);
  }
  return {};
}

Op* keep_results(Op* op, const std::vector<bool>& kept) {
  GraphBuilder b;
  Values operands;
  for (size_t i = 0; i < op->operands.size(); ++i) {
    if (!is_loop(*op) || kept[i]) operands.push_back(op->operands[i]);
  }
  for (auto& region : op->regions) {
    const bool is_condition = is_loop(*op) && region == op->regions.front();
    if (!is_condition) keep_operands(region->terminator(), kept, b);
    if (is_loop(*op)) keep_arguments(*region, kept);
  }
  b.before(*op);
  b.location = op->location;
  Op* made = b.create(*op->def, operands, op->attr_map, {}, std::move(op->regions));
  int next = 0;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (!kept[i]) continue;
    Value* result = made->result(next++);
    result->name = op->results[i]->name;
    result->location = op->results[i]->location;
    replace_all_uses(op->result(static_cast<int>(i)), result);
  }
  erase(op);
  return made;
}

int add_carried(Op& loop, Value* start, const std::string& name) {
  const int carried = static_cast<int>(loop.operands.size());
  loop.add_operand(start);
  for (auto& region : loop.regions) region->add_argument(start->type, name, loop.location);
  loop.region(1).terminator()->add_operand(loop.region(1).argument(carried));
  auto result = std::make_unique<Value>();
  result->type = start->type;
  result->op = &loop;
  result->index = carried;
  result->location = loop.location;
  loop.results.push_back(std::move(result));
  return carried;
}

void set_next(Op& loop, int carried, Value* next) { loop.region(1).terminator()->set_operand(carried, next); }

}  // namespace ingot
