#include "aot/graph/builder.h"

#include "aot/graph/result_types.h"

namespace ingot {

Op* insert(std::unique_ptr<Op> op, Block& block, Op* before) {
  Op* raw = op.get();
  raw->block = &block;
  raw->self = block.ops.insert(before ? before->self : block.ops.end(), std::move(op));
  return raw;
}

Op* GraphBuilder::create(const OpDef& def, Values operands, AttrMap attrs, std::vector<TensorType> declared,
                         std::vector<std::unique_ptr<Block>> regions) {
  std::vector<TensorType> operand_types;
  for (Value* operand : operands) operand_types.push_back(operand->type);
  if (def.infer) declared = result_types(def, {def.name, operand_types, attrs, regions, declared, location});

  auto op = std::make_unique<Op>();
  op->def = &def;
  op->attr_map = std::move(attrs);
  op->regions = std::move(regions);
  for (auto& region : op->regions) region->parent_op = op.get();
  op->location = location;
  for (Value* operand : operands) op->add_operand(operand);
  for (TensorType& type : declared) {
    auto value = std::make_unique<Value>();
    value->type = std::move(type);
    value->op = op.get();
    value->index = static_cast<int>(op->results.size());
    value->location = location;
    op->results.push_back(std::move(value));
  }
  return insert(std::move(op), *block_, before_);
}

Value* GraphBuilder::make(const OpDef& def, Values operands, AttrMap attrs, std::vector<TensorType> declared) {
  return create(def, std::move(operands), std::move(attrs), std::move(declared))->result();
}

}  // namespace ingot
