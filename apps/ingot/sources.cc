#include "apps/ingot/sources.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "aot/base/error.h"
#include "aot/frontend/stablehlo/import.h"
#include "aot/graph/parse.h"
#include "aot/ops/build.h"

namespace ingot {

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (!in || std::filesystem::is_directory(path) || !(text << in.rdbuf())) {
    throw_error(nullptr, fmt::format("{}: cannot be read; is the path right, and is it a text file?", path));
  }
  return std::move(text).str();
}

std::unique_ptr<Module> load_program(const std::string& argument) {
  const size_t equals = argument.find('=');
  const std::string path = equals == argument.npos ? argument : argument.substr(equals + 1);
  const std::string entry =
      equals == argument.npos ? std::filesystem::path(path).stem().string() : argument.substr(0, equals);
  const std::string text = read_text(path);
  std::unique_ptr<Module> module;
  try {
    module = parse_module(text, path, all_ops());
    import_stablehlo(*module);
  } catch (const Error& error) {
    // render gives what() and, where the place is in this text, its line with a caret.
    const std::string rendered = render(error, text, path);
    const size_t said = std::string_view(error.what()).size();
    throw Error(error.kind(), error.location(), error.message() + rendered.substr(std::min(said, rendered.size())));
  }
  if (Function* main = module->find("main")) {
    main->name = entry;
  } else if (equals != argument.npos) {
    throw_error(nullptr, fmt::format("{}: has no function @main to be named {}", path, entry));
  }
  return module;
}

}  // namespace ingot
