#include "aot/analysis/replaced.h"

#include "aot/graph/attributes.h"

namespace ingot {

Replaced replaced_state(const Function& function) {
  Replaced replaced;
  for (const FunctionResult& result : function.results) {
    const std::string name = attr_text(result.attrs, attributes::kState);
    const Value* old = nullptr;
    for (int k = 0; !name.empty() && !old && k < function.argument_count(); ++k) {
      if (attr_text(function.argument_attrs[k], attributes::kState) == name) old = function.body.argument(k);
    }
    replaced.push_back(old);
  }
  return replaced;
}

Replaced replaced_carried(const Block& body) {
  Replaced replaced;
  for (const auto& argument : body.arguments) replaced.push_back(argument.get());
  return replaced;
}

}  // namespace ingot
