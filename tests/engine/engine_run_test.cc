// Bundles made by hand run: from memory and from a file, on any number of threads, whole or in slices.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>

#include "tests/engine/engine_fixture.h"
#include "tests/engine/engine_kernels.h"

namespace ingot::test {
namespace {

// What the program should compute, in plain C++ with the same order of additions.
struct Reference {
  std::vector<float> w = std::vector<float>(kElements);

  void init(int32_t seed) {
    for (uint32_t i = 0; i < kElements; ++i) {
      w[i] = static_cast<float>(((static_cast<uint32_t>(seed) + i) * 2654435761u) >> 8) / static_cast<float>(1 << 24);
    }
  }

  float train(const float* x, const float* y, float lr) {
    float loss = 0;
    for (uint32_t task = 0; task < kTasks; ++task) {
      float sum = 0;
      for (uint32_t i = task * (kElements / kTasks); i < (task + 1) * (kElements / kTasks); ++i) {
        const float d = x[i] * w[i] - y[i];
        sum += d * d;
        w[i] -= lr * d * x[i];
      }
      loss += sum;
    }
    return loss;
  }
};

std::vector<float> weights_of(ingot_session* session) {
  std::vector<float> w(kElements);
  EXPECT_EQ(ingot_read_state(session, kWeight, w.data(), w.size() * sizeof(float), nullptr), INGOT_OK);
  return w;
}

int32_t step_of(ingot_session* session) {
  int32_t step = -1;
  EXPECT_EQ(ingot_read_state(session, kStep, &step, sizeof step, nullptr), INGOT_OK);
  return step;
}

void run(ingot_session* session, uint32_t entry) {
  ingot_error error = {};
  ASSERT_EQ(ingot_run(session, entry, &error), INGOT_OK) << error.text;
}

void expect_trains(const OpenBundle& bundle, uint32_t threads) {
  ASSERT_EQ(bundle.status, INGOT_OK) << bundle.error.text;
  OpenSession open(bundle, threads);
  ASSERT_EQ(open.status, INGOT_OK) << open.error.text;
  FitPorts ports(open.session);
  Reference reference;
  reference.init(7);
  run(open.session, kInit);
  EXPECT_EQ(weights_of(open.session), reference.w);
  for (int i = 0; i < 20; ++i) {
    run(open.session, kTrainStep);
    const float expected = reference.train(ports.x.as<float>(), ports.y.as<float>(), 0.125f);
    EXPECT_NEAR(*ports.loss.as<float>(), expected, 1e-5f * expected);
  }
  EXPECT_EQ(step_of(open.session), 20);
  const std::vector<float> w = weights_of(open.session);
  run(open.session, kPredict);
  for (int i = 0; i < kElements; ++i) {
    EXPECT_NEAR(w[i], reference.w[i], 1e-5f);
    EXPECT_EQ(ports.prediction.as<float>()[i], ports.x.as<float>()[i] * w[i]);
  }
}

TEST(EngineRun, TrainsFromMemory) { expect_trains(OpenBundle(bundle::write_bundle(fit_spec())), 1); }

TEST(EngineRun, TrainsFromAFile) {
  TemporaryFolder directory;
  bundle::write_bundle_file(fit_spec(), directory.file("fit.ingot"));
  expect_trains(OpenBundle(directory.file("fit.ingot")), 1);
  expect_trains(OpenBundle(directory.file("fit.ingot")), 2);
}

// Lines of /proc/self/maps that have `text`.
std::vector<std::string> mappings_with(const std::string& text) {
  std::vector<std::string> found;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(text) != std::string::npos) found.push_back(line);
  }
  return found;
}

TEST(EngineRun, CodeIsMappedFromTheFileAndNeverWritable) {
  const TemporaryFolder directory;
  bundle::write_bundle_file(fit_spec(), directory.file("fit.ingot"));
  const OpenBundle from_file(directory.file("fit.ingot"));
  ASSERT_EQ(from_file.status, INGOT_OK) << from_file.error.text;
  std::string permissions;
  for (const std::string& line : mappings_with("fit.ingot")) permissions += line.substr(line.find(' ') + 1, 4) + " ";
  EXPECT_EQ(permissions.find('w'), std::string::npos) << permissions;
  EXPECT_NE(permissions.find("r-xp"), std::string::npos) << permissions;
  const OpenBundle from_memory(bundle::write_bundle(fit_spec()));
  ASSERT_EQ(mappings_with("memfd:ingot-code").size(), 1u);
  EXPECT_NE(mappings_with("memfd:ingot-code")[0].find(" r-xp "), std::string::npos);
  EXPECT_TRUE(mappings_with(" rwxp ").empty());
}

