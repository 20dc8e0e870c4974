// How programs from elsewhere get names and state.
#include "aot/frontend/stablehlo/import.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "aot/frontend/stablehlo/names.h"
#include "aot/graph/attributes.h"
#include "aot/graph/evaluate.h"
#include "aot/graph/text/parse.h"
#include "aot/graph/text/print.h"
#include "aot/graph/verify.h"
#include "aot/ops/support/build.h"
#include "tests/support/error_of.h"
#include "tests/support/file_text.h"

namespace ingot {
namespace {

// "in: x, y; out: a; state: x>a" of the first function after import.
std::string summary(const Module& module) {
  const Function& function = *module.functions[0];
  std::string in, out, state;
  const auto append = [](std::string& list, const std::string& item) { list += (list.empty() ? "" : ", ") + item; };
  for (const std::string& name : argument_names(function)) append(in, name);
  for (const std::string& name : result_names(function)) append(out, name);
  for (size_t i = 0; i < function.argument_attrs.size(); ++i) {
    const auto found = function.argument_attrs[i].find(attributes::kState);
    if (found == function.argument_attrs[i].end()) continue;
    const std::string& name = *found->second.as<std::string>();
    std::string places;
    for (size_t r = 0; r < function.results.size(); ++r) {
      const auto other = function.results[r].attrs.find(attributes::kState);
      if (other != function.results[r].attrs.end() && *other->second.as<std::string>() == name) {
        places += std::to_string(r);
      }
    }
    append(state, name + ">" + places);
  }
  return "in: " + in + "; out: " + out + "; state: " + state;
}

// A function with these arguments and results; each result is the argument of the same index.
std::string imported(const std::string& arguments, const std::string& results, const std::string& returned) {
  const std::string text = "func.func @main(" + arguments + ") -> (" + results + ") { return " + returned + " }";
  return text_or_error([&] {
    const auto module = parse_module(text, "test.mlir", all_ops());
    import_stablehlo(*module);
    return summary(*module);
  });
}

TEST(Import, KeyPathsBecomeDottedNames) {
  const std::pair<const char*, const char*> cases[] = {
      {"state['opt'][0].mu['fc1']['b']", "state.opt.0.mu.fc1.b"},
      {"result[1]['loss']", "result.1.loss"},
      {"params[\"w\"]", "params.w"},
      {"['a'][2]", "a.2"},
      {"[0]", "0"},
      {"x", "x"},
      {"self.layers[<flat index 3>]", "self.layers.3"},
      {"p['layers/0/w']", "p.layers/0/w"},
      {"p['a b']", "p.a b"},
  };
  for (const auto& [path, name] : cases) EXPECT_EQ(dotted_name(path).value_or("none"), name) << path;
  for (const char* path : {"", "a b", "a[", "a[]", "a['']", "a['b", "a..b", "jit(f)/add"}) {
    EXPECT_FALSE(dotted_name(path)) << path;
  }
}

TEST(Import, AliasedArgumentsAreState) {
  EXPECT_EQ(
      imported(
          "%a: tensor<f32> {tf.aliasing_output = 1 : i32} loc(\"state['w']\"), %b: tensor<i32> loc(\"batch['x']\")",
          "tensor<i32> {jax.result_info = \"result[1]['loss']\"}, tensor<f32> {jax.result_info = "
          "\"result[0]['w']\"}",
          "%b, %a : tensor<i32>, tensor<f32>"),
      "in: state.w, batch.x; out: loss, state.w; state: state.w>1");
}

TEST(Import, DonorsTakeTheFirstFreeResultOfTheirType) {
  EXPECT_EQ(imported("%a: tensor<f32> {jax.buffer_donor = true}, %b: tensor<f32> {tf.aliasing_output = 0 : i32}, "
                     "%c: tensor<f32> {jax.buffer_donor = true}, %d: tensor<i8> {jax.buffer_donor = true}",
                     "tensor<f32>, tensor<f32>, tensor<f32>", "%a, %b, %c : tensor<f32>, tensor<f32>, tensor<f32>"),
            "in: arg0, arg1, arg2, arg3; out: arg1, arg0, arg2; state: arg0>1, arg1>0, arg2>2");
}

TEST(Import, NamedStateIsMatchedByName) {
  EXPECT_EQ(imported("%a: tensor<f32> {ingot.state = \"w\"}, %b: tensor<f32> {ingot.state = \"frozen\"}",
                     "tensor<f32>, tensor<f32> {ingot.state = \"w\"}, tensor<f32> {ingot.state = \"fresh\"}",
                     "%a, %a, %a : tensor<f32>, tensor<f32>, tensor<f32>"),
            "in: w, frozen; out: result0, w, fresh; state: w>1, frozen>");
}

TEST(Import, LeadingIndexIsKeptWhereNamesWouldClash) {
  EXPECT_EQ(
      imported("%a: tensor<f32>",
               "tensor<f32> {jax.result_info = \"result[0]['x']\"}, tensor<f32> {jax.result_info = "
               "\"result[1]['x']\"}, tensor<f32> {jax.result_info = \"result[2]\"}, tensor<f32> {jax.result_info = "
               "\"result.y\"}, tensor<f32> {jax.result_info = \"\"}",
               "%a, %a, %a, %a, %a : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>"),
      "in: arg0; out: 0.x, 1.x, result2, y, result4; state: ");
}

TEST(Import, ImpossibleDonationsAreErrors) {
  EXPECT_EQ(imported("%a: tensor<f32> {tf.aliasing_output = 3 : i32}", "tensor<f32>", "%a : tensor<f32>"),
            "test.mlir:1:17: error: @main: argument 0 (%a): tf.aliasing_output must be the index of one of 1 results");
  EXPECT_EQ(imported("%a: tensor<f32> {tf.aliasing_output = 0 : i32}, %b: tensor<f32> {tf.aliasing_output = 0 : i32}",
                     "tensor<f32>", "%a : tensor<f32>"),
            "test.mlir:1:65: error: @main: argument 1 (%b): result 0 replaces argument 0 already");
  EXPECT_EQ(imported("%a: tensor<f32> {tf.aliasing_output = 0 : i32}, %b: tensor<i8>", "tensor<i8>", "%b : tensor<i8>"),
            "test.mlir:1:17: error: @main: argument 0 (%a): is tensor<f32>, but result 0, which is to replace it, is "
            "tensor<i8>");
}

TEST(Import, DefaultsAreOfTheArgumentsTypeAndNotOfState) {
  EXPECT_EQ(imported("%a: tensor<f32> {ingot.default = dense<1.0> : tensor<f64>}", "tensor<f32>", "%a : tensor<f32>"),
            "test.mlir:1:17: error: @main: argument 0 (%a): its ingot.default must be of its own type, as in "
            "dense<0.1> : tensor<f32>");
  EXPECT_EQ(imported("%a: tensor<f32> {ingot.default = dense<1.0> : tensor<f32>, tf.aliasing_output = 0 : i32}",
                     "tensor<f32>", "%a : tensor<f32>"),
            "test.mlir:1:17: error: @main: argument 0 (%a): is state, which has no ingot.default; state starts from a "
            "file or the entry point init");
}

TEST(Import, ImportingTwiceChangesNothing) {
  const auto module = parse_module(
      "func.func @main(%a: tensor<f32> {tf.aliasing_output = 0 : i32} loc(\"s['w']\")) -> (tensor<f32> "
      "{jax.result_info = "
      "\"result[0]\"}) { return %a : tensor<f32> }",
      "test.mlir", all_ops());
  import_stablehlo(*module);
  const std::string once = print(*module);
  import_stablehlo(*module);
  EXPECT_EQ(print(*module), once);
  EXPECT_EQ(once,
            "module {\n"
            "  func.func @main(%a: tensor<f32> {ingot.name = \"s.w\", ingot.state = \"s.w\"}) -> (tensor<f32> "
            "{ingot.name = \"s.w\", ingot.state = \"s.w\"}) {\n"
            "    return %a : tensor<f32>\n"
            "  }\n"
            "}\n");
}

TEST(Import, LibraryCallsAreTheOpsTheyStandFor) {
  const auto module = parse_module(R"(
func.func public @main(%a: tensor<2x4x4xf32>, %b: tensor<2x4x3xf32>) -> (tensor<2x4x3xf32>, tensor<2xi32>) {
  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>]} : (tensor<2x4x4xf32>) -> (tensor<2x4x4xf32>, tensor<2xi32>)
  %1 = stablehlo.custom_call @lapack_strsm_ffi(%0#0, %b) {mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 84 : ui8, uplo = 76 : ui8}} : (tensor<2x4x4xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  return %1, %0#1 : tensor<2x4x3xf32>, tensor<2xi32>
})",
                                   "library.mlir", all_ops());
  import_stablehlo(*module);
  verify(*module);
  const std::string text = print(*module);
  EXPECT_EQ(text.find("custom_call"), text.npos) << text;
  EXPECT_NE(text.find("stablehlo.cholesky %a, lower = true : tensor<2x4x4xf32>"), text.npos) << text;
  EXPECT_NE(text.find("transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false"), text.npos) << text;
  // Of two matrices only the first is positive definite.
  RefTensor a({DType::kF32, {2, 4, 4}}), b({DType::kF32, {2, 4, 3}});
  for (int64_t i = 0; i < 4; ++i) a.f[i * 5] = a.f[16 + i * 5] = i == 2 ? -4 : 4;
  a.f[10] = 4;
  const std::vector<RefTensor> results = evaluate(*module->functions[0], {a, b});
  EXPECT_EQ(results[1].i, (std::vector<int64_t>{0, 1}));
}

