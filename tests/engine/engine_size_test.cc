// What the engine weighs and what it leans on, as the tiny preset builds it. Prints both.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <iostream>
#include <set>
#include <sstream>
#include <string>

#include "tests/engine/engine_fixture.h"
#include "tests/support/file_text.h"

namespace ingot::test {
namespace {

constexpr int kEngineBytesMax = 48 * 1024;

// What a command prints. An empty string if it fails.
std::string output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return "";
  std::string text;
  std::array<char, 4096> buffer;
  for (size_t count; (count = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) text.append(buffer.data(), count);
  return pclose(pipe) == 0 ? text : "";
}

#if defined(__x86_64__)
TEST(EngineSize, AtMost48KiB) {
  // The line "29160  512  0  29672  73e8  (TOTALS)": code with its constants, data, zeros, ...
  const std::string sizes = output_of("size -t " INGOT_TINY_ENGINE);
  if (sizes.empty()) GTEST_SKIP() << "there is no size command";
  std::istringstream totals(sizes.substr(sizes.rfind('\n', sizes.size() - 2) + 1));
  int code_bytes = 0, data_bytes = 0, zero_bytes = 0;
  totals >> code_bytes >> data_bytes >> zero_bytes;
  std::cout << "engine: " << code_bytes << " bytes of code and constants, " << data_bytes << " of tables, "
            << zero_bytes << " of variables\n";
  EXPECT_GT(code_bytes, 10'000);
  EXPECT_LE(code_bytes + data_bytes, kEngineBytesMax);
  EXPECT_EQ(zero_bytes, 0) << "the engine has no global variables";
}
#endif

TEST(EngineSize, DocumentsSayIt) {
  const std::string claim = std::to_string(kEngineBytesMax / 1024) + " KiB of code";
  for (const char* path : {"/README.md", "/engine/README.md"}) {
    EXPECT_NE(file_text(std::string(INGOT_SOURCE_DIR) + path).find(claim), std::string::npos) << path;
  }
}

TEST(EngineLink, NeedsLibcAndLibzAlone) {
  const std::string dynamic = output_of("readelf -d " INGOT_EMBED_PROGRAM);
  if (dynamic.empty()) GTEST_SKIP() << "there is no readelf command";
  std::set<std::string> needed;
  std::istringstream lines(dynamic);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("(NEEDED)") == std::string::npos) continue;
    const size_t begin = line.find('[') + 1;
    needed.insert(line.substr(begin, line.find(']') - begin));
    std::cout << "needed: " << line.substr(begin, line.find(']') - begin) << '\n';
  }
#if defined(__riscv)
  EXPECT_EQ(needed, std::set<std::string>{"libc.so.6"}) << "its zlib is linked in";
#else
  EXPECT_EQ(needed, (std::set<std::string>{"libc.so.6", "libz.so.1"}));
#endif
}

TEST(EngineLink, ACProgramTrains) {
  const TemporaryFolder directory;
  const std::string path = directory.file("fit.ingot");
  bundle::write_bundle_file(fit_spec(), path);
  const std::string output = output_of(INGOT_EMULATOR " " INGOT_EMBED_PROGRAM " " + path);
  EXPECT_NE(output.find("step 19 loss "), std::string::npos) << output;
}

}  // namespace
}  // namespace ingot::test
