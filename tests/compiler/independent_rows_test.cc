// Which programs may be given more rows than are wanted, and why others may not.
#include "aot/analysis/independent_rows.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "aot/frontend/stablehlo/import.h"
#include "aot/graph/text/parse.h"
#include "aot/ops/ops.h"
#include "aot/passes/pass.h"

namespace ingot {
namespace {

// A program with so many rows, as the analysis wants it: "B" in the text is the number of rows, "C" twice as many.
std::unique_ptr<Module> with_rows(std::string text, int64_t rows) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == 'B') text.replace(i, 1, std::to_string(rows));
    if (text[i] == 'C') text.replace(i, 1, std::to_string(2 * rows));
  }
  auto module = parse_module(text, "test.mlir", all_ops());
  import_stablehlo(*module);
  PassContext context;
  for (const auto pass : {inline_calls, refine_shapes, expand, dce}) pass(*module, context);
  return module;
}

std::string why(const std::string& text) {
  const auto few = with_rows(text, 3), more = with_rows(text, 4);
  return why_rows_depend(*few->functions[0], *more->functions[0], 3);
}

std::string program(const std::string& arguments, const std::string& result, const std::string& body) {
  return fmt::format("func.func public @main({}) -> {} {{\n{}\nreturn %y : {}\n}}", arguments, result, body, result);
}

constexpr const char* kSum =
    "\"stablehlo.reduce\"(%x, %zero) ({{ ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
    "  %s = stablehlo.add %a, %b : tensor<f32>\n  stablehlo.return %s : tensor<f32> }}) "
    "{{dimensions = array<i64: {}>}} : (tensor<Bx4xf32>, tensor<f32>) -> tensor<{}xf32>";
constexpr const char* kZero = "%zero = stablehlo.constant dense<0.0> : tensor<f32>\n";

TEST(IndependentRows, LayersKeepRowsApart) {
  EXPECT_EQ(why(program("%x: tensor<Bx4xf32>, %w: tensor<4x5xf32>, %b: tensor<5xf32>", "tensor<Bx5xf32>",
                        "%0 = stablehlo.dot %x, %w : (tensor<Bx4xf32>, tensor<4x5xf32>) -> tensor<Bx5xf32>\n"
                        "%1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<5xf32>) -> tensor<Bx5xf32>\n"
                        "%2 = stablehlo.add %0, %1 : tensor<Bx5xf32>\n"
                        "%y = stablehlo.tanh %2 : tensor<Bx5xf32>")),
            "");
}

TEST(IndependentRows, SumsAlongARowMayBe) {
  EXPECT_EQ(why(program("%x: tensor<Bx4xf32>", "tensor<Bxf32>", kZero + ("%y = " + fmt::format(kSum, 1, "B")))), "");
  const std::string text =
      program("%x: tensor<Bx4xf32>", "tensor<4xf32>", kZero + ("%y = " + fmt::format(kSum, 0, "4")));
  EXPECT_NE(why(text).find("stablehlo.reduce may not keep rows apart"), std::string::npos) << why(text);
}

TEST(IndependentRows, RowsMayBeSeveralPlaces) {
  const auto reshaped = [](const std::string& to) {
    return program("%x: tensor<Bx2x3xf32>", "tensor<" + to + "xf32>",
                   "%y = stablehlo.reshape %x : (tensor<Bx2x3xf32>) -> tensor<" + to + "xf32>");
  };
  EXPECT_EQ(why(reshaped("Cx3")), "");
  EXPECT_EQ(why(reshaped("Bx6")), "");
  EXPECT_NE(why(reshaped("2xBx3")), "");
  EXPECT_NE(why(reshaped("3xC")), "");
}

// Sequences before batches, as PyTorch's recurrences and attention have them: rows lie inside of a joined dimension.
TEST(IndependentRows, RowsMayLieInside) {
  const std::string to_inside =
      "%0 = stablehlo.transpose %x, dims = [1, 0, 2] : (tensor<Bx2x5xf32>) -> tensor<2xBx5xf32>\n"
      "%1 = stablehlo.reshape %0 : (tensor<2xBx5xf32>) -> tensor<Cx5xf32>\n";
  const std::string adds =
      "%2 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<5xf32>) -> tensor<Cx5xf32>\n"
      "%3 = stablehlo.add %1, %2 : tensor<Cx5xf32>\n";
  const auto and_back = [](const std::string& value) {
    return "%4 = stablehlo.reshape " + value +
           " : (tensor<Cx5xf32>) -> tensor<2xBx5xf32>\n"
           "%y = stablehlo.transpose %4, dims = [1, 0, 2] : (tensor<2xBx5xf32>) -> tensor<Bx2x5xf32>";
  };
  const std::string arguments = "%x: tensor<Bx2x5xf32>, %b: tensor<5xf32>, %c: tensor<Cx5xf32>";
  EXPECT_EQ(why(program(arguments, "tensor<Bx2x5xf32>", to_inside + adds + and_back("%3"))), "");
  // %c has both places of a row beside each other.
  EXPECT_NE(why(program(arguments, "tensor<Bx2x5xf32>",
                        to_inside + "%3 = stablehlo.add %1, %c : tensor<Cx5xf32>\n" + and_back("%3"))),
            "");
  EXPECT_NE(why(program(arguments, "tensor<Cx5xf32>", to_inside + "%y = stablehlo.add %1, %1 : tensor<Cx5xf32>")), "");
  // Counts places, which are others for each number of rows.
  EXPECT_NE(why(program(arguments, "tensor<Bx2x5xf32>",
                        to_inside +
                            "%2 = stablehlo.iota dim = 0 : tensor<Cx5xf32>\n"
                            "%3 = stablehlo.add %1, %2 : tensor<Cx5xf32>\n" +
                            and_back("%3"))),
            "");
}

