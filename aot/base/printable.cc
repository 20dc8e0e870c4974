#include "aot/base/printable.h"

#include <algorithm>

#include "schema/text.h"

namespace ingot {

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t bytes = ingot_character_bytes(text.data(), text.size());
    if (bytes > 0) {
      out += text.substr(0, bytes);
    } else {
      out += text[0] == '\n' || text[0] == '\t' ? text[0] : '?';
    }
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return out;
}

}  // namespace ingot
