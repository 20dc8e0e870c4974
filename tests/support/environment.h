// How much a test does, as the environment says.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace ingot {

inline int64_t number_from_environment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoll(text) : otherwise;
}

}  // namespace ingot
