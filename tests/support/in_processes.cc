#include "tests/support/in_processes.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <thread>
#include <vector>

#include "aot/base/divide.h"

namespace ingot {

bool in_processes(int64_t count, int64_t first, int64_t end, const std::function<void(int64_t, int64_t)>& work) {
  if (count == 0) count = std::max(1U, std::thread::hardware_concurrency());
  if (count == 1) {
    work(first, end);
    return !testing::Test::HasFailure();
  }
  const int64_t share = divide_up(end - first, count);
  std::vector<pid_t> children;
  std::cout << std::flush;
  std::fflush(stdout);  // what is there would be written by every process
  for (; first < end; first += share) {
    const pid_t child = fork();
    if (child == 0) {
      work(first, std::min(first + share, end));
      std::cout << std::flush;
      std::fflush(stdout);
      std::_Exit(testing::Test::HasFailure() ? EXIT_FAILURE : EXIT_SUCCESS);
    }
    children.push_back(child);
  }
  bool is_good = true;
  for (const pid_t child : children) {
    int status = 0;
    is_good = child > 0 && waitpid(child, &status, 0) == child && status == 0 && is_good;
  }
  return is_good;
}

}  // namespace ingot
