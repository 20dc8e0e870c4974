// Lists in messages. (fmt::join does the same, and half a second of templates in every file that uses it.)
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ingot {

std::string join(std::span<const std::string> items, std::string_view separator);
std::string join(std::span<const int64_t> items, std::string_view separator);
std::string join(std::span<const uint64_t> items, std::string_view separator);

}  // namespace ingot
