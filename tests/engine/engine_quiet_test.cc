// What run() does not do: it allocates nothing, and with one thread makes no system call.
#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <iostream>

#include "tests/engine/engine_flow.h"
#include "tests/engine/guarded_session.h"

namespace {

[[maybe_unused]] std::atomic<bool> counting{false};
[[maybe_unused]] std::atomic<int> allocation_count{0};

}  // namespace

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define INGOT_IS_SANITIZED 1
#elif defined(__has_feature)
#define INGOT_IS_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#endif

// Stands in for the C library's allocator, which it calls. Sanitizers bring their own: then it stays away.
#if !INGOT_IS_SANITIZED
#define INGOT_COUNTS_ALLOCATIONS 1
extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* block, size_t bytes);
void* malloc(size_t bytes) {
  if (counting) ++allocation_count;
  return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  if (counting) ++allocation_count;
  return __libc_calloc(count, bytes);
}
void* realloc(void* block, size_t bytes) {
  if (counting) ++allocation_count;
  return __libc_realloc(block, bytes);
}
}
#endif

namespace ingot::test {
namespace {

TEST(EngineQuiet, NothingIsAllocatedFromOpenToSave) {
#ifndef INGOT_COUNTS_ALLOCATIONS
  GTEST_SKIP() << "the sanitizer has its own allocator";
#else
  const std::vector<std::byte> file = bundle::write_bundle(fit_spec());
  const OpenBundle sizes(file);
  const OpenSession blocks(sizes);
  const TemporaryFolder directory;
  const std::string path = directory.file("s.safetensors");
  Block bundle_memory(sizes.needs.bundle_bytes);
  const ingot_memory memory = {blocks.instance.data(), blocks.instance.size(), blocks.arena.data(),
                               blocks.arena.size(),    blocks.state.data(),    blocks.state.size(),
                               blocks.scratch.data(),  blocks.scratch.size(),  1};

  counting = true;
  ingot_bundle* bundle = nullptr;
  ingot_session* session = nullptr;
  ingot_open_memory(sizes.bytes->data(), sizes.bytes->size(), nullptr, bundle_memory.data(), bundle_memory.size(),
                    &bundle, nullptr);
  const ingot_status created = ingot_create(bundle, &memory, &session, nullptr);
  counting = false;
  ASSERT_EQ(created, INGOT_OK);
  const FitPorts ports(session);
  counting = true;
  ingot_status status = ingot_run(session, kInit, nullptr);
  for (int i = 0; i < 100 && status == INGOT_OK; ++i) status = ingot_run(session, kTrainStep, nullptr);
  if (status == INGOT_OK) status = ingot_save_state(session, path.c_str(), nullptr);
  if (status == INGOT_OK) status = ingot_load_state(session, path.c_str(), 0, nullptr);
  ingot_destroy(session);
  ingot_close(bundle);
  counting = false;
  EXPECT_EQ(status, INGOT_OK);
  EXPECT_EQ(allocation_count, 0);
#endif
}

// A loop with a branch in it, the branches with tasks for several threads.
bundle::BundleSpec loop_spec() {
  FlowBuilder b;
  const bundle::Operand v = b.vector(), index = b.word();
  b.step(kMixTogether, {b.x(), b.x(), v});
  b.count_to(b.n(), [&] {
    b.step(kPick, {v, index});
    b.choose(index, {[&] { b.step(kMixTogether, {v, b.x(), v}); }, [&] { b.step(kMixAlone, {v, v, v}); }, [] {}});
  });
  for (uint32_t row = 0; row < 4; ++row) b.step(kMixTogether, {v, b.x(), b.y(row)});
  return b.finish();
}

TEST(EngineQuiet, LoopsRunWithoutAllocating) {
#ifndef INGOT_COUNTS_ALLOCATIONS
  GTEST_SKIP() << "the sanitizer has its own allocator";
#else
  const OpenBundle bundle(bundle::write_bundle(loop_spec()));
  ASSERT_EQ(bundle.status, INGOT_OK) << bundle.error.text;
  for (const uint32_t threads : {1, 3}) {
    const OpenSession open(bundle, threads);
    const FlowPorts ports(open.session, 50);
    allocation_count = 0;
    counting = true;
    const ingot_status status = ingot_run(open.session, 0, nullptr);
    counting = false;
    EXPECT_EQ(status, INGOT_OK);
    EXPECT_EQ(allocation_count, 0);
  }
#endif
}

TEST(EngineQuiet, ThreadsRunWithoutAllocating) {
#ifndef INGOT_COUNTS_ALLOCATIONS
  GTEST_SKIP() << "the sanitizer has its own allocator";
#else
  const OpenBundle bundle(bundle::write_bundle(fit_spec()));
  const OpenSession open(bundle, 3);
  const FitPorts ports(open.session);
  allocation_count = 0;
  counting = true;
  ingot_run(open.session, kInit, nullptr);
  for (int i = 0; i < 20; ++i) ingot_run(open.session, kTrainStep, nullptr);
  counting = false;
  EXPECT_EQ(allocation_count, 0);
#endif
}

// In strict mode the kernel kills a process at any system call but read, write and exit.
void expect_no_system_call(const std::function<ingot_status()>& run) {
#if INGOT_IS_SANITIZED
  GTEST_SKIP() << "the sanitizer makes system calls, and has threads, of its own";
#endif
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) _exit(77);
    syscall(SYS_exit, run());
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "this system has no seccomp";
  EXPECT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), INGOT_OK);
}

