#include "aot/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
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
  constexpr size_t kChunkBytes = 1 << 20;
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
std::vector<std::byte> read_bytes(const std::string& path) { return read_file<std::vector<std::byte>>(path); }

WholeFile::WholeFile(std::string path) : path_(std::move(path)) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path_, ignored)) {
    errno = EISDIR;
    fail("write");
  }
  const bool is_stream = std::filesystem::exists(path_, ignored) && !std::filesystem::is_regular_file(path_, ignored);
  if (!is_stream) {
    const std::filesystem::path target = std::filesystem::canonical(path_, ignored);  // empty for a new file
    if (!target.empty()) path_ = target.string();                                     // a link stays a link
    aside_ = fmt::format("{}.tmp{}", path_, getpid());
  }
  const std::string& written = is_stream ? path_ : aside_;
  descriptor_ = open(written.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail("write");
}

WholeFile::~WholeFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!aside_.empty()) unlink(aside_.c_str());
}

void WholeFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("write");
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
