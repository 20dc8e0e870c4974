// One line on the terminal that says how far a long piece of work is. Silent when standard error is not a terminal.
#pragma once

#include <chrono>
#include <string>

namespace ingot {

class Progress {
 public:
  // `total` 0: unknown.
  Progress(std::string what, int64_t total);
  ~Progress();
  void at(int64_t done, const std::string& note = "");  // redraws at most ten times a second

 private:
  std::string what_;
  int64_t total_;
  bool is_terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point start_, last_;
};

}  // namespace ingot
