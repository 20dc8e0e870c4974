// ingot help, manual and completion: the command line about itself.
#include <fmt/format.h>

#include "aot/base/error.h"
#include "apps/ingot/command.h"
#include "apps/ingot/command_line/command_line.h"
#include "apps/ingot/command_line/manual.h"
#include "apps/ingot/terminal/names.h"

namespace ingot {
namespace {

void show_help(const std::string& name) {
  const std::vector<Command> commands = all_commands();
  std::vector<std::string> names;
  for (const Command& command : commands) names.push_back(command.name);
  if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) {
    throw_error(nullptr, fmt::format("there is no command '{}'{}", name, suggestion(names, name)));
  }
  const char* all[] = {"ingot", "--help"};
  const char* one[] = {"ingot", name.c_str(), "--help"};
  name.empty() ? run_command_line(commands, 2, all) : run_command_line(commands, 3, one);
}

}  // namespace

Command help_command() {
  auto name = std::make_shared<std::string>();
  return {
      .name = "help",
      .help = "Explain a command",
      .examples = "  ingot help\n  ingot help train",
      .options = {{"command", name.get(), "the command (default: all of them, in a line each)"}},
      .run = [name] { show_help(*name); },
  };
}

Command manual_command() {
  auto format = std::make_shared<std::string>("man");
  return {
      .name = "manual",
      .help = "Print the manual: every command with its options",
      .examples = "  ingot manual | man -l -\n  ingot manual --format markdown",
      .options = {{"--format", format.get(), "man: for man(1); markdown", {.choices = {"man", "markdown"}}}},
      .run =
          [format] {
            const std::vector<Command> commands = all_commands();
            fmt::print("{}", *format == "man" ? manual_page(commands) : manual_markdown(commands));
          },
  };
}

Command completion_command() {
  auto shell = std::make_shared<std::string>();
  return {
      .name = "completion",
      .help = "Print a script that completes commands and options in a shell",
      .examples =
          "  ingot completion bash > ~/.local/share/bash-completion/completions/ingot\n"
          "  ingot completion zsh > /usr/local/share/zsh/site-functions/_ingot\n"
          "  ingot completion fish > ~/.config/fish/completions/ingot.fish",
      .options = {{"shell", shell.get(), "bash, zsh or fish", {.required = true, .choices = {"bash", "zsh", "fish"}}}},
      .run = [shell] { fmt::print("{}", completion_script(all_commands(), *shell)); },
  };
}

}  // namespace ingot
