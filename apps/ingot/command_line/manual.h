// The table of commands as documents: it is the only description of the command line.
#pragma once

#include <span>
#include <string>

#include "apps/ingot/command.h"

namespace ingot {

std::string manual_page(std::span<const Command> commands);      // for man(1): roff
std::string manual_markdown(std::span<const Command> commands);  // docs/command_line.md

// A script that completes commands, options and choices in a shell: "bash", "zsh" or "fish".
std::string completion_script(std::span<const Command> commands, const std::string& shell);

}  // namespace ingot
