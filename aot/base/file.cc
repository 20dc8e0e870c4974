#include "aot/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

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

// While it lives, what asks a process to end is put off, as far as this thread would take it.
class SignalsWait {
 public:
  SignalsWait() {
    sigset_t waiting;
    sigemptyset(&waiting);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&waiting, signal);
    pthread_sigmask(SIG_BLOCK, &waiting, &before_);
  }
  ~SignalsWait() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;

 private:
  sigset_t before_;
};

// Tries names beside `path` until `take` gets one that nothing has: what others left or planted there stays as it is.
// "" where it gets none.
template <typename Take>
std::string aside_of(const std::string& path, const Take& take) {
  for (int attempt = 0;; ++attempt) {
    std::string name = fmt::format("{}.tmp{}.{}", path, getpid(), attempt);
    if (take(name)) return name;
    if (errno != EEXIST) return "";
  }
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
    if (!open_nameless()) open_aside();
    struct stat old;
    if (descriptor_ >= 0 && stat(path_.c_str(), &old) == 0) fchmod(descriptor_, old.st_mode & 0777);
  }
  if (descriptor_ < 0) fail("write");
}

bool WholeFile::open_nameless() {
  if (access("/proc/self/fd", X_OK) != 0) return false;
  const std::string folder = std::filesystem::path(path_).parent_path().string();
  descriptor_ = open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  is_nameless_ = descriptor_ >= 0;
  return is_nameless_;
}

void WholeFile::open_aside() {
  aside_ = aside_of(path_, [&](const std::string& name) {
    descriptor_ = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return descriptor_ >= 0;
  });
}

bool WholeFile::link_as(const std::string& path) {
  const std::string self = fmt::format("/proc/self/fd/{}", descriptor_);
  return linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

// Only a rename can replace a file, and takes a name.
void WholeFile::name_aside() {
  aside_ = aside_of(path_, [&](const std::string& name) { return link_as(name); });
  if (aside_.empty()) fail("write");
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
  if (aside_.empty() && !is_nameless_) return;
  if (fsync(descriptor_) != 0) fail("sync");
  const SignalsWait until_renamed;
  if (std::exchange(is_nameless_, false)) {
    if (link_as(path_)) return;
    name_aside();
  }
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
