// What is refused, in words that help: texts that are wrong, deep or mutated, and graphs that break a rule.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>

#include "aot/graph/verify.h"
#include "tests/support/file_text.h"
#include "tests/support/parsed_text.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

TEST(GraphReject, ErrorsPointAtTheText) {
  EXPECT_EQ(rejection("func.func @f(%x: tensor<f32>) {\n  %1 = stablehlo.add %x, %y : tensor<f32>\n  return\n}"),
            "test.mlir:2:26: error: %y is not defined above\n"
            "  %1 = stablehlo.add %x, %y : tensor<f32>\n"
            "                         ^");
}

// tests/reject/*.mlir: programs, each followed by what is wrong with it: `// error: LINE:COLUMN: KIND: MESSAGE`. A line
// `// -----` stands between them. INGOT_BLESS=1 writes what is said now.
TEST(GraphReject, RejectsWithReason) {
  constexpr std::string_view kMark = "// error: ", kSplit = "// -----\n";
  const bool is_blessing = std::getenv("INGOT_BLESS") != nullptr;
  int count = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(INGOT_SOURCE_DIR) / "tests/reject")) {
    if (entry.path().extension() != ".mlir") continue;
    const std::string text = file_text(entry.path());
    std::string blessed;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find(kSplit, begin), text.size());
      const size_t mark = text.find(kMark, begin);
      ASSERT_LT(mark, end) << entry.path() << ": a part has no '" << kMark << "'";
      const std::string program = text.substr(begin, mark - begin);
      const std::string expected = text.substr(mark + kMark.size(), text.find('\n', mark) - mark - kMark.size());
      begin = std::min(end + kSplit.size(), text.size());
      std::string found = "nothing";
      try {
        parse_module(program, "", all_ops());
      } catch (const Error& error) {
        found = std::string(error.what()).substr(1);
      }
      blessed += (blessed.empty() ? "" : std::string(kSplit)) + program + std::string(kMark) + found + "\n";
      if (!is_blessing) {
        EXPECT_EQ(found, expected) << entry.path() << "\n" << program;
      }
      ++count;
    }
    if (is_blessing) std::ofstream(entry.path()) << blessed;
  }
  EXPECT_GT(count, 60);
}

// --- hostile texts ---------------------------------------------------------------------------------------------------

