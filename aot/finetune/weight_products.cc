#include "aot/finetune/weight_products.h"

#include "aot/base/location.h"
#include "aot/graph/attributes.h"
#include "aot/ops/ops.h"
#include "aot/ops/support/dimension_numbers.h"

namespace ingot {
namespace {

// What reads `value`, which is `weight` or its transpose.
void collect_readers(const Value* value, bool is_transposed, const Block& body, MultipliedWeight& weight) {
  for (const Value::Use& use : value->uses) {
    const Op& op = *use.op;
    const bool is_in_body = op.block == &body;
    if (is_in_body && op.is(kTranspose)) {
      const bool swaps = op.attrs().ints("permutation")[0] == 1;
      collect_readers(op.result(0), is_transposed != swaps, body, weight);
      continue;
    }
    if (is_in_body && op.is(kDotGeneral) && op.operand(0) != op.operand(1)) {
      const ops::DotDims dims = ops::read_dot_dims(op.attrs());
      const std::vector<int64_t>& summed = use.operand_index == 0 ? dims.lhs_contract : dims.rhs_contract;
      if (dims.lhs_batch.empty() && summed.size() == 1) {
        weight.products.push_back({&op, use.operand_index, is_transposed ? 1 - summed[0] : summed[0]});
        continue;
      }
    }
    weight.other_reader = &op;
  }
}

}  // namespace

std::vector<std::string> WeightProduct::names() const {
  std::vector<std::string> names;
  for (Location at = op->location; at && at->kind == LocationNode::Kind::kName;
       at = at->children.empty() ? nullptr : at->children[0]) {
    names.push_back(at->text);
  }
  return names;
}

std::vector<MultipliedWeight> multiplied_weights(const Function& function) {
  std::vector<MultipliedWeight> weights;
  for (int i = 0; i < function.argument_count(); ++i) {
    const Value* argument = function.body.argument(i);
    const std::string name = attr_text(function.argument_attrs[i], attributes::kState);
    if (name.empty() || argument->type.rank() != 2 || !is_float(argument->type.dtype)) continue;
    MultipliedWeight weight{name, argument->type, {}};
    collect_readers(argument, /*is_transposed=*/false, function.body, weight);
    if (!weight.products.empty()) weights.push_back(std::move(weight));
  }
  return weights;
}

}  // namespace ingot
