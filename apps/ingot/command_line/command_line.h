// Reads a command line by a table of commands, and runs the one that it names.
#pragma once

#include <span>

#include "apps/ingot/command.h"

namespace ingot {

// What went wrong, for scripts. kSignal and the number of a signal: that ended it in good order.
enum ExitCode : int { kSuccess = 0, kUserError = 1, kUsageError = 2, kInternalError = 70, kSignal = 128 };

// Runs `ingot ARGUMENTS...`; says on standard error what fails. Gives the process's exit code.
int run_command_line(std::span<const Command> commands, int argc, const char* const* argv);

// Whether the arguments can be read. What is wrong with them is said on standard error; nothing is run.
bool is_command_line(std::span<const Command> commands, int argc, const char* const* argv);

}  // namespace ingot
