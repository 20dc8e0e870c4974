#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "aot/base/error.h"
#include "aot/bundle/bundle.h"

namespace ingot::bundle {
namespace {

// An open file that is closed, and unless kept also removed, at the end of the scope.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::filesystem::path path)
      : path_(std::move(path)), descriptor_(open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) fail("cannot create");
  }
  ~TemporaryFile() {
    if (descriptor_ >= 0) close(descriptor_);
    if (!kept_) unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(const std::vector<std::byte>& bytes) {
    for (size_t done = 0; done < bytes.size();) {
      const ssize_t count = ::write(descriptor_, bytes.data() + done, bytes.size() - done);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("cannot write");
      done += static_cast<size_t>(count);
    }
    if (fsync(descriptor_) != 0) fail("cannot sync");
  }

  void rename_to(const std::filesystem::path& path) {
    if (rename(path_.c_str(), path.c_str()) != 0) fail("cannot rename to " + path.string() + " the file");
    kept_ = true;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    const std::string reason = std::strerror(errno);
    throw_error({}, what + " " + path_.string() + ": " + reason);
  }

  std::filesystem::path path_;
  int descriptor_;
  bool kept_ = false;
};

}  // namespace

void write_bundle_file(const BundleSpec& spec, const std::filesystem::path& path) {
  const std::vector<std::byte> bytes = write_bundle(spec);
  TemporaryFile file(path.string() + ".tmp" + std::to_string(getpid()));
  file.write(bytes);
  file.rename_to(path);
}

}  // namespace ingot::bundle
