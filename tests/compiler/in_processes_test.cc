#include "tests/support/in_processes.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <span>

namespace ingot {
namespace {

TEST(InProcesses, EachCaseIsInOneShare) {
  constexpr int64_t kFirst = 3, kEnd = 13;
  void* shared = mmap(nullptr, kEnd, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  const std::span<char> seen(static_cast<char*>(shared), kEnd);
  for (const int64_t count : {0, 1, 2, 3, 10, 11}) {
    std::ranges::fill(seen, 0);
    EXPECT_TRUE(in_processes(count, kFirst, kEnd, [&](int64_t first, int64_t end) {
      for (int64_t k = first; k < end; ++k) ++seen[k];
    }));
    for (int64_t k = 0; k < kEnd; ++k) EXPECT_EQ(seen[k], k >= kFirst) << k << " of " << count << " shares";
  }
  munmap(shared, kEnd);
}

TEST(InProcesses, AShareThatFailsIsNoticed) {
  for (const int64_t bad : {0, 1, 2}) {
    const auto work = [&](int64_t first, int64_t) {
      if (first == bad) std::_Exit(EXIT_FAILURE);
    };
    EXPECT_FALSE(in_processes(3, 0, 3, work)) << bad;
  }
}

}  // namespace
}  // namespace ingot
