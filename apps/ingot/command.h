// The subcommands of the ingot tool: each adds itself to the command line and runs when it was named.
#pragma once

#include <CLI/CLI.hpp>

namespace ingot {

void add_compile_command(CLI::App& app);
void add_inspect_command(CLI::App& app);
void add_run_command(CLI::App& app);
void add_train_command(CLI::App& app);
void add_check_command(CLI::App& app);
void add_bench_command(CLI::App& app);
void add_opt_command(CLI::App& app);

// Exit codes: what went wrong, for scripts.
enum ExitCode : int { kSuccess = 0, kUserError = 1, kUsageError = 2, kInternalError = 70 };

}  // namespace ingot
