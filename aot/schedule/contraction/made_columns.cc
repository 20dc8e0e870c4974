#include "aot/schedule/contraction/made_columns.h"

#include <algorithm>

#include "aot/graph/op.h"
#include "aot/ops/ops.h"

namespace ingot::schedule {
namespace {

constexpr int64_t kSmallerMin = 2;  // times as many bytes as what the operand is made of

class SourceWalk {
 public:
  SourceWalk(const Draft& draft, int innermost) : draft_(draft), innermost_(innermost) {}

  const MadeColumns& made() const { return made_; }

  // Whether elements of the value, so read, can be made in vectors along the innermost dimension.
  bool add(const ContractionSide& side) {
    const Value* value = side.value;
    if (const Value* kept = draft_.kept(value)) {
      made_.source_bytes += kept->type.bytes();
      const int64_t stride = side.is_affine() ? side.stride(innermost_) : -1;
      return stride == 0 || stride == 1;
    }
    const Op& op = *value->op;
    if (op.is(kConstant)) return true;  // a splat: others are in buffers
    if (op.def->is_elementwise) {
      ++made_.element_ops;
      return std::ranges::all_of(op.operands, [&](const Value* operand) { return add({operand, side.accesses}); });
    }
    const AccessMap map = access_map(op);
    const auto is_fixed = [](const AxisMap& axis) { return axis.start < 0; };
    if (map.is_flat || map.pieces.size() != 1 || !side.is_affine() ||
        !std::ranges::all_of(map.pieces[0].axes, is_fixed))
      return false;
    return add({op.operand(map.pieces[0].operand), compose(side.accesses, map.pieces[0].axes)});
  }

 private:
  const Draft& draft_;
  int innermost_;
  MadeColumns made_;
};

}  // namespace

std::optional<MadeColumns> made_columns(const Draft& draft, const ContractionSide& side, int innermost) {
  SourceWalk walk(draft, innermost);
  if (draft.kept(side.value) || !walk.add(side) || walk.made().element_ops == 0) return std::nullopt;
  if (walk.made().source_bytes * kSmallerMin > side.value->type.bytes()) return std::nullopt;
  return walk.made();
}

}  // namespace ingot::schedule
