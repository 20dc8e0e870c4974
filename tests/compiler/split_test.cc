// Complex numbers: ops on their parts, evaluated and compiled, give what the ops' definitions say.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "aot/graph/text/print.h"
#include "aot/graph/verify.h"
#include "aot/passes/checks.h"
#include "aot/passes/pass.h"
#include "tests/support/compiled_cases.h"
#include "tests/support/op_agreement.h"

namespace ingot {
namespace {

std::vector<OpCase> complex_cases() {
  std::vector<OpCase> cases;
  for (const OpDef* def : all_ops().all()) {
    if (!def->samples || def->name.starts_with("check.")) continue;
    for (const Sample& sample : def->samples()) {
      if (OpCase made = make_case(*def, sample); has_complex(made.main())) cases.push_back(std::move(made));
    }
  }
  return cases;
}

// What the function gives for complex inputs once it knows none.
std::vector<RefTensor> split_results(const OpCase& op_case) {
  const std::unique_ptr<Module> module = copy_module(*op_case.module);
  PassContext context;
  expand(*module, context);
  EXPECT_TRUE(split_complex(*module, context));
  verify(*module);
  EXPECT_EQ(no_complex_values(*module), "");
  EXPECT_FALSE(split_complex(*module, context)) << print(*module);
  std::vector<RefTensor> inputs;
  for (const RefTensor& input : op_case.inputs) inputs.push_back(view_as_real(input));
  std::vector<RefTensor> results = evaluate(*module->find("main"), std::move(inputs));
  for (size_t r = 0; r < results.size(); ++r) results[r] = view_as(op_case.expected[r].type, std::move(results[r]));
  return results;
}

TEST(Split, PartsGiveTheResults) {
  for (const OpCase& op_case : complex_cases()) {
    SCOPED_TRACE(op_case.sample.text);
    expect_agreement(op_case, split_results(op_case));
  }
}

TEST(Split, CompiledAgrees) {
  const std::vector<OpCase> cases = complex_cases();
  const std::vector<std::vector<RefTensor>> results = run_compiled(cases);
  for (size_t k = 0; k < cases.size(); ++k) {
    SCOPED_TRACE(cases[k].sample.text);
    expect_agreement(cases[k], results[k]);
  }
}

// At the boundary a complex tensor is a real one with a last dimension of 2; names and state stay.
TEST(Split, BoundaryKeepsNamesAndState) {
  const auto module = parse_module(
      "func.func @step(%s: tensor<2xcomplex<f32>> {ingot.state = \"s\"}, %x: tensor<2xcomplex<f32>> {ingot.name = "
      "\"x\"}) -> (tensor<2xf32> {ingot.name = \"size\"}, tensor<2xcomplex<f32>> {ingot.state = \"s\"}) {\n"
      "  %0 = stablehlo.multiply %s, %x : tensor<2xcomplex<f32>>\n"
      "  %1 = stablehlo.abs %0 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>\n"
      "  return %1, %0 : tensor<2xf32>, tensor<2xcomplex<f32>>\n}\n",
      "step", all_ops());
  const TensorType view{DType::kF32, {2, 2}};
  NamedTensors state{{"s", tensor_of_values(view, {3, 4, 0, 1})}};
  const NamedTensors inputs{{"x", tensor_of_values(view, {0, 1, 2, 0})}};
  CompiledExecutor compiled;
  EXPECT_EQ(compiled.run(*module, "step", state, inputs).at("size").f, (std::vector<double>{5, 2}));
  EXPECT_EQ(state.at("s").f, (std::vector<double>{-4, 3, 0, 2}));
  EXPECT_EQ(compiled.run(*module, "step", state, inputs).at("size").f, (std::vector<double>{5, 4}));
  EXPECT_EQ(state.at("s").type, view);
}

OpCase fft_case(const std::string& kind, const std::string& part, int64_t length, const std::string& batch) {
  const std::string whole = fmt::format("tensor<{}{}x", batch, length),
                    half = fmt::format("tensor<{}{}x", batch, length / 2 + 1);
  const std::string complex = "complex<" + part + ">>", real = part + ">";
  const std::string x = kind == "RFFT" ? whole + real : (kind == "IRFFT" ? half : whole) + complex;
  const std::string y = kind == "IRFFT" ? whole + real : (kind == "RFFT" ? half : whole) + complex;
  return make_case(*all_ops().find("stablehlo.fft"),
                   {.text = fmt::format("func.func @main(%x: {0}) -> {1} {{\n  %0 = stablehlo.fft %x, type = {2}, "
                                        "length = [{3}] : ({0}) -> {1}\n  return %0 : {1}\n}}\n",
                                        x, y, kind, length)});
}

std::vector<int64_t> lengths() {
  std::vector<int64_t> lengths{67, 97, 134, 257, 360, 1024};
  for (int64_t length = 1; length <= 64; ++length) lengths.push_back(length);
  return lengths;
}

TEST(Fft, OfEveryLength) {
  for (const int64_t length : lengths()) {
    for (const std::string kind : {"FFT", "IFFT", "RFFT", "IRFFT"}) {
      for (const std::string part : {"f32", "f64"}) {
        const std::string batch = length % 3 == 0 ? "" : length % 3 == 1 ? "2x" : "3x2x";
        const OpCase op_case = fft_case(kind, part, length, batch);
        SCOPED_TRACE(op_case.sample.text);
        expect_agreement(op_case, split_results(op_case));
      }
    }
  }
}

TEST(Fft, Compiled) {
  std::vector<OpCase> cases;
  for (const int64_t length : {1, 2, 3, 8, 17, 30, 48, 64, 97, 257, 1024}) {
    cases.push_back(fft_case("FFT", "f32", length, "3x"));
    cases.push_back(fft_case(length % 2 ? "IRFFT" : "RFFT", "f64", length, ""));
  }
  const std::vector<std::vector<RefTensor>> results = run_compiled(cases);
  for (size_t k = 0; k < cases.size(); ++k) {
    SCOPED_TRACE(cases[k].sample.text);
    expect_agreement(cases[k], results[k]);
  }
}

}  // namespace
}  // namespace ingot
