// Files that change while the engine reads them or after it opened them, and things that are no files.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

#include "tests/engine/engine_fixture.h"

namespace {

std::function<void()> after_first_read;  // runs once, while the file is half read

}  // namespace

// Stands in for the C library's, which the engine calls: a file comes in at least two pieces.
extern "C" ssize_t read(int descriptor, void* buffer, size_t byte_count) {
  const size_t piece = after_first_read ? std::min<size_t>(byte_count, 1000) : byte_count;
  const ssize_t count = syscall(SYS_read, descriptor, buffer, piece);
  if (after_first_read) std::exchange(after_first_read, nullptr)();
  return count;
}

namespace ingot::test {
namespace {

class EngineFiles : public testing::Test {
 protected:
  EngineFiles() {
    bundle::write_bundle_file(fit_spec(), bundle_path);
    const OpenBundle bundle(bundle_path);
    const OpenSession open(bundle);
    const FitPorts ports(open.session);
    EXPECT_EQ(train(open.session, 3), INGOT_OK);
    EXPECT_EQ(ingot_save_state(open.session, state_path.c_str(), nullptr), INGOT_OK);
    trained = bytes_of(open);
  }

  static ingot_status train(ingot_session* session, int steps) {
    ingot_status status = ingot_run(session, kInit, nullptr);
    for (int i = 0; i < steps && status == INGOT_OK; ++i) status = ingot_run(session, kTrainStep, nullptr);
    return status;
  }

  static std::string bytes_of(const OpenSession& open) { return {open.state.as<char>(), open.state.size()}; }

  static void expect_same_training(const OpenBundle& bundle, const std::string& wanted) {
    ASSERT_EQ(bundle.status, INGOT_OK) << bundle.error.text;
    const OpenSession open(bundle);
    const FitPorts ports(open.session);
    ASSERT_EQ(train(open.session, 3), INGOT_OK);
    EXPECT_EQ(bytes_of(open), wanted);
  }

  // The same length, other bytes, another time.
  static void overwrite(const std::string& path) {
    const auto size = std::filesystem::file_size(path);
    std::fstream(path, std::ios::in | std::ios::out | std::ios::binary) << std::string(size, '\x5a');
    const timespec times[2] = {{1, 0}, {1, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }

  TemporaryFolder directory;
  std::string bundle_path = directory.file("fit.ingot"), state_path = directory.file("fit.safetensors");
  std::string trained;
};

TEST_F(EngineFiles, StateThatChangesWhileItIsReadIsRefused) {
  const OpenBundle bundle(bundle_path);
  const OpenSession open(bundle);
  const FitPorts ports(open.session);
  ASSERT_EQ(train(open.session, 1), INGOT_OK);
  const std::string before = bytes_of(open);
  const std::function<void()> changes[] = {
      [&] { std::filesystem::resize_file(state_path, 64); },
      [&] { std::filesystem::resize_file(state_path, 100'000); },
      [&] { overwrite(state_path); },
  };
  for (const auto& change : changes) {
    std::filesystem::copy_file(state_path, state_path + ".whole", std::filesystem::copy_options::overwrite_existing);
    after_first_read = change;
    ingot_error error = {};
    EXPECT_EQ(ingot_load_state(open.session, state_path.c_str(), 0, &error), INGOT_FILE_FAILED);
    EXPECT_NE(std::string(error.text).find("it changed while it was read"), std::string::npos) << error.text;
    EXPECT_FALSE(after_first_read) << "the file is not read";
    EXPECT_EQ(bytes_of(open), before);
    std::filesystem::rename(state_path + ".whole", state_path);
    EXPECT_EQ(ingot_load_state(open.session, state_path.c_str(), 0, &error), INGOT_OK) << error.text;
    EXPECT_EQ(bytes_of(open), trained);
    ASSERT_EQ(ingot_rollback(open.session, before.data(), before.size(), nullptr), INGOT_OK);
  }
}

TEST_F(EngineFiles, ACopiedBundleOutlivesItsFile) {
  ingot_open_options options = {};
  options.copy_file = 1;
  const OpenBundle bundle(bundle_path, &options);
  std::filesystem::resize_file(bundle_path, 0);
  expect_same_training(bundle, trained);
}

TEST_F(EngineFiles, TheCodeThatWasCheckedIsTheCodeThatRuns) {
  ingot_open_options options = {};
  options.code_check = [](void* path, const void*, uint64_t) {
    overwrite(*static_cast<const std::string*>(path));
    return 0;
  };
  options.code_check_user = &bundle_path;
  const OpenBundle bundle(bundle_path, &options);
  expect_same_training(bundle, trained);
}

TEST_F(EngineFiles, APipeIsNoFile) {
  const std::string pipe = directory.file("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  ingot_requirements needs;
  ingot_error error = {};
  EXPECT_EQ(ingot_probe_file(pipe.c_str(), &needs, &error), INGOT_FILE_FAILED);
  EXPECT_NE(std::string(error.text).find("pipe: it is not a regular file"), std::string::npos) << error.text;
  const OpenBundle bundle(bundle_path);
  const OpenSession open(bundle);
  EXPECT_EQ(ingot_load_state(open.session, pipe.c_str(), 0, &error), INGOT_FILE_FAILED);
}

}  // namespace
}  // namespace ingot::test
