#include "aot/passes/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "aot/analysis/walk.h"
#include "aot/graph/quantization.h"
#include "aot/ops/ops.h"

namespace ingot {
namespace {

std::string at(const Op& op, const std::string& what) {
  const std::string place = describe(op.location);
  return fmt::format("{}{}{}", op.name(), what, place.empty() ? "" : " at " + place);
}

// The first complaint about an op of the module, regions included.
std::string first_complaint(const Block& block, const std::function<std::string(const Op&)>& complaint) {
  for (const auto& op : block.ops) {
    if (std::string text = complaint(*op); !text.empty()) return text;
    for (const auto& region : op->regions) {
      if (std::string text = first_complaint(*region, complaint); !text.empty()) return text;
    }
  }
  return "";
}

std::string first_complaint(const Module& module, const std::function<std::string(const Op&)>& complaint) {
  for (const auto& function : module.functions) {
    if (std::string text = first_complaint(function->body, complaint); !text.empty()) return text;
  }
  return "";
}

// No op reads or gives a value of such a type, and no argument is one.
std::string none_left(const Module& module, bool (*is_wrong)(const TensorType&), std::string_view what) {
  const auto is_left = [&](const auto& value) { return is_wrong(value->type); };
  for (const auto& function : module.functions) {
    if (std::ranges::any_of(function->body.arguments, is_left)) {
      return fmt::format("an argument of @{}: a {} is left", function->name, what);
    }
  }
  return first_complaint(module, [&](const Op& op) {
    const bool has_one = std::ranges::any_of(op.operands, is_left) || std::ranges::any_of(op.results, is_left) ||
                         std::ranges::any_of(op.regions, [&](const auto& region) {
                           return std::ranges::any_of(region->arguments, is_left);
                         });
    return has_one ? at(op, fmt::format(": a {} is left", what)) : "";
  });
}

}  // namespace

std::string no_calls(const Module& module) {
  return first_complaint(module,
                         [](const Op& op) { return op.is(kCall) || op.is(kComposite) ? at(op, " is left") : ""; });
}

std::string no_expandable_ops(const Module& module) {
  return first_complaint(module, [](const Op& op) {
    return op.def->expand && op.def->root == KernelRoot::kNone ? at(op, " is left") : "";
  });
}

std::string no_tokens(const Module& module) {
  return none_left(module, [](const TensorType& type) { return is_token(type.dtype); }, "token");
}

std::string no_complex_values(const Module& module) {
  return none_left(module, [](const TensorType& type) { return is_complex(type.dtype); }, "complex value");
}

std::string no_quantized_types(const Module& module) { return none_left(module, is_quantized, "quantized value"); }

std::string no_narrow_floats(const Module& module) {
  return none_left(module, [](const TensorType& type) { return is_narrow_float(type.dtype); }, "narrow float");
}

std::string every_dimension_is_known(const Module& module) {
  for (const auto& function : module.functions) {
    for (const auto& argument : function->body.arguments) {
      if (!argument->type.is_static())
        return fmt::format("an argument of @{} is a {}", function->name, to_string(argument->type));
    }
  }
  return first_complaint(module, [](const Op& op) {
    for (const auto& result : op.results) {
      if (!result->type.is_static()) return at(op, " gives a " + to_string(result->type));
    }
    return std::string();
  });
}

std::string no_barriers(const Module& module) {
  return first_complaint(module, [](const Op& op) { return op.is(kOptimizationBarrier) ? at(op, " is left") : ""; });
}

std::string every_op_is_a_kernel(const Block& block) {
  for (const auto& op : block.ops) {
    if (op->def->is_terminator) continue;
    if (op->is(kConstant) && !op->attrs().literal("value")->is_splat) continue;
    if (is_control_flow(*op)) {
      for (const auto& region : op->regions) {
        if (std::string text = every_op_is_a_kernel(*region); !text.empty()) return text;
      }
      continue;
    }
    if (!op->is(kKernel)) return at(*op, " is in no kernel");
    if (!captured_values(op->region()).empty()) return at(*op, ": its region reads values from outside");
  }
  return "";
}

std::string every_op_is_a_kernel(const Module& module) {
  for (const auto& function : module.functions) {
    if (std::string text = every_op_is_a_kernel(function->body); !text.empty()) return text;
  }
  return "";
}

}  // namespace ingot
