// Names of a program's inputs, outputs and state, and how users refer to them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aot/base/location.h"

namespace ingot {

// A JAX key path as a dotted name: "state['opt'][0].mu['fc1']['b']" is "state.opt.0.mu.fc1.b". Nullopt when the text is
// none: a path starts with a word, or with a subscript, and goes on with .word, ['key'], ["key"], [3] or
// [<flat index 3>].
std::optional<std::string> dotted_name(std::string_view key_path);

// Without the first part: "result.loss" is "loss"; "" when there is only one.
std::string_view without_first(std::string_view dotted);

// The name in `names` that `query` means: the name itself, or the only one that ends in ".query". Throws an error that
// lists the candidates (the nearest names when there are none) and calls what is named `kind`, as in "input".
const std::string& resolve_suffix(const std::vector<std::string>& names, std::string_view query,
                                  std::string_view kind = "name", const Location& location = nullptr);

}  // namespace ingot
