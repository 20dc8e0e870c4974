#include "apps/ingot/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace ingot {

using std::chrono::duration;
using std::chrono::steady_clock;

Progress::Progress(std::string what, int64_t total)
    : what_(std::move(what)),
      total_(total),
      is_terminal_(isatty(STDERR_FILENO) != 0),
      start_(steady_clock::now()),
      last_(start_) {}

Progress::~Progress() {
  if (drawn_) fmt::print(stderr, "\r\033[K");
}

void Progress::at(int64_t done, const std::string& note) {
  const auto now = steady_clock::now();
  if (!is_terminal_ || now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  drawn_ = true;
  const double seconds = duration<double>(now - start_).count();
  const std::string share = total_ > 0 ? fmt::format("{}/{}", done, total_) : fmt::format("{}", done);
  fmt::print(stderr, "\r\033[K{} {} ({:.1f} s) {}", what_, share, seconds, note);
  std::fflush(stderr);
}

}  // namespace ingot
