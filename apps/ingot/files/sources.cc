#include "apps/ingot/files/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "aot/analysis/walk.h"
#include "aot/base/contains.h"
#include "aot/base/error.h"
#include "aot/base/file.h"
#include "aot/bundle/check_spec.h"
#include "aot/bundle/read_bundle.h"
#include "aot/frontend/onnx/import.h"
#include "aot/frontend/stablehlo/import.h"
#include "aot/graph/text/parse.h"
#include "aot/ops/support/build.h"
#include "aot/pipeline/initial_state.h"
#include "apps/ingot/files/file_format.h"

namespace ingot {
namespace {

// Runs `work`, which reads `text`; an Error that points into the text shows the line.
template <typename Work>
auto with_line_shown(const std::string& text, const std::string& path, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    // render gives what() and, where the place is in this text, its line with a caret.
    const std::string rendered = render(error, text, path);
    const size_t said = std::string_view(error.what()).size();
    throw Error(error.kind(), error.location(), error.message() + rendered.substr(std::min(said, rendered.size())));
  }
}

// A private function that is called `name` is called otherwise from now on.
void make_room(Module& module, const std::string& name) {
  Function* other = module.find(name);
  if (!other) return;
  if (!other->is_private) throw_error(other->location, fmt::format("there are two public functions @{}", name));
  std::string free = name + "_1";
  for (int i = 2; module.find(free); ++i) free = fmt::format("{}_{}", name, i);
  for_each_block(module, [&](Block& block) {
    for (const auto& op : block.ops) {
      for (const char* attr : {"callee", "decomposition"}) {
        const auto found = op->attr_map.find(attr);
        if (found != op->attr_map.end() && found->second == Attr(SymbolAttr{name})) found->second = SymbolAttr{free};
      }
    }
  });
  other->name = free;
}

// "32" and "32x784", of what stands in `text`.
Shape parse_sizes(std::string_view sizes, const std::string& text) {
  Shape parsed;
  const char *at = sizes.data(), *const end = at + sizes.size();
  while (at < end) {
    const auto [rest, error] = std::from_chars(at, end, parsed.emplace_back());
    if (error != std::errc() || parsed.back() < 0 || (rest < end && (*rest != 'x' || rest + 1 == end))) break;
    if (rest == end) return parsed;
    at = rest + 1;
  }
  throw_error(nullptr,
              fmt::format("--shape {}: expected NAME=SIZE or NAME=SIZExSIZE, as in batch=32 or x=32x784", text));
}

LoadedProgram load_onnx(const ProgramName& name, std::vector<GivenShape>& shapes) {
  auto imported =
      std::make_shared<onnx::Imported>(onnx::import_model(name.path, {.entry = name.entry, .shapes = shapes}));
  for (GivenShape& given : shapes) given.is_used |= imported->given.contains(given.name);
  return {std::move(imported->module), imported->weights, imported};
}

}  // namespace

ProgramName program_name(const std::string& argument) {
  const size_t equals = argument.find('=');
  if (equals != argument.npos) return {argument.substr(0, equals), argument.substr(equals + 1), true};
  ProgramName name{std::filesystem::path(argument).stem().string(), argument};
  if (name.is_onnx()) name.entry = "predict";
  return name;
}

std::vector<std::string> program_files(const std::vector<std::string>& arguments) {
  std::vector<std::string> files;
  for (const std::string& argument : arguments) {
    if (!std::filesystem::is_directory(argument)) {
      files.push_back(argument);
      continue;
    }
    const auto first = static_cast<std::ptrdiff_t>(files.size());
    for (const char* extension : {".mlir", ".onnx"}) {
      for (const auto& file : std::filesystem::directory_iterator(argument)) {
        if (file.path().extension() == extension) files.push_back(file.path().string());
      }
      if (std::ssize(files) > first) break;
    }
    if (std::ssize(files) == first) {
      for (const auto& file : std::filesystem::directory_iterator(argument)) {
        refuse_other_formats(file.path().string(), Wanted::kProgram);
      }
      throw_error(nullptr, fmt::format("{}: has no program, FILE.mlir or FILE.onnx", argument));
    }
    std::sort(files.begin() + first, files.end());
  }
  return files;
}

LoadedProgram load_program(const std::string& argument, std::vector<GivenShape>& shapes) {
  const ProgramName name = program_name(argument);
  if (name.is_onnx()) return load_onnx(name, shapes);
  refuse_other_formats(name.path, Wanted::kProgram);
  const std::string text = read_text(name.path);
  std::unique_ptr<Module> module = with_line_shown(text, name.path, [&] {
    auto parsed = parse_module(text, name.path, all_ops());
    import_stablehlo(*parsed);
    return parsed;
  });
  if (Function* main = module->find("main"); main && name.entry != "main") {
    make_room(*module, name.entry);
    main->name = name.entry;
  } else if (!main && name.is_named) {
    throw_error(nullptr, fmt::format("{}: has no function @main to be named {}", name.path, name.entry));
  }
  return {std::move(module), {}, nullptr};
}

std::string saved_state(const std::vector<std::string>& inputs) {
  std::string found;
  for (const std::string& input : inputs) {
    if (program_name(input).is_onnx()) continue;
    const std::filesystem::path path = program_name(input).path;
    const std::filesystem::path file = (std::filesystem::is_directory(path) ? path : path.parent_path()) / kStateFile;
    if (!std::filesystem::is_regular_file(file) || file == found) continue;
    if (!found.empty()) {
      throw_error(nullptr,
                  fmt::format("{} and {} both have first values of state; choose by --state", found, file.string()));
    }
    found = file.string();
  }
  return found;
}

std::unique_ptr<Module> parse_program(const std::string& text, const std::string& path) {
  return with_line_shown(text, path, [&] { return parse_module(text, path, all_ops()); });
}

bundle::BundleSpec load_bundle(const std::string& path) {
  refuse_other_formats(path, Wanted::kBundle);
  const std::vector<std::byte> bytes = read_bytes(path);
  try {
    bundle::BundleSpec spec = bundle::read_bundle(bytes);
    bundle::check_spec(spec);
    return spec;
  } catch (const Error& error) {
    throw_error(nullptr, fmt::format("{}: {}; is it what `ingot compile` wrote?", path, error.message()));
  }
}

std::vector<SizeChoices> size_choices(const std::vector<std::string>& texts) {
  std::vector<SizeChoices> all;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals != text.npos) {
      const std::string name = text.substr(0, equals);
      if (std::ranges::find(all, name, &SizeChoices::name) != all.end()) {
        throw_error(nullptr, fmt::format("--shape {0}: {1} was given before; several sizes are {1}=1,8", text, name));
      }
      all.push_back({name, {}});
    }
    const size_t first = equals == text.npos ? 0 : equals + 1;
    const Shape sizes = parse_sizes(all.empty() ? "" : std::string_view(text).substr(first), text);
    if (contains(all.back().sizes, sizes))
      throw_error(nullptr, fmt::format("--shape {}: this size was given before", text));
    all.back().sizes.push_back(sizes);
  }
  return all;
}

std::vector<GivenShape> given_shapes(const std::vector<std::string>& texts) {
  std::vector<GivenShape> shapes;
  for (const SizeChoices& choices : size_choices(texts)) {
    if (choices.sizes.size() > 1) {
      throw_error(nullptr,
                  fmt::format("--shape {}: one size is asked for here; `ingot compile` takes several", choices.name));
    }
    shapes.push_back({choices.name, choices.sizes[0]});
  }
  return shapes;
}

}  // namespace ingot
