// Accesses that leave their buffers are found before a kernel runs, whatever guards them: for each form of loop, mask
// and condition a kernel that stays inside, and the same with a buffer that is one element shorter.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "aot/loops/bound_search.h"
#include "aot/loops/loop.h"
#include "tests/support/error_of.h"

namespace ingot::loops {
namespace {

struct Form {
  const char* name;
  int64_t elements;  // that x and y need
  const char* body;
};

constexpr Form kForms[] = {
    {"a loop of vectors", 32, R"(
  for i in 0 .. 32 by 8 {
    store y[i + lane] = load x[i + lane]
  })"},
    {"a loop between tasks' bounds", 40, R"(
  for i in 16*task .. min(40, 16*task + 16) by 8 {
    store y[i + lane] = load x[i + lane]
  })"},
    {"a last loop that has no trips for most tasks", 27, R"(
  for i in 8*task .. min(27, 8*task + 8) {
    store y[i] = load x[i]
  })"},
    {"a mask of an edge", 27, R"(
  for i in 0 .. 32 by 8 {
    store y[i + lane] = load x[i + lane where lt(i32[i + lane], splat(i32(27)))] where lt(i32[i + lane], splat(i32(27)))
  })"},
    {"a mask from below, read backwards", 24, R"(
  for i in 0 .. 32 by 8 {
    let in = and(ge(i32[23 - i - lane], splat(i32(0))), lt(i32[23 - i - lane], splat(i32(24))))
    store y[23 - i - lane] = load x[23 - i - lane where in] where in
  })"},
    {"a mask of rows", 91, R"(
  for row in 0 .. 8 {
    for i in 0 .. 13 {
      store y[13*row + i] = load x[13*row + i where lt(i32[row], i32(7))] where lt(i32[row], i32(7))
    }
  })"},
    {"a mask that is denied", 27, R"(
  for i in 0 .. 32 by 8 {
    let out = not(gt(i32[i + lane], splat(i32(26))))
    store y[i + lane] = load x[i + lane where out] where out
  })"},
    {"neither of two", 20, R"(
  for i in 0 .. 32 {
    let out = or(lt(i32[i], i32(4)), ge(i32[i], i32(24)))
    store y[i - 4] = load x[i - 4 where not(out)] where not(out)
  })"},
    {"a condition", 27, R"(
  for i in 0 .. 32 {
    if le(i32[i], i32(26)) {
      store y[i] = load x[i]
    }
  })"},
    {"the other branch of a condition", 27, R"(
  for i in 0 .. 32 {
    if gt(i32[i], i32(26)) {
      store y[0] = f32(0)
    } else {
      store y[i] = load x[i]
    }
  })"},
    {"an only value", 8, R"(
  for i in 0 .. 32 {
    store y[i] = load x[i where eq(i32[i], i32(7))] where eq(i32[i], i32(7))
  })"},
    {"a quotient and its remainder", 20, R"(
  for i in 0 .. 10 {
    let q = divide(i64[i], i64(3)) in 0 .. 3
    let r = i64[i - 3*q] in 0 .. 2
    store y[6*q + r + 1] = load x[6*q + r + 1]
  })"},
    {"a quotient under a mask", 8, R"(
  for i in 0 .. 4 {
    let at = i64[8*i + lane] in 0 .. 31
    let q = divide(at, splat(i64(2))) in 0 .. 15
    let in = lt(at, splat(i64(15)))
    store y[q] = load x[q where in] where in
  })"},
    {"a quotient of rows that end before the last task", 48, R"(
  for row in 6*task .. min(23, 6*task + 6) {
    let q = divide(i64[row], i64(4)) in 0 .. 5
    let r = i64[row - 4*q] in 0 .. 3
    store y[8*q + 2*r] = f32(0)
    store y[8*q + 7] = load x[8*q + 7]
  })"},
    {"the least of two", 27, R"(
  for i in 0 .. 32 {
    let at = minimum(i64[i], i64(26)) in 0 .. 31
    store y[at] = load x[at]
  })"},
    {"pairs of lanes, the last of them by half", 22, R"(
  for v in 0 .. 2 {
    let q = divide(i64[lane], splat(i64(2))) in 0 .. 3
    let r = i64[lane - 2*q] in 0 .. 1
    let in = lt(i32[8*v + lane], splat(i32(12)))
    store y[16*v + 4*q + r] = load x[16*v + 4*q + r where in] where in
  })"},
};

std::string error_with(const Form& form, int64_t elements) {
  const std::string text =
      fmt::format("kernel k lanes 8 tasks 4 (x: f32[{0}], y: f32[{0}] out) {{{1}\n}}\n", elements, form.body);
  return error_of([&] { parse_kernel(text); });
}

TEST(VerifyForms, KeepsAccessesInsideTheirBuffers) {
  for (const Form& form : kForms) {
    EXPECT_EQ(error_with(form, form.elements), "") << form.name;
    const std::string error = error_with(form, form.elements - 1);
    EXPECT_TRUE(error.find(fmt::format("leave the buffer's {}", form.elements - 1)) != std::string::npos)
        << form.name << ": " << error;
  }
}

// A value of i from 0 to 31, of bytes and of i32, and the least range that it can be declared in.
struct Declared {
  const char* value;
  int64_t low, high;
};

constexpr Declared kDeclared[] = {
    {"minimum(i64[i], i64(26))", 0, 26},
    {"maximum(i64[i], i64(9))", 9, 31},
    {"add(i64[2*i], i64(5))", 5, 67},
    {"subtract(i64(5), i64[i])", -26, 5},
    {"multiply(i64[i - 4], i64(-3))", -81, 12},
    {"divide(i64[i], i64(3))", 0, 10},
    {"remainder(i64[i], i64(7))", 0, 6},
    {"shift_right_logical(i64[i], i64(2))", 0, 7},
    {"shift_left(i64(3), i64[i])", 3, int64_t{3} << 31},
    {"load bytes[i]", 0, 255},
    {"load words[i]", -2147483648, 2147483647},
    {"and(load bytes[i], ui8(15))", 0, 15},
    {"and(load words[i], i32(7))", 0, 7},
    {"add(load bytes[i], ui8(1))", 0, 255},  // wraps
    {"minimum(maximum(load words[i], i32(-3)), i32(8))", -3, 8},
    {"convert<i64>(load bytes[i])", 0, 255},
    {"select(lt(i64[i], i64(9)), i64[i], i64(40))", 0, 40},
};

std::string error_declared(const std::string& value, int64_t low, int64_t high, const char* mark = "") {
  const std::string text = fmt::format(
      "kernel k lanes 8 tasks 4 (bytes: ui8[32], words: i32[32], y: f32[1] out) {{\n  for i in 0 .. 32 {{\n"
      "    let at = {} in {} .. {}{}\n  }}\n}}\n",
      value, low, high, mark);
  return error_of([&] { parse_kernel(text); });
}

TEST(VerifyRanges, AreProvedByIntervals) {
  for (const auto& [value, low, high] : kDeclared) {
    EXPECT_EQ(error_declared(value, low, high), "") << value;
    EXPECT_NE(error_declared(value, low + 1, high).find("is declared in"), std::string::npos) << value;
    EXPECT_NE(error_declared(value, low, high - 1).find("is declared in"), std::string::npos) << value;
  }
}

// i is 3 q + r: intervals do not know that.
TEST(VerifyRanges, AreProvedByFacts) {
  const auto error = [](int most) {
    return error_of([&] {
      parse_kernel(
          fmt::format("kernel k lanes 8 tasks 1 (y: f32[1] out) {{\n  for i in 0 .. 10 {{\n    let q = divide(i64[i], "
                      "i64(3)) in 0 .. 3\n"
                      "    let r = i64[i - 3*q] in 0 .. {}\n  }}\n}}\n",
                      most));
    });
  };
  EXPECT_EQ(error(2), "");
  EXPECT_NE(error(1).find("is declared in"), std::string::npos);
}

// Each branch of a select is taken where the condition says so.
TEST(VerifyRanges, AreProvedByConditions) {
  EXPECT_EQ(error_declared("select(lt(i64[i], i64(9)), i64[i], i64(8))", 0, 8), "");
  EXPECT_NE(error_declared("select(lt(i64[i], i64(10)), i64[i], i64(8))", 0, 8).find("is declared in"),
            std::string::npos);
}

TEST(VerifyRanges, ThatAreTrustedAreCountedAndPrinted) {
  EXPECT_EQ(error_declared("load words[i]", 0, 7, " trusted"), "");
  const Kernel kernel = parse_kernel(
      "kernel k lanes 8 tasks 1 (x: i32[1], y: f32[1] out) {\n  let at = load x[0] in 0 .. 7 trusted\n}\n");
  EXPECT_EQ(verify(kernel).trusted_count, 1);
  EXPECT_FALSE(verify(kernel).is_exhausted);
  EXPECT_NE(print(kernel).find("in 0 .. 7 trusted\n"), std::string::npos) << print(kernel);
  EXPECT_EQ(verify(parse_kernel(print(kernel))).trusted_count, 1);
}

// Of i and j from 0 to 99, of which j is at most 9 - i: 9 - i needs a step, 99 - i none.
TEST(BoundSearch, GivesUpWithoutSteps) {
  const std::vector<Var> vars = {{.name = "i", .low = 0, .high = 99}, {.name = "j", .low = 0, .high = 99}};
  const Index i = Index::variable(0), j = Index::variable(1);
  const std::vector<Index> facts = {Index(9) - i - j};
  int64_t enough = 1000, none = 0;
  EXPECT_TRUE(follows(vars, facts, Index(9) - i, enough));
  EXPECT_LT(enough, 1000);
  EXPECT_FALSE(follows(vars, facts, Index(9) - i, none));
  EXPECT_TRUE(follows(vars, facts, Index(99) - i, none));
}

}  // namespace
}  // namespace ingot::loops
