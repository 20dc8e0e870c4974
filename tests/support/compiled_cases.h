// Many cases of ops as one compiled program, an entry point each: linked once.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/compiled_program.h"
#include "tests/support/op_case.h"

namespace ingot {

// The pairs of a complex tensor as one more, last dimension: what a compiled program takes and gives. And back.
inline RefTensor view_as_real(RefTensor tensor) {
  if (!tensor.is_complex()) return tensor;
  tensor.type.dtype = part_of(tensor.type.dtype);
  tensor.type.shape.push_back(2);
  return tensor;
}
inline RefTensor view_as(const TensorType& type, RefTensor tensor) {
  EXPECT_EQ(view_as_real(RefTensor(type)).type, tensor.type);
  tensor.type = type;
  return tensor;
}

// The results of each case.
inline std::vector<std::vector<RefTensor>> run_compiled(const std::vector<OpCase>& cases) {
  const auto entry = [](size_t k) { return "case" + std::to_string(k); };
  Module program;
  for (size_t k = 0; k < cases.size(); ++k) {
    const std::unique_ptr<Module> copy = copy_module(*cases[k].module);
    EXPECT_EQ(copy->functions.size(), 1u) << cases[k].sample.text;
    std::unique_ptr<Function>& function = program.functions.emplace_back(std::move(copy->functions[0]));
    function->name = entry(k);
    function->module = &program;
    name_ports(*function);
  }
  CompiledExecutor compiled;
  std::vector<std::vector<RefTensor>> results;
  for (size_t k = 0; k < cases.size(); ++k) {
    NamedTensors inputs, no_state;
    for (size_t i = 0; i < cases[k].inputs.size(); ++i) inputs["arg" + std::to_string(i)] = cases[k].inputs[i];
    const NamedTensors outputs = compiled.run(program, entry(k), no_state, inputs);
    results.emplace_back();
    for (size_t r = 0; r < cases[k].expected.size(); ++r) {
      results.back().push_back(view_as(cases[k].expected[r].type, outputs.at("result" + std::to_string(r))));
    }
  }
  return results;
}

}  // namespace ingot
