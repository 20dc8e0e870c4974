#include "tests/support/compiled_case.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "aot/graph/text/parse.h"
#include "aot/ops/support/build.h"
#include "tests/support/in_memory.h"

namespace ingot {
namespace {

double value_in_memory(const RefTensor& tensor, DType dtype, int64_t k) {
  if (tensor.is_float()) return tensor.f[k];
  if (is_narrow_float(dtype)) return float_from_bits(dtype, static_cast<uint64_t>(tensor.i[k]));
  return static_cast<double>(tensor.i[k]);
}

void expect_agreement(const CompiledCase& it, const RefTensor& actual, const RefTensor& evaluated) {
  const RefTensor expected = in_memory(evaluated);
  ASSERT_EQ(actual.type, expected.type) << it.body;
  const DType dtype = it.result.quantization ? expected.type.dtype : it.result.dtype;
  for (int64_t k = 0; k < expected.elements(); ++k) {
    const double value = value_in_memory(actual, dtype, k), wanted = value_in_memory(expected, dtype, k);
    if (is_same(value, wanted) || (it.tolerance && std::abs(value - wanted) <= static_cast<double>(it.tolerance)))
      continue;
    std::string operands;
    for (const RefTensor& input : it.inputs) {
      if (input.is_float() && k < input.elements()) operands += fmt::format(" {}", input.f[k]);
    }
    FAIL() << it.body << "\nelement " << k << " is " << value << ", not " << wanted << "; operands" << operands;
  }
}

}  // namespace

bool is_same(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::isnan(a) && std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

void expect_agreement(const std::vector<CompiledCase>& cases) {
  std::string text;
  for (size_t c = 0; c < cases.size(); ++c) {
    std::string arguments;
    for (size_t i = 0; i < cases[c].inputs.size(); ++i) {
      arguments += fmt::format("{}%x{}: {}", i ? ", " : "", i, to_string(cases[c].inputs[i].type));
    }
    text += fmt::format("func.func @f{}({}) -> {} {{\n  {}\n  return %r : {}\n}}\n", c, arguments,
                        to_string(cases[c].result), cases[c].body, to_string(cases[c].result));
  }
  const auto module = parse_module(text, "cases", all_ops());
  CompiledExecutor compiled;
  for (size_t c = 0; c < cases.size(); ++c) {
    NamedTensors state, inputs;
    for (size_t i = 0; i < cases[c].inputs.size(); ++i) inputs[fmt::format("arg{}", i)] = in_memory(cases[c].inputs[i]);
    const RefTensor actual = compiled.run(*module, fmt::format("f{}", c), state, inputs).at("result0");
    expect_agreement(cases[c], actual, evaluate(*module->functions[c], cases[c].inputs)[0]);
  }
}

}  // namespace ingot
