// The ingot tool as its user meets it: a process in a folder, with programs and data that the test writes.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "aot/base/file.h"
#include "aot/base/safetensors.h"
#include "apps/ingot/command_line/command_line.h"
#include "gtest/gtest.h"
#include "tests/support/temporary_folder.h"

namespace ingot {

extern const char* const kTrainStep;  // linear regression by gradient descent; the state is w
extern const char* const kPredict;    // the same w
extern const char* const kCheck;

struct Outcome {
  int exit_code;  // 128 more than the signal's number where one ended it
  std::string output, errors;
};

// A folder with these as step.mlir, predict.mlir and check.mlir; data.safetensors, five batches that weights of 1, 2, 3
// and 4 fit; and first.safetensors, where w is zero.
class CliTest : public testing::Test {
 protected:
  CliTest();

  std::string path(const std::string& name) const { return folder_.file(name); }
  void write(const std::string& name, const std::string& text) const { write_file(path(name), text); }

  // Runs `ingot ARGUMENTS` in the folder, by the shell.
  Outcome ingot(const std::string& arguments) const;

  // The same, which must succeed; its output.
  std::string done(const std::string& arguments) const;

  // The same, which must fail as the user's mistake; what it says.
  std::string refused(const std::string& arguments) const;

  void compile_both() const { done("compile train_step=step.mlir predict.mlir -o net.ingot"); }
  std::set<std::string> files() const;
  std::vector<float> weights(const std::string& state) const;  // w in a file

  static SafeTensor tensor(std::vector<int64_t> shape, const std::vector<float>& values);

  const TemporaryFolder folder_;
};

}  // namespace ingot