// P A = L U with pivots that count from 1, and the first that is zero.
TEST(Import, LibraryCallsOfLu) {
  const auto module = parse_module(R"(
func.func public @main(%a: tensor<2x2x2xf64>) -> (tensor<2x2x2xf64>, tensor<2x2xi32>, tensor<2xi32>, tensor<2x2xi32>) {
  %0:3 = stablehlo.custom_call @lapack_dgetrf_ffi(%a) : (tensor<2x2x2xf64>) -> (tensor<2x2x2xf64>, tensor<2x2xi32>, tensor<2xi32>)
  %one = stablehlo.constant dense<1> : tensor<2x2xi32>
  %pivots = stablehlo.subtract %0#1, %one : tensor<2x2xi32>
  %1 = stablehlo.custom_call @lu_pivots_to_permutation(%pivots) : (tensor<2x2xi32>) -> tensor<2x2xi32>
  return %0#0, %0#1, %0#2, %1 : tensor<2x2x2xf64>, tensor<2x2xi32>, tensor<2xi32>, tensor<2x2xi32>
})",
                                   "library.mlir", all_ops());
  import_stablehlo(*module);
  verify(*module);
  RefTensor a({DType::kF64, {2, 2, 2}});
  a.f = {2, 3, 4, 8, 1, 2, 1, 2};
  const std::vector<RefTensor> results = evaluate(*module->functions[0], {a});
  EXPECT_EQ(results[0].f, (std::vector<double>{4, 8, 0.5, -1, 1, 2, 1, 0}));
  EXPECT_EQ(results[1].i, (std::vector<int64_t>{2, 2, 1, 2}));
  EXPECT_EQ(results[2].i, (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(results[3].i, (std::vector<int64_t>{1, 0, 0, 1}));
}

TEST(Import, LibraryCallsOfNothing) {
  const auto module = parse_module(R"(
func.func public @main(%a: tensor<2x0x0xf32>, %b: tensor<3x0xf64>) -> (tensor<2x0x0xf32>, tensor<2xi32>, tensor<2x0xi32>, tensor<0x4xi32>, tensor<2x3xi32>, tensor<3x0xf64>) {
  %0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) : (tensor<2x0x0xf32>) -> (tensor<2x0x0xf32>, tensor<2x0xi32>, tensor<2xi32>)
  %none = stablehlo.constant dense<0> : tensor<0x2xi32>
  %1 = stablehlo.custom_call @lu_pivots_to_permutation(%none) : (tensor<0x2xi32>) -> tensor<0x4xi32>
  %2 = stablehlo.custom_call @lu_pivots_to_permutation(%0#1) : (tensor<2x0xi32>) -> tensor<2x3xi32>
  %3:2 = stablehlo.custom_call @lapack_dgeqrf_ffi(%b) : (tensor<3x0xf64>) -> (tensor<3x0xf64>, tensor<0xf64>)
  return %0#0, %0#2, %0#1, %1, %2, %3#0 : tensor<2x0x0xf32>, tensor<2xi32>, tensor<2x0xi32>, tensor<0x4xi32>, tensor<2x3xi32>, tensor<3x0xf64>
})",
                                   "library.mlir", all_ops());
  import_stablehlo(*module);
  verify(*module);
  const std::vector<RefTensor> results =
      evaluate(*module->functions[0], {RefTensor({DType::kF32, {2, 0, 0}}), RefTensor({DType::kF64, {3, 0}})});
  EXPECT_EQ(results[1].i, (std::vector<int64_t>{0, 0}));
  EXPECT_EQ(results[4].i, (std::vector<int64_t>{0, 1, 2, 0, 1, 2}));
}

