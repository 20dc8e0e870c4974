// What a call says is wrong.
#pragma once

#include <string>

#include "aot/base/error.h"

namespace ingot {

// The text of the Error that `function` throws; "" where it throws none.
template <typename F>
std::string error_of(const F& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace ingot
