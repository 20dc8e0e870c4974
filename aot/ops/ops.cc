#include "aot/ops/ops.h"

#include <fmt/format.h>

namespace ingot {

const OpTable& all_ops() {
  static const OpDef* const kOps[] = {
#define OP(name, file) &k##name,
#include "aot/ops/ops.def"
#undef OP
  };
  static const OpTable table(kOps);
  return table;
}

const OpDef& op_named(std::string_view name) {
  const OpDef* def = all_ops().find(name);
  if (!def) throw_bug(fmt::format("no op is named {}", name));
  return *def;
}

}  // namespace ingot
