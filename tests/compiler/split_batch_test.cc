// Batches that are computed in parts: the same results, whatever the program, or why not.
//   INGOT_SPLIT_GRAPHS   how many random programs are split
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "aot/frontend/stablehlo/import.h"
#include "aot/graph/evaluate.h"
#include "aot/graph/op.h"
#include "aot/graph/text/parse.h"
#include "aot/graph/text/print.h"
#include "aot/graph/verify.h"
#include "aot/ops/ops.h"
#include "aot/pipeline/passes.h"
#include "tests/support/environment.h"
#include "tests/support/error_of.h"
#include "tests/support/random_graph.h"
#include "tests/support/random_tensor.h"

namespace ingot {
namespace {

// Sums of f64, in another order.
void expect_same_meaning(const Function& before, const Function& after, const std::vector<RefTensor>& arguments) {
  const EvaluateOptions exact{.round = false};
  expect_equal(evaluate(after, arguments, exact), evaluate(before, arguments, exact), {.ulp = 0.01, .absolute = 1e-9});
}

// The program as split_batch sees it.
std::unique_ptr<Module> canonical(const std::string& text) {
  auto module = parse_module(text, "test.mlir", all_ops());
  import_stablehlo(*module);
  PassContext context;
  run_passes(compile_passes(), *module, context, {.stop_after = "update_rows"});
  return module;
}

// Splits the batch and compares; the text of the program that came of it.
std::string split(const std::string& text, int64_t count) {
  const auto module = canonical(text);
  const auto changed = copy_module(*module);
  PassContext context;
  context.micro_batches = {{"", count}};
  EXPECT_TRUE(split_batch(*changed, context));
  verify(*changed);
  const std::string once = print(*changed);
  EXPECT_FALSE(split_batch(*changed, context)) << "not idempotent";
  SCOPED_TRACE(once);
  const Function &before = *module->functions[0], &after = *changed->functions[0];
  for (uint64_t seed = 0; seed < 3; ++seed) expect_same_meaning(before, after, random_arguments(before, seed));
  return once;
}

std::string why_not(const std::string& text, int64_t count = 2) {
  const auto module = canonical(text);
  PassContext context;
  context.micro_batches = {{"", count}};
  return error_of([&] { split_batch(*module, context); });
}

std::string program(const std::string& arguments, const std::string& results, const std::string& body) {
  return fmt::format("func.func public @main({}) -> ({}) {{\n{}\n}}", arguments, results, body);
}

constexpr const char* kAdds =
    "({ ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n  %s = stablehlo.add %a, %b : tensor<f32>\n"
    "  stablehlo.return %s : tensor<f32> })";

TEST(SplitBatch, GradientsOfALayerAreSummed) {
  const std::string text = split(
      program(
          "%x: tensor<12x4xf32>, %w: tensor<4x5xf32> {ingot.state = \"w\"}",
          "tensor<4x5xf32> {ingot.state = \"w\"}, tensor<12x5xf32>",
          "%0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<12x4xf32>, tensor<4x5xf32>) -> "
          "tensor<12x5xf32>\n"
          "%1 = stablehlo.tanh %0 : tensor<12x5xf32>\n"
          "%2 = stablehlo.dot_general %x, %1, contracting_dims = [0] x [0] : (tensor<12x4xf32>, tensor<12x5xf32>) -> "
          "tensor<4x5xf32>\n"
          "%3 = stablehlo.subtract %w, %2 : tensor<4x5xf32>\n"
          "return %3, %1 : tensor<4x5xf32>, tensor<12x5xf32>"),
      3);
  EXPECT_NE(text.find("stablehlo.while"), std::string::npos) << text;
  EXPECT_NE(text.find("tensor<4x4xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>"), std::string::npos) << text;
}

// The number of labels that count is known before: it is the same for all parts.
TEST(SplitBatch, WhatIsCountedOfInputsIsOfTheWholeBatch) {
  split(
      program(
          "%x: tensor<8x4xf32>, %w: tensor<4xf32>, %labels: tensor<8xi32>", "tensor<4xf32>, tensor<f32>",
          "%zero = stablehlo.constant dense<0.0> : tensor<f32>\n%ignored = stablehlo.constant dense<0> : "
          "tensor<8xi32>\n"
          "%counts = stablehlo.compare GT, %labels, %ignored : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>\n"
          "%one = stablehlo.convert %counts : (tensor<8xi1>) -> tensor<8xf32>\n"
          "%n = \"stablehlo.reduce\"(%one, %zero) " +
              std::string(kAdds) +
              " {dimensions = array<i64: 0>} : (tensor<8xf32>, tensor<f32>) -> tensor<f32>\n"
              "%y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4xf32>) -> "
              "tensor<8xf32>\n"
              "%shares = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<f32>) -> tensor<8xf32>\n"
              "%dy = stablehlo.divide %one, %shares : tensor<8xf32>\n%0 = stablehlo.multiply %dy, %y : tensor<8xf32>\n"
              "%g = stablehlo.dot_general %0, %x, contracting_dims = [0] x [0] : (tensor<8xf32>, tensor<8x4xf32>) -> "
              "tensor<4xf32>\n"
              "%loss = \"stablehlo.reduce\"(%0, %zero) " +
              kAdds +
              " {dimensions = array<i64: 0>} : (tensor<8xf32>, tensor<f32>) -> tensor<f32>\n"
              "return %g, %loss : tensor<4xf32>, tensor<f32>"),
      4);
}

// Random masks are of a row's place in the batch, and made again for each part.
TEST(SplitBatch, RandomNumbersAreThoseOfTheirPlaces) {
  const std::string text = split(
      program("%x: tensor<6x4xf32>, %w: tensor<4x4xf32>, %key: tensor<ui32>", "tensor<4x4xf32>",
              "%i = stablehlo.iota dim = 0 : tensor<6x4xui32>\n%j = stablehlo.iota dim = 1 : tensor<6x4xui32>\n"
              "%k = stablehlo.broadcast_in_dim %key, dims = [] : (tensor<ui32>) -> tensor<6x4xui32>\n"
              "%0 = stablehlo.multiply %i, %k : tensor<6x4xui32>\n%1 = stablehlo.xor %0, %j : tensor<6x4xui32>\n"
              "%2 = stablehlo.convert %1 : (tensor<6x4xui32>) -> tensor<6x4xf32>\n"
              "%3 = stablehlo.sine %2 : tensor<6x4xf32>\n"
              "%4 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<6x4xf32>, tensor<4x4xf32>) -> "
              "tensor<6x4xf32>\n%5 = stablehlo.multiply %4, %3 : tensor<6x4xf32>\n"
              "%6 = stablehlo.dot_general %x, %5, contracting_dims = [0] x [0] : (tensor<6x4xf32>, tensor<6x4xf32>) -> "
              "tensor<4x4xf32>\nreturn %6 : tensor<4x4xf32>"),
      3);
  EXPECT_EQ(text.find("tensor<6x4xui32>"), std::string::npos) << text;
}

// A table's gradient is scattered into by one part after the other.
TEST(SplitBatch, RowsOfATableAreReadAndUpdated) {
  split(
      program(
          "%ids: tensor<4x3xi32>, %table: tensor<7x2xf32> {ingot.state = \"table\"}",
          "tensor<7x2xf32> {ingot.state = \"table\"}",
          "%at = stablehlo.reshape %ids : (tensor<4x3xi32>) -> tensor<4x3x1xi32>\n"
          "%x = \"stablehlo.gather\"(%table, %at) {dimension_numbers = #stablehlo.gather<offset_dims = [2], "
          "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 2>} : "
          "(tensor<7x2xf32>, tensor<4x3x1xi32>) -> tensor<4x3x2xf32>\n%y = stablehlo.tanh %x : tensor<4x3x2xf32>\n"
          "%new = \"stablehlo.scatter\"(%table, %at, %y) " +
              std::string(kAdds) +
              " {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], "
              "scatter_dims_to_operand_dims = [0], index_vector_dim = 2>} : (tensor<7x2xf32>, tensor<4x3x1xi32>, "
              "tensor<4x3x2xf32>) -> tensor<7x2xf32>\nreturn %new : tensor<7x2xf32>"),
      2);
}

TEST(SplitBatch, NarrowSumsAreRoundedOnce) {
  const std::string text = split(
      program(
          "%x: tensor<8x4xbf16>, %w: tensor<4x4xbf16>", "tensor<4x4xbf16>",
          "%0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xbf16>, tensor<4x4xbf16>) -> "
          "tensor<8x4xbf16>\n"
          "%1 = stablehlo.dot_general %x, %0, contracting_dims = [0] x [0] : (tensor<8x4xbf16>, tensor<8x4xbf16>) -> "
          "tensor<4x4xbf16>\nreturn %1 : tensor<4x4xbf16>"),
      4);
  EXPECT_NE(text.find("(tensor<2x4xbf16>, tensor<2x4xbf16>) -> tensor<4x4xf32>"), std::string::npos) << text;
}

// A part's first position may have no value in the type: it is counted, and what comes of it is rounded.
TEST(SplitBatch, PositionsOfNarrowTypesAreRoundedOnce) {
  for (const std::string type : {"bf16", "f8E5M2", "ui8", "i8", "i4", "f32", "i32"}) {
    SCOPED_TRACE(type);
    const auto module = canonical(
        program("%x: tensor<520x4xf32>, %w: tensor<4x4xf32>", "tensor<4x4xf32>",
                fmt::format("%i = stablehlo.iota dim = 0 : tensor<520x4x{0}>\n"
                            "%f = stablehlo.convert %i : (tensor<520x4x{0}>) -> tensor<520x4xf32>\n"
                            "%0 = stablehlo.multiply %f, %x : tensor<520x4xf32>\n"
                            "%1 = stablehlo.tanh %0 : tensor<520x4xf32>\n"
                            "%2 = stablehlo.dot_general %x, %1, contracting_dims = [0] x [0] : (tensor<520x4xf32>, "
                            "tensor<520x4xf32>) -> tensor<4x4xf32>\n"
                            "%y = stablehlo.add %2, %w : tensor<4x4xf32>\nreturn %y : tensor<4x4xf32>",
                            type)));
    const auto changed = copy_module(*module);
    PassContext context;
    context.micro_batches = {{"", 8}};
    EXPECT_TRUE(split_batch(*changed, context));
    const Function &before = *module->functions[0], &after = *changed->functions[0];
    const std::vector<RefTensor> arguments = random_arguments(before, 0);
    expect_equal(evaluate(after, arguments), evaluate(before, arguments), {.ulp = 16, .absolute = 1e-5});
  }
}

TEST(SplitBatch, RowsThatDependOnEachOtherAreNamed) {
  // What a batch is normalized by is a mean of what a layer makes.
  const std::string normalized = why_not(
      program("%x: tensor<8x4xf32>, %w: tensor<4x4xf32>", "tensor<8x4xf32>",
              "%zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
              "%0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x4xf32>) -> "
              "tensor<8x4xf32>\n%y = stablehlo.tanh %0 : tensor<8x4xf32>\n%1 = \"stablehlo.reduce\"(%y, %zero) " +
                  std::string(kAdds) +
                  " {dimensions = array<i64: 0>} : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>\n"
                  "%2 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>\n"
                  "%3 = stablehlo.subtract %y, %2 : tensor<8x4xf32>\nreturn %3 : tensor<8x4xf32>"));
  for (const char* part :
       {"--micro-batches: the batch of @main cannot be computed in parts: rows depend on each other: ",
        "stablehlo.subtract reads rows, and what ", "stablehlo.reduce combines of all of them"})
    EXPECT_NE(normalized.find(part), std::string::npos) << normalized;
  // Every row beside every other.
  const std::string scores = why_not(
      program("%x: tensor<8x4xf32>", "tensor<8x8xf32>",
              "%y = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<8x4xf32>) "
              "-> tensor<8x8xf32>\n%z = stablehlo.tanh %y : tensor<8x8xf32>\nreturn %z : tensor<8x8xf32>"));
  EXPECT_NE(scores.find("stablehlo.dot_general may not keep rows apart"), std::string::npos) << scores;
}

TEST(SplitBatch, NumbersThatDoNotDivideTheRowsAreRefused) {
  const std::string text =
      program("%x: tensor<6x4xf32>, %w: tensor<4x5xf32>", "tensor<6x5xf32>",
              "%0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<6x4xf32>, tensor<4x5xf32>) -> "
              "tensor<6x5xf32>\nreturn %0 : tensor<6x5xf32>");
  EXPECT_NE(why_not(text, 4).find("4 does not divide its 6 rows"), std::string::npos) << why_not(text, 4);
  EXPECT_NE(why_not(text, 7).find("it has 6 rows"), std::string::npos) << why_not(text, 7);
  const auto module = canonical(text);
  PassContext context;
  context.micro_batches = {{"main", 4, /*is_least=*/true}};
  EXPECT_TRUE(split_batch(*module, context));
  ASSERT_EQ(context.micro_batch_notes.size(), 1u);
  EXPECT_EQ(context.micro_batch_notes[0].count, 6);
  EXPECT_EQ(context.micro_batch_notes[0].rows, 1);
}

// Whether the batch of a program could be split, and its parts give the same.
bool agrees(const Module& module) {
  const auto changed = copy_module(module);
  PassContext context;
  context.micro_batches = {{"", 2, /*is_least=*/true}};
  try {
    if (!split_batch(*changed, context)) return false;
  } catch (const CannotSplit&) {
    return false;
  }
  SCOPED_TRACE(fmt::format("{}\nbecame\n{}", print(module), print(*changed)));
  verify(*changed);
  const Function &before = *module.functions[0], &after = *changed->functions[0];
  expect_same_meaning(before, after, examples(before));
  return true;
}

// Whatever is split of programs over the whole op table.
TEST(SplitBatch, KeepsTheMeaningOfRandomPrograms) {
  constexpr int64_t kGraphsEach = 100;
  const int64_t wanted = number_from_environment("INGOT_SPLIT_GRAPHS", 200);
  int64_t split_count = 0;
  for (int64_t seed = 0; split_count < wanted && !HasFailure(); ++seed) {
    ASSERT_LT(seed, kGraphsEach * wanted) << "only " << split_count << " programs were split";
    SCOPED_TRACE(seed);
    split_count += agrees(*random_graph(seed, {.op_count_max = 6}));
  }
}

}  // namespace
}  // namespace ingot
