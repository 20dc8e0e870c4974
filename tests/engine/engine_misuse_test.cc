// Every call with arguments it cannot take: a stable status, a text that names the thing, and nothing changed.
#include <gtest/gtest.h>

#include "tests/engine/engine_fixture.h"
#include "tests/engine/engine_kernels.h"

namespace ingot::test {
namespace {

class EngineMisuse : public testing::Test {
 protected:
  OpenBundle bundle{bundle::write_bundle(fit_spec())};
  OpenSession open{bundle};
  ingot_session* session = open.session;
  ingot_error error = {};

  // "WRONG_SIZE: 'batch.x' has ..."
  std::string said(ingot_status status) {
    const std::string text = status == INGOT_OK ? "" : error.text;
    EXPECT_TRUE(status == INGOT_OK || error.status == status);
    error = {};
    switch (status) {
#define INGOT_STATUS_NAME(NAME, code, words) \
  case INGOT_##NAME:                         \
    return text.empty() ? #NAME : #NAME ": " + text;
      INGOT_STATUSES(INGOT_STATUS_NAME)
#undef INGOT_STATUS_NAME
    }
    return "a status without a name";
  }
};

TEST(EngineStatus, TextsAreStable) {
  EXPECT_STREQ(ingot_status_text(INGOT_OK), "ok");
  EXPECT_STREQ(ingot_status_text(11), "a plan in the bundle is not safe to run");
  EXPECT_STREQ(ingot_status_text(-1), "unknown status");
  EXPECT_STREQ(ingot_status_text(30), "unknown status");
}

TEST_F(EngineMisuse, NullArguments) {
  const std::string null = "BAD_ARGUMENT: an argument is null";
  ingot_requirements needs;
  ingot_bundle* b = nullptr;
  ingot_session* s = nullptr;
  ingot_entry_info entry;
  ingot_tensor_info tensor;
  uint32_t index = 0;
  int32_t finished = 0;
  const ingot_memory memory = {};
  char bytes[64] = {};
  EXPECT_EQ(said(ingot_probe_file(nullptr, &needs, &error)), null);
  EXPECT_EQ(said(ingot_probe_file("x", nullptr, &error)), null);
  EXPECT_EQ(said(ingot_probe_memory(nullptr, 64, &needs, &error)), null);
  ingot_file file = {};
  EXPECT_EQ(said(ingot_read_file(nullptr, &file, &error)), null);
  EXPECT_EQ(said(ingot_read_file("x", nullptr, &error)), null);
  ingot_free_file(&file);
  ingot_free_file(nullptr);
  EXPECT_EQ(said(ingot_open_file(nullptr, nullptr, bytes, 64, &b, &error)), null);
  EXPECT_EQ(said(ingot_open_memory(bytes, 64, nullptr, nullptr, 64, &b, &error)), null);
  EXPECT_EQ(said(ingot_open_memory(bytes, 64, nullptr, bytes, 64, nullptr, &error)), null);
  EXPECT_EQ(said(ingot_get_entry_info(nullptr, 0, &entry, &error)), null);
  EXPECT_EQ(said(ingot_get_entry_info(bundle.bundle, 0, nullptr, &error)), null);
  EXPECT_EQ(said(ingot_get_input_info(nullptr, 0, 0, &tensor, &error)), null);
  EXPECT_EQ(said(ingot_get_output_info(bundle.bundle, 0, 0, nullptr, &error)), null);
  EXPECT_EQ(said(ingot_get_state_info(nullptr, 0, &tensor, &error)), null);
  EXPECT_EQ(ingot_get_bytes(nullptr), nullptr);
  ingot_get_bundle_info(nullptr, nullptr);
  ingot_set_trace(nullptr, nullptr, nullptr, nullptr);
  ingot_get_metrics(session, nullptr);
  ingot_abandon_run(nullptr);
  EXPECT_EQ(said(ingot_find_entry(bundle.bundle, nullptr, &index, &error)), null);
  EXPECT_EQ(said(ingot_find_input(bundle.bundle, 0, nullptr, &index, &error)), "BAD_ARGUMENT: an argument is null");
  EXPECT_EQ(said(ingot_find_output(nullptr, 0, "x", &index, &error)), null);
  EXPECT_EQ(said(ingot_find_state(bundle.bundle, "x", nullptr, &error)), null);
  EXPECT_EQ(said(ingot_create(nullptr, &memory, &s, &error)), null);
  EXPECT_EQ(said(ingot_create(bundle.bundle, nullptr, &s, &error)), null);
  EXPECT_EQ(said(ingot_create_with_state(nullptr, &memory, &s, &error)), null);
  EXPECT_EQ(said(ingot_bind_input(nullptr, 0, 0, bytes, 4, &error)), "BAD_ARGUMENT: the session is null");
  EXPECT_EQ(said(ingot_bind_input(session, 0, 0, nullptr, 4, &error)), "BAD_ARGUMENT: the memory for 'seed' is null");
  EXPECT_EQ(said(ingot_bind_output(nullptr, 0, 0, bytes, 4, &error)), "BAD_ARGUMENT: the session is null");
  EXPECT_EQ(said(ingot_run(nullptr, 0, &error)), "BAD_ARGUMENT: the session is null");
  EXPECT_EQ(said(ingot_run_slice(session, 0, 0, 0, nullptr, &error)), "BAD_ARGUMENT: finished is null");
  EXPECT_EQ(said(ingot_run_slice(nullptr, 0, 0, 0, &finished, &error)), "BAD_ARGUMENT: the session is null");
  EXPECT_EQ(said(ingot_read_state(nullptr, 0, bytes, 4, &error)), null);
  EXPECT_EQ(said(ingot_read_state(session, 0, nullptr, 4, &error)), null);
  EXPECT_EQ(said(ingot_write_state(session, 0, nullptr, 4, &error)), null);
  EXPECT_EQ(said(ingot_snapshot(session, nullptr, 4, &error)), null);
  EXPECT_EQ(said(ingot_rollback(session, nullptr, 4, &error)), null);
  EXPECT_EQ(said(ingot_save_state(session, nullptr, &error)), null);
  EXPECT_EQ(said(ingot_load_state(nullptr, "x", 0, &error)), null);
  EXPECT_EQ(ingot_run(nullptr, 0, nullptr), INGOT_BAD_ARGUMENT);  // without an error to fill in
  ingot_close(nullptr);
  ingot_destroy(nullptr);
  ingot_abandon_run(nullptr);
}

TEST_F(EngineMisuse, IndicesOutOfRange) {
  ingot_tensor_info tensor;
  ingot_entry_info entry;
  char bytes[64];
  EXPECT_EQ(said(ingot_get_entry_info(bundle.bundle, 3, &entry, &error)),
            "BAD_ARGUMENT: there is no entry point 3: there are 3");
  EXPECT_EQ(said(ingot_get_input_info(bundle.bundle, 0, 1, &tensor, &error)),
            "BAD_ARGUMENT: there is no input 1: there are 1");
  EXPECT_EQ(said(ingot_get_output_info(bundle.bundle, 0, 0, &tensor, &error)),
            "BAD_ARGUMENT: there is no output 0: there are 0");
  EXPECT_EQ(said(ingot_get_state_info(bundle.bundle, UINT32_MAX, &tensor, &error)),
            "BAD_ARGUMENT: there is no state 4294967295: there are 3");
  EXPECT_EQ(said(ingot_run(session, 3, &error)), "BAD_ARGUMENT: there is no entry point 3: there are 3");
  EXPECT_EQ(said(ingot_bind_input(session, 1, 3, bytes, 4, &error)), "BAD_ARGUMENT: there is no input 3: there are 3");
  EXPECT_EQ(said(ingot_read_state(session, 3, bytes, 4, &error)), "BAD_ARGUMENT: there is no state 3: there are 3");
}

TEST_F(EngineMisuse, Names) {
  uint32_t index = 99;
  const auto state = [&](const char* name) { return said(ingot_find_state(bundle.bundle, name, &index, &error)); };
  EXPECT_EQ(state("model.fit.weight"), "OK");
  EXPECT_EQ(state("fit.weight"), "OK");
  EXPECT_EQ(state("weight"), "OK");
  EXPECT_EQ(index, uint32_t{kWeight});
  EXPECT_EQ(state("eight"), "NO_SUCH_NAME: there is no state 'eight'");
  EXPECT_EQ(state(""), "NO_SUCH_NAME: there is no state ''");
  EXPECT_EQ(state(".weight"), "NO_SUCH_NAME: there is no state '.weight'");
  EXPECT_EQ(state("x.model.fit.weight"), "NO_SUCH_NAME: there is no state 'x.model.fit.weight'");
  EXPECT_EQ(said(ingot_find_input(bundle.bundle, kTrainStep, "y", &index, &error)), "OK");
  EXPECT_EQ(index, 1u);
  EXPECT_EQ(said(ingot_find_input(bundle.bundle, kPredict, "y", &index, &error)),
            "NO_SUCH_NAME: there is no input 'y'");
  EXPECT_EQ(said(ingot_find_output(bundle.bundle, kPredict, "y", &index, &error)), "OK");
  EXPECT_EQ(said(ingot_find_entry(bundle.bundle, "step", &index, &error)),
            "NO_SUCH_NAME: there is no entry point 'step'");

  bundle::BundleSpec spec = fit_spec();
  spec.states[kStep].tensor.name = "other.weight";
  spec.states[kBias].tensor.name = "w.other.weight";
  const OpenBundle alike(bundle::write_bundle(spec));
  EXPECT_EQ(said(ingot_find_state(alike.bundle, "weight", &index, &error)),
            "AMBIGUOUS_NAME: state 'weight' may mean 'model.fit.weight' or 'w.other.weight'");
  EXPECT_EQ(said(ingot_find_state(alike.bundle, "other.weight", &index, &error)), "OK");
  EXPECT_EQ(index, uint32_t{kStep}) << "a whole name wins over a suffix";
}

TEST_F(EngineMisuse, MemoryForOpenAndCreate) {
  const OpenBundle& b = bundle;
  Block block(b.needs.bundle_bytes + 64);
  ingot_bundle* other = nullptr;
  EXPECT_EQ(said(ingot_open_memory(b.bytes->data(), b.bytes->size(), nullptr, block.as<char>(),
                                   b.needs.bundle_bytes - 1, &other, &error)),
            "TOO_LITTLE_MEMORY: the bundle needs " + std::to_string(b.needs.bundle_bytes) + " bytes and was given " +
                std::to_string(b.needs.bundle_bytes - 1));
  EXPECT_EQ(said(ingot_open_memory(b.bytes->data(), b.bytes->size(), nullptr, block.as<char>() + 8,
                                   b.needs.bundle_bytes, &other, &error)),
            "MISALIGNED: the bundle's memory must start at a multiple of 64");
  Block shifted(b.bytes->size() + 64);
  std::memcpy(shifted.as<char>() + 16, b.bytes->data(), b.bytes->size());
  ingot_requirements needs;
  EXPECT_EQ(said(ingot_probe_memory(shifted.as<char>() + 16, b.bytes->size(), &needs, &error)),
            "MISALIGNED: the bundle's bytes must start at a multiple of 64");

  const auto create = [&](void (*change)(ingot_memory&)) {
    ingot_memory memory = {open.instance.data(), open.instance.size(), open.arena.data(),
                           open.arena.size(),    open.state.data(),    open.state.size(),
                           open.scratch.data(),  open.scratch.size(),  1};
    change(memory);
    ingot_session* s = nullptr;
    return said(ingot_create(b.bundle, &memory, &s, &error));
  };
  EXPECT_EQ(create([](auto& m) { m.arena_bytes -= 1; }),
            "TOO_LITTLE_MEMORY: the arena needs 4160 bytes and was given 4159");
  EXPECT_EQ(create([](auto& m) { m.state = static_cast<char*>(m.state) + 32; }),
            "MISALIGNED: the state memory must start at a multiple of 64");
  EXPECT_EQ(create([](auto& m) { m.scratch = nullptr; }), "BAD_ARGUMENT: the scratch memory is null");
  EXPECT_EQ(create([](auto& m) { m.session_bytes = 8; }).substr(0, 37), "TOO_LITTLE_MEMORY: the session needs ");
  EXPECT_EQ(create([](auto& m) { m.threads = 2; }).substr(0, 17), "TOO_LITTLE_MEMORY");
  EXPECT_EQ(create([](auto& m) { m.threads = 1025; }), "BAD_ARGUMENT: 1025 threads are more than 1024");
}

TEST_F(EngineMisuse, Bindings) {
  ASSERT_EQ(ingot_write_state(session, kWeight, Block(4096).data(), 4096, nullptr), INGOT_OK);
  EXPECT_EQ(said(ingot_run(session, kTrainStep, &error)), "NOT_BOUND: 'batch.x' has no memory bound to it");
  FitPorts ports(session);
  EXPECT_EQ(said(ingot_bind_input(session, kTrainStep, 0, ports.x.data(), 4095, &error)),
            "WRONG_SIZE: 'batch.x' has 4096 bytes and was given 4095");
  EXPECT_EQ(said(ingot_bind_input(session, kTrainStep, 2, ports.x.as<char>() + 4, 4, &error)),
            "MISALIGNED: the memory for 'lr' must start at a multiple of 64");
  EXPECT_EQ(said(ingot_run(session, kPredict, &error)), "OK") << "a refused binding leaves the one before";
  const auto predict_into = [&](void* data) {
    EXPECT_EQ(ingot_bind_output(session, kPredict, 0, data, 4096, nullptr), INGOT_OK);
    return said(ingot_run(session, kPredict, &error));
  };
  EXPECT_EQ(predict_into(ports.x.data()), "OVERLAP: output 'y' overlaps 'batch.x'");
  EXPECT_EQ(predict_into(open.arena.data()), "OVERLAP: 'y' overlaps the arena");
  EXPECT_EQ(predict_into(open.state.data()), "OVERLAP: output 'y' overlaps the state");
  EXPECT_EQ(predict_into(ports.prediction.data()), "OK");
  // An input may lie in the state: then it is read there.
  EXPECT_EQ(ingot_bind_input(session, kPredict, 0, open.state.data(), 4096, nullptr), INGOT_OK);
  EXPECT_EQ(said(ingot_run(session, kPredict, &error)), "OK");
}

TEST_F(EngineMisuse, StateSizes) {
  char bytes[8] = {};
  EXPECT_EQ(said(ingot_read_state(session, kStep, bytes, 8, &error)),
            "WRONG_SIZE: 'optimizer.step' has 4 bytes and was given 8");
  EXPECT_EQ(said(ingot_write_state(session, kBias, bytes, 2, &error)),
            "WRONG_SIZE: 'model.bias' has 6 bytes and was given 2");
  EXPECT_EQ(said(ingot_snapshot(session, bytes, 8, &error)),
            "TOO_LITTLE_MEMORY: a snapshot takes 4224 bytes and was given 8");
}

TEST_F(EngineMisuse, NothingButTheRunItselfInTheMiddleOfARun) {
  FitPorts ports(session);
  ASSERT_EQ(ingot_run(session, kInit, nullptr), INGOT_OK);
  int32_t finished = 1;
  ASSERT_EQ(ingot_run_slice(session, kTrainStep, 1, 0, &finished, nullptr), INGOT_OK);
  ASSERT_EQ(finished, 0);
  const std::string busy = "BUSY: a run of 'train_step' in slices is not finished: finish or abandon it";
  char bytes[6] = {};
  Block whole(bundle.needs.state_bytes);
  EXPECT_EQ(said(ingot_run(session, kTrainStep, &error)), busy);
  EXPECT_EQ(said(ingot_run_slice(session, kPredict, 1, 0, &finished, &error)), busy);
  EXPECT_EQ(said(ingot_bind_input(session, kTrainStep, 0, ports.x.data(), 4096, &error)), busy);
  EXPECT_EQ(said(ingot_write_state(session, kBias, bytes, 6, &error)), busy);
  EXPECT_EQ(said(ingot_snapshot(session, whole.data(), whole.size(), &error)), busy);
  EXPECT_EQ(said(ingot_save_state(session, "/tmp/never", &error)), busy);
  EXPECT_EQ(said(ingot_load_state(session, "/tmp/never", 0, &error)), busy);
  ingot_abandon_run(session);
  EXPECT_EQ(said(ingot_snapshot(session, whole.data(), whole.size(), &error)), "OK");
}

TEST(EngineWriter, ContradictionsAreOurBugs) {
  const auto said = [](void (*change)(bundle::BundleSpec&)) -> std::string {
    bundle::BundleSpec spec = fit_spec();
    change(spec);
    try {
      bundle::write_bundle(spec);
    } catch (const std::exception& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(said([](auto& s) {
              s.targets[0].plans[1].steps[0].operands.pop_back();
            }).find("host, plan of 'train_step': a step of 'multiply' has 2 operands for 3 parameters"),
            std::string::npos);
  EXPECT_NE(
      said([](auto& s) { s.states[1].offset_bytes = 64; }).find("state 'optimizer.step' overlaps the one before it"),
      std::string::npos);
  EXPECT_NE(said([](auto& s) { s.targets.clear(); }).find("there is no target"), std::string::npos);
}

TEST(EngineWriter, AFileThatCannotBeLeavesNothing) {
  const TemporaryFolder directory;
  EXPECT_THROW(bundle::write_bundle_file(fit_spec(), directory.path()), std::exception);
  EXPECT_THROW(bundle::write_bundle_file(fit_spec(), directory.file("no/such/x.ingot")), std::exception);
}

}  // namespace
}  // namespace ingot::test
