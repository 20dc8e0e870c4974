// Documents say what is there: their links lead somewhere, and the commands that they show can be typed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "apps/ingot/command_line/command_line.h"
#include "apps/ingot/command_line/manual.h"
#include "tests/support/file_text.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = INGOT_SOURCE_DIR;

std::vector<fs::path> documents() {
  std::vector<fs::path> paths = {kRoot / "README.md",        kRoot / "CHANGELOG.md",
                                 kRoot / "ARCHITECTURE.md",  kRoot / "CONTRIBUTING.md",
                                 kRoot / "engine/README.md", kRoot / "aot/frontend/python/README.md"};
  for (const auto& file : fs::directory_iterator(kRoot / "docs")) {
    if (file.path().extension() == ".md") paths.push_back(file.path());
  }
  return paths;
}

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(' ');
  return begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

// The commands of the blocks that begin with ```sh, without comments.
std::vector<std::string> shell_lines(const fs::path& path) {
  std::vector<std::string> lines;
  std::istringstream text(file_text(path));
  bool is_shell = false;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("```")) {
      is_shell = line == "```sh";
      continue;
    }
    if (!is_shell) continue;
    line = line.substr(0, line.find("  #"));
    for (size_t begin = 0, end = 0; end != line.npos; begin = end + 2) {  // several commands, by &&
      end = line.find("&&", begin);
      const std::string command = trimmed(line.substr(begin, end == line.npos ? end : end - begin));
      if (!command.empty() && !command.starts_with("#")) lines.push_back(command);
    }
  }
  return lines;
}

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream text(line);
  for (std::string word; text >> word && word != "|" && word != ">" && word != "#";) words.push_back(word);
  return words;
}

// What `./dev WORD` takes.
std::set<std::string> dev_commands() {
  std::set<std::string> commands;
  static const std::regex kCase(R"(\n  ([a-z]+)\)\n)");
  const std::string text = file_text(kRoot / "dev");
  for (std::sregex_iterator at(text.begin(), text.end(), kCase), end; at != end; ++at) commands.insert((*at)[1]);
  return commands;
}

// What is wrong with a line that a document shows, or "".
std::string complaint(const std::string& line) {
  const std::vector<std::string> words = words_of(line);
  static const std::set<std::string> kOthers = {".", "aarch64-linux-gnu-gcc", "cc", "cd", "git", "ls", "sudo"};
  static const std::regex kPip(
      R"re(pip install build/wheel/ingot-\*\.whl( [a-z]+==[0-9.]+| '[a-z]+>=[0-9.]+,<[0-9.]+')*)re");
  if (words[0] == "ingot") {
    std::vector<const char*> arguments;
    for (const std::string& word : words) arguments.push_back(word.c_str());
    testing::internal::CaptureStderr();
    const bool is_right = is_command_line(all_commands(), static_cast<int>(arguments.size()), arguments.data());
    const std::string said = testing::internal::GetCapturedStderr();
    return is_right ? "" : said;
  }
  if (words[0] == "./dev") return dev_commands().contains(words.at(1)) ? "" : "./dev has no such command";
  if (std::regex_match(line, kPip)) return "";  // what `./dev wheel` makes
  if (words[0] == "python3") return line.starts_with("python3 -m venv ") ? "" : "python3 makes environments here";
  if (words[0].starts_with("build/release/bench/")) {
    return fs::exists(kRoot / "bench" / (fs::path(words[0]).filename().string() + ".cc")) ? "" : "nothing builds this";
  }
  return kOthers.contains(words[0]) ? "" : "this test does not know the command";
}

TEST(Documents, CommandsCanBeTyped) {
  int checked = 0;
  for (const fs::path& path : documents()) {
    for (const std::string& line : shell_lines(path)) {
      EXPECT_EQ(complaint(line), "") << path << ": " << line;
      ++checked;
    }
  }
  EXPECT_GT(checked, 40);
}

TEST(Documents, WrongCommandsAreNamed) {
  EXPECT_NE(complaint("ingot compil net/ -o net.ingot").find("did you mean 'compile'?"), std::string::npos);
  EXPECT_NE(complaint("ingot compile net/ -o net.ingot --targets host").find("did you mean '--target'?"),
            std::string::npos);
  EXPECT_NE(complaint("./dev nothing"), "");
  EXPECT_NE(complaint("pip install ingot"), "");  // no package index has it
  EXPECT_NE(complaint("make install"), "");
}

TEST(Documents, LinksLeadSomewhere) {
  static const std::regex kLink(R"(\]\(([^)# ]+)(#[^)]*)?\))");
  int checked = 0;
  for (const fs::path& path : documents()) {
    const std::string text = file_text(path);
    for (std::sregex_iterator at(text.begin(), text.end(), kLink), end; at != end; ++at) {
      const std::string link = (*at)[1];
      if (link.starts_with("http")) continue;
      EXPECT_TRUE(fs::exists(path.parent_path() / link)) << path << ": " << link;
      ++checked;
    }
  }
  EXPECT_GT(checked, 20);
}

TEST(Documents, TheIndexHasEveryPage) {
  const std::string index = file_text(kRoot / "docs/README.md");
  for (const auto& file : fs::directory_iterator(kRoot / "docs")) {
    const std::string name = file.path().filename().string();
    if (name != "README.md" && file.path().extension() == ".md") {
      EXPECT_NE(index.find("(" + name + ")"), std::string::npos) << name;
    }
  }
}

TEST(Documents, TheFirstPageIsShort) {
  const std::string text = file_text(kRoot / "README.md");
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 70);
}

// `./dev demo` ends with commands to try next: what they name is built by then.
TEST(Documents, TheDemoBuildsWhatItNames) {
  const std::string dev = file_text(kRoot / "dev");
  const size_t demo = dev.find("\n  demo)\n"), test = dev.find("\n  test)\n");
  std::istringstream lines(dev.substr(demo, test - demo));
  int builds = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" build release ") == line.npos) continue;
    EXPECT_NE(line.find(" ingot"), line.npos) << line;
    ++builds;
  }
  EXPECT_EQ(builds, 3);
}

TEST(Documents, TheCommandLineIsCurrent) {
  const fs::path path = kRoot / "docs/command_line.md";
  const std::string expected = manual_markdown(all_commands());
  if (std::getenv("INGOT_BLESS")) std::ofstream(path) << expected;
  EXPECT_EQ(file_text(path), expected) << "run docs_test with INGOT_BLESS=1";
}

// Every command, option and choice is in the manual and in each shell's completion.
TEST(Manual, HasEveryOption) {
  const std::vector<Command> commands = all_commands();
  const std::string page = manual_page(commands), bash = completion_script(commands, "bash"),
                    fish = completion_script(commands, "fish");
  for (const Command& command : commands) {
    EXPECT_NE(page.find(".SH INGOT " + command.name), std::string::npos);
    for (const Option& option : command.options) {
      const size_t dashes = option.names.find("--");
      if (dashes == option.names.npos) continue;
      const std::string name = option.names.substr(dashes + 2);
      EXPECT_NE(bash.find("--" + name), std::string::npos) << name;
      EXPECT_NE(fish.find("-l " + name + " "), std::string::npos) << name;
      for (const std::string& choice : option.rules.choices) EXPECT_NE(bash.find(choice), std::string::npos);
    }
  }
  EXPECT_EQ(page.find("\n.B ingot compile inputs... [OPTION...]\n") == std::string::npos, false);
}

}  // namespace
}  // namespace ingot