TEST(EngineRun, EveryThreadCountGivesTheSameBits) {
  const OpenBundle bundle(bundle::write_bundle(fit_spec()));
  std::vector<std::vector<float>> results;
  for (uint32_t threads : {1, 2, 3, 5}) {
    OpenSession open(bundle, threads);
    ASSERT_EQ(open.status, INGOT_OK) << open.error.text;
    FitPorts ports(open.session);
    run(open.session, kInit);
    for (int i = 0; i < 50; ++i) run(open.session, kTrainStep);
    results.push_back(weights_of(open.session));
    results.back().push_back(*ports.loss.as<float>());
  }
  for (const auto& result : results) EXPECT_EQ(std::memcmp(result.data(), results[0].data(), result.size() * 4), 0);
}

TEST(EngineRun, SessionsOfOneBundleAreIndependent) {
  const OpenBundle bundle(bundle::write_bundle(fit_spec()));
  OpenSession one(bundle), other(bundle);
  FitPorts one_ports(one.session), other_ports(other.session);
  *other_ports.seed.as<int32_t>() = 8;
  run(one.session, kInit);
  run(other.session, kInit);
  EXPECT_NE(weights_of(one.session), weights_of(other.session));
}

TEST(EngineRun, InitialStateComesFromItsSegment) {
  for (const bool compress : {false, true}) {
    bundle::BundleSpec spec = fit_spec();
    spec.compress_initial_state = compress;
    const OpenBundle bundle(bundle::write_bundle(spec));
    OpenSession open(bundle);
    ASSERT_EQ(open.status, INGOT_OK) << open.error.text;
    uint8_t bias[6] = {};
    EXPECT_EQ(ingot_read_state(open.session, kBias, bias, sizeof bias, nullptr), INGOT_OK);
    EXPECT_EQ(std::string(reinterpret_cast<char*>(bias), sizeof bias), "\1\2\3\4\5\6");
  }
}

TEST(EngineRun, AnInputHasItsDefaultUntilItIsBound) {
  bundle::BundleSpec spec = fit_spec();
  const OpenBundle plain(bundle::write_bundle(spec));
  const float default_lr = 0.125f;
  const auto* bytes = reinterpret_cast<const std::byte*>(&default_lr);
  spec.entries[kTrainStep].inputs[2].default_value.assign(bytes, bytes + sizeof default_lr);
  const OpenBundle bundle(bundle::write_bundle(spec));
  const void* value = &spec;
  EXPECT_EQ(ingot_get_input_default(bundle.bundle, kTrainStep, 1, &value, nullptr), INGOT_OK);
  EXPECT_EQ(value, nullptr);
  EXPECT_EQ(ingot_get_input_default(bundle.bundle, kTrainStep, 2, &value, nullptr), INGOT_OK);
  EXPECT_EQ(std::memcmp(value, &default_lr, sizeof default_lr), 0);

  OpenSession bound(plain), unbound(bundle);
  FitPorts ports(bound.session);  // binds lr, 0.125
  FitPorts other(unbound.session, false);
  run(bound.session, kInit);
  run(unbound.session, kInit);
  run(bound.session, kTrainStep);
  run(unbound.session, kTrainStep);
  EXPECT_EQ(weights_of(unbound.session), weights_of(bound.session));

  // Bound, it is no longer asked for.
  *other.lr.as<float>() = 0;
  ASSERT_EQ(ingot_bind_input(unbound.session, kTrainStep, 2, other.lr.data(), 4, nullptr), INGOT_OK);
  run(unbound.session, kTrainStep);
  EXPECT_EQ(weights_of(unbound.session), weights_of(bound.session));
}

TEST(EngineRun, SlicesGiveWhatAWholeRunGives) {
  const OpenBundle bundle(bundle::write_bundle(fit_spec()));
  OpenSession whole(bundle), sliced(bundle, 2);
  FitPorts whole_ports(whole.session), sliced_ports(sliced.session);
  run(whole.session, kInit);
  run(sliced.session, kInit);
  for (int i = 0; i < 5; ++i) run(whole.session, kTrainStep);

  int32_t finished = 0;
  std::vector<int> calls;
  for (int i = 0; i < 5; ++i) {
    int count = 0;
    do {
      // A limit of one step, or a deadline long past: both advance by one group of steps.
      const bool by_limit = i % 2 == 0;
      ASSERT_EQ(ingot_run_slice(sliced.session, kTrainStep, by_limit ? 1 : 0, by_limit ? 0 : 1, &finished, nullptr),
                INGOT_OK);
      ++count;
      EXPECT_EQ(ingot_run(sliced.session, kPredict, nullptr), finished ? INGOT_OK : INGOT_BUSY);
    } while (!finished);
    calls.push_back(count);
  }
  EXPECT_EQ(calls, (std::vector<int>{3, 3, 3, 3, 3}));
  EXPECT_EQ(weights_of(sliced.session), weights_of(whole.session));
}

