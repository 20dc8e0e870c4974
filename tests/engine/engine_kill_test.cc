// A save that is killed leaves a whole file: before each of its system calls, and at any moment.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <random>

#include "tests/engine/engine_fixture.h"
#include "tests/engine/engine_kernels.h"
#include "tests/support/environment.h"

namespace ingot::test {
namespace {

namespace fs = std::filesystem;

class EngineKill : public FitTest {
 protected:
  ingot_status train_and_save() {
    EXPECT_EQ(ingot_run(open.session, kTrainStep, nullptr), INGOT_OK);
    return ingot_save_state(open.session, path.c_str(), &error);
  }

  // Saves in a process that is killed before its system call of this number. False: it made fewer, and ended.
  bool is_killed_before_call(int number);
};

bool EngineKill::is_killed_before_call(int number) {
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
    _exit(ingot_save_state(open.session, path.c_str(), nullptr) == INGOT_OK ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  for (int stop = 0;; ++stop) {  // the child stops before each call and behind it
    ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
    waitpid(child, &status, 0);
    if (WIFEXITED(status)) {
      EXPECT_EQ(WEXITSTATUS(status), 0);
      return false;
    }
    if (stop == 2 * number) break;
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return true;
}

// What is at the path before the save.
enum class Before { kNothing, kAFile, kTwoGenerations, kALink, kWhatAKilledSaverLeft };

TEST_F(EngineKill, BeforeEachSystemCallOfASave) {
  if (*INGOT_EMULATOR) GTEST_SKIP() << "an emulated program cannot be traced";
  const std::string previous = path + ".previous", target = directory.file("elsewhere");
  ASSERT_EQ(ingot_run(open.session, kInit, nullptr), INGOT_OK);
  int calls = 0;
  for (const Before before :
       {Before::kNothing, Before::kAFile, Before::kTwoGenerations, Before::kALink, Before::kWhatAKilledSaverLeft}) {
    int number = 0;
    for (bool is_killed = true; is_killed; number += is_killed) {
      SCOPED_TRACE(number);
      for (const std::string& file : {path, previous, target, target + ".previous"}) fs::remove(file);
      if (before == Before::kALink) {
        ASSERT_EQ(ingot_save_state(open.session, target.c_str(), &error), INGOT_OK) << error.text;
        fs::create_symlink("elsewhere", path);
      }
      if (before != Before::kNothing) ASSERT_EQ(train_and_save(), INGOT_OK) << error.text;
      if (before == Before::kTwoGenerations) ASSERT_EQ(train_and_save(), INGOT_OK) << error.text;
      if (before == Before::kWhatAKilledSaverLeft) fs::copy_file(path, path + ".partial0");
      const std::string old_state = bytes();
      ASSERT_EQ(ingot_run(open.session, kTrainStep, nullptr), INGOT_OK);
      const std::string new_state = bytes();
      is_killed = is_killed_before_call(number);
      if (before != Before::kNothing || fs::exists(path)) {
        ASSERT_EQ(load(), INGOT_OK) << error.text;
        EXPECT_TRUE(bytes() == new_state || (before != Before::kNothing && bytes() == old_state));
      }
      if (fs::exists(previous)) EXPECT_EQ(load_from(previous), INGOT_OK) << error.text;
      ASSERT_EQ(train_and_save(), INGOT_OK) << error.text;  // what the killed one left does not stand in the way
    }
    EXPECT_GT(number, 10);
    calls += number;
  }
  std::cout << "  killed before each of " << calls << " system calls\n";
}

// Trains and saves after every step, for ever.
[[noreturn]] void train_until_killed(const std::string& path, bool resume) {
  const OpenBundle bundle(bundle::write_bundle(fit_spec()));
  const OpenSession open(bundle);
  const FitPorts ports(open.session);
  if (resume ? ingot_load_state(open.session, path.c_str(), 0, nullptr) != INGOT_OK
             : ingot_run(open.session, kInit, nullptr) != INGOT_OK) {
    _exit(1);
  }
  for (;;) {
    if (ingot_run(open.session, kTrainStep, nullptr) != INGOT_OK) _exit(2);
    if (ingot_save_state(open.session, path.c_str(), nullptr) != INGOT_OK) _exit(3);
  }
}

// INGOT_KILLS says how often.
TEST_F(EngineKill, TrainingResumesBitForBit) {
  const int64_t kills = number_from_environment("INGOT_KILLS", 25);
  std::mt19937 random(1);
  std::uniform_int_distribution<int> delay_us(0, 30'000);
  for (int64_t i = 0; i < kills; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) train_until_killed(path, i > 0);
    int status = 0;
    while (!fs::exists(path)) {
      ASSERT_EQ(waitpid(child, &status, WNOHANG), 0) << "the training ended with " << WEXITSTATUS(status);
      usleep(100);
    }
    usleep(static_cast<useconds_t>(delay_us(random)));
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the training ended with " << WEXITSTATUS(status);
    ASSERT_EQ(load(), INGOT_OK) << error.text;
  }
  int32_t steps = 0;
  ingot_read_state(open.session, kStep, &steps, sizeof steps, nullptr);
  EXPECT_GT(steps, 0);
  std::cout << "  " << kills << " kills in " << steps << " steps\n";
  const std::string resumed = bytes();
  int32_t zero = 0;
  ingot_write_state(open.session, kStep, &zero, sizeof zero, nullptr);
  ASSERT_EQ(ingot_run(open.session, kInit, nullptr), INGOT_OK);
  for (int32_t i = 0; i < steps; ++i) ASSERT_EQ(ingot_run(open.session, kTrainStep, nullptr), INGOT_OK);
  EXPECT_EQ(bytes(), resumed) << "after " << steps << " steps";
}

}  // namespace
}  // namespace ingot::test
