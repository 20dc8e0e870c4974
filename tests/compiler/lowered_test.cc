// The lowered function: its text, what it must be, and that lowering makes such functions for every target.
#include "aot/lowered/lowered.h"

#include <gtest/gtest.h>

#include "aot/graph/text/parse.h"
#include "aot/lowered/fold_preparations.h"
#include "aot/ops/support/build.h"
#include "aot/pipeline/passes.h"
#include "aot/schedule/lower_function.h"
#include "tests/support/error_of.h"
#include "tests/support/golden_file.h"
#include "tests/support/random_graph.h"

namespace ingot::lowered {
namespace {

// Everything that a text can say.
const std::string kText = R"(// kernel 0
kernel pack lanes 1 tasks 1 (w: f32[64], p: f32[64] out) {
}

// kernel 1
kernel product lanes 1 tasks 2 (x: f32[16], p: f32[64], y: f32[16] out, t: f32[16] scratch) {
}

// kernel 2
kernel put lanes 1 tasks 1 (x: f32[64], u: f32[16], y: f32[64] out aliases x) {
}

// kernel 3
kernel less lanes 1 tasks 1 (i: i32[1], p: i1[1] out) {
}

function train {
  argument w: tensor<4x16xf32> state "layer 0/w"
  argument x: tensor<16xf32> input x
  argument "a b": tensor<i32>
  constant zero = dense<0> : tensor<i32>
  constant bounds = dense<[1, 2]> : tensor<2xi64>
  copy w to w.1
  while zero, w.1 gives i, last {
    condition i.1, w.2 {
      call less (kernel 3) reads i.1 writes p: tensor<i1>
      return p
    }
    body i.2, w.3 {
      call pack (kernel 0, hoistable) reads w writes packed: tensor<64xf32> temporary
      then product (kernel 1) reads x, packed writes y: tensor<16xf32>
      call put (kernel 2) reads w.3, y updates w.4: tensor<4x16xf32>
      return i.2, w.4
    }
  }
  case "a b" gives z: tensor<16xf32> {
    on 0 {
      fill one = dense<1.000000e+00> : tensor<16xf32>
      return one
    }
    on 2 {
      return x
    }
    otherwise {
      while {
        condition {
          call less (kernel 3) reads zero writes q: tensor<i1>
          return q
        }
        body {
          return
        }
      }
      copy x to x.1
      return x.1
    }
  }
  return z output z, last state "layer 0/w", i
}
)";

// That text with a change: `bad` for the first `good`, and what is said to it.
struct BadText {
  std::string good, bad, message;

  std::string text() const {
    std::string text = kText;
    return text.replace(text.find(good), good.size(), bad);  // throws if it is not there
  }
};

TEST(LoweredText, IsPrintedAsItWasRead) { EXPECT_EQ(print(parse_function(kText)), kText); }

TEST(LoweredText, TellsValuesApartThatAreNamedAlike) {
  Function function;
  function.name = "f";
  for (const char* name : {"x", "", "x", "x.1"}) {
    function.body.arguments.push_back(function.add_value(name, {DType::kF32, {}}));
    function.arguments.push_back({});
  }
  function.body.results = {2};
  function.results = {{}};
  const std::string text = print(function);
  EXPECT_EQ(text, R"(function f {
  argument x: tensor<f32>
  argument v: tensor<f32>
  argument x.1: tensor<f32>
  argument x.1.1: tensor<f32>
  return x.1
}
)");
  EXPECT_EQ(print(parse_function(text)), text);
}

TEST(LoweredText, MistakesAreToldAtTheirPlace) {
  const BadText bad_texts[] = {
      {"function train", "function 7", "17:10: error: expected a name, found '7'"},
      {"tensor<16xf32>", "tensor<?xf32>", "19:15: error: the shape of a value is known"},
      {"argument x:", "argument w:", "19:12: error: another value has this name"},
      {"to w.1", "to zero", "23:13: error: another value has this name"},
      {"copy w ", "copy v ", "23:8: error: no value above is named v"},
      {"gives i, last", "gives i", "24:25: error: this loop carries 2 values"},
      {"body i.2, w.3", "body i.2, w.3, n", "29:20: error: this loop carries 2 values"},
      {"(kernel 3)", "(kernel 4)", "26:25: error: there are 4 kernels above"},
      {"call less", "call more", "26:12: error: kernel 3 is named less"},
      {"0, hoistable", "0, fast", "30:28: error: expected 'hoistable', found 'fast'"},
      {"(kernel 1)", "(kernel 1, hoistable)", ""},
      {"call put (kernel 2)", "then put (kernel 2, hoistable)", "32:27: error: the calls before it are not hoistable"},
      {"on 2", "on -2", "41:8: error: -2 is not a case's number"},
      {"otherwise", "else", "44:5: error: expected 'on' or 'otherwise', found 'else'"},
      {"  return z", "  give z",
       "58:3: error: expected 'call', 'copy', 'fill', 'while', 'case' or 'return', found 'give'"},
      {"state \"layer 0/w\", i\n}", "state \"layer 0/w\", i\n}}",
       "59:2: error: expected the end of the text, found '}'"},
  };
  for (const BadText& bad : bad_texts) {
    const std::string message = error_of([&] { parse_function(bad.text()); });
    EXPECT_EQ(message, bad.message.empty() ? "" : "lowered:" + bad.message) << bad.text();
  }
}

