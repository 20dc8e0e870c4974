// Shapes that follow from the arguments: types with unknown dimensions, ops whose shape is a value,
// sizes given by name.
#include <gtest/gtest.h>

#include <filesystem>

#include "aot/base/file.h"
#include "aot/frontend/stablehlo/import.h"
#include "aot/graph/text/parse.h"
#include "aot/graph/text/print.h"
#include "aot/graph/verify.h"
#include "aot/ops/support/build.h"
#include "aot/passes/checks.h"
#include "aot/pipeline/compile.h"
#include "tests/support/error_of.h"

namespace ingot {
namespace {

// The printed module after the passes up to refine_shapes and what makes its text short; or the error.
std::string refined(const std::string& text, std::vector<GivenShape> shapes = {}) {
  return text_or_error([&] {
    const auto module = parse_module(text, "test.mlir", all_ops());
    EXPECT_EQ(print(*parse_module(print(*module), "printed", all_ops())), print(*module));
    import_stablehlo(*module);
    PassContext context;
    context.shapes = std::move(shapes);
    for (const auto pass : {inline_calls, drop_tokens, refine_shapes, expand, dce}) pass(*module, context);
    verify(*module);
    EXPECT_EQ(every_dimension_is_known(*module), "");
    for (const auto& function : module->functions) {
      for (AttrMap& attrs : function->argument_attrs) attrs.clear();
      for (FunctionResult& result : function->results) result.attrs.clear();
    }
    return print(*module);
  });
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(RefineShapes, TypesFollowFromTheArguments) {
  const std::string text = R"(
func.func @main(%x: tensor<?x4xf32>, %y: tensor<4x3xf32>) -> tensor<?x3xi1> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x3xf32>
  %1 = stablehlo.add %0, %0 : tensor<?x3xf32>
  %2 = stablehlo.compare GT, %1, %0 : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xi1>
  return %2 : tensor<?x3xi1>
})";
  EXPECT_EQ(refined(text, {{"arg0", {8, 4}}}), R"(module {
  func.func @main(%x: tensor<8x4xf32>, %y: tensor<4x3xf32>) -> tensor<8x3xi1> {
    %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
    %1 = stablehlo.add %0, %0 : tensor<8x3xf32>
    %2 = stablehlo.compare GT, %1, %0 : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x3xi1>
    return %2 : tensor<8x3xi1>
  }
}
)");
  EXPECT_EQ(
      refined(text),
      "test.mlir:2:17: error: @main: argument 0 (%arg0): dimension 0 of it, tensor<?x4xf32>, is not known; compile "
      "with --shape arg0=SIZExSIZE...");
  expect_contains(refined(text, {{"arg0", {8, 5}}}), "is tensor<?x4xf32>, so its shape cannot be 8x5");
}

TEST(RefineShapes, ShapesAreComputed) {
  EXPECT_EQ(refined(R"(
func.func @main(%x: tensor<?x4xf32>) -> tensor<?xf32> {
  %0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %c = stablehlo.constant dense<4> : tensor<i32>
  %1 = stablehlo.multiply %0, %c : tensor<i32>
  %2 = stablehlo.reshape %1 : (tensor<i32>) -> tensor<1xi32>
  %3 = stablehlo.dynamic_reshape %x, %2 : (tensor<?x4xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %3 : tensor<?xf32>
})",
                    {{"arg0", {3, 4}}}),
            R"(module {
  func.func @main(%x: tensor<3x4xf32>) -> tensor<12xf32> {
    %0 = stablehlo.reshape %x : (tensor<3x4xf32>) -> tensor<12xf32>
    return %0 : tensor<12xf32>
  }
}
)");
}

