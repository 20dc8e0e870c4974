// Programs with loops and branches, compiled and run by the engine, against the evaluator.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "aot/graph/text/parse.h"
#include "aot/ops/support/build.h"
#include "tests/support/compiled_program.h"
#include "tests/support/random_tensor.h"

namespace ingot {
namespace {

constexpr const char* kVector = "vector";  // stands for tensor<Nxf32> until a program knows its N

// Writes a random program: nested loops of a few iterations, branches, and sums, differences, maxima of what is at hand.
// Regions return whatever they see: arguments, values from outside, constants, one value twice.
class Author {
 public:
  explicit Author(uint64_t seed)
      : random_(seed), vector_(fmt::format("tensor<{}xf32>", random_.chance(0.2) ? 50000 : 5)) {}

  std::string program() {
    Scope scope;
    scope.add(kVector, "%x");
    scope.add(kVector, "%s");
    scope.add("tensor<f32>", "%f");
    scope.add("tensor<i32>", "%n");
    scope.add("tensor<i1>", "%p");
    std::string text = fmt::format(
        "func.func @main(%x: {0} {{ingot.name = \"x\"}}, %s: {0} {{ingot.state = \"s\"}}, %f: tensor<f32> "
        "{{ingot.name = \"f\"}}, %n: tensor<i32> {{ingot.name = \"n\"}}, %p: tensor<i1> {{ingot.name = \"p\"}}) -> "
        "({0}, {0} {{ingot.state = \"s\"}}, tensor<f32>, tensor<i32>) {{\n",
        vector_);
    text += statements(scope, 0, 3 + random_.below(5));
    const std::vector<std::string> types = {kVector, kVector, "tensor<f32>", "tensor<i32>"};
    text += "return " + values(scope, types) + " : " + written(types) + "\n}\n";
    return text;
  }

 private:
  struct Scope {
    std::map<std::string, std::vector<std::string>> values;  // by type
    void add(const std::string& type, const std::string& value) { values[type].push_back(value); }
  };

  std::string fresh() { return fmt::format("%v{}", count_++); }
  const std::string& pick(const Scope& scope, const std::string& type) { return random_.one_of(scope.values.at(type)); }
  std::string written(const std::string& type) const { return type == kVector ? vector_ : type; }

  std::string written(const std::vector<std::string>& types) const {
    std::string text;
    for (const std::string& type : types) text += (text.empty() ? "" : ", ") + written(type);
    return text;
  }

  std::string values(const Scope& scope, const std::vector<std::string>& types) {
    std::string text;
    for (const std::string& type : types) text += (text.empty() ? "" : ", ") + pick(scope, type);
    return text;
  }

  std::string returns(const Scope& scope, const std::vector<std::string>& types) {
    return "stablehlo.return " + values(scope, types) + " : " + written(types) + "\n";
  }

  // The results of an op of these types, known from here on; its text begins with them.
  std::string define(Scope& scope, const std::vector<std::string>& types) {
    const std::string name = fresh();
    for (size_t i = 0; i < types.size(); ++i) {
      scope.add(types[i], types.size() == 1 ? name : fmt::format("{}#{}", name, i));
    }
    return types.size() == 1 ? name : fmt::format("{}:{}", name, types.size());
  }

  std::vector<std::string> some_types() {
    std::vector<std::string> types;
    for (int64_t i = 1 + random_.below(4); i > 0; --i) {
      types.push_back(random_.one_of(std::vector<std::string>{kVector, "tensor<f32>", "tensor<i32>"}));
    }
    return types;
  }

  std::string statements(Scope& scope, int depth, int64_t count) {
    std::string text;
    for (int64_t i = 0; i < count; ++i) {
      const double kind = random_.uniform();
      if (kind < 0.15) {
        text += update(scope);
      } else if (depth == 3 || kind < 0.5) {
        text += arithmetic(scope);
      } else if (kind < 0.65) {
        text += branches(scope, depth, "stablehlo.if", "tensor<i1>", 2);
      } else if (kind < 0.8) {
        text += branches(scope, depth, "stablehlo.case", "tensor<i32>", 1 + random_.below(3));
      } else {
        text += loop(scope, depth);
      }
    }
    return text;
  }

  std::string arithmetic(Scope& scope) {
    const std::string type = random_.one_of(std::vector<std::string>{kVector, kVector, "tensor<f32>", "tensor<i32>"});
    if (random_.chance(0.15)) {
      const bool is_table = type == kVector && vector_ == "tensor<5xf32>";
      const char* number = is_table ? "[0.5, 1.0, -2.0, 3.0, 4.0]" : type == "tensor<i32>" ? "3" : "1.5";
      return fmt::format("{} = stablehlo.constant dense<{}> : {}\n", define(scope, {type}), number, written(type));
    }
    const std::string x = pick(scope, type), y = pick(scope, type);
    if (random_.chance(0.15)) {
      if (type == kVector) return "";
      return fmt::format("{0} = stablehlo.compare LT, {1}, {2} : ({3}, {3}) -> tensor<i1>\n",
                         define(scope, {"tensor<i1>"}), x, y, type);
    }
    const char* op = random_.one_of(std::vector<const char*>{"add", "subtract", "maximum", "minimum"});
    return fmt::format("{} = stablehlo.{} {}, {} : {}\n", define(scope, {type}), op, x, y, written(type));
  }

