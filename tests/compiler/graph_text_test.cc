// The graph's text: what is printed reads back as the same graph.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <map>

#include "aot/graph/builder.h"
#include "aot/graph/equal.h"
#include "aot/graph/text/parse.h"
#include "aot/graph/text/print.h"
#include "aot/ops/support/build.h"
#include "tests/support/file_text.h"
#include "tests/support/parsed_text.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

void expect_round_trip(std::string_view text) {
  SCOPED_TRACE(text);
  EXPECT_EQ(round_trip_failure(*parse(text)), "");
}

// --- every public program --------------------------------------------------------------------------------------------

std::vector<fs::path> public_programs() {
  std::vector<fs::path> files;
  const fs::path shared = INGOT_SHARED_DIR;
  for (const char* folder : {"conformance/stablehlo/testdata", "conformance/stablehlo/tests/interpret",
                             "conformance/stablehlo/tests/math", "goldens/jax"}) {
    if (!fs::exists(shared / folder)) continue;
    for (const auto& entry : fs::directory_iterator(shared / folder)) {
      const fs::path file = entry.is_directory() ? entry.path() / "step.mlir" : entry.path();
      if (file.extension() == ".mlir" && fs::exists(file)) files.push_back(file);
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(GraphText, PublicProgramsRoundTrip) {
  const std::vector<fs::path> files = public_programs();
  if (files.empty()) GTEST_SKIP() << INGOT_SHARED_DIR << " has no programs";
  std::map<std::string, int> reasons;
  int known = 0, unknown = 0;
  for (const fs::path& file : files) {
    const std::string text = file_text(file);
    for (const ParsedPart& part : parse_split_parts(text, file.string(), all_ops())) {
      if (part.module) {
        ++known;
        EXPECT_EQ(round_trip_failure(*part.module), "") << file;
        continue;
      }
      ++unknown;
      const std::string& message = part.error->message();
      const bool is_expected = part.error->kind() == ErrorKind::kLimit || message.starts_with("unknown op");
      EXPECT_TRUE(is_expected) << render(*part.error, text, file.string());
      ++reasons[message.substr(0, message.find(';'))];
    }
  }
  std::vector<std::pair<int, std::string>> by_count;
  for (const auto& [reason, count] : reasons) by_count.emplace_back(-count, reason);
  std::sort(by_count.begin(), by_count.end());
  std::cout << known << " programs round trip, " << unknown << " use what is not known yet:\n";
  for (size_t i = 0; i < by_count.size() && i < 12; ++i) {
    std::cout << "  " << -by_count[i].first << "  " << by_count[i].second << "\n";
  }
  EXPECT_GT(known, 0);
}

// --- forms -----------------------------------------------------------------------------------------------------------

TEST(GraphText, PrettyAndGenericFormsAreOneGraph) {
  const auto pretty = parse(R"(
func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xi1> {
  %0 = stablehlo.add %x, %y : tensor<2xf32>
  %1 = stablehlo.compare LT, %0, %y, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  return %1 : tensor<2xi1>
})");
  const auto generic = parse(R"(
module {
  func.func public @main(%a: tensor<2xf32>, %b: tensor<2xf32>) -> (tensor<2xi1>) {
    %sum = "stablehlo.add"(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %less = "stablehlo.compare"(%sum, %b) <{comparison_direction = #stablehlo<comparison_direction LT>}>
        {compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    "func.return"(%less) : (tensor<2xi1>) -> ()
  }
})");
  std::string difference;
  EXPECT_TRUE(equal(*pretty, *generic, &difference)) << difference;
}

TEST(GraphText, PrintsAsWritten) {
  const std::string text =
      R"(module @jit_step attributes {mhlo.num_replicas = 1 : i32, other.mesh = #sdy.mesh<["a"=2]>, u} {
  func.func @main(%x: tensor<2xf32> {tf.aliasing_output = 0 : i32}, %arg0: tensor<f32>) -> (tensor<2xf32> {jax.result_info = "a\22b"}, tensor<f32>) {
    %0:2 = stablehlo.optimization_barrier %x, %arg0 : tensor<2xf32>, tensor<f32>
    %a, %b = stablehlo.optimization_barrier %0#0, %0#1 : tensor<2xf32>, tensor<f32>
    %1 = call @twice(%a) : (tensor<2xf32>) -> tensor<2xf32>
    return %1, %b : tensor<2xf32>, tensor<f32>
  }
  func.func private @twice(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.add %x, %x {note = [1 : i64, true, array<i64: 1, 2>]} : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
)";
  EXPECT_EQ(print(*parse(text)), text);
}

TEST(GraphText, NamesAreMadeUnique) {
  const auto module = parse(R"(
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %y = stablehlo.negate %x : tensor<f32>
  %7 = stablehlo.abs %y : tensor<f32>
  return %7 : tensor<f32>
})");
  Function& main = *module->functions[0];
  main.body.ops.front()->result()->name = "x";
  EXPECT_EQ(print(main), R"(func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %x_0 = stablehlo.negate %x : tensor<f32>
  %0 = stablehlo.abs %x_0 : tensor<f32>
  return %0 : tensor<f32>
}
)");
  EXPECT_EQ(print(*main.body.ops.front()), "%x_0 = stablehlo.negate %x : tensor<f32>");
}

// As arguments, results, carried values and inside each other.
TEST(GraphText, TuplesAreTheirElements) {
  const std::string_view text =
      R"(func.func @main(%t: tuple<tensor<2xf32>, tuple<tensor<i32>, tuple<>>>) -> (tensor<i32>, tuple<tensor<2xf32>>) {
  %x = stablehlo.get_tuple_element %t[0] : (tuple<tensor<2xf32>, tuple<tensor<i32>, tuple<>>>) -> tensor<2xf32>
  %inner = "stablehlo.get_tuple_element"(%t) <{index = 1 : i32}> : (tuple<tensor<2xf32>, tuple<tensor<i32>, tuple<>>>) -> tuple<tensor<i32>, tuple<>>
  %n = stablehlo.get_tuple_element %inner[0] : (tuple<tensor<i32>, tuple<>>) -> tensor<i32>
  %pair = stablehlo.tuple %n, %x : tuple<tensor<i32>, tensor<2xf32>>
  %0:2 = call @swapped(%pair) : (tuple<tensor<i32>, tensor<2xf32>>) -> (tensor<i32>, tuple<tensor<2xf32>>)
  return %0#0, %0#1 : tensor<i32>, tuple<tensor<2xf32>>
}
func.func private @swapped(%p: tuple<tensor<i32>, tensor<2xf32>>) -> (tensor<i32>, tuple<tensor<2xf32>>) {
  %0 = stablehlo.get_tuple_element %p[1] : (tuple<tensor<i32>, tensor<2xf32>>) -> tensor<2xf32>
  %1 = stablehlo.get_tuple_element %p[0] : (tuple<tensor<i32>, tensor<2xf32>>) -> tensor<i32>
  %2 = "stablehlo.tuple"(%0) : (tensor<2xf32>) -> tuple<tensor<2xf32>>
  return %1, %2 : tensor<i32>, tuple<tensor<2xf32>>
})";
  EXPECT_EQ(print(*parse(text)), R"(module {
  func.func @main(%arg0: tensor<2xf32>, %arg1: tensor<i32>) -> (tensor<i32>, tensor<2xf32>) {
    %0:2 = call @swapped(%arg1, %arg0) : (tensor<i32>, tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>)
    return %0#0, %0#1 : tensor<i32>, tensor<2xf32>
  }
  func.func private @swapped(%arg0: tensor<i32>, %arg1: tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>) {
    return %arg0, %arg1 : tensor<i32>, tensor<2xf32>
  }
}
)");
}

TEST(GraphText, WrongTuplesAreRefused) {
  const auto body = [](const std::string& op) {
    return "func.func @main(%x: tensor<f32>, %t: tuple<tensor<f32>>) {\n  " + op + "\n  return\n}\n";
  };
  EXPECT_NE(rejection(body("%0 = stablehlo.tuple %x, %x : tuple<tensor<f32>>")), "");
  EXPECT_NE(rejection(body("%0 = stablehlo.tuple %x : tuple<tensor<i32>>")), "");
  EXPECT_NE(rejection(body("%0 = stablehlo.get_tuple_element %t[1] : (tuple<tensor<f32>>) -> tensor<f32>")), "");
  EXPECT_NE(rejection(body("%0 = stablehlo.get_tuple_element %t[-1] : (tuple<tensor<f32>>) -> tensor<f32>")), "");
  EXPECT_NE(rejection(body("%0 = stablehlo.get_tuple_element %t[0] : (tuple<tensor<f32>>) -> tensor<i32>")), "");
  EXPECT_NE(rejection(body("%0 = stablehlo.get_tuple_element %x[0] : (tensor<f32>) -> tensor<f32>")), "");
  EXPECT_NE(rejection(body("%t = stablehlo.tuple %x : tuple<tensor<f32>>")), "");
  EXPECT_NE(rejection(body("%0:2 = stablehlo.tuple %x : tuple<tensor<f32>>")), "");
}

TEST(GraphText, ModulesAreSplit) {
  const auto modules = parse_split(R"(// a comment
func.func @a() { return }
// -----
// nothing but a comment
// -----
func.func @b() { func.return }
)",
                                   "test.mlir", all_ops());
  ASSERT_EQ(modules.size(), 2u);
  EXPECT_EQ(modules[1]->functions[0]->name, "b");
  EXPECT_EQ(describe(modules[1]->functions[0]->location), "test.mlir:6:1");
}

