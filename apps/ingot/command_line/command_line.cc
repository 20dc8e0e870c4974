#include "apps/ingot/command_line/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <ingot/engine.hpp>
#include <iostream>
#include <new>
#include <system_error>

#include "aot/base/error.h"
#include "aot/base/printable.h"
#include "apps/ingot/command_line/reproducer.h"
#include "apps/ingot/command_line/version.h"
#include "apps/ingot/terminal/names.h"

namespace ingot {
namespace {

constexpr const char* kExamples = R"(examples:
  ingot compile step.mlir -o step.ingot
  ingot inspect step.ingot
  ingot train step.ingot --data batches.safetensors --steps 100 --save trained.safetensors
  ingot run net.ingot predict --input x=@x.npy --state trained.safetensors

`ingot COMMAND --help` explains a command. Exit codes: 1 your program or data is wrong, 2 wrong usage, 70 a bug of ours.)";

// What is wrong with a number that must be above zero, or "". Other words are for whoever reads the number.
std::string positive(const std::string& text) {
  double value = 1;
  return CLI::detail::lexical_cast(text, value) && !(value > 0) ? text + " is not above zero" : "";
}

void add_option(CLI::App& app, const Option& option) {
  CLI::Option* added = std::visit(
      [&](auto* setting) {
        if constexpr (std::is_same_v<decltype(setting), bool*>) {
          return app.add_flag(option.names, *setting, option.help);
        } else {
          return app.add_option(option.names, *setting, option.help);
        }
      },
      option.setting);
  added->required(option.rules.required);
  if (option.rules.commas) added->delimiter(',');
  if (option.names.starts_with("-")) added->allow_extra_args(false);  // the next word is another's
  if (!option.rules.choices.empty()) added->check(CLI::IsMember(option.rules.choices));
  if (option.rules.positive) added->check(positive);
  if (!option.rules.suffix.empty()) {
    added->check([suffix = option.rules.suffix](const std::string& path) {
      const bool is_right = path.ends_with(suffix) || path.starts_with("/dev/");
      return is_right ? "" : fmt::format("{} is no name for what is written: it ends in {}", path, suffix);
    });
  }
  const auto* text = std::get_if<std::string*>(&option.setting);
  const auto* texts = std::get_if<std::vector<std::string>*>(&option.setting);
  if ((text && !(*text)->empty()) || (texts && !(*texts)->empty())) added->capture_default_str();
}

// What the command line gives options whose values name such files.
std::vector<std::string> files_of(const Command& command, Names names) {
  std::vector<std::string> files;
  for (const Option& option : command.options) {
    if (option.rules.names != names) continue;
    if (const auto* text = std::get_if<std::string*>(&option.setting)) files.push_back(**text);
    if (const auto* texts = std::get_if<std::vector<std::string>*>(&option.setting)) {
      files.insert(files.end(), (*texts)->begin(), (*texts)->end());
    }
  }
  return files;
}

// A file that is to be written and is also read, or "". "ENTRY=FILE" and "NAME=@FILE:KEY" name files too.
std::string overwritten_input(const Command& command) {
  std::vector<std::string> inputs = files_of(command, Names::kInput);
  for (const std::string& program : files_of(command, Names::kProgram)) inputs.push_back(program);
  for (const std::string& output : files_of(command, Names::kOutput)) {
    for (const std::string& input : inputs) {
      const size_t begin = input.find("=@") == input.npos ? 0 : input.find("=@") + 2;
      std::string path = input.substr(begin);
      std::error_code ignored;
      if (begin > 0 && !std::filesystem::exists(path, ignored)) path = path.substr(0, path.rfind(':'));
      if (begin == 0 && !std::filesystem::exists(path, ignored)) path = path.substr(path.find('=') + 1);
      if (std::filesystem::is_regular_file(path, ignored) && std::filesystem::equivalent(path, output, ignored)) {
        return output;
      }
    }
  }
  return "";
}

// What to say of words that fit nothing.
std::string explain_extras(const Command& command, const std::vector<std::string>& words) {
  std::vector<std::string> known;
  for (const Option& option : command.options) {
    const size_t dashes = option.names.find("--");
    if (dashes != option.names.npos) known.push_back(option.names.substr(dashes));
  }
  for (const std::string& word : words) {
    if (!word.starts_with("-")) continue;
    const std::string name = word.substr(0, word.find('='));
    return fmt::format("there is no option {}{}", name, suggestion(known, name));
  }
  return fmt::format("unexpected argument '{}'", words.front());
}

// What to say of a first word that is no command.
std::string explain_first_word(const std::vector<std::string>& commands, const std::string& word) {
  if (word.empty()) return "a command is missing";
  if (word.starts_with("-")) return fmt::format("there is no option {} before a command", word);
  return fmt::format("there is no command '{}'", word) + suggestion(commands, word);
}

int usage_error(const std::string& command, const std::string& what) {
  fmt::print(stderr, "error: {}: {}\nRun {} --help for more information.\n", command, what, command);
  return kUsageError;
}

// Reads the command line into the settings; the command that it names, or null and the exit code.
const Command* parse(std::span<const Command> commands, int argc, const char* const* argv, int* exit_code) {
  CLI::App app("ingot: ahead-of-time compiled machine learning that trains as well as infers", "ingot");
  app.footer(kExamples);
  app.set_version_flag("-v,--version", version_text());
  app.require_subcommand(1);
  std::vector<std::string> names;
  for (const Command& command : commands) {
    CLI::App* sub = app.add_subcommand(command.name, command.help);
    sub->footer("examples:\n" + command.examples);
    for (const Option& option : command.options) add_option(*sub, option);
    names.push_back(command.name);
  }
  const std::string named = argc > 1 ? argv[1] : "";
  const auto command = std::find(names.begin(), names.end(), named);
  const std::vector<std::string> about = {"-h", "--help", "-v", "--version"};
  if (command == names.end() && std::find(about.begin(), about.end(), named) == about.end()) {
    *exit_code = usage_error("ingot", explain_first_word(names, named));
    return nullptr;
  }
  try {
    app.parse(argc, argv);
    const auto got = [&](const Command& c) { return app.got_subcommand(c.name); };
    return &*std::find_if(commands.begin(), commands.end(), got);
  } catch (const CLI::Success& done) {  // help or version
    *exit_code = app.exit(done);
  } catch (const CLI::ParseError& error) {
    const std::vector<std::string> extras = app.remaining(true);
    const bool is_named = command != names.end();
    *exit_code = usage_error(
        is_named ? "ingot " + named : "ingot",
        is_named && !extras.empty() ? explain_extras(commands[command - names.begin()], extras) : error.what());
  }
  return nullptr;
}

int report_bug(const Failure& failure) {
  fmt::print(stderr, "{}\n", printable(failure.what));
  try {
    const std::string folder = write_reproducer(failure);
    fmt::print(stderr, "This is a bug of ingot. What is needed to find it is in {}: please report it.\n", folder);
  } catch (const std::exception& error) {
    fmt::print(stderr, "This is a bug of ingot. Please report it with the command and its input files ({}).\n",
               error.what());
  }
  return kInternalError;
}

int report_output_failure(const std::error_code& code) {
  fmt::print(stderr, "error: standard output: {}\n", code.message());
  return kUserError;
}

// The exit code, unless not all that was printed could be written.
int flush_output(int exit_code) {
  if (std::cout.flush() && std::fflush(stdout) == 0) return exit_code;
  return report_output_failure({errno, std::generic_category()});
}

}  // namespace

