// A program of the tests of several files: its arguments name the files whose tests are run, else all are.
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>

namespace {

// The file of each suite, by their names. Throws where a suite stands in two files.
std::map<std::string, std::string> files_of_suites() {
  std::map<std::string, std::string> files;
  const testing::UnitTest& program = *testing::UnitTest::GetInstance();
  for (int s = 0; s < program.total_test_suite_count(); ++s) {
    const testing::TestSuite& suite = *program.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const std::string file = std::filesystem::path(suite.GetTestInfo(t)->file()).stem();
      const std::string& first = files.emplace(suite.name(), file).first->second;
      if (file != first)
        throw std::runtime_error("tests of " + std::string(suite.name()) + " stand in " + first + " and in " + file);
    }
  }
  return files;
}

// A filter of the suites that stand in a file.
std::string filter_of(const std::string& file, const std::map<std::string, std::string>& files) {
  std::string filter;
  for (const auto& [suite, its_file] : files) {
    if (its_file == file) filter += suite + ".*:";
  }
  if (filter.empty()) throw std::runtime_error("no tests stand in " + file);
  return filter;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  try {
    const std::map<std::string, std::string> files = files_of_suites();
    std::string filter;
    for (int i = 1; i < argc; ++i) filter += filter_of(argv[i], files);
    if (!filter.empty() && testing::GTEST_FLAG(filter) != "*")
      throw std::runtime_error("files are named, and --gtest_filter: which tests are meant? Leave one away");
    if (!filter.empty()) testing::GTEST_FLAG(filter) = filter;
  } catch (const std::exception& error) {
    std::cerr << argv[0] << ": " << error.what() << std::endl;
    return EXIT_FAILURE;
  }
  return RUN_ALL_TESTS();
}