// --- attributes and literals -----------------------------------------------------------------------------------------

TEST(GraphText, AttributesRoundTrip) {
  for (const char* attr : {"unit",
                           "true",
                           "4 : i64",
                           "-3 : i8",
                           "255 : ui8",
                           "1.5 : f32",
                           "-0.0 : f64",
                           "0x7FC00000 : f32",
                           "0xFFF0000000000000 : f64",
                           "0x7E00 : f16",
                           "1.0e-40 : f32",
                           "\"a\\\"b\\0A\\\\\"",
                           "@f",
                           "@\"a b\"",
                           "@a::@b",
                           "#stablehlo<precision HIGHEST>",
                           "#chlo<comparison_direction LT>",
                           "tensor<2x3xf32>",
                           "tensor<*xf32>",
                           "i32",
                           "array<i64>",
                           "array<i64: -1, 2>",
                           "array<i1: true, false>",
                           "array<f32: 1.0>",
                           "array<ui8: 200>",
                           "[1, \"x\", [2.5]]",
                           "{a = 1, \"b c\", d = {}}",
                           "#stablehlo.dot<lhs_contracting_dimensions = [1]>",
                           "#stablehlo.gather<offset_dims = [1, 2], index_vector_dim = 1>",
                           "#stablehlo.channel_handle<handle = 1, type = 2>",
                           "#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, f, 1, 0]>",
                           "#sdy.sharding<@mesh, [{\"x\"}, {}]>",
                           "affine_map<(d0) -> (d0 + 1)>",
                           "(tensor<f32>) -> tensor<f32>",
                           "!foo.bar<1, [2]>",
                           "#foo.bar",
                           "index",
                           "1 : index",
                           "dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>"}) {
    expect_round_trip(std::string("func.func @f() attributes {a.b = ") + attr + "} { return }");
  }
}