bool is_command_line(std::span<const Command> commands, int argc, const char* const* argv) {
  int exit_code = kSuccess;
  return parse(commands, argc, argv, &exit_code) != nullptr || exit_code == kSuccess;
}

int run_command_line(std::span<const Command> commands, int argc, const char* const* argv) {
  int exit_code = kSuccess;
  const Command* command = parse(commands, argc, argv, &exit_code);
  if (!command) return flush_output(exit_code);
  const auto bug = [&](const std::string& what) {
    return report_bug({{argv, argv + argc}, what, files_of(*command, Names::kProgram)});
  };
  std::set_new_handler(nullptr);  // what runs now leaves nothing behind when it fails
  try {
    const std::string overwritten = overwritten_input(*command);
    if (!overwritten.empty()) {
      throw_error(nullptr,
                  fmt::format("{}: is read, and would be overwritten; name another file to write", overwritten));
    }
    command->run();
    return flush_output(kSuccess);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kBug) return bug(error.what());
    fmt::print(stderr, "{}\n", printable(error.what()));
  } catch (const Stopped& stopped) {
    fmt::print(stderr, "{}\n", stopped.what);
    return kSignal + stopped.signal;
  } catch (const engine::Failure& failure) {
    fmt::print(stderr, "error: {}\n", printable(failure.what()));
  } catch (const std::filesystem::filesystem_error& error) {
    fmt::print(stderr, "error: {}: {}\n", error.path1().string(), error.code().message());
  } catch (const std::system_error& error) {  // of fmt::print
    return report_output_failure(error.code());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "error: out of memory\n");
  } catch (const std::exception& error) {
    return bug(fmt::format("bug: {}", error.what()));
  }
  return kUserError;
}

}  // namespace ingot