  // Two elements of a vector overwritten, by others or by what is made of them.
  std::string update(Scope& scope) {
    const std::string window = fresh(), x = pick(scope, kVector), y = pick(scope, kVector);
    const std::string start = pick(scope, "tensor<i32>");
    std::string text = fmt::format("{} = stablehlo.slice {} [1:3] : ({}) -> tensor<2xf32>\n", window, y, vector_);
    std::string made = window;
    if (random_.chance(0.5)) {
      const std::string old = fresh();
      made = fresh();
      text += fmt::format("{} = stablehlo.dynamic_slice {}, {}, sizes = [2] : ({}, tensor<i32>) -> tensor<2xf32>\n",
                          old, x, random_.chance(0.8) ? start : pick(scope, "tensor<i32>"), vector_);
      text += fmt::format("{} = stablehlo.subtract {}, {} : tensor<2xf32>\n", made, window, old);
    }
    return text + fmt::format(
                      "{0} = stablehlo.dynamic_update_slice {1}, {2}, {3} : ({4}, tensor<2xf32>, tensor<i32>) -> {4}\n",
                      define(scope, {kVector}), x, made, start, vector_);
  }

  std::string branches(Scope& scope, int depth, const char* op, const char* index_type, int64_t count) {
    const std::string index = pick(scope, index_type);
    const std::vector<std::string> types = some_types();
    std::string regions;
    for (int64_t k = 0; k < count; ++k) {
      Scope inside = scope;
      regions += k ? "}, {\n" : "{\n";
      regions += statements(inside, depth + 1, random_.below(4));
      regions += returns(inside, types);
    }
    return fmt::format("{} = \"{}\"({}) ({}}}) : ({}) -> ({})\n", define(scope, types), op, index, regions, index_type,
                       written(types));
  }

  // Counts to a small number; more conditions end it earlier.
  std::string loop(Scope& scope, int depth) {
    std::vector<std::string> types = some_types();
    std::string carried, text;
    Scope inside = scope;
    for (const std::string& type : types) {
      const std::string argument = fresh();
      carried += fmt::format("{} = {}, ", argument, pick(scope, type));
      inside.add(type, argument);
    }
    const std::string zero = fresh(), one = fresh(), limit = fresh(), counter = fresh(), next = fresh(),
                      go_on = fresh();
    // Half of the loops go round as often as the data says.
    const std::string most = random_.chance(0.5) ? limit : fresh();
    for (const auto& [name, number] : {std::pair{zero, int64_t{0}}, {one, 1}, {most, random_.below(4)}}) {
      text += fmt::format("{} = stablehlo.constant dense<{}> : tensor<i32>\n", name, number);
    }
    if (most != limit) text += fmt::format("{} = stablehlo.minimum %n, {} : tensor<i32>\n", limit, most);
    types.push_back("tensor<i32>");
    const std::string condition = fmt::format(
        "{} = stablehlo.compare LT, {}, {} : (tensor<i32>, tensor<i32>) -> tensor<i1>\n", go_on, counter, limit);
    Scope in_condition = inside;
    std::string tests = statements(in_condition, 3, random_.below(3)) + condition;
    std::string body = statements(inside, depth + 1, random_.below(5));
    body += fmt::format("{} = stablehlo.add {}, {} : tensor<i32>\n", next, counter, one);
    const std::vector<std::string> others(types.begin(), types.end() - 1);
    body += fmt::format("stablehlo.return {}, {} : {}\n", values(inside, others), next, written(types));
    text += fmt::format(
        "{} = stablehlo.while({}{} = {}) : {}\ncond {{\n{}stablehlo.return {} : tensor<i1>\n}} do {{\n{}}}\n",
        define(scope, types), carried, counter, zero, written(types), tests, go_on, body);
    return text;
  }

