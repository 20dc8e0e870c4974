// The ingot command line tool.
#include <fmt/format.h>

#include <cstdio>
#include <ingot/engine.hpp>

#include "aot/base/error.h"
#include "apps/ingot/command.h"

namespace {

constexpr const char* kFooter = R"(examples:
  ingot compile step.mlir -o step.ingot
  ingot inspect step.ingot
  ingot train step.ingot --data batches.safetensors --steps 100 --save trained.safetensors
  ingot run net.ingot predict --input x=@x.npy --state trained.safetensors

`ingot COMMAND --help` explains a command. Exit codes: 1 your program or data is wrong, 2 wrong usage, 70 a bug of ours.)";

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"ingot: ahead-of-time compiled machine learning that trains as well as infers", "ingot"};
  app.footer(kFooter);
  app.set_version_flag("--version", "ingot 0.1.0");
  app.require_subcommand(1);
  ingot::add_compile_command(app);
  ingot::add_inspect_command(app);
  ingot::add_run_command(app);
  ingot::add_train_command(app);
  ingot::add_check_command(app);
  ingot::add_bench_command(app);
  ingot::add_opt_command(app);
  try {
    app.parse(argc, argv);
    return ingot::kSuccess;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? ingot::kSuccess : ingot::kUsageError;
  } catch (const ingot::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    if (error.kind() != ingot::ErrorKind::kBug) return ingot::kUserError;
    fmt::print(stderr, "This is a bug of ingot. Please report it with the command and its input files.\n");
    return ingot::kInternalError;
  } catch (const ingot::engine::Failure& failure) {
    fmt::print(stderr, "error: {}\n", failure.what());
    return ingot::kUserError;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bug: {}\nPlease report it with the command and its input files.\n", error.what());
    return ingot::kInternalError;
  }
}
