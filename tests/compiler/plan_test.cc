// The planner against its independent checker, on small cases drawn by hand and on random functions.
#include <gtest/gtest.h>

#include <random>

#include "aot/loops/builder.h"
#include "aot/ops/support/build.h"
#include "aot/plan/check_plan.h"
#include "aot/plan/explain_order.h"
#include "aot/plan/make_plan.h"
#include "aot/plan/order.h"
#include "aot/plan/parse_plan.h"
#include "aot/plan/place.h"

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
  explicit OpaqueFunction(const std::string& name) {
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
    GraphBuilder inner;
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
    inner.create(kYield, results);
    std::vector<std::unique_ptr<Block>> regions;
    regions.push_back(std::move(body));
    return b_.create(kKernel, operands, {{"name", Attr("opaque")}}, {}, std::move(regions));
  }

  void finish(const Values& results, const std::vector<std::string>& states) {
    for (size_t i = 0; i < results.size(); ++i) {
      AttrMap attrs;
      if (!states[i].empty()) attrs["ingot.state"] = states[i];
      function_->results.push_back({results[i]->type, attrs});
    }
    b_.create(kFuncReturn, results);
  }

  Plan plan() {
    separate_results(*function_, lowering_);
    StateTable state;
    state.add(*function_);
    RodataPool rodata;
    KernelTable kernels;
    Plan plan = make_plan(*function_, state, rodata, kernels, lowering_);
    check_plan(plan, state.bytes(), static_cast<int64_t>(rodata.bytes().size()));
    EXPECT_EQ(parse_plan(print(plan)), plan) << print(plan);
    return plan;
  }

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
    EXPECT_EQ(std::ranges::max(live_bytes(plan)), plan.lower_bound_bytes) << print(plan);
  }
}

// A training step: the old weight is read by steps 0, 1 and 2, the last of which replaces it.
const std::string kGoodPlan = R"(plan train {
  arena 512 bytes (lower bound 512), scratch 0 bytes a thread
  buffer x: tensor<64xf32> input[0] 256 bytes, steps start to end
  buffer w: tensor<64xf32> state[0]+0 256 bytes, steps start to 2
  buffer c: tensor<64xf32> rodata+0 256 bytes, steps start to end
  buffer h: tensor<64xf32> arena+0 256 bytes, steps 0 to 1
  buffer g: tensor<64xf32> arena+256 256 bytes, steps 1 to 2
  buffer loss: tensor<f32> output[0] 4 bytes, steps 1 to end
  buffer "w'": tensor<64xf32> state[0]+0 256 bytes, steps 2 to end, in place of w
  step 0: forward (kernel 0, tasks 2) reads x, w, c writes h
  step 1: backward (kernel 4, tasks 2, barrier) reads h, w writes g, loss
  step 2: update (kernel 2, tasks 1, barrier) reads w, g writes "w'"
}
)";

TEST(ExplainOrder, TellsWhatLivesAndWhereThePeakIs) {
  EXPECT_EQ(explain_order(parse_plan(kGoodPlan)),
            "order of train: 512 bytes live at most (at *), arena 512 bytes\n"
            "  step         live\n"
            "     0          256  forward: makes h (256)\n"
            "*    1          512  backward: makes g (256), ends h (256)\n"
            "     2          256  update: ends g (256)\n");
}

TEST(ExplainOrder, WhatTakesAPlaceOverIsCountedOnce) {
  std::string text = kGoodPlan;
  const std::string g = "arena+256 256 bytes, steps 1 to 2";
  text.replace(text.find(g), g.size(), "arena+0 256 bytes, steps 1 to 2, in place of h");
  const Plan plan = parse_plan(text);
  EXPECT_EQ(live_bytes(plan), (std::vector<int64_t>{256, 256, 256}));
  EXPECT_NE(explain_order(plan).find("backward: makes g (256) in place of h, ends h (256)"), std::string::npos);
}

// That text with changes, each of which puts `bad` for the first `good`, and what is said to it.
struct BadPlan {
  std::vector<std::pair<std::string, std::string>> changes;
  std::string message;

  std::string text() const {
    std::string text = kGoodPlan;
    for (const auto& [good, bad] : changes)
      text.replace(text.find(good), good.size(), bad);  // throws if it is not there
    return text;
  }
};

