// Loops and branches run: how often, on any number of threads, whole or in slices.
#include "tests/engine/engine_flow.h"

#include <time.h>

namespace ingot::test {
namespace {

using bundle::Operand;

// Writes y: what `vectors` hold, each mixed with itself; x where there are fewer than rows.
void write_result(FlowBuilder& b, const std::vector<Operand>& vectors) {
  for (uint32_t row = 0; row < MixVectors().size(); ++row) {
    const Operand v = row < vectors.size() ? vectors[row] : FlowBuilder::x();
    b.step(kMixAlone, {v, v, FlowBuilder::y(row)}, row == 0);
  }
}

MixVectors result_of(const std::vector<MixVector>& vectors) {
  MixVectors rows;
  for (uint32_t row = 0; row < rows.size(); ++row) {
    const MixVector v = row < vectors.size() ? vectors[row] : flow_input();
    rows[row] = mixed(v, v);
  }
  return rows;
}

// v = x mixed with x; n times: v = v mixed with x
bundle::BundleSpec loop_spec(uint32_t kernel) {
  FlowBuilder b;
  const Operand v = b.vector();
  b.step(kernel, {b.x(), b.x(), v});
  b.count_to(b.n(), [&] { b.step(kernel, {v, b.x(), v}); });
  write_result(b, {v});
  return b.finish();
}

MixVectors loop_result(uint32_t n) {
  const MixVector x = flow_input();
  MixVector v = mixed(x, x);
  for (uint32_t i = 0; i < n; ++i) v = mixed(v, x);
  return result_of({v});
}

TEST(EngineFlow, AWhileRunsAsOftenAsItsConditionHolds) {
  for (const uint32_t kernel : {kMixAlone, kMixTogether}) {
    const OpenBundle bundle(bundle::write_bundle(loop_spec(kernel)));
    for (const uint32_t n : {0, 1, 2, 3, 1000}) {
      for (const uint32_t threads : {1, 2, 3}) {
        ingot_metrics metrics = {};
        EXPECT_EQ(run_flow(bundle, threads, n, &metrics), loop_result(n)) << n << " times, " << threads << " threads";
        EXPECT_EQ(metrics.steps, 2 + 5 * n + 2 + 4);
        // Together: before the first test's kernel, then after the body and after the test, each time.
        const uint64_t most = threads == 1 || kernel == kMixAlone ? 0 : 2 + 2 * n;
        EXPECT_EQ(metrics.meetings, most) << n << " times, " << threads << " threads";
      }
    }
  }
}

// A serial loop between parallel steps: the threads meet before and behind it, however long it is.
TEST(EngineFlow, SerialPartsCostNoMeetingInside) {
  FlowBuilder b;
  const Operand v = b.vector(), w = b.vector();
  b.step(kMixTogether, {b.x(), b.x(), v});
  b.count_to(b.n(), [&] { b.count_to(b.constant(3), [&] { b.step(kMixAlone, {v, b.x(), v}); }); });
  b.choose(b.n(), {[&] { b.step(kMixAlone, {v, v, v}); }, [&] {}});
  b.step(kMixTogether, {v, b.x(), w});
  write_result(b, {w});
  const OpenBundle bundle(bundle::write_bundle(b.finish()));
  const MixVector x = flow_input();
  for (const uint32_t n : {0, 7, 1000}) {
    MixVector v_value = mixed(x, x);
    for (uint32_t i = 0; i < 3 * n; ++i) v_value = mixed(v_value, x);
    if (n == 0) v_value = mixed(v_value, v_value);
    for (const uint32_t threads : {1, 3}) {
      ingot_metrics metrics = {};
      EXPECT_EQ(run_flow(bundle, threads, n, &metrics), result_of({mixed(v_value, x)}));
      EXPECT_EQ(metrics.meetings, threads == 1 ? 0u : 3u);
    }
  }
}

// All of it nested: while in while, case in while, while in a branch, a branch that is empty.
TEST(EngineFlow, LoopsAndBranchesNest) {
  FlowBuilder b;
  const Operand v = b.vector(), w = b.vector(), index = b.word(), odd = b.flag();
  b.step(kMixTogether, {b.x(), b.x(), v});
  b.step(kMixAlone, {b.x(), v, w});
  b.count_to(b.n(), [&] {
    b.count_to(b.constant(2), [&] { b.step(kMixTogether, {v, w, v}); });
    b.step(kPick, {v, index});
    b.choose(index, {[&] { b.step(kMixTogether, {w, v, w}); },
                     [&] { b.count_to(b.constant(3), [&] { b.step(kMixAlone, {w, w, w}); }); }, [&] {},
                     [&] { b.step(kMixAlone, {v, w, v}); }});
    b.step(kIsOdd, {v, odd});
    b.choose_by_flag(odd, [&] { b.step(kMixTogether, {v, b.x(), v}); }, [&] {});
  });
  write_result(b, {v, w});
  const OpenBundle bundle(bundle::write_bundle(b.finish()));

  std::array<int, 5> taken = {};
  for (const uint32_t n : {0, 1, 2, 40}) {
    const MixVector x = flow_input();
    MixVector v_value = mixed(x, x), w_value = mixed(x, v_value);
    for (uint32_t i = 0; i < n; ++i) {
      for (int j = 0; j < 2; ++j) v_value = mixed(v_value, w_value);
      const uint32_t picked = v_value[0] % 5;
      ++taken[picked];
      if (picked == 0) w_value = mixed(w_value, v_value);
      for (int j = 0; j < 3 && picked == 1; ++j) w_value = mixed(w_value, w_value);
      if (picked >= 3) v_value = mixed(v_value, w_value);  // 4 is out of range: the last branch
      if (v_value[0] % 2 == 1) v_value = mixed(v_value, x);
    }
    for (const uint32_t threads : {1, 2, 3}) EXPECT_EQ(run_flow(bundle, threads, n), result_of({v_value, w_value}));
  }
  for (const int count : taken) EXPECT_GT(count, 0);
}

// Tests of an input, a constant and a state, where no step precedes them.
TEST(EngineFlow, TestsReadInputsConstantsAndState) {
  FlowBuilder b;
  const Operand v = b.vector();
  b.choose(b.n(), {[&] { b.step(kMixTogether, {b.x(), b.x(), v}); }, [&] { b.step(kMixAlone, {b.x(), b.x(), v}); }});
  b.choose(b.runs(), {[&] {}, [&] { b.step(kMixTogether, {v, b.x(), v}); }});
  b.choose_by_flag(b.constant(1), [&] { b.step(kMixTogether, {v, v, v}); }, [&] {});
  b.step(kAdvance, {b.runs()});
  write_result(b, {v});
  const OpenBundle bundle(bundle::write_bundle(b.finish()));
  ASSERT_EQ(bundle.status, INGOT_OK) << bundle.error.text;
  const MixVector x = flow_input(), once = mixed(x, x), twice = mixed(once, x);
  for (const uint32_t threads : {1, 3}) {
    OpenSession open(bundle, threads);
    const FlowPorts ports(open.session, 0xFFFFFFFF);
    for (const MixVector& v_value : {once, twice, twice}) {
      ASSERT_EQ(ingot_run(open.session, 0, nullptr), INGOT_OK);
      EXPECT_EQ(ports.result(), result_of({mixed(v_value, v_value)}));
    }
  }
}

TEST(EngineFlow, SlicesOfAnySizeGiveTheSame) {
  for (const uint32_t kernel : {kMixAlone, kMixTogether}) {
    const OpenBundle bundle(bundle::write_bundle(loop_spec(kernel)));
    ASSERT_EQ(bundle.status, INGOT_OK) << bundle.error.text;
    for (const uint32_t threads : {1, 2}) {
      OpenSession open(bundle, threads);
      const FlowPorts ports(open.session, 6);
      const uint32_t all_steps = 2 + 5 * 6 + 2 + 4;
      for (uint32_t limit = 0; limit <= all_steps; ++limit) {  // 0: a deadline long past
        std::memset(ports.y.data(), 0, ports.y.size());
        ingot_metrics before, after;
        ingot_get_metrics(open.session, &before);
        int32_t finished = 0;
        uint32_t calls = 0;
        for (; !finished; ++calls) {
          ASSERT_EQ(ingot_run_slice(open.session, 0, limit, limit == 0, &finished, nullptr), INGOT_OK);
        }
        ingot_get_metrics(open.session, &after);
        EXPECT_EQ(ports.result(), loop_result(6));
        EXPECT_EQ(after.steps - before.steps, all_steps);
        EXPECT_EQ(after.runs - before.runs, 1u);
        // Groups have one step but for the last, which has four.
        EXPECT_EQ(calls, limit == 0 ? all_steps - 3 : (all_steps - 4) / limit + 1);
      }
    }
  }
}

TEST(EngineFlow, ADeadlineEndsAnEndlessLoop) {
  FlowBuilder b;
  const Operand v = b.vector();
  b.step(kMixAlone, {b.x(), b.x(), v});
  b.loop([&] {}, b.constant(1), [&] { b.step(kMixTogether, {v, b.x(), v}); });
  write_result(b, {v});
  const OpenBundle bundle(bundle::write_bundle(b.finish()));
  ASSERT_EQ(bundle.status, INGOT_OK) << bundle.error.text;
  for (const uint32_t threads : {1, 2}) {
    OpenSession open(bundle, threads);
    const FlowPorts ports(open.session);
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const uint64_t now_ns = static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
    int32_t finished = 1;
    ASSERT_EQ(ingot_run_slice(open.session, 0, 0, now_ns + 2'000'000, &finished, nullptr), INGOT_OK);
    EXPECT_FALSE(finished);
    ASSERT_EQ(ingot_run_slice(open.session, 0, 100, 0, &finished, nullptr), INGOT_OK);
    EXPECT_FALSE(finished);
    EXPECT_EQ(ingot_run(open.session, 0, nullptr), INGOT_BUSY);
    ingot_abandon_run(open.session);
  }
}

TEST(EngineFlow, TraceNamesJumps) {
  const OpenBundle bundle(bundle::write_bundle(loop_spec(kMixTogether)));
  ASSERT_EQ(bundle.status, INGOT_OK) << bundle.error.text;
  OpenSession open(bundle, 2);
  const FlowPorts ports(open.session, 1);
  std::string text;
  ingot_set_trace(
      open.session, nullptr,
      [](void* user, const ingot_trace_event* e) {
        *static_cast<std::string*>(user) +=
            std::to_string(e->step) + " " + e->kernel + " " + std::to_string(e->task_count) + "\n";
      },
      &text);
  const std::string expected =
      "0 mix_together 4\n1 clear 1\n"
      "2 is_below 1\n3 jump_unless 0\n4 mix_together 4\n5 advance 1\n6 jump 0\n2 is_below 1\n3 jump_unless 0\n"
      "7 mix_alone 1\n8 mix_alone 1\n9 mix_alone 1\n10 mix_alone 1\n";
  ASSERT_EQ(ingot_run(open.session, 0, nullptr), INGOT_OK);
  EXPECT_EQ(text, expected);
  text.clear();
  for (int32_t finished = 0; !finished;) ingot_run_slice(open.session, 0, 1, 0, &finished, nullptr);
  EXPECT_EQ(text, expected);
}

}  // namespace
}  // namespace ingot::test
