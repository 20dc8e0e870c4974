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

// A file that appears whole or not at all: it is written without a name, where the file system can do that, else beside
// `path`, and commit puts it there. Without commit nothing stays; where it has no name, not even of a process that is
// killed. What is replaced keeps its permissions, and a link stays one. A device or a pipe (/dev/null) is written as it
// is. Failures are Errors with the path and the system's reason.
class WholeFile {
 public:
  explicit WholeFile(std::string path);  // fails where nothing can be written: before hours of work, not after
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  void commit();  // syncs, then puts it in the place of what `path` names

 private:
  bool open_nameless();
  void open_aside();
  bool link_as(const std::string& path);
  void name_aside();
  [[noreturn]] void fail(const std::string& what) const;

  std::string path_, aside_;  // aside_: the name that it has until it is whole; may be none
  int descriptor_ = -1;
  bool is_nameless_ = false;
};

void write_file(const std::string& path, std::string_view text);

}  // namespace ingot