TEST(GraphText, LiteralsOfEveryDtype) {
  const std::map<std::string, std::vector<std::string>> elements = {
      {"i1", {"true", "false"}},
      {"i2", {"-2", "1"}},
      {"i4", {"-8", "7"}},
      {"i8", {"-128", "127"}},
      {"i16", {"-32768", "32767"}},
      {"i32", {"-2147483648", "2147483647"}},
      {"i64", {"-9223372036854775808", "9223372036854775807"}},
      {"ui2", {"0", "3"}},
      {"ui4", {"0", "15"}},
      {"ui8", {"0", "255"}},
      {"ui16", {"0", "65535"}},
      {"ui32", {"0", "4294967295"}},
      {"ui64", {"0", "18446744073709551615"}},
      {"f4E2M1FN", {"6.0", "-0.0", "0x01"}},
      {"f6E2M3FN", {"7.5", "-0.125", "0x21"}},
      {"f6E3M2FN", {"28.0", "-0.0625", "0x01"}},
      {"f8E3M4", {"15.5", "-0.0", "0x70", "0xF1", "0x7F"}},
      {"f8E4M3", {"240.0", "-0.001953125", "0x78", "0xF9"}},
      {"f8E4M3B11FNUZ", {"30.0", "-0.0001220703125", "0x80"}},
      {"f8E4M3FN", {"448.0", "-0.001953125", "0x7F", "0xFF"}},
      {"f8E4M3FNUZ", {"240.0", "-0.0009765625", "0x80"}},
      {"f8E5M2", {"57344.0", "-1.52587890625e-05", "0x7C", "0xFD"}},
      {"f8E5M2FNUZ", {"57344.0", "-7.62939453125e-06", "0x80"}},
      {"f8E8M0FNU", {"1.70141183e+38", "0x00", "0.125", "0xFF"}},
      {"f16", {"-6.550400e+04", "5.9604645e-08", "0x7C00", "0xFE01"}},
      {"bf16", {"1.0078125", "0xFF80", "0x7FC1"}},
      {"f32", {"1.17549435E-38", "-0.0", "3.40282347E+38", "1.0e-45", "0x7F800001", "0xFF800000"}},
      {"complex<f32>", {"(1.0, -2.5)", "(0x7F800001, -0.0)", "(1.0e-45, 0xFF800000)"}},
      {"complex<f64>", {"(0.1, -0.0)", "(0x7FF8000000000001, 1.0)"}},
      {"f64", {"4.9406564584124654e-324", "0.1", "1.7976931348623157e308", "0x7FF8000000000001"}},
  };
  ASSERT_EQ(elements.size(), static_cast<size_t>(kDTypeCount));
  for (const auto& [dtype, values] : elements) {
    std::string list;
    for (const std::string& value : values) {
      list += (list.empty() ? "" : ", ") + value;
      expect_round_trip("func.func @f() attributes {a = dense<" + value + "> : tensor<3x200x" + dtype +
                        ">} { return }");
    }
    expect_round_trip("func.func @f() attributes {a = dense<[" + list + "]> : tensor<" + std::to_string(values.size()) +
                      "x" + dtype + ">} { return }");
    expect_round_trip("func.func @f() attributes {a = dense<> : tensor<2x0x" + dtype + ">} { return }");
  }
}

