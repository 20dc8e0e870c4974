#include "aot/ops/support/complex/split.h"

#include "aot/ops/support/region.h"

namespace ingot::ops {

std::vector<TensorType> part_types(const Op& op) {
  std::vector<TensorType> types;
  for (const auto& result : op.results) {
    types.push_back(result->type);
    types.back().dtype = part_of(types.back().dtype);
  }
  return types;
}

namespace {

// make(operands) of the real parts, and of the imaginary ones; real operands are the same in both.
template <typename Make>
std::vector<Parts> each_part(const SplitArgs& args, const Make& make) {
  Values re, im;
  for (const Parts& operand : args.operands) {
    re.push_back(operand.re);
    im.push_back(operand.im ? operand.im : operand.re);
  }
  Value* real = make(re);
  return {{real, make(im)}};
}

}  // namespace

std::vector<Parts> split_each(SplitArgs& args) {
  INGOT_CHECK(args.op.results.size() == 1 && args.op.regions.empty());
  return each_part(args, [&](const Values& operands) {
    return args.b.make(*args.op.def, operands, args.op.attr_map, part_types(args.op));
  });
}

std::vector<Parts> split_doubled(SplitArgs& args) {
  return split_doubled(args, [](Block&) {});
}

std::vector<Parts> split_doubled(SplitArgs& args, const std::function<void(Block&)>& arrange) {
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
  for (const auto& region : regions) {
    args.split_region(*region);
    arrange(*region);
  }
  const Op* made = args.b.create(*args.op.def, operands, args.op.attr_map, std::move(types), std::move(regions));
  std::vector<Parts> results;
  int next = 0;
  for (const auto& result : args.op.results) {
    Parts& parts = results.emplace_back(made->result(next++));
    if (is_complex(result->type.dtype)) parts.im = made->result(next++);
  }
  return results;
}

std::vector<Parts> split_combining(SplitArgs& args) {
  const Block& region = args.op.region();
  const bool adds = binary_region_op(region) == &kAdd, overwrites = returned_argument(region) == 1;
  if (args.op.results.size() != 1 || !(adds || overwrites)) return split_doubled(args);
  const DType part = part_of(args.op.result()->type.dtype);
  return each_part(args, [&](const Values& operands) {
    std::vector<std::unique_ptr<Block>> regions;
    regions.push_back(adds ? binary_region(args.b, kAdd, part) : overwrite_region(args.b, part));
    return args.b.create(*args.op.def, operands, args.op.attr_map, {}, std::move(regions))->result();
  });
}

std::vector<Parts> split_product(SplitArgs& args) {
  const auto product = [&](Value* x, Value* y) {
    return args.b.make(*args.op.def, {x, y}, args.op.attr_map, part_types(args.op));
  };
  Value* re_re = product(args.re(0), args.re(1));
  Value* im_im = product(args.im(0), args.im(1));
  Value* re_im = product(args.re(0), args.im(1));
  Value* im_re = product(args.im(0), args.re(1));
  Value* re = subtract(args.b, re_re, im_im);
  return {{re, add(args.b, re_im, im_re)}};
}

}  // namespace ingot::ops
