// Completion in shells.
#include <fmt/format.h>

#include <sstream>

#include "aot/base/error.h"
#include "aot/base/join.h"
#include "apps/ingot/command_line/manual.h"

namespace ingot {
namespace {

// "-o,--output" is {"-o", "--output"}; of what is known by its place, nothing.
std::vector<std::string> dashed_names(const Option& option) {
  std::vector<std::string> names;
  std::istringstream all(option.names);
  for (std::string name; std::getline(all, name, ',');) {
    if (name.starts_with("-")) names.push_back(name);
  }
  return names;
}

std::vector<std::string> options_of(const Command& command) {
  std::vector<std::string> words = {"--help"};
  for (const Option& option : command.options) {
    for (const std::string& name : dashed_names(option)) words.push_back(name);
  }
  return words;
}

std::string words_of(std::span<const Command> commands) {
  std::vector<std::string> names;
  for (const Command& command : commands) names.push_back(command.name);
  return join(names, " ");
}

std::string bash(std::span<const Command> commands) {
  std::string options, choices;
  for (const Command& command : commands) {
    options += fmt::format("    {}) words=\"{}\" ;;\n", command.name, join(options_of(command), " "));
    for (const Option& option : command.options) {
      if (option.rules.choices.empty()) continue;
      const std::vector<std::string> names = dashed_names(option);
      if (!names.empty()) {
        choices += fmt::format("    \"{} {}\") words=\"{}\" ;;\n", command.name, names.back(),
                               join(option.rules.choices, " "));
      }
    }
  }
  return fmt::format(
      "# ingot's completion for bash, written by `ingot completion bash`.\n"
      "_ingot() {{\n"
      "  local word=\"${{COMP_WORDS[COMP_CWORD]}}\" before=\"${{COMP_WORDS[COMP_CWORD-1]}}\" words=\"\"\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"{}\" -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case \"${{COMP_WORDS[1]}} $before\" in\n{}  esac\n"
      "  if [ -z \"$words\" ] && [ \"${{word:0:1}}\" = - ]; then\n"
      "    case \"${{COMP_WORDS[1]}}\" in\n{}    esac\n"
      "  fi\n"
      "  if [ -n \"$words\" ]; then COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "  else COMPREPLY=($(compgen -f -- \"$word\")); fi\n"
      "}}\n"
      "complete -o filenames -F _ingot ingot\n",
      words_of(commands), choices, options);
}

std::string fish(std::span<const Command> commands) {
  std::string text = "# ingot's completion for fish, written by `ingot completion fish`.\n";
  const auto quoted = [](std::string help) {
    for (size_t at = 0; (at = help.find_first_of("'\\", at)) != help.npos; at += 2) help.insert(at, "\\");
    return "'" + help + "'";
  };
  for (const Command& command : commands) {
    text += fmt::format("complete -c ingot -n __fish_use_subcommand -a {} -d {}\n", command.name, quoted(command.help));
    for (const Option& option : command.options) {
      for (const std::string& name : dashed_names(option)) {
        const bool is_long = name.starts_with("--");
        const std::string choices =
            option.rules.choices.empty() ? "" : " -xa " + quoted(join(option.rules.choices, " "));
        text += fmt::format("complete -c ingot -n '__fish_seen_subcommand_from {}' -{} {}{} -d {}\n", command.name,
                            is_long ? 'l' : 's', name.substr(is_long ? 2 : 1), choices, quoted(option.help));
      }
    }
  }
  return text;
}

}  // namespace

std::string completion_script(std::span<const Command> commands, const std::string& shell) {
  if (shell == "bash") return bash(commands);
  if (shell == "fish") return fish(commands);
  // zsh reads bash's. It loads the script as the function _ingot at the first completion, which is to be done, too.
  return "#compdef ingot\nautoload -U +X bashcompinit && bashcompinit\n" + bash(commands) +
         "if [ \"${funcstack[1]}\" = _ingot ]; then _bash_complete -o filenames -F _ingot; fi\n";
}

}  // namespace ingot