TEST(EngineQuiet, OneThreadMakesNoSystemCall) {
  const OpenBundle bundle(bundle::write_bundle(fit_spec()));
  const OpenSession open(bundle);
  const FitPorts ports(open.session);
  expect_no_system_call([&] {
    ingot_status status = ingot_run(open.session, kInit, nullptr);
    for (int i = 0; i < 100 && status == INGOT_OK; ++i) status = ingot_run(open.session, kTrainStep, nullptr);
    return status;
  });
}

TEST(EngineQuiet, LoopsOfOneThreadMakeNoSystemCall) {
  const OpenBundle bundle(bundle::write_bundle(loop_spec()));
  const OpenSession open(bundle);
  const FlowPorts ports(open.session, 50);
  expect_no_system_call([&] { return ingot_run(open.session, 0, nullptr); });
}

// What one thread does alone asks nothing of the others, which a forked process has not.
TEST(EngineQuiet, StepsOfOneTaskEachMakeNoSystemCall) {
  FlowBuilder b;
  for (uint32_t row = 0; row < 4; ++row) b.step(kMixAlone, {b.x(), b.x(), b.y(row)});
  const OpenBundle bundle(bundle::write_bundle(b.finish()));
  const OpenSession open(bundle, 3);
  const FlowPorts ports(open.session, 50);
  expect_no_system_call([&] { return ingot_run(open.session, 0, nullptr); });
}

// INGOT_BUNDLES names a folder of them.
TEST(EngineQuiet, BundlesOfWholePrograms) {
  constexpr int kRuns = 10;
  int runs = 0;
  for (const NamedBundle& named : bundles_to_run()) {
    SCOPED_TRACE(named.path + ", " + named.target);
    ingot_open_options options = {};
    options.target = named.target.c_str();
    const OpenBundle bundle(named.path, &options);
    GuardedSession session(bundle, 1);
    for (uint32_t entry = 0; entry < session.entry_count(); ++entry, runs += kRuns) {
      session.fill(entry, ordinary_values());
      allocation_count = 0;
      counting = true;
      expect_no_system_call([&] {
        bool has_ended = true;
        for (int i = 0; i < kRuns && has_ended; ++i) has_ended = session.run(entry);
        return has_ended && allocation_count == 0 ? INGOT_OK : INGOT_BAD_PLAN;
      });
      counting = false;
    }
  }
  std::cout << "  " << runs << " runs\n";
  EXPECT_GT(runs, 0);
}

}  // namespace
}  // namespace ingot::test
