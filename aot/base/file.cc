#include "aot/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "aot/base/error.h"

namespace ingot {
namespace {

template <typename Bytes>
Bytes read_file(const std::string& path) {
  std::error_code ignored;
  errno = EISDIR;
  std::ifstream in;
  if (!std::filesystem::is_directory(path, ignored)) in.open(path, std::ios::binary);
  if (!in.is_open()) {
    throw_error(nullptr, fmt::format("cannot read {}: {}; is the path right?", path, std::strerror(errno)));
  }
  constexpr size_t kChunkBytes = 1 << 16;
  Bytes bytes;
  while (in) {
    const size_t at = bytes.size();
    bytes.resize(at + kChunkBytes);
    in.read(reinterpret_cast<char*>(bytes.data()) + at, kChunkBytes);
    bytes.resize(at + static_cast<size_t>(in.gcount()));
  }
  return bytes;
}

}  // namespace

std::string read_text(const std::string& path) { return read_file<std::string>(path); }

std::vector<std::byte> read_bytes(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_fifo(path, ignored)) {
    throw_error(nullptr, fmt::format("cannot read {}: it is a pipe; write what comes through it to a file", path));
  }
  return read_file<std::vector<std::byte>>(path);
}

WholeFile::WholeFile(std::string path) : path_(std::move(path)) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path_, ignored)) {
    errno = EISDIR;
    fail("write");
  }
  const bool is_stream = std::filesystem::exists(path_, ignored) && !std::filesystem::is_regular_file(path_, ignored);
  if (is_stream) {
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    const std::filesystem::path target = std::filesystem::canonical(path_, ignored);  // empty for a new file
    if (!target.empty()) path_ = target.string();                                     // a link stays a link
    open_aside();
  }
  if (descriptor_ < 0) fail("write");
}

void WholeFile::open_aside() {
  struct stat old;
  const bool replaces = stat(path_.c_str(), &old) == 0;
  const mode_t mode = replaces ? old.st_mode & 0777 : 0666;
  int attempt = 0;
  do {  // a name that nothing has: what others left or planted there stays as it is
    aside_ = fmt::format("{}.tmp{}.{}", path_, getpid(), attempt++);
    descriptor_ = open(aside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) {
    aside_.clear();
  } else if (replaces) {
    fchmod(descriptor_, mode);
  }
}

WholeFile::~WholeFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!aside_.empty()) unlink(aside_.c_str());
}

void WholeFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) errno = EIO;
    if (count <= 0) fail("write");
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
}

void WholeFile::commit() {
  if (aside_.empty()) return;
  if (fsync(descriptor_) != 0) fail("sync");
  if (rename(aside_.c_str(), path_.c_str()) != 0) fail("write");
  aside_.clear();
}

void WholeFile::fail(const std::string& what) const {
  const std::string reason = std::strerror(errno);
  throw_error(nullptr,
              fmt::format("cannot {} {}: {}; does its folder exist, and may you write there?", what, path_, reason));
}

void write_file(const std::string& path, std::string_view text) {
  WholeFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace ingot
