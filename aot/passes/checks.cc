#include "aot/passes/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "aot/passes/annotations.h"

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

std::string uses_agree(const Op& op) {
  for (int i = 0; i < static_cast<int>(op.operands.size()); ++i) {
    const auto& uses = op.operand(i)->uses;
    const bool is_listed = std::any_of(uses.begin(), uses.end(),
                                       [&](const Value::Use& use) { return use.op == &op && use.operand_index == i; });
    if (!is_listed) return at(op, fmt::format(": operand {} does not list it among its uses", i));
  }
  return "";
}

std::string types_agree(const Op& op) {
  if (!op.def->infer || op.def->is_terminator) return "";
  std::vector<TensorType> operands, declared;
  for (const Value* operand : op.operands) operands.push_back(operand->type);
  for (const auto& result : op.results) declared.push_back(result->type);
  const std::vector<TensorType> inferred = op.def->infer({op.name(), operands, op.attr_map, op.regions, declared, op.location});
  return inferred == declared ? "" : at(op, ": its result types are not what its operands give");
}

std::string defined_before_read(const Block& block, std::set<const Value*> defined) {
  for (const auto& argument : block.arguments) defined.insert(argument.get());
  for (const auto& op : block.ops) {
    for (const Value* operand : op->operands) {
      if (!defined.contains(operand)) return at(*op, " reads a value that is made after it, or elsewhere");
    }
    for (const auto& region : op->regions) {
      if (std::string text = defined_before_read(*region, defined); !text.empty()) return text;
    }
    for (const auto& result : op->results) defined.insert(result.get());
  }
  return "";
}

}  // namespace

std::string graph_is_whole(const Module& module) {
  for (const auto& function : module.functions) {
    const Block& body = function->body;
    if (body.ops.empty() || !body.terminator()->def->is_terminator) return "@" + function->name + " does not return";
    if (body.terminator()->operands.size() != function->results.size()) {
      return "@" + function->name + " returns another number of values than it says";
    }
    if (std::string text = defined_before_read(body, {}); !text.empty()) return text;
  }
  if (std::string text = first_complaint(module, uses_agree); !text.empty()) return text;
  return first_complaint(module, types_agree);
}

std::string no_calls(const Module& module) {
  return first_complaint(module, [](const Op& op) {
    return op.is("func.call") || op.is("stablehlo.composite") ? at(op, " is left") : "";
  });
}

std::string no_annotations(const Module& module) {
  return first_complaint(module, [](const Op& op) { return is_annotation(op) ? at(op, " is left") : ""; });
}

std::string no_barriers(const Module& module) {
  return first_complaint(module, [](const Op& op) { return is_barrier(op) ? at(op, " is left") : ""; });
}

std::string every_op_is_a_kernel(const Module& module) {
  for (const auto& function : module.functions) {
    for (const auto& op : function->body.ops) {
      if (op->def->is_terminator) continue;
      if (op->is("stablehlo.constant") && !op->attrs().literal("value")->is_splat) continue;
      if (!op->is("ingot.kernel")) return at(*op, " is in no kernel");
      if (!captured_values(op->region()).empty()) return at(*op, ": its region reads values from outside");
    }
  }
  return "";
}

}  // namespace ingot