TEST(IndependentRows, RowsOfResultsLieFirst) {
  EXPECT_NE(why(program("%x: tensor<Bx4xf32>", "tensor<4xBxf32>",
                        "%y = stablehlo.transpose %x, dims = [1, 0] : (tensor<Bx4xf32>) -> tensor<4xBxf32>")),
            "");
  EXPECT_EQ(why(program("%x: tensor<Bx4xf32>", "tensor<Bx4xf32>",
                        "%0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<Bx4xf32>) -> tensor<4xBxf32>\n"
                        "%1 = stablehlo.exponential %0 : tensor<4xBxf32>\n"
                        "%y = stablehlo.transpose %1, dims = [1, 0] : (tensor<4xBxf32>) -> tensor<Bx4xf32>")),
            "");
}

TEST(IndependentRows, MovesAlongRowsDoNot) {
  EXPECT_NE(
      why(program("%x: tensor<Bx4xf32>", "tensor<Bx4xf32>", "%y = stablehlo.reverse %x, dims = [0] : tensor<Bx4xf32>")),
      "");
  EXPECT_EQ(
      why(program("%x: tensor<Bx4xf32>", "tensor<Bx4xf32>", "%y = stablehlo.reverse %x, dims = [1] : tensor<Bx4xf32>")),
      "");
  EXPECT_NE(why(program("%x: tensor<Bx4xf32>", "tensor<1x4xf32>",
                        "%y = stablehlo.slice %x [0:1, 0:4] : (tensor<Bx4xf32>) -> tensor<1x4xf32>")),
            "");
  EXPECT_NE(why(program("%x: tensor<Bx4xf32>", "tensor<Cx4xf32>",
                        "%y = stablehlo.concatenate %x, %x, dim = 0 : (tensor<Bx4xf32>, tensor<Bx4xf32>) -> "
                        "tensor<Cx4xf32>")),
            "");
  EXPECT_EQ(why(program("%x: tensor<Bx4xf32>", "tensor<Bx8xf32>",
                        "%y = stablehlo.concatenate %x, %x, dim = 1 : (tensor<Bx4xf32>, tensor<Bx4xf32>) -> "
                        "tensor<Bx8xf32>")),
            "");
}

TEST(IndependentRows, ProductsOfRowsWithRowsDoNot) {
  EXPECT_NE(why(program("%x: tensor<Bx4xf32>", "tensor<BxBxf32>",
                        "%y = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<Bx4xf32>, "
                        "tensor<Bx4xf32>) -> tensor<BxBxf32>")),
            "");
  EXPECT_EQ(why(program("%x: tensor<Bx4x2xf32>", "tensor<Bx4x4xf32>",
                        "%y = stablehlo.dot_general %x, %x, batching_dims = [0] x [0], contracting_dims = [2] x [2] : "
                        "(tensor<Bx4x2xf32>, tensor<Bx4x2xf32>) -> tensor<Bx4x4xf32>")),
            "");
  EXPECT_NE(why(program("%x: tensor<Bx4xf32>, %z: tensor<Bx5xf32>", "tensor<4x5xf32>",
                        "%y = stablehlo.dot_general %x, %z, contracting_dims = [0] x [0] : (tensor<Bx4xf32>, "
                        "tensor<Bx5xf32>) -> tensor<4x5xf32>")),
            "");
}

// A mean over the batch that is written as a factor: another program for another number of rows.
TEST(IndependentRows, NumbersOfRowsAreNotComputedWith) {
  const std::string text = program("%x: tensor<Bx4xf32>", "tensor<Bx4xf32>",
                                   "%c = stablehlo.constant dense<B.0> : tensor<Bx4xf32>\n"
                                   "%y = stablehlo.divide %x, %c : tensor<Bx4xf32>");
  EXPECT_NE(why(text).find("stablehlo.constant"), std::string::npos) << why(text);
}

