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

// What `function` returns, or the text of the Error that it throws.
template <typename F>
std::string text_or_error(const F& function) {
  std::string text;
  const std::string error = error_of([&] { text = function(); });
  return error.empty() ? text : error;
}

}  // namespace ingot
