#include "aot/graph/verify.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "aot/graph/result_types.h"

namespace ingot {
namespace {

class Verifier {
 public:
  Verifier(const Module& module, ErrorKind blame) : module_(module), blame_(blame) {}

  void run() {
    for (const auto& function : module_.functions) {
      where_ = fmt::format("@{}", function->name);
      place_ = function->location;
      require(functions_.emplace(function->name, function.get()).second, "another function has this name");
    }
    for (const auto& function : module_.functions) check(*function);
    check_recursion();
  }

 private:
  void require(bool holds, const char* rule) {
    if (!holds) fail(rule);
  }
  [[noreturn]] void fail(const std::string& rule) const { throw Error(blame_, place_, where_ + ": " + rule); }

  void check(const Function& function) {
    function_ = &function;
    where_ = fmt::format("@{}", function.name);
    place_ = function.location;
    require(function.module == &module_ && function.body.parent_function == &function && !function.body.parent_op,
            "the function's owner is not this module");
    require(function.argument_attrs.size() == function.body.arguments.size(),
            "needs an attribute map for each argument");
    check_block(function.body);
    check_slots();
    where_ = fmt::format("@{}: func.return", function.name);
    place_ = function.body.terminator()->location;
    const Op& end = *function.body.terminator();
    require(end.def->ends_function, "a function must end in func.return");
    require(end.operands.size() == function.results.size(),
            "return must have one operand for each of the function's results");
    for (size_t i = 0; i < function.results.size(); ++i) {
      if (end.operands[i]->type == function.results[i].type) continue;
      fail(fmt::format("result {} is declared as {}, but {} is returned", i, to_string(function.results[i].type),
                       to_string(end.operands[i]->type)));
    }
  }

  void check_block(const Block& block) {
    for (size_t i = 0; i < block.arguments.size(); ++i) {
      const Value& value = *block.arguments[i];
      require(value.block == &block && !value.op && value.index == static_cast<int>(i), "an argument's owner is wrong");
      check_uses(value);
      visible_.insert(&value);
    }
    require(!block.ops.empty(), "a block needs a terminator");
    for (auto it = block.ops.begin(); it != block.ops.end(); ++it) {
      const Op& op = **it;
      where_ = fmt::format("@{}: {}", function_->name, op.name());
      place_ = op.location;
      require(op.block == &block && op.self == it, "the op's owner is not its block");
      const bool is_last = std::next(it) == block.ops.end();
      require(op.def->is_terminator == is_last,
              is_last ? "a block must end in a terminator" : "nothing may follow a terminator");
      check_op(op);
    }
    for (const auto& op : block.ops) {
      for (const auto& result : op->results) visible_.erase(result.get());
    }
    for (const auto& argument : block.arguments) visible_.erase(argument.get());
  }

  void check_op(const Op& op) {
    const std::string where = where_;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      const Value* operand = op.operands[i];
      require(operand, "an operand is missing");
      if (!visible_.contains(operand)) fail(fmt::format("operand {} is not defined above it", i));
      ++slots_[operand];
    }
    for (const auto& region : op.regions) {
      require(region->parent_op == &op && !region->parent_function, "a region's owner is not its op");
      if (!op.def->is_isolated) {
        check_block(*region);
        continue;
      }
      std::unordered_set<const Value*> outside;
      outside.swap(visible_);
      check_block(*region);
      outside.swap(visible_);
    }
    where_ = where;
    place_ = op.location;
    for (size_t i = 0; i < op.results.size(); ++i) {
      const Value& value = *op.results[i];
      require(value.op == &op && !value.block && value.index == static_cast<int>(i), "a result's owner is wrong");
      check_uses(value);
      visible_.insert(&value);
    }
    check_types(op);
    for (const char* name : {"callee", "decomposition"}) {
      const auto found = op.attr_map.find(name);
      if (found == op.attr_map.end()) continue;
      if (const auto* symbol = found->second.as<SymbolAttr>()) check_call(op, symbol->name);
    }
  }