TEST(RefineShapes, ScalarArgumentsMayBeSizes) {
  const std::string text = R"(
func.func @main(%n: tensor<i64>, %x: tensor<f32>) -> tensor<?x2xf32> {
  %two = stablehlo.constant dense<2> : tensor<1xi64>
  %0 = stablehlo.reshape %n : (tensor<i64>) -> tensor<1xi64>
  %1 = stablehlo.concatenate %0, %two, dim = 0 : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %2 = stablehlo.dynamic_broadcast_in_dim %x, %1, dims = [] : (tensor<f32>, tensor<2xi64>) -> tensor<?x2xf32>
  return %2 : tensor<?x2xf32>
})";
  EXPECT_EQ(refined(text, {{"arg0", {5}}}), R"(module {
  func.func @main(%x: tensor<f32>) -> tensor<5x2xf32> {
    %0 = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> tensor<5x2xf32>
    return %0 : tensor<5x2xf32>
  }
}
)");
  EXPECT_EQ(
      refined(text),
      "test.mlir:6:8: error: stablehlo.dynamic_broadcast_in_dim: dimension 0 of its result tensor<?x2xf32> is not "
      "known before the program runs: it depends on argument 0 %n; give shapes and sizes to the compiler (ingot "
      "compile --shape NAME=SIZE)");
}

TEST(RefineShapes, LoopsCarryWhatTheyAreGiven) {
  const std::string text = refined(R"(
func.func @main(%x: tensor<?xf32>, %n: tensor<i32>) -> tensor<?xf32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %n, %y = %x) : tensor<i32>, tensor<?xf32>
  cond {
    %1 = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.subtract %i, %one : tensor<i32>
    %3 = stablehlo.add %y, %y : tensor<?xf32>
    stablehlo.return %2, %3 : tensor<i32>, tensor<?xf32>
  }
  return %0#1 : tensor<?xf32>
})",
                                   {{"arg0", {6}}});
  EXPECT_EQ(text.find('?'), std::string::npos) << text;
  expect_contains(text, "(%i = %n, %y = %x) : tensor<i32>, tensor<6xf32>");
}

TEST(RefineShapes, DeclaredDimensionsMustHold) {
  expect_contains(refined(R"(
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x5xf32> {
  %0 = "stablehlo.transpose"(%x) <{permutation = array<i64: 0, 1>}> : (tensor<?x4xf32>) -> tensor<?x5xf32>
  return %0 : tensor<?x5xf32>
})",
                          {{"arg0", {3, 4}}}),
                  "stablehlo.transpose: its result is declared as tensor<?x5xf32>, but is tensor<3x4xf32>");
  expect_contains(refined(R"(
func.func @main(%x: tensor<?x4xf32>, %y: tensor<?x5xf32>) -> tensor<?x4xf32> {
  %0 = "stablehlo.add"(%x, %y) : (tensor<?x4xf32>, tensor<?x5xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
})"),
                  "stablehlo.add: shapes do not agree: tensor<?x4xf32> and tensor<?x5xf32>");
}

TEST(RefineShapes, BoundsAreKeptUntilSizesAreKnown) {
  const std::string type = "tensor<?x4xf32, #stablehlo.bounds<8, ?>>";
  const std::string text = "func.func @main(%x: " + type + ") -> " + type + " {\n  %0 = stablehlo.abs %x : " + type +
                           "\n  return %0 : " + type + "\n}\n";
  expect_contains(print(*parse_module(text, "test.mlir", all_ops())), "%0 = stablehlo.abs %x : " + type);
  expect_contains(refined(text, {{"arg0", {3, 4}}}), "%0 = stablehlo.abs %x : tensor<3x4xf32>");
}

// What jax.export prints for f(x: f32[batch, 4]) = (x * 2).reshape(-1), less its locations.
constexpr const char* kExported = R"(
module @jit_f attributes {jax.uses_shape_polymorphism = true} {
  func.func public @main(%arg0: tensor<?x4xf32>) -> tensor<?xf32> {
    %c = stablehlo.constant dense<2> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
    %1 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%1, %0) {api_version = 2 : i32, error_message = "Expected value >= 2 for dimension variable 'batch', but found {0}.", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %2 = call @_wrapped_jax_export_main(%0, %arg0) : (tensor<i32>, tensor<?x4xf32>) -> tensor<?xf32>
    return %2 : tensor<?xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "batch"}, %arg1: tensor<?x4xf32>) -> tensor<?xf32> {
    %c = stablehlo.constant dense<4> : tensor<i32>
    %0 = stablehlo.add %arg1, %arg1 : tensor<?x4xf32>
    %1 = stablehlo.multiply %arg0, %c : tensor<i32>
    %2 = stablehlo.reshape %1 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.dynamic_reshape %0, %2 : (tensor<?x4xf32>, tensor<1xi32>) -> tensor<?xf32>
    return %3 : tensor<?xf32>
  }
})";

