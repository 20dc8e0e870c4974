// The ingot command line tool.
#include <unistd.h>

#include <new>
#include <string_view>

#include "aot/codegen/without_memory.h"
#include "apps/ingot/command_line/command_line.h"

namespace {

[[noreturn]] void end_without_memory() {
  constexpr std::string_view kText = "error: out of memory\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kText.data(), kText.size());
  _exit(ingot::kUserError);
}

// The first code that runs: libraries allocate while they are loaded, where nobody could catch that they cannot.
// run_command_line takes over.
[[gnu::section(".preinit_array"), gnu::used]] void (*const handle_new)() = [] {
  std::set_new_handler(end_without_memory);
  ingot::codegen::end_llvm_without_memory();
};

}  // namespace

int main(int argc, char** argv) {
  const std::vector<ingot::Command> commands = ingot::all_commands();
  return ingot::run_command_line(commands, argc, argv);
}
