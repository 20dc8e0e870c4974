// StableHLO's own programs that check themselves, compiled and run by the tool. Whatever does not pass has a reason
// here.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace {

namespace fs = std::filesystem;

// What may stay unsupported: part of the message.
constexpr const char* kLimits[] = {
    "interpreter.run_parallel runs several processes",
    "stablehlo.infeed reads from the host",
    "stablehlo.outfeed writes to the host",
    "stablehlo.send sends to another process",
    "check.expect_serialized_eq: what a loop's rounds show to probe",
    "type tensor<",  // complex numbers and floats of 8 bits and less
    "op stablehlo.complex",
    "op stablehlo.real",
    "op stablehlo.imag",
    "op stablehlo.fft",
    "op stablehlo.uniform_quantize",
    "type !quant",
};

// Programs whose expected values are wrong.
constexpr const char* kInexact[] = {
    "triangular_solve_float32_2_8_8_float32_2_10_8.mlir",  // up to 40 ulp from the exact solution, where 3 are allowed
};

template <size_t n>
bool has_any(const std::string& text, const char* const (&parts)[n]) {
  for (const char* part : parts) {
    if (text.find(part) != text.npos) return true;
  }
  return false;
}

void run_folder(const std::string& name) {
  const fs::path folder = fs::path(INGOT_SHARED_DIR) / "conformance/stablehlo" / name;
  if (!fs::exists(folder)) GTEST_SKIP() << folder << " is absent";
  const std::string output = testing::TempDir() + "conformance.txt";
  const std::string command = INGOT_TOOL " check --threads 2 '" + folder.string() + "' >" + output + " 2>&1";
  const int status = std::system(command.c_str());
  ASSERT_TRUE(status == 0 || WEXITSTATUS(status) == 1) << command;
  std::ifstream lines(output);
  int passed = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("passed ")) ++passed;
    if (line.starts_with("FAILED ")) {
      EXPECT_TRUE(has_any(line, kInexact)) << line;
    }
    if (line.starts_with("unsupported ")) {
      EXPECT_TRUE(has_any(line, kLimits)) << line;
    }
  }
  EXPECT_GT(passed, 0);
  fs::remove(output);
}

TEST(Conformance, Testdata) { run_folder("testdata"); }
TEST(Conformance, Interpret) { run_folder("tests/interpret"); }
TEST(Conformance, Math) { run_folder("tests/math"); }

}  // namespace
