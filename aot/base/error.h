// What goes wrong in the compiler, in three kinds that are worded differently.
//   kError  the user's program or command is wrong; the message names the thing, the place and the fix
//   kLimit  the program is right but not supported yet; the message says what is
//   kBug    ours: an invariant failed
#pragma once

#include <stdexcept>
#include <string>

#include "aot/base/location.h"

namespace ingot {

enum class ErrorKind : uint8_t { kError, kLimit, kBug };

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, Location location, const std::string& message);

  ErrorKind kind() const { return kind_; }
  const Location& location() const { return location_; }
  const std::string& message() const { return message_; }  // what() also has the place and the kind

 private:
  ErrorKind kind_;
  Location location_;
  std::string message_;
};

[[noreturn]] void throw_error(const Location& location, const std::string& message);
[[noreturn]] void throw_limit(const Location& location, const std::string& message);
[[noreturn]] void throw_bug(const std::string& message);

}  // namespace ingot

// Checks an invariant of ours in every build; a failure is a kBug error that names the condition.
#define INGOT_CHECK(condition)                                                                                    \
  do {                                                                                                            \
    if (!(condition)) ::ingot::throw_bug(std::string(__FILE__ ":") + std::to_string(__LINE__) + ": " #condition); \
  } while (false)
