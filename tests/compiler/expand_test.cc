// Ops that are made of others: what they expand into, evaluated and compiled, gives what their definition says.
#include <gtest/gtest.h>

#include "aot/graph/text/print.h"
#include "aot/graph/verify.h"
#include "aot/passes/checks.h"
#include "aot/passes/gradients/gradients.h"
#include "aot/passes/pass.h"
#include "tests/support/compiled_cases.h"
#include "tests/support/error_of.h"
#include "tests/support/op_agreement.h"

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

TEST(Expand, WhatAnOpIsMadeOfGivesItsResults) {
  for (const OpCase& op_case : cases_that_expand()) {
    SCOPED_TRACE(op_case.sample.text);
    const std::unique_ptr<Module> module = copy_module(*op_case.module);
    PassContext context;
    EXPECT_TRUE(expand(*module, context) || op_case.def->root != KernelRoot::kNone);
    verify(*module);
    EXPECT_EQ(no_expandable_ops(*module), "");
    EXPECT_FALSE(expand(*module, context)) << print(*module);
    expect_agreement(op_case, evaluate(*module->find("main"), op_case.inputs));
  }
}

TEST(Expand, CompiledAgrees) {
  const std::vector<OpCase> cases = cases_that_expand();
  const std::vector<std::vector<RefTensor>> results = run_compiled(cases);
  for (size_t k = 0; k < cases.size(); ++k) {
    SCOPED_TRACE(cases[k].sample.text);
    expect_agreement(cases[k], results[k]);
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
  GraphBuilder b;
  b.at_end(main.body);
  b.create(kFuncReturn, gradients(b, loss, std::span(&x, 1)));
  main.results[0].type = x->type;
  verify(*module);
  EXPECT_EQ(evaluate(main, {tensor_of_values(x->type, {1, 2, -3})})[0].f, (std::vector<double>{2, 4, -6}));
}

// The message of the limit that a function of one line from tensor<2xf32> to tensor<2xf32> meets.
std::string limit_of(const std::string& line) {
  const auto module = parse_module("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  %0 = " + line +
                                       " : (tensor<2xf32>) -> tensor<2xf32>\n  return %0 : tensor<2xf32>\n}\n",
                                   "limit.mlir", all_ops());
  PassContext context;
  return error_of([&] { expand(*module, context); });
}

TEST(Expand, WhatOneProcessCannotDoIsALimit) {
  const std::string pairs = "source_target_pairs = dense<[[1, 0]]> : tensor<1x2xi64>";
  EXPECT_EQ(limit_of("\"stablehlo.collective_permute\"(%x) <{" + pairs + "}>"),
            "limit.mlir:2:8: limit: stablehlo.collective_permute: several processes take part (source_target_pairs); "
            "ingot compiles a program for one: lower it for a single device");
  EXPECT_EQ(limit_of("stablehlo.custom_call @xla_ffi_python_cpu_callback(%x)"),
            "limit.mlir:2:8: limit: custom_call @xla_ffi_python_cpu_callback calls the host's Python while the program "
            "runs, which no device has; compute it in the program, or outside of it and pass it as an argument");
}

}  // namespace
}  // namespace ingot
