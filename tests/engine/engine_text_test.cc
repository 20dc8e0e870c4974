// The engine's own texts of numbers and texts, beside those of the C library.
#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include "engine/src/format_text.h"

namespace ingot::engine {
namespace {

void format_text(char* out, size_t room, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Text(out, room).put_formatted(format, arguments);
  va_end(arguments);
}

// One directive with a random argument, written by both.
template <typename Value>
void expect_same(const char* format, Value value) {
  for (const size_t room : {1u, 2u, 7u, 12u, 64u}) {
    char actual[64], expected[64];
    format_text(actual, room, format, value);
    std::snprintf(expected, room, format, value);
    EXPECT_STREQ(actual, expected) << format;
  }
}

TEST(EngineText, IsThatOfPrintf) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200; ++i) {
    const uint64_t value = random() >> random() % 64;
    expect_same("%u", static_cast<uint32_t>(value));
    expect_same("step %u: ", static_cast<uint32_t>(value));
    expect_same("%d of 100%%", static_cast<int>(value));
    expect_same("%ju bytes", value);
  }
  for (const uint64_t value : {uint64_t{0}, uint64_t{1}, UINT64_MAX}) expect_same("%ju", value);
  for (const int value : {0, -1, INT32_MIN, INT32_MAX}) expect_same("%d", value);
  for (const char* value : {"", "w", "model.fc1.weight", "\u00e9t\u00e9"}) {
    expect_same("'%s'", value);
    expect_same("'%.0s'", value);
    expect_same("'%.5s', and no more", value);
    expect_same("'%.120s'", value);
  }
}

TEST(EngineText, TakesAnyNumberOfArguments) {
  char actual[64], expected[64];
  format_text(actual, sizeof actual, "%s %.*s %u%d%ju %s", "a", 2, "bcd", 5u, -6, uint64_t{1} << 40, "z");
  std::snprintf(expected, sizeof expected, "%s %.*s %u%d%ju %s", "a", 2, "bcd", 5u, -6, uint64_t{1} << 40, "z");
  EXPECT_STREQ(actual, expected);
}

}  // namespace
}  // namespace ingot::engine