// What packs the constant w is run by the compiler; what packs y is not.
TEST(FoldPreparations, PutsConstantsInThePlaceOfWhatPacksThem) {
  Function function = parse_function(R"(// kernel 0
kernel pack lanes 1 tasks 2 (w: f32[4], p: f32[6] out) {
  store p[3*task] = load w[task]
  store p[3*task + 1] = load w[task + 2]
}

// kernel 1
kernel product lanes 1 tasks 1 (x: f32[4], p: f32[6], y: f32[4] out) {
}

function predict {
  argument x: tensor<2x2xf32> input x
  constant w = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  constant v = dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>
  call pack (kernel 0, hoistable) reads w writes packed: tensor<6xf32> temporary
  then product (kernel 1) reads x, packed writes y: tensor<2x2xf32>
  call pack (kernel 0, hoistable) reads y writes packed.1: tensor<6xf32> temporary
  then product (kernel 1) reads v, packed.1 writes z: tensor<2x2xf32>
  return z output z
}
)");
  fold_preparations(function, [](const Node&) { return false; });
  const std::string text = print(function);
  EXPECT_EQ(text.substr(text.find("function")), R"(function predict {
  argument x: tensor<2x2xf32> input x
  constant v = dense<[[5.000000e+00, 6.000000e+00], [7.000000e+00, 8.000000e+00]]> : tensor<2x2xf32>
  constant packed = dense<[1.000000e+00, 3.000000e+00, 0.000000e+00, 2.000000e+00, 4.000000e+00, 0.000000e+00]> : tensor<6xf32>
  call product (kernel 1) reads x, packed writes y: tensor<2x2xf32>
  call pack (kernel 0, hoistable) reads y writes packed.1: tensor<6xf32> temporary
  then product (kernel 1) reads v, packed.1 writes z: tensor<2x2xf32>
  return z output z
}
)");
}

// A node that reads constants only becomes one, also where they are what a node before it gave, if that is worth it.
TEST(FoldPreparations, PutsConstantsInThePlaceOfNodes) {
  Function function = parse_function(R"(// kernel 0
kernel turn lanes 1 tasks 2 (w: f32[2], p: f32[2] out) {
  store p[-1*task + 1] = load w[task]
}

// kernel 1
kernel put lanes 1 tasks 1 (i: f32[2], z: f32[2] out aliases i) {
}

function predict {
  argument x: tensor<2xf32> input x
  constant w = dense<[1.0, 2.0]> : tensor<2xf32>
  call turn (kernel 0) reads w writes a: tensor<2xf32>
  call turn (kernel 0) reads a writes b: tensor<2xf32> temporary
  then turn (kernel 0) reads b writes c: tensor<2xf32>
  call turn (kernel 0) reads c writes d: tensor<2xf32>
  call put (kernel 1) reads c updates e: tensor<2xf32>
  call turn (kernel 0) reads x writes f: tensor<2xf32>
  return c output c, d output d, e output e, f output f
}
)");
  fold_preparations(function, [&](const Node& node) { return function.values[node.results[0]].name != "d"; });
  const std::string text = print(function);
  EXPECT_EQ(text.substr(text.find("function")), R"(function predict {
  argument x: tensor<2xf32> input x
  constant c = dense<[2.000000e+00, 1.000000e+00]> : tensor<2xf32>
  call turn (kernel 0) reads c writes d: tensor<2xf32>
  call put (kernel 1) reads c updates e: tensor<2xf32>
  call turn (kernel 0) reads x writes f: tensor<2xf32>
  return c output c, d output d, e output e, f output f
}
)");
}