TEST(RefineShapes, DimensionsHaveTheNamesThatJaxGaveThem) {
  expect_contains(refined(kExported, {{"batch", {3}}}), "-> tensor<12xf32>");
  expect_contains(refined(kExported, {{"batch", {1}}}),
                  "Expected value >= 2 for dimension variable 'batch', but found 1.");
  expect_contains(refined(kExported),
                  "dimension 0 of it ('batch'), tensor<?x4xf32>, is not known; compile with --shape "
                  "batch=SIZE or --shape arg0=SIZExSIZE...");
}

TEST(RefineShapes, NamesThatNothingHasAreAnError) {
  std::vector<std::unique_ptr<Module>> modules;
  modules.push_back(parse_module(kExported, "test.mlir", all_ops()));
  import_stablehlo(*modules[0]);
  CompileOptions options;
  options.shapes = {{"batch", {3}}, {"bath", {3}}};
  expect_contains(error_of([&] { compile(std::move(modules), options); }),
                  "no entry point has an argument or a dimension of the name bath");
}

TEST(RefineShapes, TokensLeaveNoTrace) {
  const std::string text = refined(R"(
func.func @main(%t: !stablehlo.token, %x: tensor<2xf32>, %n: tensor<i1>) -> (tensor<2xf32>, !stablehlo.token) {
  %0:3 = stablehlo.while(%go = %n, %token = %t, %y = %x) : tensor<i1>, !stablehlo.token, tensor<2xf32>
  cond {
    stablehlo.return %go : tensor<i1>
  } do {
    %1 = stablehlo.after_all %token, %t : !stablehlo.token
    %2 = stablehlo.not %go : tensor<i1>
    stablehlo.return %2, %1, %y : tensor<i1>, !stablehlo.token, tensor<2xf32>
  }
  return %0#2, %0#1 : tensor<2xf32>, !stablehlo.token
})");
  EXPECT_EQ(text.find("token"), std::string::npos) << text;
}

// Every program of the folder parses and verifies,
// and compiles with all its sizes 4 (one is not a program of StableHLO).
TEST(RefineShapes, ConformanceProgramsCompile) {
  const std::filesystem::path folder =
      std::filesystem::path(INGOT_SHARED_DIR) / "conformance/stablehlo/testdata/dynamic";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  int compiled = 0, unsupported = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string path = entry.path().string();
    SCOPED_TRACE(path);
    try {
      std::vector<std::unique_ptr<Module>> modules;
      modules.push_back(parse_module(read_text(path), path, all_ops()));
      import_stablehlo(*modules[0]);
      // A window of one dimension with two strides.
      if (entry.path().filename() == "conv_general_dilated_1d_stride_2_odd_dynamic.mlir") continue;
      CompileOptions options;
      options.targets = {"x86-64-v3"};
      const Function& main = *modules[0]->find("main");
      for (int i = 0; i < main.argument_count(); ++i) {
        Shape shape = main.body.argument(i)->type.shape;
        // A size that JAX adds has no sharding.
        const bool is_size = shape.empty() && !main.argument_attrs[i].contains("mhlo.sharding");
        if (is_size) shape = {4};
        std::ranges::replace(shape, kUnknownDim, 4);
        if (!shape.empty()) options.shapes.push_back({argument_names(main)[i], shape});
      }
      compile(std::move(modules), options);
      ++compiled;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kLimit) ADD_FAILURE() << error.what();
      ++unsupported;
      std::printf("  %s: %s\n", entry.path().filename().c_str(), error.what());
    }
  }
  std::printf("  %d compiled, %d unsupported\n", compiled, unsupported);
}

}  // namespace
}  // namespace ingot