TEST(IndependentRows, TablesAreReadByRows) {
  const std::string attrs =
      "{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], "
      "index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>, indices_are_sorted = false}";
  EXPECT_EQ(why(program("%t: tensor<9x4xf32>, %i: tensor<Bx1xi32>", "tensor<Bx4xf32>",
                        "%y = \"stablehlo.gather\"(%t, %i) " + attrs +
                            " : (tensor<9x4xf32>, tensor<Bx1xi32>) -> tensor<Bx4xf32>")),
            "");
  EXPECT_NE(why(program("%t: tensor<Bx4xf32>, %i: tensor<5x1xi32>", "tensor<5x4xf32>",
                        "%y = \"stablehlo.gather\"(%t, %i) " + attrs +
                            " : (tensor<Bx4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>")),
            "");
}

TEST(IndependentRows, TablesOfRowsAreReadAlike) {
  const auto chosen = [](const std::string& index_map, const std::string& sizes, const std::string& offset,
                         const std::string& collapsed, const std::string& result) {
    return program("%t: tensor<Bx4x5xf32>, %i: tensor<1xi32>", "tensor<" + result + "xf32>",
                   "%y = \"stablehlo.gather\"(%t, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [" + offset +
                       "], collapsed_slice_dims = [" + collapsed + "], start_index_map = [" + index_map +
                       "], index_vector_dim = 0>, slice_sizes = array<i64: " + sizes +
                       ">, indices_are_sorted = false} : (tensor<Bx4x5xf32>, tensor<1xi32>) -> tensor<" + result +
                       "xf32>");
  };
  EXPECT_EQ(why(chosen("1", "B, 1, 5", "0, 1", "1", "Bx5")), "");
  EXPECT_NE(why(chosen("0", "1, 4, 5", "0, 1", "0", "4x5")), "");
}

// A recurrence over the second dimension of %x: its state has the rows.
std::string recurrence(const std::string& condition, const std::string& next) {
  return program(
      "%x: tensor<Bx6xf32>", "tensor<Bx1xf32>",
      "%i0 = stablehlo.constant dense<0> : tensor<i32>\n%n = stablehlo.constant dense<6> : tensor<i32>\n"
      "%one = stablehlo.constant dense<1> : tensor<i32>\n%h0 = stablehlo.constant dense<0.0> : tensor<Bx1xf32>\n" +
          std::string(kZero) +
          "%loop:2 = stablehlo.while(%i = %i0, %h = %h0) : tensor<i32>, tensor<Bx1xf32>\ncond {\n" + condition +
          "  stablehlo.return %go : tensor<i1>\n} do {\n"
          "  %s = stablehlo.dynamic_slice %x, %i0, %i, sizes = [B, 1] : (tensor<Bx6xf32>, tensor<i32>, tensor<i32>) -> "
          "tensor<Bx1xf32>\n" +
          next +
          "  %j = stablehlo.add %i, %one : tensor<i32>\n"
          "  stablehlo.return %j, %g : tensor<i32>, tensor<Bx1xf32>\n}\n"
          "%y = stablehlo.tanh %loop#1 : tensor<Bx1xf32>");
}

TEST(IndependentRows, LoopsKeepRowsWhereTheyAre) {
  const std::string counts = "  %go = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n";
  const std::string adds = "  %g = stablehlo.add %h, %s : tensor<Bx1xf32>\n";
  EXPECT_EQ(why(recurrence(counts, adds)), "");
  EXPECT_NE(why(recurrence(counts,
                           "  %r = stablehlo.reverse %h, dims = [0] : tensor<Bx1xf32>\n"
                           "  %g = stablehlo.add %r, %s : tensor<Bx1xf32>\n"))
                .find("stablehlo.reverse"),
            std::string::npos);
  const std::string asks =
      "  %sum = \"stablehlo.reduce\"(%h, %zero) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
      "    %s1 = stablehlo.add %a, %b : tensor<f32>\n    stablehlo.return %s1 : tensor<f32> }) "
      "{dimensions = array<i64: 0, 1>} : (tensor<Bx1xf32>, tensor<f32>) -> tensor<f32>\n"
      "  %go = stablehlo.compare LT, %sum, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>\n";
  EXPECT_NE(why(recurrence(asks, adds)), "");
}

TEST(IndependentRows, StateHasNone) {
  EXPECT_NE(why("func.func public @main(%x: tensor<Bx4xf32>, %s: tensor<Bx4xf32> {ingot.state = \"s\"}) -> "
                "(tensor<Bx4xf32>, tensor<Bx4xf32> {ingot.state = \"s\"}) {\n"
                "%y = stablehlo.add %x, %s : tensor<Bx4xf32>\nreturn %y, %y : tensor<Bx4xf32>, tensor<Bx4xf32>\n}"),
            "");
}

}  // namespace
}  // namespace ingot