// What the error says that `function` throws, or "".
std::string message_of(const std::function<void()>& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(CheckPlan, CatchesWhatIsWrong) {
  const auto check = [](const std::string& text) {
    const Plan plan = parse_plan(text);
    return message_of([&] { check_plan(plan, 256, 256); });
  };
  ASSERT_EQ(check(kGoodPlan), "");
  const BadPlan bad_plans[] = {
      // places
      {{{"arena+256", "arena+260"}}, "g starts at 260, which is not a multiple of 64"},
      {{{"arena+256", "arena+320"}}, "g ends at byte 576 of a space of 512"},
      {{{"arena 512", "arena 448"}}, "g ends at byte 512 of a space of 448"},
      {{{"state[0]+0", "state[0]+64"}}, "w ends at byte 320 of a space of 256"},
      {{{"rodata+0", "rodata+64"}}, "c ends at byte 320 of a space of 256"},
      // what stands in the places that a step reads
      {{{"x, w, c writes h", "x, h, c writes g"}}, "h is read by step 0, but its bytes were never written"},
      {{{"steps 0 to 1", "steps 0 to 2"},
        {"arena+256", "arena+0"},
        {"1 to 2", "1 to 2, in place of h"},
        {"g writes", "g, h writes"}},
       "h is read by step 2, but its bytes hold g"},
      {{{"arena+256", "arena+192"}}, "step 1 writes g over its own operand h"},
      {{{", in place of w", ""}}, "step 2 writes w' over its own operand w"},
      // state: replaced before its last reader
      {{{"steps 2 to end", "steps 1 to end"}, {"writes g", "writes g, \"w'\""}},
       "w is read by step 2, but its bytes hold w'"},
      // lives
      {{{"steps start to 2", "steps start to 1"}}, "step 2 uses w outside of its life"},
      {{{"steps 1 to end", "steps 2 to end"}}, "step 1 uses loss outside of its life"},
      // results
      {{{"writes g, loss", "writes g"}}, "loss is read after the last step, but its bytes were never written"},
      {{{" writes \"w'\"", ""}}, "w' is read after the last step, but its bytes hold w"},
      // steps side by side
      {{{"tasks 2, barrier", "tasks 2"}}, "steps 0 and 1 have no barrier between them, but h and h share bytes"},
      {{{"tasks 1, barrier", "tasks 1"}}, "steps 1 and 2 have no barrier between them, but g and g share bytes"},
      // what is read only
      {{{"writes h", "writes h, x"}}, "step 0 writes x, which is read only"},
      {{{"writes h", "writes h, c"}}, "step 0 writes c, which is read only"},
  };
  for (const BadPlan& bad : bad_plans) EXPECT_EQ(check(bad.text()), "bug: plan train: " + bad.message) << bad.text();
}

TEST(PlanText, MistakesAreToldAtTheirPlace) {
  EXPECT_EQ(print(parse_plan(kGoodPlan)), kGoodPlan);
  const BadPlan bad_plans[] = {
      {{{"plan train", "plan 7"}}, "1:6: error: expected a name, found '7'"},
      {{{"arena 512 bytes", "arena 512"}}, "2:13: error: expected 'bytes', found '('"},
      {{{"arena 512", "arena -512"}}, "2:9: error: -512 is not a number of bytes"},
      {{{"tensor<64xf32>", "tensor<64xf33>"}},
       "3:13: limit: type tensor<64xf33> is not supported yet; tensors are, of "},
      {{{"input[0]", "heap[0]"}},
       "3:28: error: there is no space heap; there are arena, state, rodata, input and output"},
      {{{"input[0]", "input"}}, "3:34: error: expected '[', found '256'"},
      {{{"256 bytes", "255 bytes"}}, "3:37: error: tensor<64xf32> has 256 bytes"},
      {{{"buffer w", "buffer x"}}, "4:10: error: another buffer has this name"},
      {{{"start to end", "start end"}}, "3:60: error: expected 'to', found 'end'"},
      {{{"steps 0 to 1", "steps 0 to 4294967296"}}, "6:58: error: 4294967296 is not a step"},
      {{{"in place of w", "in place of v"}}, "9:81: error: no buffer above is named v"},
      {{{"reads x, w", "reads x, v"}}, "10:48: error: no buffer above is named v"},
      {{{"step 1:", "step 2:"}}, "11:8: error: this is step 1"},
      {{{"step 1:", "stop 1:"}}, "11:3: error: expected 'step' or '}', found 'stop'"},
      {{{"barrier)", "fence)"}}, "11:40: error: expected 'barrier', found 'fence'"},
      {{{"}\n", "}}\n"}}, "13:2: error: expected the end of the text, found '}'"},
  };
  for (const BadPlan& bad : bad_plans) {
    const std::string message = message_of([&] { parse_plan(bad.text()); });
    EXPECT_TRUE(message.starts_with("plan:" + bad.message)) << message << "\nof\n" << bad.text();
  }
}

}  // namespace
}  // namespace ingot::plan