// What @main, of these arguments and this result, gives in a program for XLA and in one of StableHLO.
std::pair<std::vector<double>, std::vector<double>> as_xla_and_as_stablehlo(const std::string& function,
                                                                            const std::vector<RefTensor>& arguments) {
  std::vector<std::vector<double>> results;
  for (const char* attrs : {"attributes {mhlo.num_partitions = 1 : i32} ", ""}) {
    const auto module = parse_module("module @m " + std::string(attrs) + "{\n" + function + "\n}", "x.mlir", all_ops());
    import_stablehlo(*module);
    verify(*module);
    const std::string once = print(*module);
    import_stablehlo(*module);
    EXPECT_EQ(print(*module), once);
    results.push_back(evaluate(*module->functions[0], arguments)[0].f);
  }
  return {results[0], results[1]};
}

TEST(Import, ScattersOfXlaDropWholeWindows) {
  const auto scatter = [](const std::string& index, const std::vector<int64_t>& starts) {
    RefTensor x({DType::kF64, {4}}), at({index == "i8" ? DType::kI8 : DType::kUI32, {3, 1}}), u({DType::kF64, {3, 2}});
    at.i = starts;
    u.f = {1, 2, 10, 20, 100, 200};
    return as_xla_and_as_stablehlo(R"(
func.func public @main(%x: tensor<4xf64>, %i: tensor<3x1x)" +
                                       index + R"(>, %u: tensor<3x2xf64>) -> tensor<4xf64> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %s = stablehlo.add %a, %b : tensor<f64>
    stablehlo.return %s : tensor<f64>
  }) : (tensor<4xf64>, tensor<3x1x)" + index +
                                       R"(>, tensor<3x2xf64>) -> tensor<4xf64>
  return %0 : tensor<4xf64>
})",
                                   {x, at, u});
  };
  using Two = std::pair<std::vector<double>, std::vector<double>>;
  EXPECT_EQ(scatter("i8", {-1, 2, 3}), Two({0, 0, 10, 20}, {2, 0, 10, 120}));
  EXPECT_EQ(scatter("ui32", {0, 1, 3}), Two({1, 12, 20, 0}, {1, 12, 20, 100}));
}

