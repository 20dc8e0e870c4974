// What a file is, by its first bytes: for a word of help where a file of another kind is given.
#pragma once

#include <string>

namespace ingot {

enum class Wanted { kProgram, kBundle, kTensors };

// Throws an Error that says what the file is and what to do, if it is known to be something else than what is wanted.
// What cannot be read, and what is no regular file, is left to whoever reads it.
void refuse_other_formats(const std::string& path, Wanted wanted);

}  // namespace ingot
