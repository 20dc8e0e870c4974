// Who may include whom: reads every #include of the project and names each one that breaks the order of the folders, or
// that goes to a folder of aot/ on which the includer's CMakeLists.txt does not depend.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path kRoot = INGOT_SOURCE_DIR;

std::vector<std::string> lines_of(const fs::path& file) {
  std::vector<std::string> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// What stands between `open` and the next of `close` in a line that begins with it, blanks aside; "" in other lines.
std::string between(std::string_view line, std::string_view open, std::string_view close) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  if (!line.starts_with(open)) return "";
  line.remove_prefix(open.size());
  const size_t end = line.find_first_of(close);
  return end == line.npos ? "" : std::string(line.substr(0, end));
}

// The folders of aot/, in the order of aot/CMakeLists.txt: each may use itself and those before it.
std::vector<std::string> folder_order() {
  std::vector<std::string> folders;
  for (const std::string& line : lines_of(kRoot / "aot/CMakeLists.txt")) {
    const std::string folder = between(line, "add_subdirectory(", ")");
    if (!folder.empty()) folders.push_back("aot/" + folder);
  }
  return folders;
}

// The folders that each folder uses: those that `ingot_folder(NAME DEPENDS NAME...)` in it names, and what these use.
using Uses = std::map<std::string, std::set<std::string>>;
Uses folder_uses(const std::vector<std::string>& order) {
  Uses uses;
  std::map<std::string, std::string> folders;  // by the name that CMake has for them
  for (const std::string& folder : order) {
    std::string text;
    for (const std::string& line : lines_of(kRoot / folder / "CMakeLists.txt")) text += line + " ";
    std::istringstream words(between(text.substr(text.find("ingot_folder(")), "ingot_folder(", ")"));
    std::string word;
    words >> word;
    folders[word] = folder;
    std::set<std::string>& used = uses[folder];
    for (bool is_used = false; words >> word;) {
      if (word == "DEPENDS" || word == "LINK" || word == "PRECOMPILE") {
        is_used = word == "DEPENDS";
      } else if (is_used) {
        const std::string& other = folders.at(word);
        used.insert(other);
        used.insert(uses.at(other).begin(), uses.at(other).end());
      }
    }
  }
  return uses;
}

// The place in folder_order of a path below aot/, or -1.
int place(const std::vector<std::string>& order, const std::string& path) {
  for (size_t i = 0; i < order.size(); ++i) {
    if (path.starts_with(order[i] + "/")) return static_cast<int>(i);
  }
  return -1;
}

bool starts_with_any(const std::string& text, std::initializer_list<const char*> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const char* prefix) { return text.starts_with(prefix); });
}

// Why `file` may not include `header`, or "".
std::string complaint(const std::vector<std::string>& order, const Uses& uses, const std::string& file,
                      const std::string& header) {
  if (header.starts_with(".")) return "includes are written from the repository root";
  if (file.starts_with("aot/") && header.starts_with("engine/")) return "aot and engine meet in a bundle only";
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
  if (file.starts_with("aot/") && header.starts_with("aot/")) {
    const int from = place(order, file), to = place(order, header);
    if (to < 0) return "the folder is not in aot/CMakeLists.txt";
    if (from >= 0 && to > from) return order[to] + " comes after " + order[from] + " in aot/CMakeLists.txt";
    if (from >= 0 && to != from && !uses.at(order[from]).contains(order[to])) {
      return order[from] + "/CMakeLists.txt does not depend on " + order[to];
    }
  }
  return "";
}

TEST(Layering, EveryIncludeKeepsTheOrderOfTheFolders) {
  const std::vector<std::string> order = folder_order();
  const Uses uses = folder_uses(order);
  ASSERT_GT(order.size(), 8u);
  int checked = 0;
  for (const char* top : {"aot", "engine", "schema", "apps", "tests", "bench"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / top)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cc" && extension != ".c" && extension != ".def") continue;
      const std::string file = fs::relative(entry.path(), kRoot);
      int number = 0;
      for (const std::string& line : lines_of(entry.path())) {
        ++number;
        std::string header = between(line, "#include \"", "\"");
        if (header.empty()) header = between(line, "#include <", ">");
        if (header.empty()) continue;
        ++checked;
        const std::string why = complaint(order, uses, file, header);
        EXPECT_EQ(why, "") << file << ":" << number << ": " << line;
      }
    }
  }
  EXPECT_GT(checked, 50);
}

TEST(Layering, PlansKnowNoOps) {
  const Uses uses = folder_uses(folder_order());
  EXPECT_EQ(uses.at("aot/plan"), (std::set<std::string>{"aot/lowered", "aot/loops", "aot/graph", "aot/base"}));
}

TEST(Layering, WrongIncludesAreNamed) {
  const std::vector<std::string> order = {"aot/base", "aot/graph", "aot/passes", "aot/codegen"};
  const Uses uses = {{"aot/base", {}},
                     {"aot/graph", {"aot/base"}},
                     {"aot/passes", {"aot/graph", "aot/base"}},
                     {"aot/codegen", {"aot/graph", "aot/base"}}};
  EXPECT_EQ(complaint(order, uses, "aot/graph/a.cc", "aot/base/b.h"), "");
  EXPECT_EQ(complaint(order, uses, "aot/base/a.cc", "aot/graph/b.h"),
            "aot/graph comes after aot/base in aot/CMakeLists.txt");
  EXPECT_EQ(complaint(order, uses, "aot/codegen/a.cc", "aot/passes/b.h"),
            "aot/codegen/CMakeLists.txt does not depend on aot/passes");
  EXPECT_NE(complaint(order, uses, "aot/graph/a.cc", "llvm/IR/Module.h"), "");
  EXPECT_EQ(complaint(order, uses, "aot/codegen/a.cc", "llvm/IR/Module.h"), "");
  EXPECT_NE(complaint(order, uses, "aot/graph/a.cc", "engine/include/ingot/engine.h"), "");
  EXPECT_NE(complaint(order, uses, "aot/graph/a.cc", "flatbuffers/flatbuffers.h"), "");
  EXPECT_NE(complaint(order, uses, "aot/graph/a.cc", "../base/b.h"), "");
}

}  // namespace
