// Tables of the documentation, which tests hold true.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/file_text.h"

namespace ingot {

// Numbers by the first cell of their row, without what marks it as code. They may have commas, and text behind them; a cell
// that begins with none is 0.
class DocumentedTable {
 public:
  // The first table of a file in docs/ from where `start` is.
  DocumentedTable(const std::string& file, const std::string& start) : name_(file + ", " + start) {
    const std::string text = file_text(std::string(INGOT_SOURCE_DIR "/docs/") + file);
    std::istringstream lines(text.substr(std::min(text.find(start), text.size())));
    bool is_inside = false;
    for (std::string line; std::getline(lines, line);) {
      if (is_inside && !line.starts_with('|')) break;
      is_inside |= line.starts_with('|');
      if (is_inside) add(line);
    }
  }

  // `column` counts those behind the first. Numbers may be apart by `tolerance`.
  void expect(const std::string& row, size_t column, double actual, double tolerance) const {
    const auto found = rows_.find(row);
    if (found == rows_.end() || found->second.size() <= column) {
      ADD_FAILURE() << name_ << " has no number of '" << row << "' in column " << column + 1 << ": " << actual;
      return;
    }
    EXPECT_NEAR(found->second[column], actual, tolerance) << name_ << ": " << row << ", column " << column + 1;
  }

  // Bytes of code change with each compiler, a little.
  void expect_bytes(const std::string& row, size_t column, int64_t actual) const {
    expect(row, column, static_cast<double>(actual), 0.02 * static_cast<double>(actual));
  }

 private:
  void add(std::string line) {
    std::erase(line, ',');
    std::erase(line, '`');
    std::istringstream cells(line.substr(1));
    std::string name, cell;
    std::getline(cells, name, '|');
    const size_t first = name.find_first_not_of(' ');
    if (first == name.npos) return;
    std::vector<double>& numbers = rows_[name.substr(first, name.find_last_not_of(' ') - first + 1)];
    while (std::getline(cells, cell, '|')) numbers.push_back(std::strtod(cell.c_str(), nullptr));
  }

  std::string name_;
  std::map<std::string, std::vector<double>> rows_;
};

}  // namespace ingot
