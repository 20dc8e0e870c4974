#include "aot/base/error.h"

namespace ingot {
namespace {

std::string whole_text(ErrorKind kind, const Location& location, const std::string& message) {
  static constexpr const char* kKinds[] = {"error", "limit", "bug"};
  const std::string place = describe(location);
  return (place.empty() ? "" : place + ": ") + kKinds[static_cast<int>(kind)] + ": " + message;
}

}  // namespace

Error::Error(ErrorKind kind, Location location, const std::string& message)
    : std::runtime_error(whole_text(kind, location, message)),
      kind_(kind),
      location_(std::move(location)),
      message_(message) {}

void throw_error(const Location& location, const std::string& message) {
  throw Error(ErrorKind::kError, location, message);
}
void throw_limit(const Location& location, const std::string& message) {
  throw Error(ErrorKind::kLimit, location, message);
}
void throw_bug(const std::string& message) { throw Error(ErrorKind::kBug, nullptr, message); }

}  // namespace ingot