  Random random_;
  std::string vector_;
  int count_ = 0;
};

// Two runs, so that the state of the first is read by the second.
void expect_same(const std::string& text, uint64_t seed) {
  SCOPED_TRACE(text);
  const auto module = parse_module(text, "program.mlir", all_ops());
  Function& main = *module->functions[0];
  name_ports(main);
  const TensorType vector = main.body.argument(0)->type;
  Random random(seed);
  ReferenceExecutor reference;
  CompiledExecutor alone(1), three(3);
  const std::array<Executor*, 3> executors = {&reference, &alone, &three};
  std::array<NamedTensors, 3> states;
  const RefTensor start = random_tensor(vector, random);
  for (NamedTensors& state : states) state["s"] = start;
  for (int run = 0; run < 2; ++run) {
    NamedTensors inputs = {{"x", random_tensor(vector, random)},
                           {"f", random_tensor({DType::kF32, {}}, random)},
                           {"n", random_tensor({DType::kI32, {}}, random)},
                           {"p", random_tensor({DType::kI1, {}}, random)}};
    inputs["n"].i[0] = random.below(5) - 1;
    std::array<NamedTensors, 3> outputs;
    for (size_t k = 0; k < executors.size(); ++k) outputs[k] = executors[k]->run(*module, "main", states[k], inputs);
    for (size_t k = 1; k < executors.size(); ++k) {
      for (const auto& [name, expected] : outputs[0]) expect_equal({outputs[k].at(name)}, {expected});
      expect_equal({states[k].at("s")}, {states[0].at("s")});
    }
  }
}

// x and y of `count` elements trade places and grow, by amounts that follow from the round and from a number.
std::string element_loop(int64_t count, const std::string& dtype, int64_t iterations) {
  return fmt::format(
      R"(func.func @main(%x: tensor<{0}x{1}>, %y: tensor<{0}x{1}>, %f: tensor<{1}>) -> (tensor<{0}x{1}>, tensor<{0}x{1}>) {{
  %start = stablehlo.constant dense<2> : tensor<i32>
  %limit = stablehlo.constant dense<{2}> : tensor<i32>
  %step = stablehlo.constant dense<3> : tensor<i32>
  %0:3 = stablehlo.while(%i = %start, %a = %x, %b = %y) : tensor<i32>, tensor<{0}x{1}>, tensor<{0}x{1}>
  cond {{
    %1 = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }} do {{
    %2 = stablehlo.convert %i : (tensor<i32>) -> tensor<{1}>
    %3 = stablehlo.add %2, %f : tensor<{1}>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<{1}>) -> tensor<{0}x{1}>
    %5 = stablehlo.add %a, %4 : tensor<{0}x{1}>
    %6 = stablehlo.subtract %5, %y : tensor<{0}x{1}>
    %7 = stablehlo.add %i, %step : tensor<i32>
    stablehlo.return %7, %b, %6 : tensor<i32>, tensor<{0}x{1}>, tensor<{0}x{1}>
  }}
  return %0#1, %0#2 : tensor<{0}x{1}>, tensor<{0}x{1}>
}}
)",
      count, dtype, 2 + 3 * iterations);
}

TEST(ControlFlow, LoopsOfElementsRunInTheirKernel) {
  Random random(3);
  ReferenceExecutor reference;
  CompiledExecutor three(3);
  std::vector<std::unique_ptr<Module>> modules;  // the executor keeps what it has compiled for each
  for (const std::string dtype : {"f32", "f64", "bf16", "i32", "ui8"}) {
    for (const int64_t count : {0, 1, 5, 64, 83, 20000}) {
      SCOPED_TRACE(dtype + " " + std::to_string(count));
      modules.push_back(parse_module(element_loop(count, dtype, 40), "loop.mlir", all_ops()));
      Function& main = *modules.back()->functions[0];
      name_ports(main);
      NamedTensors inputs, no_state;
      for (int i = 0; i < main.argument_count(); ++i) {
        inputs[fmt::format("arg{}", i)] = random_tensor(main.body.argument(i)->type, random);
      }
      const NamedTensors expected = reference.run(*modules.back(), "main", no_state, inputs);
      const NamedTensors actual = three.run(*modules.back(), "main", no_state, inputs);
      for (const auto& [name, tensor] : expected) {
        expect_equal({actual.at(name)}, {tensor}, {.ulp = 40});
      }
    }
  }
}

TEST(ControlFlow, RandomProgramsGiveWhatTheirDefinitionSays) {
  for (uint64_t seed = 0; seed < 100 && !testing::Test::HasFailure(); ++seed) {
    const std::string text = Author(seed).program();
    ASSERT_NO_THROW(expect_same(text, seed)) << text;
  }
}

TEST(ControlFlow, SamplesGiveWhatTheirDefinitionSays) {
  for (const OpDef* def : all_ops().all()) {
    if (def->root != KernelRoot::kControlFlow) continue;
    for (const Sample& sample : def->samples()) {
      SCOPED_TRACE(sample.text);
      const auto module = parse_module(sample.text, "sample.mlir", all_ops());
      Function& main = *module->functions[0];
      name_ports(main);
      for (uint64_t seed = 0; seed < 8; ++seed) {
        Random random(seed);
        NamedTensors inputs, no_state;
        for (int i = 0; i < main.argument_count(); ++i) {
          inputs[fmt::format("arg{}", i)] = random_tensor(main.body.argument(i)->type, random);
        }
        ReferenceExecutor reference;
        CompiledExecutor compiled;
        const NamedTensors expected = reference.run(*module, "main", no_state, inputs);
        const NamedTensors actual = compiled.run(*module, "main", no_state, inputs);
        for (const auto& [name, tensor] : expected) expect_equal({actual.at(name)}, {tensor});
      }
    }
  }
}

}  // namespace
}  // namespace ingot