const Literal& literal_of(const Module& module) { return **module.functions[0]->attrs.at("a").as<LiteralRef>(); }

std::unique_ptr<Module> with_literal(const std::string& literal) {
  return parse("func.func @f() attributes {a = " + literal + "} { return }");
}

TEST(GraphText, LargeLiteralsAreHexadecimal) {
  for (const char* name : {"i1", "i4", "ui8", "i32", "bf16", "f64", "complex<f32>"}) {
    const DType dtype = *dtype_from_name(name);
    std::vector<std::byte> bytes(150 * info(dtype).bytes);
    for (int i = 0; i < 150; ++i) {
      if (is_float(dtype)) {
        store_float(dtype, i * 0.37 - 9, &bytes[i * info(dtype).bytes]);
      } else if (is_complex(dtype)) {
        store_complex(dtype, {i * 0.37, -1.0 * i}, &bytes[i * info(dtype).bytes]);
      } else {
        store_int(dtype, is_bool(dtype) ? i % 3 == 0 : i * 7 - 100, &bytes[i * info(dtype).bytes]);
      }
    }
    Module module;
    Function* function = module.add_function("f");
    function->attrs.emplace("a", dense({dtype, {150}}, bytes));
    GraphBuilder builder;
    builder.at_end(function->body);
    builder.create(kFuncReturn, {});
    EXPECT_EQ(round_trip_failure(module), "") << name;
    EXPECT_NE(print(module).find("dense<\"0x"), std::string::npos);
  }
}

TEST(GraphText, HexadecimalFormsAreRead) {
  // Splats: one element's bytes; i1: one byte of zeros or ones.
  EXPECT_EQ(literal_of(*with_literal("dense<\"0x0000803F\"> : tensor<2x2xf32>")).float_at(3), 1);
  EXPECT_EQ(literal_of(*with_literal("dense<\"0xFF\"> : tensor<500xi1>")).int_at(499), 1);
  // i1: eight to a byte, lowest bit first.
  const auto bits = with_literal("dense<\"0x0502\"> : tensor<10xi1>");
  std::string found;
  for (int i = 0; i < 10; ++i) found += literal_of(*bits).int_at(i) ? '1' : '0';
  EXPECT_EQ(found, "1010000001");
  EXPECT_EQ(literal_of(*with_literal("dense<\"0x0F01\"> : tensor<2xi4>")).int_at(0), -1);
  EXPECT_EQ(literal_of(*with_literal("dense<255> : tensor<i8>")).int_at(0), -1);
  EXPECT_TRUE(std::isnan(literal_of(*with_literal("dense<0x7FC00000> : tensor<f32>")).float_at(0)));
}

// --- locations -------------------------------------------------------------------------------------------------------

TEST(GraphText, LocationsAreKept) {
  for (const char* location :
       {"unknown", "\"f.py\":3:14", "\"f.py\":78:38 to :53", "\"f.py\":78:38 to 79:2", "\"name\"",
        "\"name\"(\"f.py\":1:2)", "callsite(\"a\" at \"f.py\":1:2)", "fused[\"a\", \"f.py\":1:2]",
        "fused<\"pass\">[\"a\"(unknown), #late]", "fused<{a = 1}>[]", "#late"}) {
    const std::string text = std::string("func.func @f(%x: tensor<f32> loc(") + location + ")) -> tensor<f32> {\n" +
                             "  %0 = stablehlo.negate %x : tensor<f32> loc(" + location + ")\n" +
                             "  return %0 : tensor<f32> loc(#late)\n} loc(" + location + ")\n" +
                             "#late = loc(callsite(\"g\" at #early))\n#early = loc(\"h.py\":9:8)\n";
    const auto module = parse(text);
    EXPECT_EQ(round_trip_failure(*module), "") << location;
    // An op printed alone has its location in place.
    if (std::string_view(location) == "#late") location = "callsite(\"g\" at \"h.py\":9:8)";
    const std::string expected = std::string("loc(") + location + ")";
    if (expected.find('#') == std::string::npos) {
      const std::string printed = print(*module->functions[0]->body.ops.front(), {.locations = true});
      EXPECT_TRUE(printed.ends_with(expected)) << printed;
    }
  }
}

}  // namespace
}  // namespace ingot
