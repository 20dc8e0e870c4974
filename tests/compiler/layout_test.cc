// Orders of dimensions: what passes them on does so, what cannot is given its operands as written, and programs mean
// the same with and without.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "aot/analysis/walk.h"
#include "aot/graph/attributes.h"
#include "aot/graph/evaluate.h"
#include "aot/graph/text/parse.h"
#include "aot/graph/text/print.h"
#include "aot/graph/verify.h"
#include "aot/ops/support/build.h"
#include "aot/passes/pass.h"
#include "aot/pipeline/compile.h"
#include "tests/support/compiled_program.h"
#include "tests/support/file_text.h"
#include "tests/support/random_tensor.h"

namespace ingot {
namespace {

std::string type_of(const std::string& shape) { return "tensor<" + shape + "xf32>"; }

std::string convolution_of(const std::string& x, const std::string& w, const std::string& window,
                           const std::string& from, const std::string& to) {
  return fmt::format(
      "stablehlo.convolution({}, {}) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {{{}}} "
      "{{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : ({}, tensor<32x32x3x3xf32>) -> {}\n",
      x, w, window, type_of(from), type_of(to));
}

// Ops between two convolutions: %0 is the first one's result, %y what the second one reads.
struct Between {
  const char* name;
  std::string text;
  std::string shape = "1x32x9x9";   // of %y
  std::string result = "1x32x4x4";  // of the second convolution
  int copies = 2;                   // transposes that are left: of the argument and of the result
};

void PrintTo(const Between& between, std::ostream* out) { *out << between.name; }

std::unique_ptr<Module> program_with(const Between& between) {
  const std::string first = "1x32x9x9";
  const std::string text = "func.func @main(%x: " + type_of(first) +
                           ", %w: tensor<32x32x3x3xf32>, %v: tensor<32xf32>) -> " + type_of(between.result) +
                           " {\n  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n  %0 = " +
                           convolution_of("%x", "%w", "pad = [[1, 1], [1, 1]]", first, first) + between.text +
                           "  %z = " + convolution_of("%y", "%w", "stride = [2, 2]", between.shape, between.result) +
                           "  return %z : " + type_of(between.result) + "\n}\n";
  return parse_module(text, between.name, all_ops());
}

int count_copies(Module& module) {
  int count = 0;
  for_each_block(module, [&](Block& block) {
    for (const auto& op : block.ops) count += op->attr_map.contains(attributes::kLayoutCopy);
  });
  return count;
}

void expect_same_results(const Module& after, const Module& before) {
  const std::vector<RefTensor> arguments = random_arguments(*before.find("main"), /*seed=*/1);
  expect_equal(evaluate(*after.find("main"), arguments), evaluate(*before.find("main"), arguments),
               {.ulp = 4, .absolute = 1e-4});
}

class PassesOrdersOn : public testing::TestWithParam<Between> {};

TEST_P(PassesOrdersOn, AndMeansTheSame) {
  const auto module = program_with(GetParam());
  const auto before = copy_module(*module);
  PassContext context;
  ASSERT_TRUE(assign_layouts(*module, context)) << print(*module);
  verify(*module);
  EXPECT_EQ(count_copies(*module), 2) << "of the argument and of the result\n" << print(*module);
  const std::string once = print(*module);
  EXPECT_NE(once.find("dim_numbers = [b, 0, 1, f]x"), std::string::npos) << once;
  EXPECT_FALSE(assign_layouts(*module, context)) << once << "became\n" << print(*module);
  expect_same_results(*module, *before);
}

const std::string kT = "tensor<1x32x9x9xf32>";
const std::string kWindow =
    "padding = dense<[[0, 0], [0, 0], [1, 1], [1, 1]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 1, 3, 3>";

INSTANTIATE_TEST_SUITE_P(
    Each, PassesOrdersOn,
    testing::Values(
        Between{"elementwise", "  %y = stablehlo.tanh %0 : " + kT + "\n"},
        Between{"bias", "  %1 = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<32xf32>) -> " + kT +
                            "\n  %y = stablehlo.add %0, %1 : " + kT + "\n"},
        Between{"splat",
                "  %1 = stablehlo.constant dense<2.0> : " + kT + "\n  %y = stablehlo.maximum %0, %1 : " + kT + "\n"},
        Between{"iota", "  %1 = stablehlo.iota dim = 3 : " + kT + "\n  %y = stablehlo.multiply %0, %1 : " + kT + "\n"},
        Between{"slice", "  %y = stablehlo.slice %0 [0:1, 0:32, 0:9, 1:8] : (" + kT + ") -> tensor<1x32x9x7xf32>\n",
                "1x32x9x7", "1x32x4x3"},
        Between{"pad",
                "  %y = stablehlo.pad %0, %zero, low = [0, 0, 1, 0], high = [0, 0, 1, 2], interior = [0, 0, 0, 0] : (" +
                    kT + ", tensor<f32>) -> tensor<1x32x11x11xf32>\n",
                "1x32x11x11", "1x32x5x5"},
        Between{"reverse", "  %y = stablehlo.reverse %0, dims = [1, 3] : " + kT + "\n"},
        Between{"concatenate",
                "  %1 = stablehlo.concatenate %0, %0, dim = 2 : (" + kT + ", " + kT + ") -> tensor<1x32x18x9xf32>\n" +
                    "  %y = stablehlo.abs %1 : tensor<1x32x18x9xf32>\n",
                "1x32x18x9", "1x32x8x4"},
        Between{
            "window",
            "  %y = \"stablehlo.reduce_window\"(%0, %zero) <{" + kWindow +
                "}> ({\n  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n    %m = stablehlo.maximum %a, %b : tensor<f32>\n "
                "   stablehlo.return %m : tensor<f32>\n  }) : (" +
                kT + ", tensor<f32>) -> " + kT + "\n"},
        Between{
            "selection",
            "  %y = \"stablehlo.select_and_scatter\"(%0, %0, %zero) <{" + kWindow +
                "}> ({\n  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n    %g = stablehlo.compare GE, %a, %b : "
                "(tensor<f32>, tensor<f32>) -> tensor<i1>\n    stablehlo.return %g : tensor<i1>\n  }, {\n  ^bb0(%a: "
                "tensor<f32>, %b: tensor<f32>):\n    %s = stablehlo.add %a, %b : tensor<f32>\n    stablehlo.return "
                "%s : tensor<f32>\n  }) : (" +
                kT + ", " + kT + ", tensor<f32>) -> " + kT + "\n"},
        Between{"statistics",
                "  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0, 2, 3] : (" + kT +
                    ", tensor<f32>) -> tensor<32xf32>\n  %2 = stablehlo.broadcast_in_dim %1, dims = [1] : "
                    "(tensor<32xf32>) -> " +
                    kT + "\n  %y = stablehlo.subtract %0, %2 : " + kT + "\n"},
        Between{"groups",
                "  %1 = stablehlo.reshape %0 : (" + kT + ") -> tensor<1x4x8x9x9xf32>\n" +
                    "  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [2, 3, 4] : "
                    "(tensor<1x4x8x9x9xf32>, tensor<f32>) -> tensor<1x4xf32>\n" +
                    "  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<1x4xf32>) -> "
                    "tensor<1x4x8x9x9xf32>\n" +
                    "  %4 = stablehlo.subtract %1, %3 : tensor<1x4x8x9x9xf32>\n" +
                    "  %y = stablehlo.reshape %4 : (tensor<1x4x8x9x9xf32>) -> " + kT + "\n"},
        Between{"transposes",
                "  %1 = stablehlo.transpose %0, dims = [0, 2, 3, 1] : (" + kT + ") -> tensor<1x9x9x32xf32>\n" +
                    "  %2 = stablehlo.broadcast_in_dim %v, dims = [3] : (tensor<32xf32>) -> tensor<1x9x9x32xf32>\n" +
                    "  %3 = stablehlo.add %1, %2 : tensor<1x9x9x32xf32>\n" +
                    "  %y = stablehlo.transpose %3, dims = [0, 3, 1, 2] : (tensor<1x9x9x32xf32>) -> " + kT + "\n"}),
    [](const auto& info) { return std::string(info.param.name); });

// The op between the convolutions needs the elements in the order of the program. Where multiplying is fast, only the
// second convolution is worth copies.
TEST(AssignLayouts, FlatElementsKeepTheOrderWritten) {
  const auto copies = [](const Module& module, const char* target) {
    const auto placed = copy_module(module);
    PassContext context;
    context.target = &loops::find_target(target);
    EXPECT_TRUE(assign_layouts(*placed, context));
    EXPECT_NE(print(*placed).find("(tensor<1x32x9x9xf32>) -> tensor<2592xf32>"), std::string::npos);
    expect_same_results(*placed, module);
    return count_copies(*placed);
  };
  const auto module = program_with({"flat", "  %1 = stablehlo.reshape %0 : (" + kT + ") -> tensor<2592xf32>\n" +
                                                "  %2 = stablehlo.reverse %1, dims = [0] : tensor<2592xf32>\n" +
                                                "  %y = stablehlo.reshape %2 : (tensor<2592xf32>) -> " + kT + "\n"});
  EXPECT_EQ(copies(*module, "x86-64-v4"), 2);
  EXPECT_EQ(copies(*module, "x86-64-v3"), 4);
}

// --- whole programs ---

NamedTensors run_without(const std::vector<std::string>& skipped, const Module& module, const NamedTensors& inputs) {
  CompileOptions options;
  options.pipeline.skip = skipped;
  NamedTensors state;
  return CompiledProgram(module, options).run("main", /*threads=*/1, state, inputs);
}

TEST(AssignLayouts, SkippingItGivesTheSame) {
  const std::string program = file_text(INGOT_SOURCE_DIR "/tests/golden/assign_layouts/training_step.mlir");
  const auto module = parse_module(program.substr(0, program.find("// ---- expect")), "training_step.mlir", all_ops());
  Function& main = *module->find("main");
  name_ports(main);
  NamedTensors inputs;
  const std::vector<RefTensor> arguments = random_arguments(main, /*seed=*/2);
  for (size_t i = 0; i < arguments.size(); ++i) inputs[fmt::format("arg{}", i)] = arguments[i];
  const NamedTensors with = run_without({}, *module, inputs),
                     without = run_without({"assign_layouts"}, *module, inputs);
  ASSERT_EQ(with.size(), without.size());
  for (const auto& [name, tensor] : with) expect_equal({tensor}, {without.at(name)}, {.ulp = 32, .absolute = 1e-3});
}

TEST(AssignLayouts, ExplainsEachConvolution) {
  const auto module = program_with({"explained", "  %y = stablehlo.tanh %0 : " + kT + "\n"});
  PassContext context;
  assign_layouts(*module, context);
  ASSERT_EQ(context.layout_notes.size(), 2U);
  for (const LayoutNote& note : context.layout_notes) EXPECT_LT(note.chosen_ns, note.written_ns);
  const std::string text = to_string(context.layout_notes);
  EXPECT_NE(text.find("layout: convolution [0, 2, 3, 1] x [0, 1, 2, 3] -> [0, 2, 3, 1]: "), std::string::npos) << text;
}

}  // namespace
}  // namespace ingot
