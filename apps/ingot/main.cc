// The ingot command line tool.
#include "apps/ingot/command_line.h"

int main(int argc, char** argv) {
  const ingot::Command commands[] = {ingot::compile_command(), ingot::inspect_command(), ingot::run_command(),
                                     ingot::train_command(),   ingot::bench_command(),   ingot::check_command(),
                                     ingot::opt_command(),     ingot::header_command()};
  return ingot::run_command_line(commands, argc, argv);
}