TEST(EngineRun, RollbackUndoesSteps) {
  const OpenBundle bundle(bundle::write_bundle(fit_spec()));
  OpenSession open(bundle);
  FitPorts ports(open.session);
  run(open.session, kInit);
  run(open.session, kTrainStep);
  Block snapshot(bundle.needs.state_bytes);
  ASSERT_EQ(ingot_snapshot(open.session, snapshot.data(), snapshot.size(), nullptr), INGOT_OK);
  const std::vector<float> before = weights_of(open.session);
  run(open.session, kTrainStep);
  EXPECT_NE(weights_of(open.session), before);
  ASSERT_EQ(ingot_rollback(open.session, snapshot.data(), snapshot.size(), nullptr), INGOT_OK);
  EXPECT_EQ(weights_of(open.session), before);
  EXPECT_EQ(step_of(open.session), 1);
}

TEST(EngineRun, TraceNamesEveryStep) {
  const OpenBundle bundle(bundle::write_bundle(fit_spec()));
  OpenSession open(bundle, 2);
  FitPorts ports(open.session);
  std::vector<std::string> names;
  ingot_set_trace(
      open.session, nullptr,
      [](void* user, const ingot_trace_event* event) {
        EXPECT_LE(event->begin_ns, event->end_ns);
        static_cast<std::vector<std::string>*>(user)->push_back(event->kernel);
      },
      &names);
  run(open.session, kInit);
  run(open.session, kTrainStep);
  EXPECT_EQ(names, (std::vector<std::string>{"fill_weights", "multiply", "difference", "total", "update", "count"}));
  ingot_metrics metrics = {};
  ingot_get_metrics(open.session, &metrics);
  EXPECT_EQ(metrics.runs, 2u);
  EXPECT_EQ(metrics.steps, 6u);
  EXPECT_EQ(metrics.meetings, 2u);
}

TEST(EngineRun, TraceIsCalledAroundEveryStep) {
  const OpenBundle bundle(bundle::write_bundle(fit_spec()));
  OpenSession open(bundle, 2);
  FitPorts ports(open.session);
  std::string text;
  const ingot_trace before = [](void* user, const ingot_trace_event* event) {
    EXPECT_EQ(event->begin_ns + event->end_ns, 0u);
    *static_cast<std::string*>(user) += "<" + std::to_string(event->entry) + event->kernel;
  };
  const ingot_trace after = [](void* user, const ingot_trace_event* event) {
    EXPECT_NE(event->begin_ns, 0u);
    *static_cast<std::string*>(user) += std::to_string(event->step) + ">";
  };
  ingot_set_trace(open.session, before, after, &text);
  run(open.session, kInit);
  run(open.session, kTrainStep);
  EXPECT_EQ(text, "<0fill_weights0><1multiply0><1difference1><1total2><1update3><1count4>");
  text.clear();
  ingot_set_trace(open.session, before, nullptr, &text);
  run(open.session, kInit);
  ingot_set_trace(open.session, nullptr, nullptr, &text);
  run(open.session, kInit);
  EXPECT_EQ(text, "<0fill_weights");
}

TEST(EngineRun, StepsOfOneTaskNeedNoMeeting) {
  bundle::BundleSpec spec = fit_spec();
  bundle::Plan& plan = spec.targets[0].plans[kTrainStep];
  bundle::Step count = plan.steps.back();
  count.barrier = true;
  plan.steps.insert(plan.steps.end(), 10, count);       // after a parallel group: one meeting, then none
  spec.targets[0].plans[kInit].steps.assign(3, count);  // nothing parallel at all
  const OpenBundle bundle(bundle::write_bundle(spec));
  ASSERT_EQ(bundle.status, INGOT_OK) << bundle.error.text;
  OpenSession open(bundle, 3);
  FitPorts ports(open.session);
  ingot_metrics metrics = {};
  run(open.session, kInit);
  ingot_get_metrics(open.session, &metrics);
  EXPECT_EQ(metrics.meetings, 0u);
  run(open.session, kTrainStep);
  ingot_get_metrics(open.session, &metrics);
  EXPECT_EQ(metrics.meetings, 3u);
  EXPECT_EQ(step_of(open.session), 3 + 11);
}

TEST(EngineRun, WriterIsDeterministic) {
  EXPECT_EQ(bundle::write_bundle(fit_spec()), bundle::write_bundle(fit_spec()));
}

}  // namespace
}  // namespace ingot::test
