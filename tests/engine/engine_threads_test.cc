// What surrounds a session's threads: their stacks, signals, processes that fork, and calls from within a run.
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/engine/engine_fixture.h"

namespace {

[[maybe_unused]] size_t stack_bytes_of_last_thread = 0;
[[maybe_unused]] sigset_t signals_of_last_thread;

}  // namespace

#if defined(__has_feature)
#define INGOT_SANITIZES (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define INGOT_SANITIZES 1
#endif

// Stands in for the C library's, which the engine calls. Sanitizers have their own: then it stays away.
#if !INGOT_SANITIZES
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                              void* argument) noexcept {
  if (attributes) pthread_attr_getstacksize(attributes, &stack_bytes_of_last_thread);
  pthread_sigmask(SIG_SETMASK, nullptr, &signals_of_last_thread);  // a thread begins with its creator's
  static const auto create = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return create(thread, attributes, start, argument);
}
#endif

namespace ingot::test {
namespace {

#if !INGOT_SANITIZES
TEST(EngineThreads, HaveTheStackThatKernelsNeed) {
  for (const uint32_t megabytes : {0, 300}) {
    bundle::BundleSpec spec = fit_spec();
    spec.targets[0].kernels[kMultiply].stack_bytes = megabytes << 20;
    const OpenBundle bundle(bundle::write_bundle(spec));
    ASSERT_EQ(bundle.status, INGOT_OK) << bundle.error.text;
    EXPECT_EQ(bundle.needs.stack_bytes, megabytes << 20);
    const OpenSession open(bundle, 2);
    ASSERT_EQ(open.status, INGOT_OK) << open.error.text;
    EXPECT_GE(stack_bytes_of_last_thread, (megabytes << 20) + (16u << 10));
    EXPECT_TRUE(megabytes > 0 || stack_bytes_of_last_thread < 100u << 20) << "the usual is enough";
  }
}

TEST(EngineThreads, LeaveSignalsToTheHost) {
  sigset_t before, after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  const OpenBundle bundle(bundle::write_bundle(fit_spec()));
  const OpenSession open(bundle, 2);
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGALRM, SIGCHLD, SIGUSR1}) {
    EXPECT_TRUE(sigismember(&signals_of_last_thread, signal)) << signal;
    EXPECT_EQ(sigismember(&after, signal), sigismember(&before, signal)) << signal;
  }
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) EXPECT_FALSE(sigismember(&signals_of_last_thread, fault));
}
#endif

TEST(EngineThreads, AreNotInAForkedProcess) {
  for (const uint32_t threads : {1u, 2u}) {
    const OpenBundle bundle(bundle::write_bundle(fit_spec()));
    OpenSession open(bundle, threads);
    const FitPorts ports(open.session);
    ASSERT_EQ(ingot_run(open.session, kInit, nullptr), INGOT_OK);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const ingot_status status = ingot_run(open.session, kTrainStep, nullptr);
      ingot_destroy(open.session);
      _exit(status);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), threads == 1 ? INGOT_OK : INGOT_NO_THREADS);
    EXPECT_EQ(ingot_run(open.session, kTrainStep, nullptr), INGOT_OK) << "the parent's own go on";
  }
}

// What a trace was told when it asked for more than a look.
struct Asked {
  ingot_session* session;
  ingot_error errors[4];
  ingot_status read_status;
};

void ask(void* user, const ingot_trace_event*) {
  Asked& asked = *static_cast<Asked*>(user);
  int32_t finished = 0;
  char step[4] = {};
  ingot_run(asked.session, kTrainStep, &asked.errors[0]);
  ingot_run_slice(asked.session, kTrainStep, 0, 0, &finished, &asked.errors[1]);
  ingot_write_state(asked.session, kStep, step, sizeof step, &asked.errors[2]);
  ingot_save_state(asked.session, "/tmp/never", &asked.errors[3]);
  ingot_abandon_run(asked.session);
  asked.read_status = ingot_read_state(asked.session, kStep, step, sizeof step, nullptr);
}

TEST(EngineThreads, ATraceMayOnlyLookOn) {
  const OpenBundle bundle(bundle::write_bundle(fit_spec()));
  const OpenSession open(bundle);
  const FitPorts ports(open.session);
  ASSERT_EQ(ingot_run(open.session, kInit, nullptr), INGOT_OK);
  Asked asked = {open.session, {}, INGOT_BUSY};
  ingot_set_trace(open.session, nullptr, ask, &asked);
  int32_t finished = 0;
  ASSERT_EQ(ingot_run(open.session, kTrainStep, nullptr), INGOT_OK);
  for (int part = 0; part < 100 && !finished; ++part) {
    for (const ingot_error& error : asked.errors) {
      EXPECT_EQ(error.status, INGOT_BUSY);
      EXPECT_STREQ(error.text, "the session is running: a trace may only look on");
    }
    EXPECT_EQ(asked.read_status, INGOT_OK);
    asked = {open.session, {}, INGOT_BUSY};
    ASSERT_EQ(ingot_run_slice(open.session, kTrainStep, 1, 0, &finished, nullptr), INGOT_OK);
  }
  EXPECT_TRUE(finished);
  ingot_set_trace(open.session, nullptr, nullptr, nullptr);
  int32_t steps = 0;
  ingot_read_state(open.session, kStep, &steps, sizeof steps, nullptr);
  EXPECT_EQ(steps, 2);
}

}  // namespace
}  // namespace ingot::test
