// What a text meets on its way to kernels, for tests that throw anything at it.
#pragma once

#include <string>
#include <string_view>

namespace ingot {

enum class Verdict { kRefused, kParsed, kLowered };

// Parses, imports, prints, parses what was printed, runs every pass and lowers every kernel. A text is refused by an
// Error of the user's or a limit, at a place of the text where parsing refuses it. Anything else is a bug and thrown as
// std::logic_error: errors of kind bug, other exceptions, another text after printing and parsing. `message`, where
// given, receives what the refusal says.
Verdict try_text(std::string_view text, std::string* message = nullptr);

}  // namespace ingot
