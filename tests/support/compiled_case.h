// Functions of a few ops, compiled and run by the engine, against their evaluation: of tensors of all types, also those
// that lie in memory as integers.
#pragma once

#include <string>
#include <vector>

#include "tests/support/compiled_program.h"

namespace ingot {

struct CompiledCase {
  std::string body;               // "%r = stablehlo.convert %x0 : (...) -> ..."
  std::vector<RefTensor> inputs;  // %x0, %x1, ...
  TensorType result;              // of %r
  int64_t tolerance = 0;          // integers of a quantized result may differ by it
};

// All cases as entry points of one bundle. Values are the same, with the signs of zeros; of NaN there is one.
void expect_agreement(const std::vector<CompiledCase>& cases);

bool is_same(double a, double b);

}  // namespace ingot
