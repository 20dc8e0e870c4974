// The project's own source files, as text, for tests of how they are written.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace ingot {

struct SourceFile {
  std::string path;  // from the repository root
  std::vector<std::string> lines;
};

inline SourceFile read_source(const std::filesystem::path& root, const std::string& path) {
  SourceFile file{path, {}};
  std::ifstream in(root / path);
  for (std::string line; std::getline(in, line);) file.lines.push_back(line);
  return file;
}

// Those of C and C++ below some folders, ordered by path.
inline std::vector<SourceFile> read_sources(const std::filesystem::path& root,
                                            const std::vector<std::string>& folders) {
  static const std::vector<std::string> kExtensions = {".h", ".hpp", ".c", ".cc", ".cpp", ".def"};
  std::vector<std::string> paths;
  for (const std::string& folder : folders) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      if (std::ranges::find(kExtensions, entry.path().extension().string()) == kExtensions.end()) continue;
      paths.push_back(std::filesystem::relative(entry.path(), root));
    }
  }
  std::ranges::sort(paths);
  std::vector<SourceFile> files;
  for (const std::string& path : paths) files.push_back(read_source(root, path));
  return files;
}

}  // namespace ingot