  void check_types(const Op& op) {
    if (!op.def->infer) return;
    std::vector<TensorType> operands, declared;
    for (const Value* operand : op.operands) operands.push_back(operand->type);
    for (const auto& result : op.results) declared.push_back(result->type);
    std::vector<TensorType> inferred;
    try {
      inferred = result_types(*op.def, {op.name(), operands, op.attr_map, op.regions, declared, op.location});
    } catch (const Error& error) {
      fail(error.message());
    }
    if (inferred == declared) return;
    if (inferred.size() != declared.size())
      fail(fmt::format("has {} results, not {}", inferred.size(), declared.size()));
    for (size_t i = 0; i < inferred.size(); ++i) {
      if (inferred[i] == declared[i]) continue;
      fail(fmt::format("result {} is {}, not {}", i, to_string(inferred[i]), to_string(declared[i])));
    }
  }

  void check_call(const Op& op, const std::string& callee_name) {
    const auto found = functions_.find(callee_name);
    if (found == functions_.end()) fail(fmt::format("there is no function @{}", callee_name));
    const Function& callee = *found->second;
    if (callee.body.arguments.size() != op.operands.size()) {
      fail(
          fmt::format("@{} takes {} arguments, not {}", callee_name, callee.body.arguments.size(), op.operands.size()));
    }
    for (size_t i = 0; i < op.operands.size(); ++i) {
      if (callee.body.arguments[i]->type == op.operands[i]->type) continue;
      fail(fmt::format("argument {} of @{} is {}, not {}", i, callee_name, to_string(callee.body.arguments[i]->type),
                       to_string(op.operands[i]->type)));
    }
    if (callee.results.size() != op.results.size()) {
      fail(fmt::format("@{} has {} results, not {}", callee_name, callee.results.size(), op.results.size()));
    }
    for (size_t i = 0; i < op.results.size(); ++i) {
      if (callee.results[i].type == op.results[i]->type) continue;
      fail(fmt::format("result {} of @{} is {}, not {}", i, callee_name, to_string(callee.results[i].type),
                       to_string(op.results[i]->type)));
    }
    calls_[function_].insert(&callee);
  }

  // What a value lists as uses: each is one, and none is listed twice. With as many uses as slots that hold the value
  // (check_slots), none is missing.
  void check_uses(const Value& value) {
    std::set<std::pair<const Op*, int>> listed;
    for (const Value::Use& use : value.uses) {
      const bool is_true = use.op && use.operand_index >= 0 &&
                           use.operand_index < static_cast<int>(use.op->operands.size()) &&
                           use.op->operands[use.operand_index] == &value;
      require(is_true && listed.emplace(use.op, use.operand_index).second, "a value lists a use that is none");
    }
  }

  void check_slots() {
    for (const auto& [value, count] : slots_) {
      require(value->uses.size() == count, "a value does not list all of its uses, or one in another function");
    }
    slots_.clear();
  }

  // Callers are removed once nothing they call is left; what stays calls itself.
  void check_recursion() {
    std::map<const Function*, size_t> open_calls;
    std::map<const Function*, std::vector<const Function*>> callers;
    std::vector<const Function*> done;
    for (const auto& function : module_.functions) {
      open_calls[function.get()] = calls_[function.get()].size();
      for (const Function* callee : calls_[function.get()]) callers[callee].push_back(function.get());
      if (calls_[function.get()].empty()) done.push_back(function.get());
    }
    for (size_t i = 0; i < done.size(); ++i) {
      for (const Function* caller : callers[done[i]]) {
        if (--open_calls[caller] == 0) done.push_back(caller);
      }
    }
    for (const auto& function : module_.functions) {
      if (open_calls[function.get()] == 0) continue;
      where_ = fmt::format("@{}", function->name);
      place_ = function->location;
      fail("calls itself, directly or through others, or a function that does");
    }
  }

  const Module& module_;
  const ErrorKind blame_;
  const Function* function_ = nullptr;
  std::string where_;  // names the place for messages
  Location place_;
  std::unordered_set<const Value*> visible_;
  std::unordered_map<const Value*, size_t> slots_;  // operand slots that hold each value
  std::map<std::string, const Function*> functions_;
  std::map<const Function*, std::set<const Function*>> calls_;
};

}  // namespace

void verify(const Module& module, ErrorKind blame) { Verifier(module, blame).run(); }

}  // namespace ingot
