// Who may include whom: reads every #include of the project, and names each one that the CMakeLists.txt of the folders
// do not allow.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "tests/support/source_files.h"

namespace ingot {
namespace {

const std::filesystem::path kSources = INGOT_SOURCE_DIR;

// What stands between `open` and the next of `close` in a line that begins with it, blanks aside; "" in other lines.
std::string between(std::string_view line, std::string_view open, std::string_view close) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  if (!line.starts_with(open)) return "";
  line.remove_prefix(open.size());
  const size_t end = line.find_first_of(close);
  return end == line.npos ? "" : std::string(line.substr(0, end));
}

// The folders of aot/, in the order of aot/CMakeLists.txt.
std::vector<std::string> folder_order() {
  std::vector<std::string> folders;
  for (const std::string& line : read_source(kSources, "aot/CMakeLists.txt").lines) {
    const std::string folder = between(line, "add_subdirectory(", ")");
    if (!folder.empty()) folders.push_back("aot/" + folder);
  }
  return folders;
}

// What the DEPENDS of an ingot_folder(...) names.
std::vector<std::string> depends_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + " ";
  const size_t begin = text.find("ingot_folder(");
  if (begin == text.npos) return {};
  std::istringstream words(text.substr(begin, text.find(')', begin) - begin));
  std::vector<std::string> depends;
  bool is_depends = false;
  for (std::string word; words >> word;) {
    if (std::ranges::all_of(word, [](char c) { return c >= 'A' && c <= 'Z'; })) {
      is_depends = word == "DEPENDS";
    } else if (is_depends) {
      depends.push_back(word);
    }
  }
  return depends;
}

// The folders that each folder of aot/ may use: itself, what it depends on, and what those may use.
using Uses = std::map<std::string, std::set<std::string>>;

// The folder of a library: ingot_frontend_trace is aot/frontend/trace. "" where `order` has none.
std::string folder_named(const std::vector<std::string>& order, std::string_view library) {
  for (const std::string& folder : order) {
    std::string name = folder.substr(4);
    std::ranges::replace(name, '/', '_');
    if (name == library) return folder;
  }
  return "";
}

Uses read_uses(const std::vector<std::string>& order) {
  Uses uses;
  for (const std::string& folder : order) {
    std::set<std::string>& all = uses[folder];
    all.insert(folder);
    for (const std::string& library : depends_of(read_source(kSources, folder + "/CMakeLists.txt").lines)) {
      const auto used = uses.find(folder_named(order, library));
      if (used == uses.end()) {
        ADD_FAILURE() << folder << " depends on " << library << ", which does not come before it in aot/CMakeLists.txt";
      } else if (used->first != folder) {
        all.insert(used->second.begin(), used->second.end());
      }
    }
  }
  return uses;
}

// The folder of aot/ in which a path lies, or "".
std::string folder_of(const Uses& uses, const std::string& path) {
  for (const auto& [folder, used] : uses) {
    if (path.starts_with(folder + "/")) return folder;
  }
  return "";
}

// The rooms of the tool, in the order in which they build on each other, of the line "set(rooms ...)".
std::vector<std::string> rooms_of(const std::vector<std::string>& lines) {
  std::vector<std::string> rooms;
  for (const std::string& line : lines) {
    std::istringstream words(between(line, "set(rooms ", ")"));
    for (std::string room; words >> room;) rooms.push_back("apps/ingot/" + room);
  }
  return rooms;
}

// Folders in order, each of which uses only those before it, and itself.
Uses in_order(const std::vector<std::string>& folders) {
  Uses uses;
  std::set<std::string> before;
  for (const std::string& folder : folders) {
    before.insert(folder);
    uses[folder] = before;
  }
  return uses;
}

bool starts_with_any(const std::string& text, std::initializer_list<const char*> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const char* prefix) { return text.starts_with(prefix); });
}

// Why `file` may not include `header`, or "".
std::string complaint(const Uses& uses, const std::string& file, const std::string& header) {
  if (header.starts_with(".")) return "includes are written from the repository root";
  if (file.starts_with("aot/") && header.starts_with("engine/")) return "aot and engine meet in a bundle only";
  if (file.starts_with("aot/") && header.starts_with("ingot/engine") && !file.starts_with("aot/lazy/")) {
    return "of aot, only aot/lazy runs what is compiled";
  }
  if (file.starts_with("engine/") && header.starts_with("aot/")) return "aot and engine meet in a bundle only";
  if (file.starts_with("schema/") && starts_with_any(header, {"aot/", "engine/", "apps/"}))
    return "schema stands alone";
  if (starts_with_any(file, {"aot/", "engine/", "schema/"}) && starts_with_any(header, {"apps/", "tests/", "bench/"})) {
    return "the product includes no judge and no application";
  }
  if (starts_with_any(header, {"llvm/", "llvm-c/", "lld/"}) && !file.starts_with("aot/codegen/")) {
    return "LLVM is used in aot/codegen only";
  }
  if (header.starts_with("flatbuffers/") && !starts_with_any(file, {"aot/bundle/", "engine/src/bundle"})) {
    return "flatbuffers are used in aot/bundle and engine/src/bundle* only";
  }
  const std::string from = folder_of(uses, file), to = folder_of(uses, header);
  if (file.starts_with("aot/") && header.starts_with("aot/") && to.empty()) {
    return "the folder is not in aot/CMakeLists.txt";
  }
  if (from.starts_with("aot/") && to.starts_with("aot/") && !uses.at(from).contains(to)) {
    return from + " does not depend on " + to;
  }
  if (from.starts_with("apps/") && header.starts_with("apps/") && header != "apps/ingot/command.h") {
    if (!uses.at(from).contains(to)) return from + " comes before what it includes";
  }
  return "";
}

