// What is in a file, byte for byte; empty where there is none.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace ingot {

inline std::string file_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace ingot
