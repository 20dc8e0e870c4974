#include <algorithm>

#include "aot/graph/op.h"
#include "aot/schedule/templates.h"

namespace ingot::schedule {
namespace {

// What goes step by step has loops of its own.
struct Sequential {
  std::string_view op;
  void (*lower)(Draft& draft, const Op& root);
};
constexpr Sequential kSequential[] = {
    {"stablehlo.cholesky", lower_cholesky},
    {"stablehlo.triangular_solve", lower_triangular_solve},
};

}  // namespace

void lower_sequential(Draft& draft, const Op& root) {
  const auto found = std::ranges::find(kSequential, root.name(), &Sequential::op);
  if (found == std::end(kSequential)) throw_bug("schedule: no loops for " + std::string(root.name()));
  found->lower(draft, root);
}

}  // namespace ingot::schedule
