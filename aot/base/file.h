// Files, read whole and written whole.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

// The contents of a file. Throws an Error that names the path and the system's reason.
std::string read_text(const std::string& path);              // or of a pipe, which is waited for
std::vector<std::byte> read_bytes(const std::string& path);  // pipes are refused

// A file that appears whole or not at all: it is written beside `path`, and commit puts it there. Without commit
// nothing stays. What is replaced keeps its permissions, and a link stays one. A device or a pipe (/dev/null) is written
// as it is.
// Failures are Errors with the path and the system's reason.
class WholeFile {
 public:
  explicit WholeFile(std::string path);  // fails where nothing can be written: before hours of work, not after
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  void commit();  // syncs, then renames over `path`

 private:
  void open_aside();
  [[noreturn]] void fail(const std::string& what) const;

  std::string path_, aside_;
  int descriptor_ = -1;
};

void write_file(const std::string& path, std::string_view text);

}  // namespace ingot
