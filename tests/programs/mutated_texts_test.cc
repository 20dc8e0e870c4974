// Nearly right texts that compile are run, on values that a stranger would choose: what they compute stays in its place.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <iostream>

#include "aot/base/error.h"
#include "aot/graph/text/parse.h"
#include "aot/ops/support/build.h"
#include "aot/pipeline/compile.h"
#include "tests/engine/guarded_session.h"
#include "tests/support/environment.h"
#include "tests/support/mutate_text.h"

namespace ingot {
namespace {

enum Ending : int { kRan, kRefused, kTooLarge, kDiffered };

constexpr double kMostBytes = 64 << 20;
constexpr uint32_t kSeconds = 20;  // of processor time; some texts ask for much

// What a caller has to give for the inputs and outputs, and states.
double given_bytes(const bundle::BundleSpec& spec) {
  double total = static_cast<double>(spec.state_bytes);
  for (const bundle::Entry& entry : spec.entries) {
    for (const std::vector<bundle::Tensor>* ports : {&entry.inputs, &entry.outputs}) {
      for (const bundle::Tensor& tensor : *ports) {
        double bytes = static_cast<double>(ingot_dtype_bytes(tensor.dtype));
        for (const uint64_t dim : tensor.dims) bytes *= static_cast<double>(dim);
        total += bytes;
      }
    }
  }
  return total;
}

Ending compile_and_run(const std::string& text) {
  bundle::BundleSpec spec;
  try {
    std::vector<std::unique_ptr<Module>> modules;
    modules.push_back(parse_module(text, "text", all_ops()));
    CompileOptions options;
    options.targets = {"host"};
    spec = compile(std::move(modules), options).spec;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kBug) throw;
    return kRefused;
  }
  const test::OpenBundle bundle(bundle::write_bundle(spec));
  if (bundle.status != INGOT_OK) throw std::logic_error(bundle.error.text);
  if (given_bytes(spec) + static_cast<double>(bundle.needs.arena_bytes) > kMostBytes) return kTooLarge;
  test::GuardedSession alone(bundle, 1), together(bundle, 3);
  for (uint32_t entry = 0; entry < alone.entry_count(); ++entry) {
    for (test::GuardedSession* session : {&alone, &together}) {
      session->fill(entry, test::hostile_values(test::kHostileKinds - 1));
      if (!session->run(entry)) return kTooLarge;
    }
    if (alone.results(entry) != together.results(entry)) return kDiffered;
  }
  return testing::Test::HasFailure() ? kDiffered : kRan;
}

// In a process of its own, of which a signal is the end.
int ending_of(const std::string& text) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit time = {kSeconds, kSeconds}, memory = {uint64_t{8} << 30, uint64_t{8} << 30};
    setrlimit(RLIMIT_CPU, &time);
    setrlimit(RLIMIT_AS, &memory);
    try {
      _exit(compile_and_run(text));
    } catch (const std::bad_alloc&) {
      _exit(kTooLarge);
    } catch (const std::exception& error) {
      std::cerr << error.what() << "\n";
      _exit(kDiffered);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGXCPU ? kTooLarge : -1;
  return WEXITSTATUS(status);
}

// INGOT_FUZZ_ROUNDS says how many texts.
TEST(MutatedTexts, StayInTheirPlaces) {
  const int64_t rounds = number_from_environment("INGOT_FUZZ_ROUNDS", 25);
  const std::vector<std::string> texts = texts_of_tests(INGOT_SOURCE_DIR);
  const TextMutator mutator(texts);
  int counts[kDiffered] = {};
  for (int64_t seed = 0; seed < rounds && !HasFailure(); ++seed) {
    Random random(static_cast<uint64_t>(seed));
    const std::string text = mutator.mutate(random.one_of(texts), random);
    const int ending = ending_of(text);
    ASSERT_TRUE(ending >= 0 && ending < kDiffered) << "text " << seed << "\n" << text;
    ++counts[ending];
  }
  std::cout << "  " << rounds << " texts: " << counts[kRefused] << " refused, " << counts[kRan]
            << " ran on 1 and 3 threads, " << counts[kTooLarge] << " too large or too long\n";
  EXPECT_GT(counts[kRan], rounds / 50);
}

}  // namespace
}  // namespace ingot
