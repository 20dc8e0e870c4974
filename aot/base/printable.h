// Text from files of anyone, on its way to a terminal.
#pragma once

#include <string>
#include <string_view>

namespace ingot {

// The text with '?' for what is no UTF-8 or a control character; lines and tabs stay.
std::string printable(std::string_view text);

}  // namespace ingot
