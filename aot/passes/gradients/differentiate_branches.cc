// The gradient of a case or if: the same choice between the gradients of the branches, each of which computes again
// what it needs of its branch.
#include "aot/analysis/walk.h"
#include "aot/ops/support/build.h"
#include "aot/passes/gradients/differentiate.h"
#include "aot/passes/gradients/differentiate_block.h"

namespace ingot {

void Differentiator::visit_branches(const Op& op, const Values& result_gradients) {
  const Values wanted = active_captures(op);
  std::vector<std::unique_ptr<Block>> regions;
  for (const auto& branch : op.regions) {
    auto region = std::make_unique<Block>();
    GraphBuilder b;
    b.at_end(*region);
    BlockGradient gradient(b, *branch, {}, {wanted.begin(), wanted.end()}, constants_);
    for (size_t i = 0; i < result_gradients.size(); ++i) {
      if (result_gradients[i]) gradient.seed(static_cast<int>(i), result_gradients[i]);
    }
    gradient.run();
    Values results;
    for (Value* value : wanted) {
      Value* found = gradient.find(value);
      results.push_back(found ? found : ops::zeros_like(b, value));
    }
    b.create(kStablehloReturn, results);
    erase_unread(*region);
    regions.push_back(std::move(region));
  }
  const Op* made = b_.create(*op.def, op.operands, {}, {}, std::move(regions));
  for (size_t i = 0; i < wanted.size(); ++i) accumulate(wanted[i], made->result(static_cast<int>(i)));
}

}  // namespace ingot
