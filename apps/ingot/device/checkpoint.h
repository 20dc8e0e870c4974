// Where a training stands, saved with its state.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "apps/ingot/device/device.h"

namespace ingot {

// How often to save, besides at the end: "" never, "100" after so many steps, "30s" after so many seconds.
class SavePeriod {
 public:
  explicit SavePeriod(const std::string& text);
  bool is_due(int64_t step);  // after so many steps in all; asked once a step

 private:
  int64_t steps_ = 0;
  double seconds_ = 0;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// The file that a training saves its state in, and goes on from.
class Checkpoint {
 public:
  // Of a training by an entry point over `rows` steps of data. Without a path nothing is saved. Throws an Error where
  // the file could not be saved: before hours of work, not after.
  Checkpoint(Device& device, uint32_t entry, int64_t rows, const std::string& path);

  const std::string& path() const { return path_; }
  bool is_there() const;  // or the one before it is

  void save(int64_t step);  // after so many steps; does nothing where that is saved already

  // Loads the state; the number of steps before it. An Error if the data has other rows; a warning where another program
  // saved it.
  int64_t resume();

 private:
  Device& device_;
  std::string program_;
  int64_t rows_;
  std::string path_;
  int64_t saved_step_ = -1;
};

}  // namespace ingot
