#include <algorithm>

#include "aot/analysis/walk.h"
#include "aot/graph/quantization.h"
#include "aot/ops/support/build.h"
#include "aot/passes/pass.h"

namespace ingot {
namespace {

constexpr DType kNarrow = DType::kBF16, kWide = DType::kF32;

bool is_widening(const Op& op) {
  return op.is(kConvert) && op.operand(0)->type.dtype == kNarrow && op.result()->type.dtype == kWide;
}

// Functions and products of real numbers, whose last rounding may be left out.
bool rounds(const Op& op) {
  if (op.results.size() != 1 || op.result()->type.dtype != kNarrow) return false;
  const auto has_integers = [](const Value* value) { return is_quantized(value->type); };
  if (has_integers(op.result()) || std::ranges::any_of(op.operands, has_integers)) return false;
  if (op.def->contraction) return true;
  if (op.is(kConvert)) return false;  // a rounding that is asked for
  const auto is_narrow = [](const Value* operand) {
    return !is_float(operand->type.dtype) || operand->type.dtype == kNarrow;
  };
  return op.def->is_elementwise && (op.def->gradient || op.def->expand) && std::ranges::all_of(op.operands, is_narrow);
}

// The op's result in f32.
Value* widened(GraphBuilder& b, const Op& op) {
  Values operands = op.operands;
  if (op.def->is_elementwise) {
    for (Value*& operand : operands) {
      if (is_float(operand->type.dtype)) operand = ops::convert(b, operand, kWide);
    }
  }
  return b.make(*op.def, operands, op.attr_map, {{kWide, op.result()->type.shape}});
}

// Blocks of tensors; scalars in the regions of reductions stay as they are.
void collect_widenings(Block& block, std::vector<Op*>& found) {
  for (const auto& op : block.ops) {
    if (is_widening(*op)) found.push_back(op.get());
    if (!is_control_flow(*op)) continue;
    for (const auto& region : op->regions) collect_widenings(*region, found);
  }
}

}  // namespace

bool widen_results(Module& module, PassContext&) {
  std::vector<Op*> widenings;
  for (const auto& function : module.functions) collect_widenings(function->body, widenings);
  GraphBuilder b;
  std::map<const Value*, Value*> wide;
  bool changed = false;
  for (Op* convert : widenings) {
    Value* narrow = convert->operand(0);
    if (!wide.contains(narrow)) {
      if (!narrow->op || !rounds(*narrow->op)) continue;
      b.before(*narrow->op);
      b.location = narrow->op->location;
      Value* result = widened(b, *narrow->op);
      Value* rounded = ops::convert(b, result, kNarrow);
      replace_op(narrow->op, {rounded});
      wide[rounded] = result;
      narrow = rounded;
    }
    replace_op(convert, {wide.at(narrow)});
    changed = true;
  }
  return changed;
}

}  // namespace ingot
