// The ingot command line tool.
#include "apps/ingot/command_line.h"

int main(int argc, char** argv) {
  const std::vector<ingot::Command> commands = ingot::all_commands();
  return ingot::run_command_line(commands, argc, argv);
}
