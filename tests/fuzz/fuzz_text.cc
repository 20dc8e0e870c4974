// Fuzzing of the front door: whatever a text says, it is refused at its place or passes every pass.
#include <cstdint>
#include <cstring>

#include "tests/support/front_door.h"
#include "tests/support/mutate_text.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t byte_count, size_t byte_count_max);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t byte_count) {
  ingot::try_text({reinterpret_cast<const char*>(data), byte_count});
  return 0;
}

// Words take the place of words half of the time, bytes of bytes else; now and then a program of the tests starts anew.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t byte_count, size_t byte_count_max, unsigned seed) {
  static const std::vector<std::string> texts = ingot::texts_of_tests(INGOT_SOURCE_DIR);
  static const ingot::TextMutator mutator(texts);
  ingot::Random random(seed);
  const bool is_new = byte_count < 8 || random.chance(0.02);
  if (!is_new && random.chance(0.5)) return LLVMFuzzerMutate(data, byte_count, byte_count_max);
  const std::string old(reinterpret_cast<const char*>(data), byte_count);
  const std::string text = is_new ? random.one_of(texts) : mutator.mutate(old, random);
  const size_t kept = std::min(text.size(), byte_count_max);
  std::memcpy(data, text.data(), kept);
  return kept;
}