TEST(Import, WindowsOfXlaLeaveOutPaddingWhateverTheirStart) {
  const auto windows = [](const std::string& op, double start) {
    RefTensor x({DType::kF64, {3}}), first({DType::kF64, {}});
    x.f = {2, 3, 5};
    first.f = {start};
    return as_xla_and_as_stablehlo(R"(
func.func public @main(%x: tensor<3xf64>, %start: tensor<f64>) -> tensor<4xf64> {
  %0 = "stablehlo.reduce_window"(%x, %start) <{window_dimensions = array<i64: 2>, padding = dense<1> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %s = stablehlo.)" + op + R"( %a, %b : tensor<f64>
    stablehlo.return %s : tensor<f64>
  }) : (tensor<3xf64>, tensor<f64>) -> tensor<4xf64>
  return %0 : tensor<4xf64>
})",
                                   {x, first});
  };
  using Two = std::pair<std::vector<double>, std::vector<double>>;
  EXPECT_EQ(windows("add", 1), Two({3, 6, 9, 6}, {4, 6, 9, 7}));
  EXPECT_EQ(windows("multiply", 2), Two({4, 12, 30, 10}, {8, 12, 30, 20}));
  EXPECT_EQ(windows("subtract", 1), Two({-1, -4, -7, -4}, {-2, -4, -7, -5}));
  EXPECT_EQ(windows("maximum", 4), Two({4, 4, 5, 5}, {4, 4, 5, 5}));
}

