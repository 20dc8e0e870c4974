#include "aot/ops/split.h"

namespace ingot::ops {

std::vector<TensorType> part_types(const Op& op) {
  std::vector<TensorType> types;
  for (const auto& result : op.results) {
    types.push_back(result->type);
    types.back().dtype = part_of(types.back().dtype);
  }
  return types;
}

std::vector<Parts> split_each(SplitArgs& args) {
  INGOT_CHECK(args.op.results.size() == 1 && args.op.regions.empty());
  Values re, im;
  for (const Parts& operand : args.operands) {
    re.push_back(operand.re);
    im.push_back(operand.im ? operand.im : operand.re);
  }
  Value* real = args.b.make(args.op.name(), re, args.op.attr_map, part_types(args.op));
  return {{real, args.b.make(args.op.name(), im, args.op.attr_map, part_types(args.op))}};
}

std::vector<Parts> split_doubled(SplitArgs& args) {
  Values operands;
  for (const Parts& operand : args.operands) {
    operands.push_back(operand.re);
    if (operand.im) operands.push_back(operand.im);
  }
  std::vector<TensorType> types;
  for (const auto& result : args.op.results) {
    const TensorType& type = result->type;
    types.insert(types.end(), is_complex(type.dtype) ? 2 : 1, {part_of(type.dtype), type.shape});
  }
  std::vector<std::unique_ptr<Block>> regions = std::move(args.op.regions);
  for (const auto& region : regions) args.split_region(*region);
  const Op* made = args.b.create(args.op.name(), operands, args.op.attr_map, std::move(types), std::move(regions));
  std::vector<Parts> results;
  int next = 0;
  for (const auto& result : args.op.results) {
    Parts& parts = results.emplace_back(made->result(next++));
    if (is_complex(result->type.dtype)) parts.im = made->result(next++);
  }
  return results;
}

}  // namespace ingot::ops
