#include "tests/support/golden_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/support/file_text.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHeading = "// ---- ";

// The lines that differ, with the first and last common ones left out.
std::string diff(const std::string& expected, const std::string& actual) {
  const auto lines = [](const std::string& text) {
    std::vector<std::string> result;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) result.push_back(line);
    return result;
  };
  std::vector<std::string> a = lines(expected), b = lines(actual);
  size_t first = 0;
  while (first < a.size() && first < b.size() && a[first] == b[first]) ++first;
  while (a.size() > first && b.size() > first && a.back() == b.back()) a.pop_back(), b.pop_back();
  std::string text;
  for (size_t i = first; i < a.size(); ++i) text += "- " + a[i] + "\n";
  for (size_t i = first; i < b.size(); ++i) text += "+ " + b[i] + "\n";
  return text;
}

}  // namespace

GoldenFile::GoldenFile(fs::path path) : path_(std::move(path)) {
  const std::string text = file_text(path_);
  const size_t at = std::min(text.find(kHeading), text.size());
  input_ = text.substr(0, at);
  expected_ = text.substr(at);
}

void GoldenFile::expect(const Outputs& outputs) const {
  std::string actual;
  for (const auto& [name, text] : outputs) actual += std::string(kHeading) + name + "\n" + text;
  if (std::getenv("INGOT_BLESS")) {
    std::ofstream(path_) << input_ << actual;
  } else {
    EXPECT_TRUE(actual == expected_) << path_ << "\n"
                                     << diff(expected_, actual) << "To accept: run this test with INGOT_BLESS=1";
  }
}

std::vector<fs::path> golden_files(const fs::path& folder, const std::string& extension) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == extension) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace ingot
