// One line on the terminal that says how far a long piece of work is, once it takes more than a second. Silent when
// standard error is not a terminal.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace ingot {

class Progress {
 public:
  // `what` is counted up to `total`; 0: nothing is counted, only notes and the time are shown.
  explicit Progress(std::string what = "", int64_t total = 0);
  ~Progress();  // wipes the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  bool is_shown() const { return ticker_.joinable(); }  // else what at() is told is lost
  void at(int64_t done, const std::string& note = "");

 private:
  void draw(std::chrono::duration<double> elapsed) const;

  std::string what_, note_;
  int64_t total_, done_ = 0;
  std::mutex mutex_;  // of note_ and done_
  std::condition_variable_any wake_;
  std::jthread ticker_;  // draws, ten times a second
};

}  // namespace ingot
