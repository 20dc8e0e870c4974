// `--skip PASS`: a program without the pass gives what it gives with it, or its compilation says what needs the pass.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "aot/graph/text/parse.h"
#include "aot/graph/text/print.h"
#include "aot/ops/ops.h"
#include "aot/ops/support/build.h"
#include "tests/support/compiled_program.h"
#include "tests/support/error_of.h"
#include "tests/support/random_tensor.h"
#include "tests/support/tame_graph.h"

namespace ingot {
namespace {

struct Example {
  const char* name;
  std::vector<std::string> needed;  // the passes that it cannot do without
  const char* text;
};

const Example kExamples[] = {
    {"training", {}, R"(
func.func @main(%w: tensor<4xf32> {ingot.state = "w"}, %x: tensor<8x4xf32>, %y: tensor<8xf32>, %lr: tensor<f32>)
    -> (tensor<4xf32> {ingot.state = "w"}, tensor<f32>) {
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %e = stablehlo.subtract %p, %y : tensor<8xf32>
  %g = stablehlo.dot_general %x, %e, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8xf32>) -> tensor<4xf32>
  %r = stablehlo.broadcast_in_dim %lr, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %d = stablehlo.multiply %g, %r : tensor<4xf32>
  %n = stablehlo.subtract %w, %d : tensor<4xf32>
  %l = stablehlo.dot_general %e, %e, contracting_dims = [0] x [0] : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  return %n, %l : tensor<4xf32>, tensor<f32>
})"},
    {"softmax", {}, R"(
func.func @main(%x: tensor<5x7xf32>) -> (tensor<5x7xf32>, tensor<7xf32>) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %bias = stablehlo.constant dense<[0.0, 1.0, 2.0, 3.0, 2.0, 1.0, 0.5]> : tensor<7xf32>
  %biases = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<7xf32>) -> tensor<5x7xf32>
  %y = stablehlo.add %x, %biases : tensor<5x7xf32>
  %m = stablehlo.reduce(%y init: %low) applies stablehlo.maximum across dimensions = [1]
      : (tensor<5x7xf32>, tensor<f32>) -> tensor<5xf32>
  %ms = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<5xf32>) -> tensor<5x7xf32>
  %s = stablehlo.subtract %y, %ms : tensor<5x7xf32>
  %e = stablehlo.exponential %s : tensor<5x7xf32>
  %t = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<5x7xf32>, tensor<f32>) -> tensor<5xf32>
  %ts = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<5xf32>) -> tensor<5x7xf32>
  %p = stablehlo.divide %e, %ts : tensor<5x7xf32>
  %c = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<5x7xf32>, tensor<f32>) -> tensor<7xf32>
  return %p, %c : tensor<5x7xf32>, tensor<7xf32>
})"},
    {"loop", {}, R"(
func.func @main(%x: tensor<6x3xf32>, %w: tensor<3x3xf32>) -> tensor<6x3xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %six = stablehlo.constant dense<6> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<6x3xf32>
   cond {
    %t = stablehlo.compare LT, %i, %six : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %t : tensor<i1>
  } do {
    %row = stablehlo.dynamic_slice %s, %i, %zero, sizes = [1, 3]
        : (tensor<6x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
    %v = stablehlo.transpose %w, dims = [1, 0] : (tensor<3x3xf32>) -> tensor<3x3xf32>
    %p = stablehlo.dot_general %row, %v, contracting_dims = [1] x [0]
        : (tensor<1x3xf32>, tensor<3x3xf32>) -> tensor<1x3xf32>
    %n = stablehlo.dynamic_update_slice %s, %p, %i, %zero
        : (tensor<6x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<6x3xf32>
    %k = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %k, %n : tensor<i32>, tensor<6x3xf32>
  }
  return %r#1 : tensor<6x3xf32>
})"},
    {"branches", {}, R"(
func.func @main(%x: tensor<9xf32>, %k: tensor<i32>) -> (tensor<9xf32>, tensor<9xi32>) {
  %y = "stablehlo.case"(%k) ({
    %a = stablehlo.sine %x : tensor<9xf32>
    stablehlo.return %a : tensor<9xf32>
  }, {
    %b = stablehlo.add %x, %x : tensor<9xf32>
    stablehlo.return %b : tensor<9xf32>
  }, {
    stablehlo.return %x : tensor<9xf32>
  }) : (tensor<i32>) -> tensor<9xf32>
  %n = stablehlo.iota dim = 0 : tensor<9xi32>
  %s:2 = "stablehlo.sort"(%y, %n) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %t = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %t : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<9xf32>, tensor<9xi32>) -> (tensor<9xf32>, tensor<9xi32>)
  return %s#0, %s#1 : tensor<9xf32>, tensor<9xi32>
})"},
    {"calls", {"inline_calls"}, R"(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @minus(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @minus(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
})"},
    {"tokens", {"drop_tokens"}, R"(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = stablehlo.create_token : !stablehlo.token
  %u = stablehlo.after_all %t : !stablehlo.token
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
})"},
    {"shapes", {"refine_shapes"}, R"(
func.func @main(%x: tensor<4xf32>) -> tensor<?xf32> {
  %n = stablehlo.constant dense<[2, 4]> : tensor<2xi32>
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %n, dims = [1] : (tensor<4xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %m = stablehlo.constant dense<8> : tensor<1xi32>
  %1 = stablehlo.dynamic_reshape %0, %m : (tensor<?x?xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
})"},
    {"quantized", {"quantize_to_integers"}, R"(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %q = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.02:3>>
  %0 = stablehlo.uniform_dequantize %q : (tensor<4x!quant.uniform<i8:f32, 0.02:3>>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
})"},
    {"narrow_floats", {"widen_floats"}, R"(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  %1 = stablehlo.convert %0 : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
})"},
    {"whole_ops", {"expand"}, R"(
func.func @main(%x: tensor<4x3xf32>, %g: tensor<3xf32>, %o: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>)
    -> tensor<4x3xf32> {
  %s = stablehlo.multiply %v, %v : tensor<3xf32>
  %0 = "stablehlo.batch_norm_inference"(%x, %g, %o, %m, %s) {epsilon = 0.001 : f32, feature_index = 1 : i64}
      : (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
})"},
    {"complex_numbers", {"split_complex"}, R"(
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.complex %x, %y : tensor<4xcomplex<f32>>
  %1 = stablehlo.multiply %0, %0 : tensor<4xcomplex<f32>>
  %2 = stablehlo.imag %1 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
})"},
    {"barriers", {"drop_barriers"}, R"(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  %1 = stablehlo.optimization_barrier %0 : tensor<4xf32>
  %2 = stablehlo.negate %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
})"},
};

