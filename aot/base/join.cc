#include "aot/base/join.h"

namespace ingot {
namespace {

template <typename Item, typename Print>
std::string join(std::span<const Item> items, std::string_view separator, Print print) {
  std::string text;
  for (const Item& item : items) {
    if (&item != items.data()) text += separator;
    text += print(item);
  }
  return text;
}

}  // namespace

std::string join(std::span<const std::string> items, std::string_view separator) {
  return join(items, separator, [](const std::string& item) -> const std::string& { return item; });
}

std::string join(std::span<const int64_t> items, std::string_view separator) {
  return join(items, separator, [](int64_t item) { return std::to_string(item); });
}

std::string join(std::span<const uint64_t> items, std::string_view separator) {
  return join(items, separator, [](uint64_t item) { return std::to_string(item); });
}

}  // namespace ingot
