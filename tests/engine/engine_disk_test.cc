// Disks that are full or fail while state is saved: the error says why, and what was saved before is whole.
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <iostream>

#include "tests/engine/engine_fixture.h"
#include "tests/engine/engine_kernels.h"
#include "tests/support/file_text.h"

namespace {

// The call of `fails_at` (from 0; below 0: none does) fails for `reason`; 0: it writes nothing and says so.
int fails_at = -1;
int reason = 0;
int call_count = 0;

bool fails_now() {
  if (call_count++ != fails_at) return false;
  errno = reason;
  return true;
}

}  // namespace

// Stand in for the C library's, which the engine calls: of the data to write, some at a time.
extern "C" ssize_t write(int descriptor, const void* data, size_t byte_count) {
  if (fails_now()) return reason == 0 ? 0 : -1;
  return syscall(SYS_write, descriptor, data, fails_at < 0 ? byte_count : std::min<size_t>(byte_count, 3000));
}
extern "C" int fsync(int descriptor) {
  return fails_now() && reason != 0 ? -1 : static_cast<int>(syscall(SYS_fsync, descriptor));
}

namespace ingot::test {
namespace {

namespace fs = std::filesystem;

class EngineDisk : public FitTest {
 protected:
  EngineDisk() {
    init_and_train(1);
    EXPECT_EQ(ingot_save_state(open.session, path.c_str(), &error), INGOT_OK) << error.text;
    old = file_text(path);
    EXPECT_EQ(ingot_run(open.session, kTrainStep, nullptr), INGOT_OK);
  }

  size_t file_count() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(directory.path()), fs::directory_iterator()));
  }

  ingot_status save_failing(int at, int why) {
    fails_at = at;
    reason = why;
    call_count = 0;
    const ingot_status status = ingot_save_state(open.session, path.c_str(), &error);
    fails_at = -1;
    return status;
  }

  std::string old;
};

TEST_F(EngineDisk, EachCallOfASaveMayFail) {
  int tried = 0;
  for (const int why : {ENOSPC, EIO, EDQUOT, EFBIG, EACCES, 0}) {
    // Up to the last, the sync of the folder, which not every file system can do: that is no failure.
    for (int at = 0; save_failing(at, why) != INGOT_OK; ++at, ++tried) {
      SCOPED_TRACE(std::to_string(at) + ": " + std::strerror(why));
      EXPECT_EQ(error.status, INGOT_FILE_FAILED);
      EXPECT_NE(std::string(error.text).find(std::strerror(why == 0 ? EIO : why)), std::string::npos) << error.text;
      EXPECT_EQ(file_text(path), old);
      EXPECT_EQ(file_count(), 1u);
    }
    EXPECT_EQ(load(), INGOT_OK) << error.text;
    fs::remove(path + ".previous");
    old = file_text(path);
  }
  std::cout << "  " << tried << " failures of a write or sync\n";
  EXPECT_GT(tried, 18);
}

TEST_F(EngineDisk, ASignalBetweenHarmsNothing) {
  const std::string before = bytes();
  int calls = 1;
  for (int at = 0; at < calls; ++at) {
    EXPECT_EQ(save_failing(at, EINTR), INGOT_OK) << at << ": " << error.text;
    calls = call_count;
    ASSERT_EQ(load(), INGOT_OK) << error.text;
    EXPECT_EQ(bytes(), before);
  }
  EXPECT_GT(calls, 3);
}

// The kernel ends a process by SIGXFSZ that writes more than it may; one that ignores the signal goes on with an error.
TEST_F(EngineDisk, AFileThatMayNotGrowIsAnError) {
  for (const bool ignores : {false, true}) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const rlimit limit = {1000, 1000};
      setrlimit(RLIMIT_FSIZE, &limit);
      signal(SIGXFSZ, ignores ? SIG_IGN : SIG_DFL);
      _exit(ingot_save_state(open.session, path.c_str(), nullptr));
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (ignores) {
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == INGOT_FILE_FAILED) << status;
    } else {
      EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ) << status;
    }
    EXPECT_EQ(file_text(path), old);
  }
  EXPECT_EQ(ingot_save_state(open.session, path.c_str(), &error), INGOT_OK) << error.text;
  EXPECT_EQ(file_count(), 2u) << "what the process left that was ended is gone";
}

}  // namespace
}  // namespace ingot::test
