#include "apps/ingot/terminal/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace ingot {

using std::chrono::steady_clock;

Progress::Progress(std::string what, int64_t total) : what_(std::move(what)), total_(total) {
  if (isatty(STDERR_FILENO) == 0) return;
  ticker_ = std::jthread([this](const std::stop_token& stop) {
    const auto start = steady_clock::now();
    bool is_drawn = false;
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      wake_.wait_for(lock, stop, std::chrono::milliseconds(100), [] { return false; });
      const auto elapsed = steady_clock::now() - start;
      if (stop.stop_requested() || elapsed < std::chrono::seconds(1)) continue;
      draw(elapsed);
      is_drawn = true;
    }
    if (is_drawn) fmt::print(stderr, "\r\033[K");
  });
}

Progress::~Progress() = default;  // stops and joins the ticker

void Progress::at(int64_t done, const std::string& note) {
  if (!is_shown()) return;
  const std::lock_guard lock(mutex_);
  done_ = done;
  note_ = note;
}

void Progress::draw(std::chrono::duration<double> elapsed) const {
  constexpr size_t kColumns = 79;
  std::string line = fmt::format("{:.0f} s  {}", elapsed.count(), note_);
  if (total_ > 0) {
    const double rate = static_cast<double>(done_) / elapsed.count();
    line = fmt::format("{} {}/{}  {:.1f} {}s/s  {}", what_, done_, total_, rate, what_, note_);
  }
  fmt::print(stderr, "\r\033[K{}", line.substr(0, kColumns));
  std::fflush(stderr);
}

}  // namespace ingot
