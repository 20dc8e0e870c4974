// The planner against its independent checker, on small cases drawn by hand and on random functions.
#include <gtest/gtest.h>

#include <random>

#include "aot/loops/builder.h"
#include "aot/ops/build.h"
#include "aot/plan/check_plan.h"
#include "aot/plan/make_plan.h"
#include "aot/plan/place.h"
#include "aot/plan/schedule_order.h"

namespace ingot::plan {
namespace {

TEST(Place, MeetsTheBoundWhereItCan) {
  //   ┌───┐┌───┐
  //   │ b ││ d │    a and c are alive with everything at their steps
  //   ├───┴┴───┤
  //   │   a    │
  //   └────────┘
  const std::vector<Item> items = {{128, 0, 3}, {64, 0, 1}, {64, 2, 3}};
  const Placement placement = place(items);
  EXPECT_EQ(placement.bytes, 192);
  EXPECT_EQ(lower_bound_bytes(items), 192);
}

TEST(Place, EmptyAndZeroSizedItemsTakeNothing) {
  EXPECT_EQ(place({}).bytes, 0);
  EXPECT_EQ(place({{0, 0, 5}, {0, 1, 2}}).bytes, 0);
}

TEST(Place, RandomItemsNeverOverlapAndStayNearTheBound) {
  std::mt19937 random(7);
  for (int round = 0; round < 30; ++round) {
    std::vector<Item> items;
    for (int i = 0; i < 60; ++i) {
      const int first = static_cast<int>(random() % 50);
      items.push_back({static_cast<int64_t>(random() % 5000), first, first + static_cast<int>(random() % 10)});
    }
    const Placement placement = place(items);
    for (size_t a = 0; a < items.size(); ++a) {
      for (size_t b = a + 1; b < items.size(); ++b) {
        const bool together = items[a].first <= items[b].last && items[b].first <= items[a].last;
        const bool apart = placement.offsets[a] + items[a].bytes <= placement.offsets[b] ||
                           placement.offsets[b] + items[b].bytes <= placement.offsets[a];
        EXPECT_TRUE(!together || apart) << "round " << round << " items " << a << ", " << b;
      }
    }
    EXPECT_LE(static_cast<double>(placement.bytes), 1.2 * static_cast<double>(lower_bound_bytes(items)));
  }
}

TEST(Order, AnUpdateRunsAsSoonAsItsGradientExists) {
  // Two big gradients (values 0 and 1), each freed by its update: interleaving them halves the peak.
  OrderProblem problem;
  problem.value_bytes = {1000, 1000, 0, 0};
  problem.nodes.resize(4);
  problem.nodes[0].writes = {0};
  problem.nodes[1].writes = {1};
  problem.nodes[2] = {{0}, {0}, {2}, 0, {}};
  problem.nodes[3] = {{1}, {1}, {3}, 0, {}};
  EXPECT_EQ(peak_bytes(problem, {0, 1, 2, 3}), 2000);
  EXPECT_EQ(peak_bytes(problem, choose_order(problem)), 1000);
}

// A function whose kernels are opaque: each reads its operands and makes results of random sizes.
class OpaqueFunction {
 public:
  explicit OpaqueFunction(const std::string& name) : b_(all_ops()) {
    function_ = module_.add_function(name);
    b_.at_end(function_->body);
  }

  Value* argument(int64_t elements, const std::string& state = "") {
    AttrMap attrs;
    if (!state.empty()) attrs["ingot.state"] = state;
    function_->argument_attrs.push_back(attrs);
    return function_->body.add_argument({DType::kF32, {elements}}, state.empty() ? "x" : state);
  }

  // Result i may be written in place of operand i.
  Op* kernel(const Values& operands, const std::vector<int64_t>& result_elements) {
    auto body = std::make_unique<Block>();
    GraphBuilder inner(all_ops());
    inner.at_end(*body);
    for (Value* operand : operands) body->add_argument(operand->type);
    Values results;
    // Opaque means that nobody evaluates it: a result is an argument of the right type, or an extra one.
    for (int64_t elements : result_elements) {
      Value* found = nullptr;
      for (const auto& argument : body->arguments) {
        if (argument->type.shape[0] == elements) found = argument.get();
      }
      results.push_back(found);
    }
    inner.create("ingot.yield", results);
    std::vector<std::unique_ptr<Block>> regions;
    regions.push_back(std::move(body));
    return b_.create("ingot.kernel", operands, {{"name", Attr("opaque")}}, {}, std::move(regions));
  }

  void finish(const Values& results, const std::vector<std::string>& states) {
    for (size_t i = 0; i < results.size(); ++i) {
      AttrMap attrs;
      if (!states[i].empty()) attrs["ingot.state"] = states[i];
      function_->results.push_back({results[i]->type, attrs});
    }
    b_.create("func.return", results);
  }

  Plan plan() {
    separate_results(*function_, all_ops(), lowering_);
    StateTable state;
    state.add(*function_);
    RodataPool rodata;
    KernelTable kernels;
    Plan plan = make_plan(*function_, state, rodata, kernels, lowering_);
    check_plan(plan, state.bytes(), static_cast<int64_t>(rodata.bytes().size()));
    state_bytes_ = state.bytes();
    return plan;
  }
  int64_t state_bytes() const { return state_bytes_; }

