// What the shells themselves make of a few words and a tab, where they are installed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "tests/support/file_text.h"
#include "tests/support/temporary_folder.h"

namespace ingot {
namespace {

class Completion : public testing::Test {
 protected:
  // What a shell prints of a script, which finds ingot's completion in the file _ingot of the current folder.
  std::string said(const std::string& shell, const std::string& script) {
    EXPECT_EQ(std::system(fmt::format("{} completion {} >{}", INGOT_TOOL, shell, folder_.file("_ingot")).c_str()), 0);
    std::ofstream(folder_.file("script")) << script;
    const std::string command = fmt::format("cd {} && timeout 60 {} script >out 2>&1", folder_.path().string(), shell);
    EXPECT_EQ(std::system(command.c_str()), 0) << file_text(folder_.file("out"));
    return file_text(folder_.file("out"));
  }

  static bool has(const std::string& shell) {
    return std::system(fmt::format("command -v {} >/dev/null", shell).c_str()) == 0;
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(Completion, OfBash) {
  EXPECT_EQ(said("bash",
                 "source ./_ingot\n"
                 "tab() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _ingot; echo \"${COMPREPLY[@]}\"; }\n"
                 "tab ingot tr\ntab ingot train --sav\n"),
            "train\n--save --save-every\n");
}

TEST_F(Completion, OfFish) {
  if (!has("fish")) GTEST_SKIP() << "fish is not installed";
  const std::string out = said("fish", "source ./_ingot\ncomplete -C 'ingot tr'\ncomplete -C 'ingot train --save-'\n");
  EXPECT_TRUE(out.starts_with("train\t")) << out;
  EXPECT_NE(out.find("\n--save-every\t"), std::string::npos) << out;
}

// In a terminal: zsh completes nowhere else. At its first tab it loads the script.
TEST_F(Completion, OfZsh) {
  if (!has("zsh")) GTEST_SKIP() << "zsh is not installed";
  EXPECT_EQ(said("zsh",
                 "zmodload zsh/zpty\n"
                 "zpty z 'zsh -f -i'\n"
                 "zpty -w z \"fpath=($PWD \\$fpath); ingot() { print got\\$((1)):\\$*: }; autoload -Uz compinit\"\n"
                 "zpty -w z 'compinit -u -D'\n"
                 "for words in 'ingot tr' 'ingot train --save-e'; do\n"
                 "  zpty -w z \"$words\"$'\\t'\n"
                 "  zpty -r z out '*got1:*:*'\n"
                 "  print -r -- ${${out##*got1:}%%:*}\n"
                 "done\n"),
            "train\ntrain --save-every\n");
}

}  // namespace
}  // namespace ingot
