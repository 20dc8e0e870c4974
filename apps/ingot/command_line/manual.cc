#include "apps/ingot/command_line/manual.h"

#include <fmt/format.h>

#include "aot/base/version.h"

namespace ingot {
namespace {

constexpr const char* kSummary = "ahead-of-time compiled machine learning that trains as well as infers";
constexpr const char* kExitCodes[][2] = {
    {"0", "all was done"},
    {"1", "a program, a bundle or data are wrong; what to do is said on standard error"},
    {"2", "the command line is wrong"},
    {"70", "a bug of ingot; a folder with what is needed to find it is left"},
    {"130, 143", "SIGINT or SIGTERM ended the work in good order"},
};

bool is_flag(const Option& option) { return std::holds_alternative<bool*>(option.setting); }
bool is_positional(const Option& option) { return !option.names.starts_with("-"); }

// "[ENTRY] [OPTION...]"
std::string usage(const Command& command) {
  std::string text = "ingot " + command.name;
  for (const Option& option : command.options) {
    if (!is_positional(option)) continue;
    const bool is_list = std::holds_alternative<std::vector<std::string>*>(option.setting);
    const std::string word = option.names + (is_list ? "..." : "");
    text += option.rules.required ? " " + word : " [" + word + "]";
  }
  return text + " [OPTION...]";
}

// "-o, --output VALUE"
std::string heading(const Option& option) {
  std::string text;
  for (const char c : option.names) text += c == ',' ? std::string(", ") : std::string(1, c);
  if (!is_positional(option) && !is_flag(option)) text += option.rules.choices.empty() ? " VALUE" : " CHOICE";
  return text;
}

std::string help_of(const Option& option) {
  std::string text = option.help;
  if (option.rules.required) text += " (required)";
  return text;
}

// Roff takes backslashes, and dots and quotes that begin a line, for its own.
std::string roff(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    const bool begins_line = escaped.empty() || escaped.back() == '\n';
    if (begins_line && (c == '.' || c == '\'')) escaped += "\\&";
    escaped += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  }
  return escaped;
}

std::string code(const std::string& text) { return "`" + text + "`"; }

}  // namespace

std::string manual_page(std::span<const Command> commands) {
  std::string page =
      fmt::format(".TH INGOT 1 \"\" \"ingot {}\" \"User Commands\"\n.SH NAME\ningot \\- {}\n.SH SYNOPSIS\n", kVersion,
                  roff(kSummary));
  page += ".B ingot\nCOMMAND [ARGUMENT...]\n";
  for (const Command& command : commands) {
    page += fmt::format(".SH INGOT {}\n{}.\n.PP\n.B {}\n", command.name, roff(command.help), roff(usage(command)));
    for (const Option& option : command.options) {
      page += fmt::format(".TP\n.B {}\n{}\n", roff(heading(option)), roff(help_of(option)));
    }
    page += fmt::format(".PP\nExamples:\n.PP\n.nf\n{}\n.fi\n", roff(command.examples));
  }
  page += ".SH EXIT STATUS\n";
  for (const auto& [number, meaning] : kExitCodes) page += fmt::format(".TP\n.B {}\n{}\n", number, roff(meaning));
  return page;
}

std::string manual_markdown(std::span<const Command> commands) {
  std::string page = fmt::format(
      "# The command line\n\n`ingot`: {}. This page is written by `ingot manual --format markdown`.\n", kSummary);
  for (const Command& command : commands) {
    page += fmt::format("\n## ingot {}\n\n{}.\n\n```\n{}\n```\n\n| option | what it does |\n|---|---|\n", command.name,
                        command.help, usage(command));
    for (const Option& option : command.options) {
      std::string help = help_of(option);
      for (size_t at = 0; (at = help.find('|', at)) != help.npos; at += 2) help.insert(at, "\\");
      page += fmt::format("| {} | {} |\n", code(heading(option)), help);
    }
    std::string examples = "\n" + command.examples;
    for (size_t at = 0; (at = examples.find("\n  ", at)) != examples.npos; ++at) examples.erase(at + 1, 2);
    page += fmt::format("\n```sh{}\n```\n", examples);
  }
  page += "\n## Exit codes\n\n| code | meaning |\n|---|---|\n";
  for (const auto& [number, meaning] : kExitCodes) page += fmt::format("| {} | {} |\n", number, meaning);
  page +=
      "\n`--json` gives one object with `\"version\": 1`; the number grows when a field changes its meaning or goes, "
      "and new "
      "fields may come at any time. `ingot bench --json --steps N` and `ingot train --log` give one object a line.\n";
  return page;
}

}  // namespace ingot
