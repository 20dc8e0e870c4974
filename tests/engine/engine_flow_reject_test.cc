// Loops and branches that are not what schema/plan_records.h allows: each is refused, with a text that names the step.
#include <algorithm>

#include "schema/plan_records.h"
#include "tests/engine/engine_flow.h"

namespace ingot::test {
namespace {

using bundle::Operand;

// step  0        v = x mixed with x
//       1        c = 0
//       2  loop  f = c < n
//       3        f == 1, else -> 13
//       4          o = v is odd
//       5          o == 1, else -> 8
//       6            v = v mixed with x
//       7            -> 9
//       8            v = v mixed with v
//       9          t = v mixed with x
//      10          v = t mixed with v
//      11          ++c
//      12          -> 2
//      13 .. 16  y = v mixed with x
enum Buffer { kV, kC, kF, kO, kT };

bundle::BundleSpec loop_spec() {
  FlowBuilder b;
  const Operand v = b.vector(), c = b.word(), f = b.flag(), o = b.flag(), t = b.vector();
  b.step(kMixTogether, {b.x(), b.x(), v});
  b.step(kClear, {c});
  b.loop([&] { b.step(kIsBelow, {c, b.n(), f}); }, f,
         [&] {
           b.step(kIsOdd, {v, o});
           b.choose_by_flag(o, [&] { b.step(kMixTogether, {v, b.x(), v}); }, [&] { b.step(kMixAlone, {v, v, v}); });
           b.step(kMixTogether, {v, b.x(), t});
           b.step(kMixAlone, {t, v, v});
           b.step(kAdvance, {c});
         });
  for (uint32_t row = 0; row < 4; ++row) b.step(kMixAlone, {v, b.x(), b.y(row)}, row == 0);
  return b.finish();
}

struct BadFlow {
  const char* name;
  const char* text;
  void (*change)(bundle::Plan& plan);
};

#define NO_BARRIER "a jump stands here, before it or leads here: a barrier is missing"

const BadFlow kBadFlows[] = {
    {"test_without_barrier", "step 3: " NO_BARRIER, [](auto& p) { p.steps[3].barrier = false; }},
    {"jump_without_barrier", "step 12: " NO_BARRIER, [](auto& p) { p.steps[12].barrier = false; }},
    {"loop_begins_without_barrier", "step 2: " NO_BARRIER, [](auto& p) { p.steps[2].barrier = false; }},
    {"body_begins_without_barrier", "step 4: " NO_BARRIER, [](auto& p) { p.steps[4].barrier = false; }},
    {"branch_begins_without_barrier", "step 6: " NO_BARRIER, [](auto& p) { p.steps[6].barrier = false; }},
    {"last_branch_begins_without_barrier", "step 8: " NO_BARRIER, [](auto& p) { p.steps[8].barrier = false; }},
    {"case_ends_without_barrier", "step 9: " NO_BARRIER, [](auto& p) { p.steps[9].barrier = false; }},
    {"loop_ends_without_barrier", "step 13: " NO_BARRIER, [](auto& p) { p.steps[13].barrier = false; }},

    {"jump_into_a_loop", "step 2: a jump leads out of the loop or branch that it stands in",
     [](auto& p) {  // from outside, over 6, to 8
       p.steps[1] = p.steps[5];
       p.steps[1].operands[0] = FlowBuilder::n();
       p.buffers[kC].first_step = 2;
       std::swap(p.steps[5], p.steps[6]);
     }},
    {"jump_out_of_a_loop", "step 5: a jump leads out of the loop or branch that it stands in",
     [](auto& p) { p.steps[7].target = 13; }},
    {"jump_into_the_body", "step 5: a jump leads out of the loop or branch that it stands in",
     [](auto& p) { p.steps[3].target = 8; }},
    {"loops_that_cross", "step 4: a jump leads out of the loop or branch that it stands in",
     [](auto& p) { p.steps[13] = {0, true, {}, bundle::StepKind::kJump, 4}; }},
    {"loop_with_two_tests", "step 11: a jump makes neither a loop nor a case",
     [](auto& p) {
       p.steps[11] = p.steps[3];
       p.steps[11].operands[0] = FlowBuilder::n();
     }},
    {"test_leads_back", "step 5: a jump makes neither a loop nor a case", [](auto& p) { p.steps[5].target = 4; }},
    {"test_leads_to_no_branch", "step 5: a jump makes neither a loop nor a case",
     [](auto& p) { p.steps[5].target = 9; }},
    {"loop_without_test", "step 12: a loop has no test",
     [](auto& p) {
       p.steps[3] = p.steps[2];
       p.steps[4].barrier = true;
     }},
    {"jump_alone", "step 11: a jump ends neither a loop nor a branch",
     [](auto& p) {
       p.steps[11] = p.steps[7];
       p.steps[11].target = 12;
     }},
    {"jump_with_a_value", "step 12: unknown kind or flag", [](auto& p) { p.steps[12].kernel = 1; }},
    {"jump_with_a_width", "step 12: unknown kind or flag", [](auto& p) { p.steps[12].word = true; }},
    {"kernel_with_a_width", "step 4: unknown kind or flag", [](auto& p) { p.steps[4].word = true; }},
    {"kernel_with_a_target", "step 4: unknown kind or flag", [](auto& p) { p.steps[4].target = 9; }},

    {"operand_too_narrow", "step 3: an operand reaches outside its place", [](auto& p) { p.steps[3].word = true; }},
    {"operand_not_written", "step 5: it reads what no step has written",
     [](auto& p) { p.steps[4].operands[1] = {INGOT_BASE_STATE, 0, 0}; }},
    {"operand_is_an_output", "step 5: a jump reads an output",
     [](auto& p) { p.steps[5].operands[0] = FlowBuilder::y(0); }},
    {"operand_misaligned", "step 5: an operand is not aligned",
     [](auto& p) { p.steps[5].operands[0] = {INGOT_BASE_RODATA, 1, 0}; }},

    {"ends_before_the_loop_does", "step 2: a loop uses a buffer from before it that does not live to its last step",
     [](auto& p) { p.buffers[kC].last_step = 11; }},
    {"outlives_the_loop", "step 9: a buffer from inside a loop lives on behind it",
     [](auto& p) { p.buffers[kT].last_step = 13; }},
    {"overlaps_what_the_loop_carries", "step 2: two live buffers overlap",
     [](auto& p) {
       p.buffers[kF].offset_bytes = p.buffers[kC].offset_bytes;
       p.steps[2].operands[2].offset_bytes = p.steps[3].operands[0].offset_bytes = p.buffers[kC].offset_bytes;
     }},
    {"read_before_the_iteration_writes_it", "step 4: it reads what no step has written",
     [](auto& p) {  // t of the iteration before, which has a place of its own
       p.buffers[kT].first_step = 4;
       p.buffers[kT].offset_bytes = p.steps[9].operands[2].offset_bytes = p.steps[10].operands[0].offset_bytes =
           p.arena_bytes;
       p.arena_bytes += sizeof(MixVector);
       p.steps[4].operands[0] = p.steps[10].operands[0];
     }},
};

TEST(EngineFlowReject, BadPlans) {
  ASSERT_EQ(OpenBundle(bundle::write_bundle(loop_spec())).status, INGOT_OK);
  for (const BadFlow& bad : kBadFlows) {
    bundle::BundleSpec spec = loop_spec();
    bad.change(spec.targets[0].plans[0]);
    const OpenBundle bundle(bundle::write_bundle(spec));
    EXPECT_EQ(bundle.status, INGOT_BAD_PLAN) << bad.name;
    EXPECT_STREQ(bundle.error.text, bad.text) << bad.name;
  }
}

// The step's record, as the file has it, with another target. The writer would refuse some.
std::vector<std::byte> with_target(const bundle::BundleSpec& spec, uint32_t index, uint32_t target) {
  std::vector<std::byte> file = bundle::write_bundle(spec);
  const std::vector<bundle::Step>& steps = spec.targets[0].plans[0].steps;
  uint32_t first_operand = 0;
  for (uint32_t i = 0; i < index; ++i) first_operand += static_cast<uint32_t>(steps[i].operands.size());
  ingot_step_record record = {steps[index].kernel, first_operand, static_cast<uint16_t>(steps[index].kind),
                              INGOT_STEP_BARRIER, steps[index].target};
  const auto* bytes = reinterpret_cast<const std::byte*>(&record);
  const auto at = std::search(file.begin(), file.end(), bytes, bytes + sizeof record);
  EXPECT_NE(at, file.end());
  record.target = target;
  std::copy(bytes, bytes + sizeof record, at);
  return resealed(file);
}

TEST(EngineFlowReject, TargetsBehindTheEnd) {
  for (const uint32_t target : {18u, 1000u, 0x7FFFFFFFu, 0xFFFFFFFFu}) {
    for (const uint32_t jump : {3, 5, 7, 12}) {
      const OpenBundle bundle(with_target(loop_spec(), jump, target));
      EXPECT_EQ(bundle.status, INGOT_BAD_PLAN) << jump << " to " << target;
      EXPECT_NE(std::string(bundle.error.text).find("a jump "), std::string::npos) << bundle.error.text;
    }
  }
}

// A program around `part`, which may write v and w.
using MakePart = std::function<void(FlowBuilder& b, const Operand& v, const Operand& w)>;

std::string text_of(const MakePart& part) {
  FlowBuilder b;
  const Operand v = b.vector(), w = b.vector();
  part(b, v, w);
  for (uint32_t row = 0; row < 4; ++row) b.step(kMixAlone, {v, b.x(), b.y(row)});
  return refusal(b.finish());
}

// That steps write v, on paths that are taken or not, before step `reader` reads it.
TEST(EngineFlowReject, WhatOnlySomePathsWrite) {
  const auto unread = [](uint32_t reader) {
    return "step " + std::to_string(reader) + ": it reads what no step has written";
  };
  const auto write = [](FlowBuilder& b, const Operand& place) {
    return [&b, place] { b.step(kMixAlone, {b.x(), b.x(), place}); };
  };
  const FlowBuilder::Part nothing = [] {};
  // All branches, or all but one.
  EXPECT_EQ(text_of([&](auto& b, auto& v, auto&) { b.choose(b.n(), {write(b, v), write(b, v), write(b, v)}); }), "");
  EXPECT_EQ(text_of([&](auto& b, auto& v, auto&) { b.choose(b.n(), {nothing, write(b, v), write(b, v)}); }), unread(6));
  EXPECT_EQ(text_of([&](auto& b, auto& v, auto&) { b.choose(b.n(), {write(b, v), nothing, write(b, v)}); }), unread(6));
  EXPECT_EQ(text_of([&](auto& b, auto& v, auto&) { b.choose(b.n(), {write(b, v), write(b, v), nothing}); }), unread(6));
  // A branch does not see what another wrote.
  EXPECT_EQ(text_of([&](auto& b, auto& v, auto& w) {
              b.choose(b.n(), {write(b, v), [&] { b.step(kMixAlone, {v, v, w}); }, write(b, v)});
            }),
            unread(4));
  // A case in a branch: all of its branches, or one.
  EXPECT_EQ(text_of([&](auto& b, auto& v, auto&) {
              b.choose(b.n(), {[&] { b.choose(b.n(), {write(b, v), write(b, v)}); }, write(b, v)});
            }),
            "");
  EXPECT_EQ(text_of([&](auto& b, auto& v, auto&) {
              b.choose(b.n(), {[&] { b.choose(b.n(), {write(b, v), nothing}); }, write(b, v)});
            }),
            unread(6));
  // A loop: its body may never run, its condition runs at least once.
  EXPECT_EQ(text_of([&](auto& b, auto& v, auto&) {
              b.step(kClear, {v});  // 4 bytes of it
              b.loop(nothing, b.constant(0), write(b, v));
            }),
            unread(4));
  EXPECT_EQ(text_of([&](auto& b, auto& v, auto&) { b.loop(write(b, v), b.constant(0), nothing); }),
            "step 0: a buffer from inside a loop lives on behind it");
  EXPECT_EQ(text_of([&](auto& b, auto& v, auto& w) {
              b.step(kClear, {v});
              b.loop(write(b, v), b.constant(0), write(b, w));
            }),
            "");
  EXPECT_EQ(text_of([&](auto& b, auto& v, auto& w) {
              b.step(kClear, {v});
              b.loop([&] { b.choose(b.n(), {write(b, v), write(b, v)}); }, b.constant(0), write(b, w));
            }),
            "");
  EXPECT_EQ(text_of([&](auto& b, auto& v, auto& w) {
              b.step(kClear, {v});
              b.loop([&] { b.choose(b.n(), {write(b, v), nothing}); }, b.constant(0), write(b, w));
            }),
            unread(7));
}

TEST(EngineFlowReject, OutputsWrittenOnSomePaths) {
  const auto text = [](uint32_t row_count) {
    FlowBuilder b;
    const auto write_rows = [&](uint32_t count) {
      for (uint32_t row = 0; row < count; ++row) b.step(kMixAlone, {b.x(), b.x(), b.y(row)});
    };
    b.choose(b.n(), {[&] { write_rows(row_count); }, [&] { write_rows(4); }});
    return refusal(b.finish());
  };
  EXPECT_EQ(text(4), "");
  EXPECT_EQ(text(3), "step 9: an output is not written whole");
  EXPECT_EQ(text(0), "step 6: an output is not written whole");
}

// The end of the plan is a step that jumps may lead to.
TEST(EngineFlowReject, APlanMayEndInALoop) {
  FlowBuilder b;
  for (uint32_t row = 0; row < 4; ++row) b.step(kMixAlone, {b.x(), b.x(), b.y(row)});
  b.count_to(b.n(), [&] { b.step(kMixTogether, {b.x(), b.y(1), b.y(0)}); });
  const OpenBundle bundle(bundle::write_bundle(b.finish()));
  const MixVector x = flow_input(), row = mixed(x, x);
  for (const uint32_t threads : {1, 2}) {
    EXPECT_EQ(run_flow(bundle, threads, 5), (MixVectors{mixed(x, row), row, row, row}));
  }
}

TEST(EngineFlowReject, LoopsAndBranchesNestSixteenDeep) {
  for (const int depth : {INGOT_CONTROL_DEPTH_MAX, INGOT_CONTROL_DEPTH_MAX + 1}) {
    FlowBuilder b;
    const Operand v = b.vector();
    b.step(kMixTogether, {b.x(), b.x(), v});
    const std::function<void(int)> nest = [&](int left) {
      if (left == 0) return b.step(kMixAlone, {v, b.x(), v});
      if (left % 2 == 0) return b.count_to(b.constant(1), [&] { nest(left - 1); });
      b.choose(b.n(), {[&] { nest(left - 1); }, [] {}});
    };
    nest(depth);
    for (uint32_t row = 0; row < 4; ++row) b.step(kMixAlone, {v, b.x(), b.y(row)});
    const OpenBundle bundle(bundle::write_bundle(b.finish()));
    if (depth <= INGOT_CONTROL_DEPTH_MAX) {
      const MixVector x = flow_input(), y = mixed(mixed(mixed(x, x), x), x);
      EXPECT_EQ(run_flow(bundle, 2, 0), (MixVectors{y, y, y, y}));
    } else {
      EXPECT_EQ(bundle.status, INGOT_BAD_PLAN);
      EXPECT_NE(std::string(bundle.error.text).find("nested more than 16 deep"), std::string::npos)
          << bundle.error.text;
    }
  }
}

}  // namespace
}  // namespace ingot::test
