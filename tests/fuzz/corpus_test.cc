// What fuzzers have found, and what they begin with, through the same function: on any compiler, in every test run.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t byte_count);

namespace ingot {
namespace {

TEST(Corpus, EveryInputIsHarmless) {
  int count = 0;
  for (const char* folder : {INGOT_CORPUS, INGOT_SOURCE_DIR "/tests/engine/compat"}) {
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      SCOPED_TRACE(file.path().string());
      std::ifstream in(file.path(), std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(in), {}};
      EXPECT_EQ(LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()), 0);
      ++count;
    }
  }
  EXPECT_GT(count, 10);
}

}  // namespace
}  // namespace ingot
