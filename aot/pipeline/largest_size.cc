#include "aot/pipeline/largest_size.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ingot {
namespace {

constexpr int64_t kFurther = 8;  // sizes that are tried behind one that fits

class Search {
 public:
  explicit Search(const std::function<void(int64_t)>& try_size) : try_size_(try_size) {}

  LargestSize run() {
    try_size_(largest_);
    int64_t low = largest_, high = std::min(2 * largest_, kLargestSizeMax);
    while (low < kLargestSizeMax && fits(high)) low = std::exchange(high, std::min(2 * high, kLargestSizeMax));
    while (low + 1 < high) {
      const int64_t middle = low + (high - low) / 2;
      (fits(middle) ? low : high) = middle;
    }
    for (int64_t size = largest_ + 1; size <= std::min(largest_ + kFurther, kLargestSizeMax); ++size) {
      if (!errors_.contains(size)) fits(size);
    }
    const auto next = errors_.find(largest_ + 1);
    return {largest_, next == errors_.end() ? std::nullopt : std::optional(next->second)};
  }

 private:
  bool fits(int64_t size) {
    try {
      try_size_(size);
    } catch (const OverMemoryLimit& error) {
      errors_.emplace(size, error);
      return false;
    }
    largest_ = std::max(largest_, size);
    return true;
  }

  const std::function<void(int64_t)>& try_size_;
  int64_t largest_ = 1;
  std::map<int64_t, OverMemoryLimit> errors_;  // by size
};

}  // namespace

LargestSize largest_size(const std::function<void(int64_t size)>& try_size) { return Search(try_size).run(); }

}  // namespace ingot
