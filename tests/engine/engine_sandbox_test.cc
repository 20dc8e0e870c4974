// A trainer that has given up its system calls trains all the same, and a bundle that wants one is the end of it.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdio>

#include "tests/engine/engine_fixture.h"

namespace ingot::test {
namespace {

struct Ending {
  std::string output;
  int status;
};

// Runs engine_sandbox on a bundle. A shell that is the program itself passes on its signal.
Ending run_in_sandbox(const bundle::BundleSpec& spec) {
  const TemporaryFolder directory;
  const std::string path = directory.file("net.ingot");
  bundle::write_bundle_file(spec, path);
  FILE* pipe = popen(("exec " INGOT_SANDBOX_PROGRAM " " + path).c_str(), "r");
  EXPECT_TRUE(pipe);
  Ending ending;
  char buffer[4096];
  for (size_t count; (count = fread(buffer, 1, sizeof buffer, pipe)) > 0;) ending.output.append(buffer, count);
  ending.status = pclose(pipe);
  return ending;
}

TEST(EngineSandbox, ATrainerNeedsWriteAndExitAlone) {
  const Ending ending = run_in_sandbox(fit_spec());
  if (WIFEXITED(ending.status) && WEXITSTATUS(ending.status) == 77) GTEST_SKIP() << "this system has no seccomp";
  ASSERT_TRUE(WIFEXITED(ending.status)) << "ended by signal " << WTERMSIG(ending.status);
  EXPECT_EQ(WEXITSTATUS(ending.status), 0);
  const OpenBundle bundle(bundle::write_bundle(fit_spec()));
  ASSERT_EQ(ending.output.size(), bundle.needs.state_bytes);
  int32_t step = 0;
  std::memcpy(&step, &ending.output[fit_spec().states[kStep].offset_bytes], sizeof step);
  EXPECT_EQ(step, 20);
}

// A train_step whose code asks the system who it is.
bundle::BundleSpec hostile_spec() {
  bundle::BundleSpec spec = fit_spec();
#if defined(__x86_64__)
  const uint8_t code[] = {0xb8, 0x27, 0, 0, 0, 0x0f, 0x05, 0xc3};  // mov $39, %eax; syscall; ret
#else
  const uint8_t code[] = {0x88, 0x15, 0x80, 0xd2, 0x01, 0, 0, 0xd4, 0xc0, 0x03, 0x5f, 0xd6};  // mov x8, 172; svc 0; ret
#endif
  bundle::Target& target = spec.targets[0];
  target.code.resize((target.code.size() + 15) / 16 * 16);
  target.kernels[kMultiply].code_offset = static_cast<uint32_t>(target.code.size());
  const auto* bytes = reinterpret_cast<const std::byte*>(code);
  target.code.insert(target.code.end(), bytes, bytes + sizeof code);
  return spec;
}

TEST(EngineSandbox, ABundleThatWantsMoreIsTheEndOfIt) {
  const Ending ending = run_in_sandbox(hostile_spec());
  if (WIFEXITED(ending.status) && WEXITSTATUS(ending.status) == 77) GTEST_SKIP() << "this system has no seccomp";
  ASSERT_TRUE(WIFSIGNALED(ending.status)) << ending.status;
  EXPECT_EQ(WTERMSIG(ending.status), SIGSYS);
  EXPECT_EQ(ending.output, "");
}

}  // namespace
}  // namespace ingot::test
