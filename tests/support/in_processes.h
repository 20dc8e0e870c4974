// Work in shares, each in a process of its own: judges of random cases use every core.
#pragma once

#include <cstdint>
#include <functional>

namespace ingot {

// Calls work(first, end) for `count` shares of first .. end, each in a process; 0: as many as there are cores. A single
// share is done in this process. Whether all came to their end and no test failed in them.
bool in_processes(int64_t count, int64_t first, int64_t end, const std::function<void(int64_t, int64_t)>& work);

}  // namespace ingot