// Sums are cut and ordered by how ops are grouped.
constexpr Tolerance kSums = {.ulp = 64, .absolute = 1e-6};

CompileOptions without(const std::string& pass) {
  CompileOptions options;
  options.targets = {"host"};
  if (!pass.empty()) options.pipeline.skip = {pass};
  return options;
}

// What a run gives, state included.
NamedTensors results(const Module& module, const std::string& skipped) {
  NamedTensors state, inputs;
  const Function& main = *module.functions[0];
  const std::vector<RefTensor> arguments = random_arguments(main, 1);
  for (int i = 0; i < main.argument_count(); ++i) {
    const std::string name = attr_text(main.argument_attrs[i], "ingot.state");
    if (!name.empty()) state[name] = arguments[i];
    if (name.empty()) inputs[attr_text(main.argument_attrs[i], "ingot.name")] = arguments[i];
  }
  NamedTensors all = CompiledProgram(module, without(skipped)).run("main", 1, state, inputs);
  all.merge(state);
  return all;
}

void expect_same(const NamedTensors& actual, const NamedTensors& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (const auto& [name, tensor] : expected) {
    SCOPED_TRACE(name);
    expect_equal({actual.at(name)}, {tensor}, kSums);
  }
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

class Skip : public testing::TestWithParam<Example> {};

TEST_P(Skip, GivesTheSameOrNamesTheNeed) {
  const auto module = parse_module(GetParam().text, "example.mlir", all_ops());
  name_ports(*module->functions[0]);
  const NamedTensors expected = results(*module, "");
  for (const std::string& pass : pass_names()) {
    SCOPED_TRACE(pass);
    if (!contains(GetParam().needed, pass)) {
      expect_same(results(*module, pass), expected);
      continue;
    }
    const std::string error = error_of([&] { results(*module, pass); });
    EXPECT_TRUE(error.starts_with(fmt::format("error: --skip {}: this program needs the pass: ", pass))) << error;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Skip, testing::ValuesIn(kExamples),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(SkipFuse, GivesTheSameForRandomPrograms) {
  for (uint64_t seed = 0; seed < 12 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const auto module = tame_graph(seed, {.transcendentals = false});
    name_ports(*module->functions[0]);
    expect_same(results(*module, "fuse"), results(*module, ""));
    if (testing::Test::HasFailure()) ADD_FAILURE() << print(*module);
  }
}

TEST(SkipFuse, MakesAKernelOfEachOp) {
  const auto module = parse_module(kExamples[1].text, "softmax.mlir", all_ops());
  PassContext context;
  run_passes(compile_passes(), *module, context, {.skip = {"fuse"}});
  for (const auto& op : module->functions[0]->body.ops) {
    if (!op->is(kKernel)) continue;
    const auto computes = [](const auto& inner) { return !inner->def->is_terminator && !inner->is(kConstant); };
    EXPECT_EQ(std::ranges::count_if(op->region().ops, computes), 1) << print(*module);
  }
}

}  // namespace
}  // namespace ingot
