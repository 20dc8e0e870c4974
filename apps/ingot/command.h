// The subcommands of the ingot tool, as data: what each is called, what it takes and what it does. How a command line
// is read is command_line.cc's business alone.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace ingot {

// Where an option's value goes; what stands there before is the default. A bool is a flag.
using Setting =
    std::variant<bool*, uint32_t*, int64_t*, double*, std::optional<double>*, std::string*, std::vector<std::string>*>;

// What files an option's value names, where it names any.
enum class Names {
  kNothing,
  kProgram,  // StableHLO texts to read, which a bug's reproducer keeps
  kInput,    // other files to read
  kOutput,   // a file to write, which is never one of those that are read
};

struct OptionRules {
  bool required = false;
  bool commas = false;                    // "a,b" is two values
  std::vector<std::string> choices = {};  // nothing else is taken; none: anything is
  Names names = Names::kNothing;
  bool positive = false;    // a number above zero
  std::string suffix = "";  // what a file is called at the end: ".svg"
};

struct Option {
  std::string names;  // "-o,--output"; without dashes it is known by its place
  Setting setting;
  std::string help;
  OptionRules rules = {};
};

// What a command throws that a signal ended in good order.
struct Stopped {
  int signal;
  std::string what;
};

struct Command {
  std::string name;
  std::string help;
  std::string examples;
  std::vector<Option> options;
  std::function<void()> run;
};

Command compile_command();
Command inspect_command();
Command run_command();
Command train_command();
Command check_command();
Command bench_command();
Command opt_command();
Command import_command();
Command export_command();
Command quantize_command();
Command keygen_command();
Command sign_command();
Command verify_command();
Command header_command();
Command help_command();
Command manual_command();
Command completion_command();

std::vector<Command> all_commands();

}  // namespace ingot