TEST(VerifyLowered, CatchesWhatIsWrong) {
  const BadText bad_texts[] = {
      // where values are seen
      {"return z output z", "return one output z",
       "one is read where it is not made yet, or outside of its block or node"},
      {"reads w.3, y", "reads packed, y", "packed is read where it is not made yet, or outside of its block or node"},
      {"return i.2, w.4", "return i.1, w.4", "i.1 is read where it is not made yet, or outside of its block or node"},
      // what kernels take
      {"reads x, packed writes", "reads x writes", "product takes 3 arguments"},
      {"reads x, packed", "reads packed, x", "argument 0 of product has another size than the kernel's buffer"},
      {"reads w writes packed", "writes packed.1: tensor<64xf32> temporary, packed",
       "argument 0 of pack is written, but the kernel reads it"},
      {"reads w.3, y", "reads w, w.3", "argument 1 of put has another size than the kernel's buffer"},
      {"y: f32[64] out aliases x", "y: f32[64] out", "argument 2 of put updates nothing"},
      {"w: f32[64], p: f32[64] out", "w: f32[64], p: f32[64]",
       "argument 1 of pack is written, but the kernel reads it"},
      // loops and branches
      {"return i.2, w.4", "return w.4, i.2", "a loop carries values of other types than it starts with"},
      {"return i.2, w.4", "return i.2", "a loop carries values of other types than it starts with"},
      {"      return p\n", "      return i.1\n", "a loop's condition returns one tensor<i1>"},
      {"case \"a b\"", "case x", "a case tests one tensor<i1> or tensor<i32>"},
      {"return one", "return zero", "a branch returns values of other types than its case gives"},
      {"fill one = dense<1.000000e+00> : tensor<16xf32>", "fill one = dense<[1, 2]> : tensor<2xi64>",
       "a fill has one result, whose type is that of a literal of one element"},
  };
  for (const BadText& bad : bad_texts) {
    const std::string message = error_of([&] { parse_function(bad.text()); });
    EXPECT_EQ(message, bad.message.empty() ? "" : "bug: lowered train: " + bad.message) << bad.text();
  }
}

// What no text can say.
TEST(VerifyLowered, CatchesWhatIsMadeWrong) {
  const auto message = [](void (*change)(Function&)) {
    Function function = parse_function(kText);
    change(function);
    return error_of([&] { verify(function); });
  };
  EXPECT_EQ(message([](Function& f) { f.arguments.pop_back(); }),
            "bug: lowered train: an argument has no port, or a port no argument");
  EXPECT_EQ(message([](Function& f) { f.results.pop_back(); }),
            "bug: lowered train: a result has no port, or a port no result");
  EXPECT_EQ(message([](Function& f) { f.arguments[0].name = ""; }), "bug: lowered train: a state has no name");
  EXPECT_EQ(message([](Function& f) { f.body.nodes[0].results = {0}; }), "bug: lowered train: w is made twice");
  EXPECT_EQ(message([](Function& f) { f.body.nodes[0].results = {99}; }),
            "bug: lowered train: there is no value of this number");
  EXPECT_EQ(message([](Function& f) { f.body.results[0] = 99; }),
            "bug: lowered train: there is no value of this number");
  EXPECT_EQ(message([](Function& f) { f.body.nodes[2].cases.pop_back(); }),
            "bug: lowered train: a case has one more region than numbers");
  EXPECT_EQ(message([](Function& f) { f.constants[0].literal = f.constants[1].literal; }),
            "bug: lowered train: the constant zero has another type than its literal");
  const auto body_call = [](Function& f) -> Node& { return f.body.nodes[1].regions[1].nodes[0]; };
  Function function = parse_function(kText);
  body_call(function).hoistable_calls = 3;
  EXPECT_EQ(error_of([&] { verify(function); }), "bug: lowered train: more calls are hoistable than there are");
  body_call(function).hoistable_calls = 0;
  body_call(function).calls.pop_back();
  EXPECT_EQ(error_of([&] { verify(function); }), "bug: lowered train: y is written by no call");
}

TEST(LowerFunction, MakesTextsForEveryTarget) {
  std::vector<std::unique_ptr<Module>> modules;
  for (const auto& path : golden_files(std::filesystem::path(INGOT_SOURCE_DIR) / "tests/graphs", ".mlir")) {
    modules.push_back(parse_module(GoldenFile(path).input(), path.filename(), all_ops()));
  }
  for (uint64_t seed = 0; seed < 60; ++seed) modules.push_back(random_graph(seed));
  bool has_loops = false;
  for (const auto& module : modules) {
    PassContext context;
    run_passes(compile_passes(), *module, context);
    for (const loops::Target& target : loops::all_targets()) {
      const Function function = lower_function(*module->functions[0], target);
      const std::string text = print(function);
      ASSERT_EQ(print(parse_function(text)), text);
      has_loops |= text.find("  while ") != text.npos;
    }
  }
  EXPECT_TRUE(has_loops);
}

}  // namespace
}  // namespace ingot::lowered
