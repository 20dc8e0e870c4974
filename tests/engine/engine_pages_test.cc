// Memory that the engine and its wrapper ask the system to keep in large pages.
#include <sys/mman.h>

#include <fstream>
#include <ingot/engine.hpp>
#include <sstream>

#include "tests/engine/engine_fixture.h"

namespace ingot::test {
namespace {

constexpr uint64_t kMebibyte = 1 << 20;

class Mapped {
 public:
  explicit Mapped(uint64_t byte_count)
      : bytes_(mmap(nullptr, byte_count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
        byte_count_(byte_count) {
    EXPECT_NE(bytes_, MAP_FAILED);
  }
  ~Mapped() { munmap(bytes_, byte_count_); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  char* data() const { return static_cast<char*>(bytes_); }
  uint64_t size() const { return byte_count_; }
  const char* middle() const { return data() + byte_count_ / 2; }

 private:
  void* bytes_;
  uint64_t byte_count_;
};

// Whether /proc says so of the mapping that holds the address.
bool is_to_be_large(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  bool is_here = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin, end;
    char dash;
    if (std::istringstream range(line); range >> std::hex >> begin >> dash >> end && dash == '-') {
      is_here = begin <= reinterpret_cast<uintptr_t>(address) && reinterpret_cast<uintptr_t>(address) < end;
    } else if (is_here && line.starts_with("VmFlags:")) {
      return (line + " ").find(" hg ") != line.npos;
    }
  }
  return false;
}

bool has_large_pages() {
  const Mapped memory(8 * kMebibyte);
  return madvise(memory.data(), memory.size(), MADV_HUGEPAGE) == 0 && is_to_be_large(memory.middle());
}

TEST(EnginePages, MuchMemoryOfTheWrapperIsToBeLarge) {
  if (!has_large_pages()) GTEST_SKIP() << "the system has no large pages, or does not say so";
  const engine::AlignedBytes much(8 * kMebibyte, 64), little(kMebibyte, 64);
  EXPECT_TRUE(is_to_be_large(much.data()));
  EXPECT_TRUE(is_to_be_large(much.data() + much.size() / 2));
  EXPECT_FALSE(is_to_be_large(little.data()));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(engine::AlignedBytes(8 * kMebibyte, 4 * kMebibyte).data()) % (4 * kMebibyte),
            0U);
}

TEST(EnginePages, CopiesOfFilesAreToBeLarge) {
  if (!has_large_pages()) GTEST_SKIP() << "the system has no large pages, or does not say so";
  const TemporaryFolder folder;
  const std::string path = folder.file("long");
  std::ofstream(path) << std::string(8 * kMebibyte, 'x');
  ingot_file file;
  ingot_error error = {};
  ASSERT_EQ(ingot_read_file(path.c_str(), &file, &error), INGOT_OK) << error.text;
  EXPECT_TRUE(is_to_be_large(static_cast<const char*>(file.bytes) + file.byte_count / 2));
  ingot_free_file(&file);
}

}  // namespace
}  // namespace ingot::test
