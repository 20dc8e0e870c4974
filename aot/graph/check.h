// Programs that check themselves: check.* ops, and custom calls of those names, compare tensors as StableHLO's check
// dialect defines. One judge for the reference evaluator and for compiled code.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "aot/graph/graph.h"
#include "aot/graph/tensor.h"

namespace ingot {

// What a program expects of one of its results.
struct Check {
  enum class Kind : uint8_t {
    kEqual,        // the same values; any NaN equals any NaN, and -0 equals +0
    kAlmostEqual,  // |actual - expected| <= tolerance for finite values, else equal
    kClose,        // min_ulp <= units in the last place between them <= max_ulp
  };
  Kind kind = Kind::kEqual;
  double tolerance = 1e-4;
  uint64_t min_ulp = 0, max_ulp = 3;

  int actual = 0;                // a result of the function
  int expected = -1;             // another one, or -1:
  LiteralRef literal = nullptr;  // the expected value itself
  Location location = nullptr;
};

// Turns the checks that stand in a function's body into results: each operand of a check is appended to what the
// function returns, and the check is erased. Gives them in program order.
std::vector<Check> take_checks(Function& function);

// "" when `results` (all of the function's) satisfy the check; else what differs first and how many elements do.
std::string judge(const Check& check, std::span<const RefTensor> results);

// Values of a float dtype that lie between two, counted (0 for equal ones, +0 and -0, and two NaN); the greatest
// uint64_t when one alone is NaN or infinite.
uint64_t ulp_difference(DType dtype, double a, double b);

}  // namespace ingot
