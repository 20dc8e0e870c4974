// Ops that are made of others: what they expand into, evaluated and compiled, gives what their definition says.
#include <gtest/gtest.h>

#include "aot/graph/print.h"
#include "aot/graph/verify.h"
#include "aot/passes/checks.h"
#include "aot/passes/gradients.h"
#include "aot/passes/pass.h"
#include "tests/compiled_program.h"
#include "tests/op_agreement.h"

namespace ingot {
namespace {

std::vector<OpCase> cases_that_expand() {
  std::vector<OpCase> cases;
  for (const OpDef* def : all_ops().all()) {
    if (!def->expand) continue;
    for (const Sample& sample : def->samples()) cases.push_back(make_case(*def, sample));
  }
  return cases;
}

void expect_agreement(const OpCase& op_case, const std::vector<RefTensor>& results) {
  ASSERT_EQ(results.size(), op_case.expected.size());
  for (size_t r = 0; r < results.size(); ++r) EXPECT_EQ(disagreement(op_case, r, results[r]), "") << "result " << r;
}

TEST(Expand, WhatAnOpIsMadeOfGivesItsResults) {
  for (const OpCase& op_case : cases_that_expand()) {
    SCOPED_TRACE(op_case.sample.text);
    const std::unique_ptr<Module> module = copy_module(*op_case.module);
    PassContext context(all_ops());
    EXPECT_TRUE(expand(*module, context) || op_case.def->root != KernelRoot::kNone);
    verify(*module);
    EXPECT_EQ(no_expandable_ops(*module), "");
    EXPECT_FALSE(expand(*module, context)) << print(*module);
    expect_agreement(op_case, evaluate(*module->find("main"), op_case.inputs));
  }
}

TEST(Expand, CompiledAgrees) {
  for (const OpCase& op_case : cases_that_expand()) {
    SCOPED_TRACE(op_case.sample.text);
    Function& main = *op_case.module->find("main");
    name_ports(main);
    NamedTensors inputs, no_state;
    for (size_t i = 0; i < op_case.inputs.size(); ++i) inputs["arg" + std::to_string(i)] = op_case.inputs[i];
    CompiledExecutor compiled;
    const NamedTensors outputs = compiled.run(*op_case.module, "main", no_state, inputs);
    std::vector<RefTensor> results;
    for (size_t r = 0; r < op_case.expected.size(); ++r) results.push_back(outputs.at("result" + std::to_string(r)));
    expect_agreement(op_case, results);
  }
}

// An op that has no gradient of its own.
TEST(Expand, GradientsGoThroughTheParts) {
  const auto module = parse_module(
      "func.func @main(%x: tensor<3xf64>) -> tensor<f64> {\n"
      "  %0 = stablehlo.dot %x, %x : (tensor<3xf64>, tensor<3xf64>) -> tensor<f64>\n"
      "  return %0 : tensor<f64>\n}\n",
      "dot", all_ops());
  Function& main = *module->find("main");
  Value* x = main.body.argument(0);
  Value* loss = main.body.terminator()->operand(0);
  ASSERT_EQ(loss->op->def->gradient, nullptr);
  erase(main.body.terminator());
  GraphBuilder b(all_ops());
  b.at_end(main.body);
  b.create("func.return", gradients(b, loss, std::span(&x, 1)));
  main.results[0].type = x->type;
  verify(*module);
  EXPECT_EQ(evaluate(main, {tensor_of_values(x->type, {1, 2, -3})})[0].f, (std::vector<double>{2, 4, -6}));
}

}  // namespace
}  // namespace ingot
