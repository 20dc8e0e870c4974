#include "apps/ingot/command_line/reproducer.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "aot/base/file.h"
#include "aot/base/join.h"
#include "aot/base/version.h"
#include "aot/graph/text/print.h"
#include "aot/ops/support/build.h"
#include "apps/ingot/files/sources.h"

namespace ingot {
namespace {

struct FailingPass {
  std::string name;
  std::string before;  // the program that it fails on
};

std::optional<FailingPass> find_failing_pass(const std::string& program, std::span<const PassRow> passes) {
  PassContext context;
  const std::unique_ptr<Module> module = load_program(program, context.shapes).module;
  for (const PassRow& pass : passes) {
    std::string before = print(*module);
    try {
      run_passes({&pass, 1}, *module, context);
    } catch (const std::exception&) {
      return FailingPass{std::string(pass.name), std::move(before)};
    }
  }
  return std::nullopt;
}

std::filesystem::path new_folder(const std::string& name) {
  std::filesystem::path folder = "ingot-reproducer-" + name;
  for (int count = 2; !std::filesystem::create_directory(folder); ++count) {
    folder = fmt::format("ingot-reproducer-{}-{}", name, count);
  }
  return folder;
}

}  // namespace

std::string write_reproducer(const Failure& failure, std::span<const PassRow> passes) {
  const std::vector<std::string> programs = program_files(failure.programs);
  const std::filesystem::path folder = new_folder(programs.empty() ? "run" : program_name(programs.front()).entry);
  const auto write = [&](const std::string& name, const std::string& text) {
    write_file((folder / name).string(), text);
  };
  const std::string command = join(failure.command, " ");
  std::string again = command;
  std::string missing;
  for (const std::string& program : programs) {
    const ProgramName name = program_name(program);
    try {
      write(name.entry + (name.is_onnx() ? ".onnx" : ".mlir"), read_text(name.path));
      const std::optional<FailingPass> failing = find_failing_pass(program, passes);
      if (!failing) continue;
      const std::string file = fmt::format("before-{}.mlir", failing->name);
      again = fmt::format("ingot opt {} --passes={}", file, failing->name);
      write(file, failing->before);
    } catch (const std::exception& error) {
      missing += fmt::format("missing    {}: {}\n", program, error.what());
    }
  }
  write("report.txt",
        fmt::format(
            "A bug of ingot {}. Please report it with this folder.\n\nfailure    {}\ncommand    {}\nsee again  {}\n{}",
            kVersion, failure.what, command, again, missing));
  return folder.string();
}

}  // namespace ingot
