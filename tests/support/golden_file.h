// Golden files: an input, and what comes out of it, each text below its line `// ---- NAME`.
//
//   // run: cse, dce
//   func.func @main(...) ...
//   // ---- expect
//   ...
//
// INGOT_BLESS=1 writes what comes out into the files; read the diff before you commit it.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace ingot {

class GoldenFile {
 public:
  explicit GoldenFile(std::filesystem::path path);

  const std::string& input() const { return input_; }

  // Fails where `outputs`, each with its name, are not what the file has below the input; or writes them there.
  using Outputs = std::vector<std::pair<std::string, std::string>>;
  void expect(const Outputs& outputs) const;

 private:
  std::filesystem::path path_;
  std::string input_;
  std::string expected_;
};

// The golden files of a folder and the folders in it, by name.
std::vector<std::filesystem::path> golden_files(const std::filesystem::path& folder, const std::string& extension);

}  // namespace ingot