TEST(Import, LibraryCallsOfOtherTypesAreErrors) {
  const auto module = parse_module(R"(
func.func public @main(%a: tensor<2x2xf32>) -> tensor<3xi32> {
  %0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<3xi32>, tensor<i32>)
  return %0#1 : tensor<3xi32>
})",
                                   "library.mlir", all_ops());
  EXPECT_EQ(error_of([&] { import_stablehlo(*module); }),
            "library.mlir:3:10: error: custom_call @lapack_sgetrf_ffi: result 1 is tensor<2xi32>, not tensor<3xi32>");
}

TEST(Import, JaxTrainingSteps) {
  const std::filesystem::path folder = std::filesystem::path(INGOT_SHARED_DIR) / "goldens/jax";
  const auto file = folder / "mlp_adamw/step.mlir";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is absent";
  std::unique_ptr<Module> module;
  try {
    module = parse_module(file_text(file), file.string(), all_ops());
  } catch (const Error& error) {
    if (error.message().starts_with("unknown op")) GTEST_SKIP() << error.what();
    throw;
  }
  import_stablehlo(*module);
  const std::string found = summary(*module);
  EXPECT_TRUE(found.starts_with("in: state.opt.0.count, state.opt.0.mu.fc1.b, state.opt.0.mu.fc1.w, ")) << found;
  EXPECT_NE(found.find("state.params.fc3.w, batch.x, batch.y; out: state.opt.0.count, "), found.npos) << found;
  EXPECT_NE(found.find("state.params.fc3.w, loss; state: state.opt.0.count>0, "), found.npos) << found;
}

std::string resolved(const std::vector<std::string>& names, std::string_view query) {
  return text_or_error([&] { return resolve_suffix(names, query, "input"); });
}

TEST(Import, SuffixesNameThings) {
  const std::vector<std::string> names = {"state.params.fc1.w", "state.params.fc1.b", "state.opt.0.mu.fc1.w", "batch.x",
                                          "x1"};
  EXPECT_EQ(resolved(names, "batch.x"), "batch.x");
  EXPECT_EQ(resolved(names, "x"), "batch.x");
  EXPECT_EQ(resolved(names, "params.fc1.w"), "state.params.fc1.w");
  EXPECT_EQ(resolved(names, "fc1.w"),
            "error: input 'fc1.w' may be any of state.params.fc1.w, state.opt.0.mu.fc1.w; write more of it");
  EXPECT_EQ(resolved(names, "fc1.v"),
            "error: there is no input 'fc1.v'; there are state.params.fc1.w, state.params.fc1.b, state.opt.0.mu.fc1.w, "
            "x1, batch.x");
  EXPECT_EQ(resolved({}, "x"), "error: there is no input 'x'; there are none");
}

}  // namespace
}  // namespace ingot
