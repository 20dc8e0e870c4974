// The parts of a planner by themselves, the checker on plans that are wrong, and the text of plans.
#include <gtest/gtest.h>

#include <random>

#include "aot/plan/check_plan.h"
#include "aot/plan/order.h"
#include "aot/plan/parse_plan.h"
#include "aot/plan/place.h"
#include "tests/support/error_of.h"

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

TEST(CheckPlan, CatchesWhatIsWrong) {
  const auto check = [](const std::string& text) {
    const Plan plan = parse_plan(text);
    return error_of([&] { check_plan(plan, 256, 256); });
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
    const std::string message = error_of([&] { parse_plan(bad.text()); });
    EXPECT_TRUE(message.starts_with("plan:" + bad.message)) << message << "\nof\n" << bad.text();
  }
}

}  // namespace
}  // namespace ingot::plan
