// A plan does what its function says: both are run, on tokens in the place of tensors.
//   INGOT_PLANS, INGOT_PLAN_SEED   how many random functions, from which seed
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "aot/plan/check_plan.h"
#include "aot/plan/explain_order.h"
#include "aot/plan/fit_arena.h"
#include "aot/plan/make_plan.h"
#include "aot/plan/separate_results.h"
#include "aot/schedule/lower_function.h"
#include "tests/support/random_lowered.h"
#include "tests/support/state_of.h"

namespace ingot {
namespace {

using lowered::Access;
using lowered::NodeKind;
using lowered::ValueId;

// What a tensor holds: equal ones come from the same kernel and equal tensors.
using Token = uint64_t;

Token mixed(Token a, Token b) {
  const Token x = (a ^ (b + 0x9e3779b97f4a7c15 + (a << 6) + (a >> 2))) * 0xbf58476d1ce4e5b9;
  return x ^ (x >> 29);
}

Token token_of(std::string_view text) {
  Token token = text.size();
  for (const char c : text) token = mixed(token, static_cast<Token>(c));
  return token;
}

Token made_by(std::string_view kernel, size_t argument, const std::vector<Token>& read) {
  Token token = mixed(token_of(kernel), argument);
  for (const Token operand : read) token = mixed(token, operand);
  return token;
}

const Token kSplat = token_of("splat");  // every constant here

// By a kernel; what lower_copies makes of a copy or a fill is called as none of random_lowered's.
Token made_or_copied_by(std::string_view kernel, size_t argument, const std::vector<Token>& read) {
  const Token copied = read.empty() ? kSplat : read[0];
  return kernel == "copy" ? copied : made_by(kernel, argument, read);
}

// What a jump or a condition sees in a scalar.
int number_in(Token token, const TensorType& type) { return type.dtype == DType::kI1 ? token % 3 != 0 : token % 3; }

struct Results {
  std::map<std::string, Token> states;
  std::vector<Token> outputs;
  bool operator==(const Results&) const = default;
};

// The meaning of a function.
class FunctionRun {
 public:
  explicit FunctionRun(const lowered::Function& function) : function_(function), tokens_(function.values.size()) {}

  Results run() {
    Results results;
    int inputs = 0;
    for (size_t i = 0; i < function_.arguments.size(); ++i) {
      const auto& [name, is_state] = function_.arguments[i];
      Token& token = tokens_[function_.body.arguments[i]];
      token = token_of(is_state ? name : fmt::format("input {}", inputs++));
      if (is_state) results.states[name] = token;
    }
    for (const lowered::Constant& constant : function_.constants) tokens_[constant.value] = kSplat;
    run(function_.body);
    for (size_t i = 0; i < function_.results.size(); ++i) {
      const Token token = tokens_[function_.body.results[i]];
      if (function_.results[i].is_state) {
        results.states[function_.results[i].name] = token;
      } else {
        results.outputs.push_back(token);
      }
    }
    return results;
  }

 private:
  std::vector<Token> tokens(const std::vector<ValueId>& values) const {
    std::vector<Token> tokens;
    for (const ValueId value : values) tokens.push_back(tokens_[value]);
    return tokens;
  }
  void set(const std::vector<ValueId>& values, const std::vector<Token>& tokens) {
    for (size_t i = 0; i < values.size(); ++i) tokens_[values[i]] = tokens[i];
  }
  int number(ValueId value) const { return number_in(tokens_[value], function_.type(value)); }

  void run(const lowered::Block& block) {
    for (const lowered::Node& node : block.nodes) run(node);
  }

  void run(const lowered::Node& node) {
    for (const lowered::KernelCall& call : node.calls) run(call);
    if (node.kind == NodeKind::kCopy) set(node.results, tokens(node.operands));
    if (node.kind == NodeKind::kFill) set(node.results, {kSplat});
    if (node.kind == NodeKind::kWhile) run_loop(node);
    if (node.kind == NodeKind::kCase) {
      const auto chosen = std::ranges::find(node.cases, number(node.operands[0])) - node.cases.begin();
      run(node.regions[chosen]);
      set(node.results, tokens(node.regions[chosen].results));
    }
  }

  void run_loop(const lowered::Node& loop) {
    const auto& [condition, body] = std::tie(loop.regions[0], loop.regions[1]);
    std::vector<Token> carried = tokens(loop.operands);
    while (true) {
      set(condition.arguments, carried);
      run(condition);
      if (number(condition.results[0]) == 0) break;
      set(body.arguments, carried);
      run(body);
      carried = tokens(body.results);
    }
    set(loop.results, carried);
  }

  void run(const lowered::KernelCall& call) {
    std::vector<Token> read;
    for (const auto& [value, access] : call.arguments) {
      if (access == Access::kRead) read.push_back(tokens_[value]);
    }
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      const auto& [value, access] = call.arguments[i];
      if (access != Access::kRead) tokens_[value] = made_or_copied_by(function_.kernels[call.kernel].name, i, read);
    }
  }

  const lowered::Function& function_;
  std::vector<Token> tokens_;
};

// Steps on places. That buffers which share bytes are not alive together is for check_plan to say.
class PlanRun {
 public:
  PlanRun(const plan::Plan& plan, const plan::StateTable& state) : plan_(plan), state_(state) {}

