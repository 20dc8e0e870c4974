// State that no entry point writes as constants: which becomes one, that results stay, and what is left of it.
#include <gtest/gtest.h>

#include "aot/graph/text/parse.h"
#include "aot/ops/ops.h"
#include "aot/pipeline/freeze_state.h"
#include "schema/checksum.h"
#include "tests/support/compiled_program.h"

namespace ingot {
namespace {

// A step that moves `w` and leaves `v` alone, and what both give for x.
constexpr const char* kText = R"(
func.func @step(%w: tensor<4x3xf32> {ingot.state = "w"}, %v: tensor<3x40xf32> {ingot.state = "v"})
    -> (tensor<4x3xf32> {ingot.state = "w"}) {
  %0 = stablehlo.add %w, %w : tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}
func.func @predict(%x: tensor<2x4xf32> {ingot.name = "x"}, %w: tensor<4x3xf32> {ingot.state = "w"},
                   %v: tensor<3x40xf32> {ingot.state = "v"}) -> (tensor<2x40xf32> {ingot.name = "y"}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %1 = stablehlo.dot_general %0, %v, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x40xf32>) -> tensor<2x40xf32>
  return %1 : tensor<2x40xf32>
})";

std::vector<float> numbers(size_t count) {
  std::vector<float> values;
  for (size_t k = 0; k < count; ++k) values.push_back(static_cast<float>(k % 7) - 3);
  return values;
}

class FreezeTest : public testing::Test {
 protected:
  static SafeTensor tensor(const std::vector<float>& values, std::vector<int64_t> shape) {
    return {"F32", std::move(shape), std::as_bytes(std::span(values))};
  }
  CompileOptions options(Freeze freeze = Freeze::kBrought) const {
    CompileOptions options;
    options.values = values_;
    options.freeze = freeze;
    return options;
  }
  std::vector<std::string> states(const CompileOptions& options) const {
    std::vector<std::string> names;
    const CompiledProgram program(*module_, options);
    for (const bundle::State& state : program.spec().states) names.push_back(state.tensor.name);
    return names;
  }
  NamedTensors predict(const CompileOptions& options) const {
    NamedTensors state;
    state["w"] = from_literal(*dense({DType::kF32, {4, 3}}, bytes(w_)));
    state["v"] = from_literal(*dense({DType::kF32, {3, 40}}, bytes(v_)));
    const NamedTensors inputs{{"x", from_literal(*dense({DType::kF32, {2, 4}}, bytes(numbers(8))))}};
    return CompiledProgram(*module_, options).run("predict", 1, state, inputs);
  }
  static std::vector<std::byte> bytes(const std::vector<float>& values) {
    const auto view = std::as_bytes(std::span(values));
    return {view.begin(), view.end()};
  }

  const std::unique_ptr<Module> module_ = parse_module(kText, "text", all_ops());
  const std::vector<float> w_ = numbers(12), v_ = numbers(120);
  const std::map<std::string, SafeTensor> values_ = {{"w", tensor(w_, {4, 3})}, {"v", tensor(v_, {3, 40})}};
};

TEST_F(FreezeTest, OnlyWhatNoEntryPointWritesBecomesConstant) {
  const std::vector<std::string> all = {"w", "v"};
  EXPECT_EQ(states({}), all);
  EXPECT_EQ(states(options(Freeze::kNothing)), all);
  EXPECT_EQ(states(options()), (std::vector<std::string>{"w"}));
  CompileOptions of_zeros = options();
  of_zeros.initial_state = "zeros";
  EXPECT_EQ(states(of_zeros), all);
}

TEST_F(FreezeTest, TheBundleKnowsWhatBecameConstant) {
  const CompiledProgram program(*module_, options());
  ASSERT_EQ(program.spec().frozen.size(), 1u);
  const bundle::Frozen& frozen = program.spec().frozen[0];
  EXPECT_EQ(frozen.tensor.name, "v");
  EXPECT_EQ(frozen.tensor.dims, (std::vector<uint64_t>{3, 40}));
  EXPECT_EQ(frozen.checksum, ingot_checksum(v_.data(), v_.size() * sizeof(float)));
  EXPECT_TRUE(CompiledProgram(*module_, options(Freeze::kNothing)).spec().frozen.empty());
}

TEST_F(FreezeTest, ResultsStay) {
  const NamedTensors frozen = predict(options()), of_state = predict({});
  EXPECT_EQ(frozen.at("y").f, of_state.at("y").f);
}

// What the compiler packed replaces the weights: they are not in the file twice.
TEST_F(FreezeTest, ConstantsThatOnlyPackingReadAreLeftOut) {
  const CompiledProgram program(*module_, options());
  for (const bundle::Target& target : program.spec().targets) {
    EXPECT_GE(target.rodata.size(), v_.size() * sizeof(float)) << target.name;
    EXPECT_LT(target.rodata.size(), 2 * v_.size() * sizeof(float)) << target.name;
  }
}

// A convolution by 64 kernels of [3, 3, 16], which processors with vectors of 32 and of 64 bytes read packed alike.
TEST_F(FreezeTest, TargetsShareWhatTheyReadAlike) {
  constexpr const char* kConvolution = R"(
func.func @predict(%x: tensor<1x16x12x12xf32> {ingot.name = "x"}, %w: tensor<64x16x3x3xf32> {ingot.state = "w"})
    -> (tensor<1x64x10x10xf32> {ingot.name = "y"}) {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<1x16x12x12xf32>, tensor<64x16x3x3xf32>) -> tensor<1x64x10x10xf32>
  return %0 : tensor<1x64x10x10xf32>
})";
  const std::vector<float> w = numbers(64 * 16 * 9);
  CompileOptions two;
  two.values = {{"w", tensor(w, {64, 16, 3, 3})}};
  two.targets = {"x86-64-v4", "x86-64-v3"};
  std::vector<std::unique_ptr<Module>> modules;
  modules.push_back(parse_module(kConvolution, "text", all_ops()));
  const std::vector<bundle::Target> targets = compile(std::move(modules), two).spec.targets;
  EXPECT_EQ(targets[0].rodata, targets[1].rodata);
  EXPECT_LT(targets[0].rodata.size(), 5 * w.size());  // 4 bytes each, and little more
}

TEST_F(FreezeTest, AValueOfAnotherTypeIsRefused) {
  CompileOptions wrong = options();
  wrong.values["v"].shape = {40, 3};
  EXPECT_THROW(CompiledProgram(*module_, wrong), Error);
}

}  // namespace
}  // namespace ingot
