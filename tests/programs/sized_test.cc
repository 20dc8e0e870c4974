// Programs at several sizes: the entry point that is chosen, and rows that do not depend on those that pad them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <ingot/sized.hpp>
#include <limits>

#include "aot/bundle/bundle.h"
#include "aot/frontend/stablehlo/import.h"
#include "aot/graph/text/parse.h"
#include "aot/ops/ops.h"
#include "aot/pipeline/at_sizes.h"
#include "aot/pipeline/compile.h"
#include "tests/support/error_of.h"

namespace ingot {
namespace {

constexpr const char* kProgram = R"(
func.func public @predict(%x: tensor<?x4xf32> {ingot.name = "x", ingot.dims = ["batch", ""]},
                          %w: tensor<4x3xf32> {ingot.name = "w"}) -> (tensor<?x3xf32> {ingot.name = "y"}) {
  %0 = stablehlo.dot %x, %w : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x3xf32>
  %y = stablehlo.tanh %0 : tensor<?x3xf32>
  return %y : tensor<?x3xf32>
})";

// Sums over its rows: takes no fewer.
constexpr const char* kSum = R"(
func.func public @predict(%x: tensor<?x4xf32> {ingot.name = "x", ingot.dims = ["batch", ""]})
    -> (tensor<4xf32> {ingot.name = "y"}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<?x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
})";

AtSizes sized(const std::string& text, std::vector<SizeChoices> choices) {
  const auto load = [&](std::vector<GivenShape>&) {
    auto module = parse_module(text, "test.mlir", all_ops());
    import_stablehlo(*module);
    return module;
  };
  return at_sizes(load, choices);
}

engine::AlignedBytes compiled(const std::string& text, std::vector<SizeChoices> choices) {
  CompileOptions options;
  options.targets = {"host"};
  const std::vector<std::byte> file =
      bundle::write_bundle(compile(sized(text, std::move(choices)).modules, options).spec);
  engine::AlignedBytes bytes(file.size(), 64);
  std::ranges::copy(file, bytes.data());
  return bytes;
}

std::vector<std::string> names(const AtSizes& program) {
  std::vector<std::string> names;
  for (const auto& module : program.modules) names.push_back(module->functions[0]->name);
  return names;
}

std::string failure_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const engine::Failure& failure) {
    return failure.what();
  }
  return "";
}

TEST(Sized, NamesSayWhatIsTaken) {
  EXPECT_EQ(names(sized(kProgram, {{"batch", {{1}, {4}, {8}}}})),
            (std::vector<std::string>{"predict@batch=1", "predict@batch<=4", "predict@batch<=8"}));
  const AtSizes sum = sized(kSum, {{"batch", {{2}, {4}}}});
  EXPECT_EQ(names(sum), (std::vector<std::string>{"predict@batch=2", "predict@batch=4"}));
  ASSERT_EQ(sum.notes.size(), 2u);
  EXPECT_NE(sum.notes[0].find("predict@batch=2 takes no fewer batch: "), std::string::npos) << sum.notes[0];
  EXPECT_NE(sum.notes[0].find("stablehlo.reduce may not keep rows apart"), std::string::npos) << sum.notes[0];
  EXPECT_EQ(names(sized(kProgram, {{"batch", {{4}}}, {"seq", {{1}, {2}}}})), std::vector<std::string>{"predict"});
  std::vector<Shape> many;
  for (int64_t size = 2; size < 70; ++size) many.push_back({size});
  EXPECT_NE(error_of([&] { sized(kProgram, {{"batch", many}}); }).find("64 is the limit"), std::string::npos);
}

TEST(Sized, EveryNumberOfRowsGetsItsResults) {
  const engine::AlignedBytes bytes = compiled(kProgram, {{"batch", {{1}, {4}, {8}}}});
  const engine::Bundle bundle(std::span<const std::byte>(bytes.data(), bytes.size()));
  engine::Session session(bundle);
  const engine::SizedProgram predict(bundle, "predict");
  const std::vector<uint64_t> wanted_entry{0, 0, 1, 1, 1, 2, 2, 2, 2};
  for (uint64_t rows = 1; rows <= 8; ++rows) {
    const engine::SizedCall call = predict.at(session, {{"batch", rows}});
    EXPECT_EQ(call.entry().index(), wanted_entry[rows]);
    const std::span<float> all = call.entry().input<float>("x");
    std::ranges::fill(all, std::numeric_limits<float>::quiet_NaN());
    const std::span<float> x = call.input<float>("x"), w = call.input<float>("w");
    ASSERT_EQ(x.size(), rows * 4);
    ASSERT_EQ(w.size(), 12u);
    for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
    for (size_t i = 0; i < w.size(); ++i) w[i] = std::cos(static_cast<float>(i));
    call.run();
    const std::span<const float> y = call.output<float>("y");
    ASSERT_EQ(y.size(), rows * 3);
    for (size_t r = 0; r < rows; ++r) {
      for (size_t c = 0; c < 3; ++c) {
        double sum = 0;
        for (size_t k = 0; k < 4; ++k) sum += double{x[r * 4 + k]} * w[k * 3 + c];
        EXPECT_NEAR(y[r * 3 + c], std::tanh(sum), 1e-6) << rows << " rows, row " << r;
      }
    }
  }
  EXPECT_EQ(failure_of([&] { predict.choose({{"batch", 9}}); }),
            "'predict' has no entry point for batch=9; there are: predict@batch=1, predict@batch<=4, predict@batch<=8");
  EXPECT_EQ(failure_of([&] { engine::SizedProgram(bundle, "train"); }), "no entry point is 'train' at several sizes");
}

TEST(Sized, InputsAskForSizes) {
  const engine::AlignedBytes bytes = compiled(kSum, {{"batch", {{2}, {4}}}});
  const engine::Bundle bundle(std::span<const std::byte>(bytes.data(), bytes.size()));
  const engine::SizedProgram predict(bundle, "predict");
  engine::WantedSizes wanted;
  predict.want("x", std::vector<uint64_t>{4, 4}, wanted);
  EXPECT_EQ(wanted, (engine::WantedSizes{{"batch", 4}}));
  EXPECT_EQ(predict.choose(wanted).entry, 1u);
  EXPECT_EQ(predict.choose(wanted).output_rows, std::vector<uint64_t>{4});
  EXPECT_NE(failure_of([&] { predict.choose({{"batch", 3}}); }).find("no entry point for batch=3"), std::string::npos);
  EXPECT_NE(failure_of([&] { predict.want("x", std::vector<uint64_t>{2, 4}, wanted); }).find("asks for batch=2"),
            std::string::npos);
}

TEST(Sized, NamesThatAreNoSizesStandForThemselves) {
  for (const char* name : {"predict", "a@b", "a@=4", "a@b=", "a@b=4y", "a@b=4x", "a@b<4", ""}) {
    EXPECT_EQ(engine::parse_sized_name(name).program, name);
    EXPECT_TRUE(engine::parse_sized_name(name).sizes.empty()) << name;
  }
  const engine::SizedName name = engine::parse_sized_name("p@x=8x784,seq<=16");
  EXPECT_EQ(name.program, "p");
  ASSERT_EQ(name.sizes.size(), 2u);
  EXPECT_EQ(name.sizes[0].extents, (std::vector<uint64_t>{8, 784}));
  EXPECT_FALSE(name.sizes[0].takes_fewer);
  EXPECT_TRUE(name.sizes[1].takes_fewer);
}

}  // namespace
}  // namespace ingot