TEST(Layering, EveryIncludeIsOfAFolderThatMayBeUsed) {
  const std::vector<std::string> order = folder_order();
  ASSERT_GT(order.size(), 8u);
  Uses uses = read_uses(order);
  const std::vector<std::string> rooms = rooms_of(read_source(kSources, "apps/ingot/CMakeLists.txt").lines);
  ASSERT_GT(rooms.size(), 3u);
  uses.merge(in_order(rooms));
  int checked = 0;
  for (const SourceFile& file : read_sources(kSources, {"aot", "engine", "schema", "apps", "tests", "bench"})) {
    for (size_t i = 0; i < file.lines.size(); ++i) {
      std::string header = between(file.lines[i], "#include \"", "\"");
      if (header.empty()) header = between(file.lines[i], "#include <", ">");
      if (header.empty()) continue;
      ++checked;
      EXPECT_EQ(complaint(uses, file.path, header), "") << file.path << ":" << i + 1 << ": " << file.lines[i];
    }
  }
  EXPECT_GT(checked, 1000);
}

TEST(Layering, WrongIncludesAreNamed) {
  const Uses uses = {{"aot/base", {"aot/base"}},
                     {"aot/graph", {"aot/base", "aot/graph"}},
                     {"aot/passes", {"aot/base", "aot/graph", "aot/passes"}},
                     {"aot/codegen", {"aot/base", "aot/graph", "aot/codegen"}}};
  EXPECT_EQ(complaint(uses, "aot/graph/a.cc", "aot/base/b.h"), "");
  EXPECT_EQ(complaint(uses, "aot/base/a.cc", "aot/graph/b.h"), "aot/base does not depend on aot/graph");
  EXPECT_EQ(complaint(uses, "aot/codegen/a.cc", "aot/passes/b.h"), "aot/codegen does not depend on aot/passes");
  EXPECT_NE(complaint(uses, "aot/graph/a.cc", "aot/grap/b.h"), "");
  EXPECT_NE(complaint(uses, "aot/graph/a.cc", "llvm/IR/Module.h"), "");
  EXPECT_EQ(complaint(uses, "aot/codegen/a.cc", "llvm/IR/Module.h"), "");
  EXPECT_NE(complaint(uses, "aot/graph/a.cc", "engine/include/ingot/engine.h"), "");
  EXPECT_NE(complaint(uses, "aot/graph/a.cc", "flatbuffers/flatbuffers.h"), "");
  EXPECT_NE(complaint(uses, "aot/graph/a.cc", "ingot/engine.hpp"), "");
  EXPECT_EQ(complaint(uses, "aot/lazy/a.cc", "ingot/engine.hpp"), "");
  EXPECT_NE(complaint(uses, "aot/graph/a.cc", "../base/b.h"), "");
}

TEST(Layering, RoomsUseThoseBeforeThem) {
  const Uses uses = in_order(rooms_of({"# a", "set(rooms files commands)  # b"}));
  EXPECT_EQ(complaint(uses, "apps/ingot/commands/a.cc", "apps/ingot/files/b.h"), "");
  EXPECT_EQ(complaint(uses, "apps/ingot/files/a.h", "apps/ingot/files/b.h"), "");
  EXPECT_EQ(complaint(uses, "apps/ingot/files/a.h", "apps/ingot/command.h"), "");
  EXPECT_EQ(complaint(uses, "apps/ingot/main.cc", "apps/ingot/commands/b.h"), "");
  EXPECT_NE(complaint(uses, "apps/ingot/files/a.cc", "apps/ingot/commands/b.h"), "");
  EXPECT_NE(complaint(uses, "apps/ingot/files/a.cc", "apps/ingot/command_line/manual.h"), "");
}

TEST(Layering, DependenciesAreRead) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(depends_of({"# a", "ingot_folder(a DEPENDS b frontend_trace", "  LINK fmt::fmt)"}),
            (Names{"b", "frontend_trace"}));
  EXPECT_EQ(depends_of({"ingot_folder(a LINK fmt::fmt)", "DEPENDS c"}), Names{});
  EXPECT_EQ(folder_named({"aot/base", "aot/frontend/trace"}, "frontend_trace"), "aot/frontend/trace");
}

}  // namespace
}  // namespace ingot
