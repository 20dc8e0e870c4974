// StableHLO's own programs that check themselves, compiled and run by the tool. Whatever does not pass has a reason
// here. tests/tool/conformance.txt tells how many programs that use an op pass, and where docs/ops.md has it from.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "aot/graph/text/parse.h"
#include "aot/ops/support/build.h"
#include "tests/support/file_text.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

// What may stay unsupported: part of the message.
constexpr const char* kLimits[] = {
    "interpreter.run_parallel runs several processes",
    "stablehlo.infeed reads from the host",
    "stablehlo.outfeed writes to the host",
    "stablehlo.send sends to another process",
    "check.expect_serialized_eq: what a loop's iterations show to probe",
};

// Programs whose expected values are further from the exact ones than they allow. Their first lines say that
// StableHLO's own interpreter does not run them, as inaccurate or unsupported.
constexpr const char* kInexact[] = {
    "fft_complex64_14_15_16_17.mlir",                      // 3 ulp of sums that cancel are allowed
    "pow_complex64_20_30_complex64_20_30.mlir",            // up to 23 ulp of the numbers; 1e-3 of 300,000 is allowed
    "triangular_solve_float32_2_8_8_float32_2_10_8.mlir",  // up to 40 ulp from the exact solution, where 3 are allowed
};

template <size_t n>
bool has_any(const std::string& text, const char* const (&parts)[n]) {
  for (const char* part : parts) {
    if (text.find(part) != text.npos) return true;
  }
  return false;
}

void collect_ops(const Block& block, std::set<std::string>& names) {
  for (const auto& op : block.ops) {
    if (!op->def->is_terminator) names.insert(std::string(op->name()));
    for (const auto& region : op->regions) collect_ops(*region, names);
  }
}

// The programs of a folder that pass, by the ops that they use; those that do not and should fail the test.
class Folder {
 public:
  explicit Folder(const std::string& name)
      : path_(fs::path(INGOT_SHARED_DIR) / "conformance/stablehlo" / name),
        output_(testing::TempDir() + "conformance.txt") {}
  ~Folder() { fs::remove(output_); }

  bool exists() const { return fs::exists(path_); }

  void run(std::map<std::string, int>& passed_by_op) {
    const std::string command = INGOT_TOOL " check --threads 2 '" + path_.string() + "' >" + output_ + " 2>/dev/null";
    const int status = std::system(command.c_str());
    ASSERT_TRUE(status == 0 || WEXITSTATUS(status) == 1) << command;
    std::ifstream lines(output_);
    int passed = 0;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("FAILED ")) {
        EXPECT_TRUE(has_any(line, kInexact)) << line;
      }
      if (line.starts_with("unsupported ")) {
        EXPECT_TRUE(has_any(line, kLimits)) << line;
      }
      if (!line.starts_with("passed ")) continue;
      ++passed;
      std::istringstream words(line);
      std::string word, file, function;
      words >> word >> file >> function;
      ASSERT_FALSE(function.empty()) << "the tool stopped at " << line;
      for (const std::string& op : ops_of(file, function.substr(1))) ++passed_by_op[op];
    }
    EXPECT_GT(passed, 0);
  }

 private:
  std::set<std::string> ops_of(const std::string& file, const std::string& function) {
    if (file != file_) {
      file_ = file;
      parts_ = parse_split_parts(file_text(file), file, all_ops());
    }
    std::set<std::string> names;
    for (const ParsedPart& part : parts_) {
      const Function* found = part.module ? part.module->find(function) : nullptr;
      if (found) collect_ops(found->body, names);
    }
    return names;
  }

  fs::path path_;
  std::string output_, file_;
  std::vector<ParsedPart> parts_;  // of file_
};

TEST(Conformance, ProgramsThatCheckThemselvesPass) {
  std::map<std::string, int> passed_by_op;
  for (const char* name : {"testdata", "testdata/quantized", "tests/interpret", "tests/math"}) {
    Folder folder(name);
    if (!folder.exists()) GTEST_SKIP() << "../shared/conformance is absent";
    folder.run(passed_by_op);
  }
  const fs::path path = fs::path(INGOT_SOURCE_DIR) / "tests/tool/conformance.txt";
  if (std::getenv("INGOT_BLESS")) {
    std::ofstream file(path);
    for (const auto& [op, count] : passed_by_op) file << op << ' ' << count << '\n';
  }
  std::ifstream known(path);
  std::string op;
  for (int count = 0; known >> op >> count;) {
    EXPECT_GE(passed_by_op[op], count) << op << "; if that is right, run with INGOT_BLESS=1, and ops_doc_test, too";
  }
}

}  // namespace
}  // namespace ingot
