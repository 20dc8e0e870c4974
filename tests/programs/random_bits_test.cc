// stablehlo.rng_bit_generator gives the bits that XLA gives (jax 0.10.2 on a CPU), evaluated and compiled.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "aot/graph/text/parse.h"
#include "aot/ops/support/build.h"
#include "tests/support/compiled_program.h"
#include "tests/support/error_of.h"

namespace ingot {
namespace {

struct Known {
  const char* algorithm;
  std::vector<uint64_t> state;
  const char* dtype;
  Shape shape;
  std::vector<uint64_t> after, bits;
};
const Known kKnown[] = {
    {"THREE_FRY",
     {0x123456789abcdef, 0xfedcba9876543210},
     "ui8",
     {5},
     {0x123456789abcdef, 0xfedcba9876543213},
     {0x7f, 0x11, 0x2, 0x2e, 0x4e}},
    {"THREE_FRY",
     {0x123456789abcdef, 0xfedcba9876543210},
     "ui16",
     {3, 2},
     {0x123456789abcdef, 0xfedcba9876543213},
     {0xa37f, 0xd111, 0x4d02, 0x402e, 0x264e, 0xda7a}},
    {"THREE_FRY",
     {0x123456789abcdef, 0xfedcba9876543210},
     "ui32",
     {5},
     {0x123456789abcdef, 0xfedcba9876543213},
     {0xaed4a37f, 0x1130d111, 0xc3cc4d02, 0x798e402e, 0xaee5264e}},
    {"THREE_FRY",
     {0x123456789abcdef, 0xfedcba9876543210},
     "ui32",
     {3, 3},
     {0x123456789abcdef, 0xfedcba9876543216},
     {0xaed4a37f, 0xc3cc4d02, 0xaee5264e, 0x1130d111, 0x798e402e, 0xb089da7a, 0x49b105a8, 0xe8e52210, 0xf0a39a78}},
    {"THREE_FRY",
     {0x123456789abcdef, 0xfedcba9876543210},
     "ui64",
     {3},
     {0x123456789abcdef, 0xfedcba9876543213},
     {0x1130d111aed4a37f, 0x798e402ec3cc4d02, 0xb089da7aaee5264e}},
    {"THREE_FRY",
     {0x3, 0xffffffffffffffff},
     "ui32",
     {6},
     {0x3, 0x2},
     {0x677424a7, 0x4fb8ea51, 0x2f2fecd5, 0xf40b5d80, 0xc7f98059, 0xec09dd7c}},
    {"PHILOX",
     {0x123456789abcdef, 0xfedcba9876543210},
     "ui8",
     {5},
     {0x123456789abcdef, 0xfedcba9876543212},
     {0x42, 0xb5, 0x2, 0x17, 0x19}},
    {"PHILOX",
     {0x123456789abcdef, 0xfedcba9876543210},
     "ui16",
     {3, 2},
     {0x123456789abcdef, 0xfedcba9876543212},
     {0x3d42, 0x90b5, 0x5702, 0xf917, 0x2319, 0x777a}},
    {"PHILOX",
     {0x123456789abcdef, 0xfedcba9876543210},
     "ui32",
     {5},
     {0x123456789abcdef, 0xfedcba9876543212},
     {0x1ec53d42, 0xcfa390b5, 0xf2235702, 0xe71ff917, 0xcb472319}},
    {"PHILOX",
     {0x123456789abcdef, 0xfedcba9876543210},
     "ui32",
     {3, 3},
     {0x123456789abcdef, 0xfedcba9876543213},
     {0x1ec53d42, 0xcfa390b5, 0xf2235702, 0xe71ff917, 0xcb472319, 0xd682777a, 0xa09c7b98, 0x304e9f89, 0x9f63dd49}},
    {"PHILOX",
     {0x123456789abcdef, 0xfedcba9876543210},
     "ui64",
     {3},
     {0x123456789abcdef, 0xfedcba9876543212},
     {0xcfa390b51ec53d42, 0xe71ff917f2235702, 0xd682777acb472319}},
    {"PHILOX",
     {0x3, 0xffffffffffffffff},
     "ui32",
     {6},
     {0x3, 0x1},
     {0x67533ba1, 0x20a57040, 0xad3553a2, 0x31bd04a6, 0x76f63d01, 0x8daf6a44}},
    {"PHILOX",
     {0x123456789abcdef, 0xfedcba9876543210, 0x5},
     "ui8",
     {5},
     {0x123456789abcdef, 0xfedcba9876543212, 0x5},
     {0xbb, 0x27, 0xa9, 0xb0, 0x1d}},
    {"PHILOX",
     {0x123456789abcdef, 0xfedcba9876543210, 0x5},
     "ui16",
     {3, 2},
     {0x123456789abcdef, 0xfedcba9876543212, 0x5},
     {0xf2bb, 0xb727, 0xbaa9, 0xbdb0, 0x981d, 0x5dd9}},
    {"PHILOX",
     {0x123456789abcdef, 0xfedcba9876543210, 0x5},
     "ui32",
     {5},
     {0x123456789abcdef, 0xfedcba9876543212, 0x5},
     {0xe1e5f2bb, 0x6ce8b727, 0x825cbaa9, 0xbaf5bdb0, 0xa4ca981d}},
    {"PHILOX",
     {0x123456789abcdef, 0xfedcba9876543210, 0x5},
     "ui32",
     {3, 3},
     {0x123456789abcdef, 0xfedcba9876543213, 0x5},
     {0xe1e5f2bb, 0x6ce8b727, 0x825cbaa9, 0xbaf5bdb0, 0xa4ca981d, 0x89ff5dd9, 0xe7361d58, 0xf6d60184, 0x7bd135f}},
    {"PHILOX",
     {0x123456789abcdef, 0xfedcba9876543210, 0x5},
     "ui64",
     {3},
     {0x123456789abcdef, 0xfedcba9876543212, 0x5},
     {0x6ce8b727e1e5f2bb, 0xbaf5bdb0825cbaa9, 0x89ff5dd9a4ca981d}},
    {"PHILOX",
     {0x3, 0xffffffffffffffff, 0xffffffffffffffff},
     "ui32",
     {6},
     {0x3, 0x1, 0x0},
     {0xcdba4c57, 0xfc7d2a65, 0x2365fee, 0xd0eb773, 0xd1104d77, 0x1de847ce}},
    {"DEFAULT",
     {0x123456789abcdef, 0xfedcba9876543210},
     "ui8",
     {5},
     {0x123456789abcdef, 0xfedcba9876543212},
     {0x42, 0xb5, 0x2, 0x17, 0x19}},
    {"DEFAULT",
     {0x123456789abcdef, 0xfedcba9876543210},
     "ui32",
     {5},
     {0x123456789abcdef, 0xfedcba9876543212},
     {0x1ec53d42, 0xcfa390b5, 0xf2235702, 0xe71ff917, 0xcb472319}},
    {"DEFAULT",
     {0x3, 0xffffffffffffffff},
     "ui32",
     {6},
     {0x3, 0x1},
     {0x67533ba1, 0x20a57040, 0xad3553a2, 0x31bd04a6, 0x76f63d01, 0x8daf6a44}},
};

RefTensor tensor_of_bits(const TensorType& type, const std::vector<uint64_t>& bits) {
  RefTensor tensor(type);
  for (size_t k = 0; k < bits.size(); ++k) tensor.i[k] = static_cast<int64_t>(bits[k]);
  return tensor;
}

TEST(RandomBits, AreThoseOfXla) {
  ReferenceExecutor evaluated;
  CompiledExecutor compiled;
  std::vector<std::unique_ptr<Module>> modules;
  for (const Known& known : kKnown) {
    const TensorType state{DType::kUI64, {static_cast<int64_t>(known.state.size())}};
    const TensorType bits{*dtype_from_name(known.dtype), known.shape};
    const std::string text = fmt::format(
        "func.func @main(%s: {0} {{ingot.name = \"s\"}}) -> ({0}, {1}) {{\n"
        "  %0:2 = stablehlo.rng_bit_generator %s, algorithm = {2} : ({0}) -> ({0}, {1})\n"
        "  return %0#0, %0#1 : {0}, {1}\n}}\n",
        to_string(state), to_string(bits), known.algorithm);
    SCOPED_TRACE(text);
    modules.push_back(parse_module(text, "bits.mlir", all_ops()));
    name_ports(*modules.back()->find("main"));
    for (Executor* executor : {static_cast<Executor*>(&evaluated), static_cast<Executor*>(&compiled)}) {
      NamedTensors no_state;
      const NamedTensors outputs =
          executor->run(*modules.back(), "main", no_state, {{"s", tensor_of_bits(state, known.state)}});
      EXPECT_EQ(outputs.at("result0").i, tensor_of_bits(state, known.after).i);
      EXPECT_EQ(outputs.at("result1").i, tensor_of_bits(bits, known.bits).i);
    }
  }
}

// The moments of stablehlo.rng, whose numbers are ingot's own; two draws of one program differ.
TEST(RandomBits, DrawsHaveTheirDistributions) {
  const auto module = parse_module(R"(
func.func @main() -> (tensor<40000xf32>, tensor<40000xf32>, tensor<40000xf32>) {
  %n = stablehlo.constant dense<40000> : tensor<1xi64>
  %a = stablehlo.constant dense<2.0> : tensor<f32>
  %b = stablehlo.constant dense<5.0> : tensor<f32>
  %0 = stablehlo.rng %a, %b, %n, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<40000xf32>
  %1 = stablehlo.rng %a, %b, %n, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<40000xf32>
  %2 = stablehlo.rng %a, %b, %n, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<40000xf32>
  return %0, %1, %2 : tensor<40000xf32>, tensor<40000xf32>, tensor<40000xf32>
})",
                                   "draws.mlir", all_ops());
  name_ports(*module->find("main"));
  NamedTensors no_state;
  CompiledExecutor compiled;
  const NamedTensors draws = compiled.run(*module, "main", no_state, {});
  const auto moments = [&](const std::string& name) {
    const std::vector<double>& x = draws.at(name).f;
    double sum = 0, squares = 0;
    for (const double value : x) sum += value;
    const double mean = sum / static_cast<double>(x.size());
    for (const double value : x) squares += (value - mean) * (value - mean);
    return std::pair(mean, std::sqrt(squares / static_cast<double>(x.size())));
  };
  for (const char* name : {"result0", "result1"}) {
    const auto [mean, deviation] = moments(name);
    EXPECT_NEAR(mean, 3.5, 0.02) << name;
    EXPECT_NEAR(deviation, 3 / std::sqrt(12), 0.02) << name;
    const auto [least, most] = std::ranges::minmax(draws.at(name).f);
    EXPECT_GE(least, 2);
    EXPECT_LT(most, 5);
  }
  const auto [mean, deviation] = moments("result2");
  EXPECT_NEAR(mean, 2, 0.1);
  EXPECT_NEAR(deviation, 5, 0.1);
  EXPECT_NE(draws.at("result0").f, draws.at("result1").f);
}

TEST(RandomBits, DrawsInALoopAreRefused) {
  const auto module = parse_module(R"(
func.func @main(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %n = stablehlo.constant dense<4> : tensor<1xi64>
  %a = stablehlo.constant dense<0.0> : tensor<f32>
  %0:2 = stablehlo.while(%go = %p, %y = %x) : tensor<i1>, tensor<4xf32>
  cond {
    stablehlo.return %go : tensor<i1>
  } do {
    %1 = stablehlo.rng %a, %a, %n, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
    stablehlo.return %go, %1 : tensor<i1>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
})",
                                   "loop.mlir", all_ops());
  name_ports(*module->find("main"));
  NamedTensors no_state;
  CompiledExecutor compiled;
  const std::string error = error_of([&] { compiled.run(*module, "main", no_state, {}); });
  EXPECT_NE(error.find("limit: "), std::string::npos) << error;
  EXPECT_NE(error.find("in a loop it would give the same numbers"), std::string::npos) << error;
}

}  // namespace
}  // namespace ingot