std::string repeated(std::string_view text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

TEST(GraphReject, DeepTextsAreRefused) {
  for (const int depth : {300, 5000, 50000, 200000}) {
    for (const char* open : {"[", "{a=", "(", "dense<[", "#foo.bar<"}) {
      EXPECT_NE(rejection("func.func @f() attributes {a = " + repeated(open, depth)), "") << open;
    }
    EXPECT_NE(rejection("func.func @f() { return } loc(" + repeated("\"x\"(", depth)), "");
    EXPECT_NE(rejection("func.func @f() { " + repeated("\"ingot.kernel\"() ({", depth)), "");
    EXPECT_NE(rejection("func.func @f(%x: tensor<" + repeated("1x", depth) + "f32>) { return }"), "");
  }
}

TEST(GraphReject, AliasesCannotExplode) {
  std::string attrs = "#a0 = [1, 2]\n", locations = "#l0 = loc(\"x\")\n", chain = "#c0 = loc(\"x\")\n";
  for (int i = 1; i < 60; ++i) {
    attrs += fmt::format("#a{0} = [#a{1}, #a{1}]\n", i, i - 1);
    locations += fmt::format("#l{0} = loc(fused[#l{1}, #l{1}])\n", i, i - 1);
  }
  for (int i = 1; i < 5000; ++i) chain += fmt::format("#c{0} = loc(\"x\"(#c{1}))\n", i, i - 1);
  EXPECT_NE(rejection(attrs + "func.func @f() attributes {a = #a59} { return }").find("limit"), std::string::npos);
  EXPECT_NE(rejection(locations + "func.func @f() { return } loc(#l59)").find("limit"), std::string::npos);
  EXPECT_NE(rejection(chain + "func.func @f() { return } loc(#c4999)").find("limit"), std::string::npos);
  EXPECT_NE(rejection("#a = [#b]\n#b = [#a]\nfunc.func @f() { return }").find("by itself"), std::string::npos);
}

// Random edits of small programs: an Error or a module, nothing else.
TEST(GraphReject, MutationsNeverCrash) {
  std::vector<std::string> seeds;
  for (const OpDef* op : all_ops().all()) {
    if (!op->samples) continue;
    for (const Sample& sample : op->samples()) {
      if (sample.text.size() < 1500) seeds.push_back(sample.text);
      if (seeds.size() % 3 == 0) break;
    }
  }
  seeds.push_back(R"(#loc1 = loc("a"(#loc2))
#loc2 = loc(callsite("f.py":1:2 to :3 at fused<"m">["b"]))
module @m attributes {a = dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>, b = #stablehlo.dot<lhs_contracting_dimensions = [1]>} {
  func.func @main(%x: tensor<2xf32> {tf.aliasing_output = 0 : i32} loc(#loc1)) -> (tensor<2xf32> {a = "b\22c"}) {
    %0:2 = stablehlo.optimization_barrier %x, %x : tensor<2xf32>, tensor<2xf32> loc(#loc2)
    %1 = "stablehlo.add"(%0#0, %0#1) <{n = array<i64: 1, 2>}> {p = dense<"0x0102"> : tensor<2xi8>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %2 = "ingot.kernel"(%1) ({
    ^bb0(%a: tensor<2xf32>):
      ingot.yield %a : tensor<2xf32>
    }) : (tensor<2xf32>) -> tensor<2xf32>
    check.expect_almost_eq_const %2, dense<[1.0, 0x7F800000]> : tensor<2xf32> {tolerance = 0.1 : f64}
    return %2 : tensor<2xf32>
  }
})");
  for (const char* word : {"stablehlo.reduce", "stablehlo.gather", "stablehlo.convolution", "stablehlo.scatter"}) {
    const OpDef* op = all_ops().find(word);
    if (op && op->samples) seeds.push_back(op->samples().front().text);
  }
  std::mt19937 random(1);
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  constexpr std::string_view kBytes = "%#@!^<>()[]{},:=-\"0x19 \n/abc.\x80\xff";
  int accepted = 0, refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = seeds[below(seeds.size())];
    const std::string& other = seeds[below(seeds.size())];
    for (size_t edits = below(2) + 1; edits > 0 && !text.empty(); --edits) {
      const size_t at = below(text.size());
      const size_t length = std::min(below(6) + 1, text.size() - at);
      switch (below(6)) {
        case 0:
          text[at] = kBytes[below(kBytes.size())];
          break;
        case 1:
          text.erase(at, length);
          break;
        case 2:
          text.insert(at, 1, kBytes[below(kBytes.size())]);
          break;
        case 3:
          text.insert(at, text.substr(below(text.size()), length));
          break;
        case 4:
          text.replace(at, length, other.substr(below(other.size()), below(12)));
          break;
        default:
          text.resize(at);
          break;
      }
    }
    try {
      const auto module = parse(text);
      ++accepted;
      EXPECT_EQ(round_trip_failure(*module), "") << text;
    } catch (const Error& error) {
      ++refused;
      EXPECT_NE(error.kind(), ErrorKind::kBug) << error.what() << "\n" << text;
      render(error, text, "test.mlir");
    }
  }
  std::cout << accepted << " mutations accepted, " << refused << " refused\n";
}

// --- verifier --------------------------------------------------------------------------------------------------------

TEST(VerifyGraph, FindsWhatPassesBreak) {
  const std::string text = R"(
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.abs %x : tensor<2xf32>
  %1 = stablehlo.negate %0 : tensor<2xf32>
  return %1 : tensor<2xf32>
})";
  const auto broken = [&](const auto& change) -> std::string {
    const auto module = parse(text);
    Block& body = module->functions[0]->body;
    change(*module, body);
    std::string message;
    try {
      verify(*module);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBug);
      message = error.message();
    }
    return message;
  };
  EXPECT_EQ(broken([](Module&, Block&) {}), "");
  EXPECT_EQ(broken([](Module&, Block& body) { body.ops.front()->result()->type.shape = {3}; }),
            "@main: stablehlo.abs: result 0 is tensor<2xf32>, not tensor<3xf32>");
  EXPECT_EQ(broken([](Module&, Block& body) { (*std::next(body.ops.begin()))->result()->type.dtype = DType::kF64; }),
            "@main: stablehlo.negate: result 0 is tensor<2xf32>, not tensor<2xf64>");
  EXPECT_EQ(
      broken([](Module&, Block& body) { body.ops.front()->set_operand(0, (*std::next(body.ops.begin()))->result()); }),
      "@main: stablehlo.abs: operand 0 is not defined above it");
  EXPECT_EQ(broken([](Module& module, Block&) { module.functions[0]->results[0].type.shape = {}; }),
            "@main: func.return: result 0 is declared as tensor<f32>, but tensor<2xf32> is returned");
  EXPECT_EQ(broken([](Module& module, Block&) { module.functions[0]->argument_attrs.clear(); }),
            "@main: needs an attribute map for each argument");
}

TEST(Equal, SaysWhatDiffers) {
  const auto difference = [](const char* a, const char* b) {
    std::string text;
    equal(*parse(a), *parse(b), &text);
    return text;
  };
  const char* base = "func.func @f(%x: tensor<f32>) { %0 = stablehlo.abs %x {a = 1} : tensor<f32> return }";
  EXPECT_EQ(difference(base, "func.func @f(%y: tensor<f32>) { %q = stablehlo.abs %y {a = 1} : tensor<f32> return }"),
            "");
  EXPECT_EQ(difference(base, "func.func @f(%x: tensor<f32>) { %0 = stablehlo.abs %x {a = 2} : tensor<f32> return }"),
            "@f: stablehlo.abs: a is 1 : i64 and 2 : i64");
  EXPECT_EQ(difference(base, "func.func @f(%x: tensor<f32>) { %0 = stablehlo.negate %x {a = 1} : tensor<f32> return }"),
            "@f: stablehlo.abs: the other op is stablehlo.negate");
}

}  // namespace
}  // namespace ingot