  Results run() {
    for (const plan::Buffer& buffer : plan_.buffers) {
      if (buffer.first_step != plan::kBeforeFirstStep) continue;
      const bool is_state = buffer.space == plan::Space::kState;
      at(buffer) = buffer.space == plan::Space::kRodata ? kSplat
                   : is_state                           ? token_of(state_.slots()[buffer.index].name)
                                                        : token_of(fmt::format("input {}", buffer.index));
    }
    constexpr int kMaxSteps = 1'000'000;  // a wrong plan may go on for ever
    size_t next = 0;
    for (int steps = 0; next < plan_.steps.size() && steps < kMaxSteps; ++steps) next = run(plan_.steps[next], next);
    Results results;
    std::map<int, Token> outputs;
    for (const plan::Buffer& buffer : plan_.buffers) {
      if (buffer.space == plan::Space::kState) results.states[state_.slots()[buffer.index].name] = at(buffer);
      if (buffer.space == plan::Space::kOutput) outputs[buffer.index] = at(buffer);
    }
    for (const auto& [index, token] : outputs) results.outputs.push_back(token);
    return results;
  }

 private:
  Token& at(const plan::Buffer& buffer) { return memory_[{buffer.space, buffer.index, buffer.offset_bytes}]; }

  size_t run(const plan::Step& step, size_t number) {
    if (step.kind == plan::StepKind::kJump) return step.target;
    if (step.kind == plan::StepKind::kJumpUnless) {
      const plan::Buffer& tested = plan_.buffers[step.buffers[0]];
      return number_in(at(tested), tested.type) == step.value ? number + 1 : step.target;
    }
    std::vector<Token> read;
    for (size_t i = 0; i < step.buffers.size(); ++i) {
      if (!step.writes[i]) read.push_back(at(plan_.buffers[step.buffers[i]]));
    }
    for (size_t i = 0; i < step.buffers.size(); ++i) {
      if (step.writes[i]) at(plan_.buffers[step.buffers[i]]) = made_or_copied_by(step.kernel_name, i, read);
    }
    return number + 1;
  }

  const plan::Plan& plan_;
  const plan::StateTable& state_;
  std::map<std::tuple<plan::Space, int, int64_t>, Token> memory_;
};

plan::Plan checked_plan(const lowered::Function& function, const plan::StateTable& state) {
  plan::RodataPool rodata;
  plan::KernelTable kernels;
  plan::Plan plan = make_plan(function, state, rodata, kernels);
  check_plan(plan, state.bytes(), static_cast<int64_t>(rodata.bytes().size()));
  return plan;
}

// One that is ready to be planned.
lowered::Function separated(lowered::Function function) {
  plan::separate_results(function);
  lower_copies(function, loops::find_target("x86-64-v3"));
  return function;
}

std::string complaint_about(lowered::Function function) {
  const Results expected = FunctionRun(function).run();
  plan::separate_results(function);
  lowered::verify(function);
  if (FunctionRun(function).run() != expected) return "separate_results changes what is computed";
  function = separated(std::move(function));
  const plan::StateTable state = state_of(function);
  const plan::Plan plan = checked_plan(function, state);
  if (!plan.steps.empty()) EXPECT_EQ(std::ranges::max(live_bytes(plan)), plan.lower_bound_bytes) << print(plan);
  return PlanRun(plan, state).run() == expected ? "" : "the plan computes something else:\n" + print(plan);
}

int64_t number_from_environment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoll(text) : otherwise;
}

TEST(RandomPlan, DoesWhatItsFunctionSays) {
  const int64_t first = number_from_environment("INGOT_PLAN_SEED", 0);
  const int64_t count = number_from_environment("INGOT_PLANS", 500);
  for (int64_t seed = first; seed < first + count; ++seed) {
    const lowered::Function function = random_lowered(static_cast<uint64_t>(seed));
    const std::string text = print(function);
    ASSERT_EQ(print(lowered::parse_function(text)), text);
    std::string complaint;
    try {
      complaint = complaint_about(function);
    } catch (const Error& error) {
      complaint = error.what();
    }
    ASSERT_EQ(complaint, "") << "seed " << seed << " of\n" << text.substr(text.find("function "));
  }
}

// Nodes of a block in loops, however deep.
size_t nodes_in_loops(const lowered::Block& block, bool is_in_loop = false) {
  size_t count = is_in_loop ? block.nodes.size() : 0;
  for (const lowered::Node& node : block.nodes) {
    for (const lowered::Block& region : node.regions)
      count += nodes_in_loops(region, is_in_loop || node.kind == lowered::NodeKind::kWhile);
  }
  return count;
}

// Where values are made again instead of kept.
TEST(RandomPlan, DoesTheSameInLessMemory) {
  const int64_t first = number_from_environment("INGOT_PLAN_SEED", 0);
  const int64_t count = number_from_environment("INGOT_PLANS", 500);
  int smaller = 0, more_in_loops = 0;
  for (int64_t seed = first; seed < first + count; ++seed) {
    const lowered::Function whole = separated(random_lowered(static_cast<uint64_t>(seed)));
    const Results expected = FunctionRun(whole).run();
    const plan::StateTable state = state_of(whole);
    const int64_t arena_bytes = checked_plan(whole, state).arena_bytes;
    const auto node_ns = [](const lowered::Node& node) { return 1 + static_cast<double>(node.calls.size()); };
    lowered::Function function = whole;
    for (int64_t limit_bytes = arena_bytes - 64; plan::fit_arena(function, limit_bytes, node_ns); limit_bytes -= 64) {
      const plan::Plan plan = checked_plan(function, state);
      smaller += plan.arena_bytes < arena_bytes;
      more_in_loops += nodes_in_loops(function.body) > nodes_in_loops(whole.body);
      ASSERT_EQ(FunctionRun(function).run(), expected) << "seed " << seed << " of\n" << print(function);
      ASSERT_EQ(PlanRun(plan, state).run(), expected) << "seed " << seed << " of\n" << print(plan);
      function = whole;
    }
  }
  if (count < 500) return;
  EXPECT_GT(smaller, 25);
  EXPECT_GT(more_in_loops, 0);
}

}  // namespace
}  // namespace ingot
