// Bundles of whole programs in the hands of a stranger: whatever is in inputs and state, kernels stay in their places and
// give the same bits on any number of threads. INGOT_BUNDLES names a folder of them.
#include <iostream>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "tests/engine/guarded_session.h"

namespace ingot::test {
namespace {

// What each run of an entry leaves, of so many that follow each other. It ends with one that comes to no end.
std::vector<std::string> results(const OpenBundle& bundle, uint32_t entry, uint32_t threads, int runs,
                                 const Fill& values) {
  GuardedSession session(bundle, threads);
  session.fill(entry, values);
  std::vector<std::string> results;
  while (static_cast<int>(results.size()) < runs && session.run(entry)) results.push_back(session.results(entry));
  return results;
}

// Calls with each entry of each bundle.
template <typename Work>
void for_each_entry(Work work) {
  int count = 0;
  for (const NamedBundle& named : bundles_to_run()) {
    SCOPED_TRACE(named.path + ", " + named.target);
    ingot_open_options options = {};
    options.target = named.target.c_str();
    const OpenBundle bundle(named.path, &options);
    ASSERT_EQ(bundle.status, INGOT_OK) << bundle.error.text;
    ingot_bundle_info info;
    ingot_get_bundle_info(bundle.bundle, &info);
    for (uint32_t entry = 0; entry < info.entry_count; ++entry, ++count) work(bundle, entry);
  }
  EXPECT_GT(count, 0) << "no bundle that this processor can run";
}

TEST(EngineBundles, HostileValuesStayInTheirPlaces) {
  int runs = 0, groups = 0;
  for_each_entry([&](const OpenBundle& bundle, uint32_t entry) {
    for (int kind = 0; kind < kHostileKinds; ++kind, ++groups) {
      SCOPED_TRACE(kind);
      const auto alone = results(bundle, entry, 1, 2, hostile_values(kind));
      EXPECT_TRUE(results(bundle, entry, 3, 2, hostile_values(kind)) == alone) << "3 threads";
      runs += 2;
    }
  });
  std::cout << "  " << runs << " runs of two steps, " << groups << " pairs of 1 and 3 threads\n";
}

TEST(EngineBundles, AnyNumberOfThreadsGivesTheSameBits) {
  int runs = 0;
  for_each_entry([&](const OpenBundle& bundle, uint32_t entry) {
    const auto first = results(bundle, entry, 1, 8, ordinary_values());
    EXPECT_EQ(first.size(), 8u);
    for (const uint32_t threads : {1, 2, 3, 4, 8}) {
      EXPECT_TRUE(results(bundle, entry, threads, 8, ordinary_values()) == first) << threads << " threads";
      ++runs;
    }
  });
  std::cout << "  " << runs << " runs of eight steps, on 1, 2, 3, 4 and 8 threads\n";
}

// Denormals as zeros, another rounding, traps: what the caller's thread computes with is nothing to kernels.
TEST(EngineBundles, ModesOfTheCallersFloatsChangeNothing) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "the modes are those of x86-64";
#else
  constexpr uint32_t kDefault = 0x1f80, kFlushAll = 0x8040, kTowardsZero = 0x6000, kNoMasks = 0;
  int runs = 0;
  for_each_entry([&](const OpenBundle& bundle, uint32_t entry) {
    const auto usual = results(bundle, entry, 1, 1, ordinary_values());
    for (const uint32_t modes : {kDefault | kFlushAll, kDefault | kTowardsZero, kNoMasks}) {
      for (const uint32_t threads : {1, 2}) {
        GuardedSession session(bundle, threads);
        session.fill(entry, ordinary_values());
        _mm_setcsr(modes);
        session.run(entry);
        const uint32_t after = _mm_getcsr();
        _mm_setcsr(kDefault);
        EXPECT_EQ(after, modes);
        EXPECT_TRUE(session.results(entry) == usual[0]) << std::hex << modes << ", " << threads << " threads";
        ++runs;
      }
    }
  });
  std::cout << "  " << runs << " runs\n";
#endif
}

}  // namespace
}  // namespace ingot::test
