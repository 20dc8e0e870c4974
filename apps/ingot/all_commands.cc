#include "apps/ingot/command.h"

namespace ingot {

std::vector<Command> all_commands() {
  return {compile_command(), inspect_command(),   run_command(),    train_command(),  bench_command(),
          check_command(),   opt_command(),       import_command(), export_command(), quantize_command(),
          keygen_command(),  sign_command(),      verify_command(), header_command(), help_command(),
          manual_command(),  completion_command()};
}

}  // namespace ingot