 private:
  const Lowering& lower_opaque(const Op& op) {
    auto [at, is_new] = lowerings_.try_emplace(&op);
    if (!is_new) return at->second;
    loops::KernelBuilder b("opaque", 1);
    std::vector<KernelBinding> bindings;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      b.input("i" + std::to_string(i), DType::kF32, op.operands[i]->type.elements());
      bindings.push_back({KernelBinding::Kind::kOperand, static_cast<int>(i)});
    }
    for (size_t i = 0; i < op.results.size(); ++i) {
      const auto id = b.output("o" + std::to_string(i), DType::kF32, op.results[i]->type.elements());
      const bool same = i < op.operands.size() && op.operands[i]->type == op.results[i]->type;
      if (same) b.kernel().buffers[id].may_alias = static_cast<int>(i);
      bindings.push_back({KernelBinding::Kind::kResult, static_cast<int>(i)});
    }
    at->second.steps.push_back({b.finish(), std::move(bindings)});
    return at->second;
  }

  Module module_;
  Function* function_;
  GraphBuilder b_;
  std::map<const Op*, Lowering> lowerings_;
  LoweringOf lowering_ = [this](const Op& op) -> const Lowering& { return lower_opaque(op); };
  int64_t state_bytes_ = 0;
};

TEST(Plan, AChainOfElementwiseKernelsRunsInOnePlace) {
  OpaqueFunction f("chain");
  Value* x = f.argument(100);
  Value* a = f.kernel({x}, {100})->result();
  Value* c = f.kernel({f.kernel({a}, {100})->result()}, {100})->result();
  f.finish({c}, {""});
  const Plan plan = f.plan();
  EXPECT_EQ(plan.arena_bytes, 448) << print(plan);
}

TEST(Plan, DonatedStateIsOverwrittenOnlyAfterItsLastReader) {
  OpaqueFunction f("donation");
  Value* w = f.argument(50, "w");
  Value* updated = f.kernel({w}, {50})->result();  // written first in the text
  Value* later = f.kernel({w}, {50})->result();    // reads the old value
  f.finish({updated, later}, {"w", ""});
  const Plan plan = f.plan();
  ASSERT_EQ(plan.steps.size(), 2u);
  EXPECT_EQ(plan.buffers[plan.steps[0].buffers[1]].space, Space::kOutput) << print(plan);
}

TEST(Plan, AReaderThatNeedsTheNewValueForcesACopy) {
  OpaqueFunction f("copy");
  Value* w = f.argument(50, "w");
  Value* updated = f.kernel({w}, {50})->result();
  Value* both = f.kernel({updated, w}, {50})->result();  // old and new at once
  f.finish({updated, both}, {"w", ""});
  EXPECT_EQ(f.plan().steps.size(), 3u);
}

TEST(Plan, StatesMayTradePlaces) {
  OpaqueFunction f("swap");
  Value* a = f.argument(50, "a");
  Value* b = f.argument(50, "b");
  f.finish({b, a}, {"a", "b"});
  EXPECT_EQ(f.plan().steps.size(), 4u);
}

TEST(Plan, AnUnchangedStateAndAnOutputThatIsAnArgument) {
  OpaqueFunction f("identity");
  Value* w = f.argument(50, "w");
  Value* x = f.argument(20);
  f.finish({w, x, w}, {"w", "", ""});
  EXPECT_EQ(f.plan().steps.size(), 2u);
}

TEST(Plan, RandomFunctionsPassTheChecker) {
  std::mt19937 random(11);
  for (int round = 0; round < 60; ++round) {
    OpaqueFunction f("random");
    Values values;
    Values results;
    std::vector<std::string> states;
    const int state_count = static_cast<int>(random() % 4);
    for (int i = 0; i < state_count; ++i) values.push_back(f.argument(40, "s" + std::to_string(i)));
    for (int i = 0; i < 2; ++i) values.push_back(f.argument(40));
    for (int i = 0; i < 15; ++i) {
      Values operands;
      for (int k = static_cast<int>(random() % 3); k >= 0; --k) operands.push_back(values[random() % values.size()]);
      std::sort(operands.begin(), operands.end());
      operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
      for (const auto& result : f.kernel(operands, std::vector<int64_t>(1 + random() % 2, 40))->results) {
        values.push_back(result.get());
      }
    }
    for (int i = 0; i < state_count; ++i) {
      results.push_back(values[random() % values.size()]);
      states.push_back("s" + std::to_string(i));
    }
    for (int i = 0; i < 3; ++i) {
      results.push_back(values[random() % values.size()]);
      states.push_back("");
    }
    f.finish(results, states);
    const Plan plan = f.plan();
    EXPECT_GE(plan.arena_bytes, plan.lower_bound_bytes);
  }
}

TEST(CheckPlan, CatchesWhatIsWrong) {
  OpaqueFunction f("victim");
  Value* x = f.argument(100);
  Value* a = f.kernel({x}, {100})->result();
  Value* b = f.kernel({x}, {100})->result();
  f.finish({f.kernel({a, b}, {100})->result()}, {""});
  const Plan good = f.plan();
  const auto rejected = [&](auto change) {
    Plan bad = good;
    change(bad);
    EXPECT_THROW(check_plan(bad, f.state_bytes(), 0), Error);
  };
  const int a_id = good.steps[0].buffers[1];
  const int b_id = good.steps[1].buffers[1];
  rejected([&](Plan& p) { p.buffers[b_id].offset_bytes = p.buffers[a_id].offset_bytes; });  // overlap of the living
  rejected([&](Plan& p) { p.buffers[a_id].offset_bytes += 1; });                            // misaligned
  rejected([&](Plan& p) { p.buffers[a_id].offset_bytes = p.arena_bytes; });                 // outside
  rejected([&](Plan& p) { std::swap(p.steps[1], p.steps[2]); });                            // read before written
  rejected([&](Plan& p) { p.steps[2].barrier = false; });                                   // a race
  rejected([&](Plan& p) { p.steps.pop_back(); });                                           // no result
}

}  // namespace
}  // namespace ingot::plan
