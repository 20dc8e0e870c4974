// Attention whose masks hide triangles: products that are not made because of them change no bit of any result.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "aot/graph/text/parse.h"
#include "aot/ops/ops.h"
#include "tests/support/compiled_program.h"
#include "tests/support/random_tensor.h"

namespace ingot {
namespace {

constexpr const char* kLeast = "0xFF800000";

struct MaskForm {
  const char* name;
  int64_t cached;     // keys before the first query
  const char* lines;  // make %mask, of {0} queries and {1} keys
};

constexpr MaskForm kMasks[] = {
    {"causal", 0, R"(
  %i = stablehlo.iota dim = 0 : tensor<{0}x{1}xi32>
  %j = stablehlo.iota dim = 1 : tensor<{0}x{1}xi32>
  %mask = stablehlo.compare GE, %i, %j : (tensor<{0}x{1}xi32>, tensor<{0}x{1}xi32>) -> tensor<{0}x{1}xi1>)"},
    {"behind_a_prompt", 21, R"(
  %i0 = stablehlo.iota dim = 0 : tensor<{0}x{1}xi32>
  %c = stablehlo.constant dense<21> : tensor<{0}x{1}xi32>
  %i = stablehlo.add %i0, %c : tensor<{0}x{1}xi32>
  %j = stablehlo.iota dim = 1 : tensor<{0}x{1}xi32>
  %mask = stablehlo.compare LE, %j, %i : (tensor<{0}x{1}xi32>, tensor<{0}x{1}xi32>) -> tensor<{0}x{1}xi1>)"},
    {"window", 0, R"(
  %i = stablehlo.iota dim = 0 : tensor<{0}x{1}xi64>
  %j = stablehlo.iota dim = 1 : tensor<{0}x{1}xi64>
  %c = stablehlo.constant dense<19> : tensor<{0}x{1}xi64>
  %past = stablehlo.subtract %i, %j : tensor<{0}x{1}xi64>
  %near = stablehlo.compare LT, %past, %c : (tensor<{0}x{1}xi64>, tensor<{0}x{1}xi64>) -> tensor<{0}x{1}xi1>
  %seen = stablehlo.compare GE, %i, %j : (tensor<{0}x{1}xi64>, tensor<{0}x{1}xi64>) -> tensor<{0}x{1}xi1>
  %mask = stablehlo.and %near, %seen : tensor<{0}x{1}xi1>)"},
    {"what_follows", 0, R"(
  %i = stablehlo.iota dim = 0 : tensor<{0}x{1}xf32>
  %j = stablehlo.iota dim = 1 : tensor<{0}x{1}xf32>
  %hidden = stablehlo.compare GT, %i, %j : (tensor<{0}x{1}xf32>, tensor<{0}x{1}xf32>) -> tensor<{0}x{1}xi1>
  %mask = stablehlo.not %hidden : tensor<{0}x{1}xi1>)"},
};

struct MaskedSizes {
  int64_t queries, width;
};

// softmax(q k^T masked by `hidden`) v, and its gradients as JAX writes them.
std::string program(const MaskForm& form, MaskedSizes sizes, const std::string& hidden, bool has_gradients = true) {
  const auto [queries, width] = sizes;
  const std::string few = fmt::format("tensor<3x{}x{}xf32>", queries, width);
  const std::string many = fmt::format("tensor<3x{}x{}xf32>", queries + form.cached, width);
  const std::string scores = fmt::format("tensor<3x{}x{}xf32>", queries, queries + form.cached);
  const std::string choice = fmt::format("tensor<3x{}x{}xi1>", queries, queries + form.cached);
  const std::string plane = fmt::format("tensor<{}x{}xi1>", queries, queries + form.cached);
  const std::string row = fmt::format("tensor<3x{}xf32>", queries);
  const auto dot = [](const char* name, const char* x, const char* y, const char* dims, const std::string& from,
                      const std::string& to, const std::string& made) {
    return fmt::format(
        "  %{} = stablehlo.dot_general %{}, %{}, batching_dims = [0] x [0], contracting_dims = {} : ({}, {}) -> {}\n",
        name, x, y, dims, from, to, made);
  };
  std::string text =
      fmt::format("func.func @main(%q: {0}, %k: {1}, %v: {1}, %g: {0}) -> ({0}, {0}, {1}, {1}) {{", few, many);
  text += fmt::format(fmt::runtime(form.lines), queries, queries + form.cached) + "\n";
  text += dot("scores", "q", "k", "[2] x [2]", few, many, scores);
  text += fmt::format(R"(  %masks = stablehlo.broadcast_in_dim %mask, dims = [1, 2] : ({0}) -> {1}
  %hidden_score = stablehlo.constant dense<{2}> : {3}
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.constant dense<0.0> : {3}
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %masked = stablehlo.select %masks, %scores, %hidden_score : {1}, {3}
  %top = stablehlo.reduce(%masked init: %least) applies stablehlo.maximum across dimensions = [2] : ({3}, tensor<f32>) -> {4}
  %tops = stablehlo.broadcast_in_dim %top, dims = [0, 1] : ({4}) -> {3}
  %below = stablehlo.subtract %masked, %tops : {3}
  %e = stablehlo.exponential %below : {3}
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : ({3}, tensor<f32>) -> {4}
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0, 1] : ({4}) -> {3}
  %p = stablehlo.divide %e, %sums : {3}
)",
                      plane, choice, hidden, scores, row);
  text += dot("out", "p", "v", "[2] x [1]", scores, many, few);
  if (!has_gradients) return text + fmt::format("  return %out, %g, %k, %v : {0}, {0}, {1}, {1}\n}}\n", few, many);
  text += dot("dv", "p", "g", "[1] x [1]", scores, few, many);
  text += dot("dp", "g", "v", "[2] x [2]", few, many, scores);
  text += fmt::format(R"(  %w = stablehlo.multiply %dp, %p : {0}
  %t = stablehlo.reduce(%w init: %zero) applies stablehlo.add across dimensions = [2] : ({0}, tensor<f32>) -> {1}
  %ts = stablehlo.broadcast_in_dim %t, dims = [0, 1] : ({1}) -> {0}
  %u = stablehlo.subtract %dp, %ts : {0}
  %pu = stablehlo.multiply %u, %p : {0}
  %ds = stablehlo.select %masks, %pu, %zeros : {2}, {0}
)",
                      scores, row, choice);
  text += dot("dq", "ds", "k", "[2] x [1]", scores, many, few);
  text += dot("dk", "ds", "q", "[1] x [1]", scores, few, many);
  return text + fmt::format("  return %out, %dq, %dk, %dv : {0}, {0}, {1}, {1}\n}}\n", few, many);
}

std::unique_ptr<Module> parsed(const std::string& text) {
  auto module = parse_module(text, "attention", all_ops());
  name_ports(*module->functions[0]);
  return module;
}

// Results of whatever is marked, of the same without that, and what the definition says.
void check(const std::string& text) {
  const auto module = parsed(text);
  const Function& main = *module->functions[0];
  NamedTensors inputs, state;
  const std::vector<RefTensor> arguments = random_arguments(main, /*seed=*/1);
  for (size_t i = 0; i < arguments.size(); ++i) inputs["arg" + std::to_string(i)] = arguments[i];
  CompileOptions all_products;
  all_products.pipeline.skip = {"mark_triangles"};
  const NamedTensors expected = CompiledProgram(*module, all_products).run("main", 1, state, inputs);
  const NamedTensors defined = ReferenceExecutor().run(*module, "main", state, inputs);
  CompiledProgram program(*module);
  for (const uint32_t threads : {1, 3}) {
    const NamedTensors made = program.run("main", threads, state, inputs);
    for (const auto& [name, tensor] : expected) EXPECT_EQ(made.at(name).f, tensor.f) << name << ", " << threads;
  }
  for (const auto& [name, tensor] : defined) {
    for (int64_t k = 0; k < tensor.elements(); ++k) ASSERT_NEAR(expected.at(name).f[k], tensor.f[k], 5e-5) << name;
  }
}

TEST(Triangles, AreTheSameBitsAsAllProducts) {
  for (const MaskForm& form : kMasks) {
    SCOPED_TRACE(form.name);
    check(program(form, {.queries = 70, .width = 8}, kLeast));
  }
  check(program(kMasks[0], {.queries = 1, .width = 20}, kLeast));
  check(program(kMasks[2], {.queries = 33, .width = 20}, kLeast));
}

// A task has some of the rows.
TEST(Triangles, AreThoseOfBlocksOfRows) {
  for (const int form : {1, 2})
    check(program(kMasks[form], {.queries = 96, .width = 20}, kLeast, /*has_gradients=*/false));
}

// Probabilities are not known to be 0, but scores are hidden.
TEST(Triangles, AreHiddenByNumbersToo) { check(program(kMasks[0], {.queries = 33, .width = 20}, "-1.0e9")); }

// A row whose scores are all hidden has no maximum: what softmax makes of it is no number, and stays none.
TEST(Triangles, RowsThatAreHiddenAsAWholeAreNoNumbers) {
  constexpr MaskForm kBehind = {"behind", 0, R"(
  %i = stablehlo.iota dim = 0 : tensor<{0}x{1}xi32>
  %j0 = stablehlo.iota dim = 1 : tensor<{0}x{1}xi32>
  %c = stablehlo.constant dense<30> : tensor<{0}x{1}xi32>
  %j = stablehlo.add %j0, %c : tensor<{0}x{1}xi32>
  %mask = stablehlo.compare GT, %i, %j : (tensor<{0}x{1}xi32>, tensor<{0}x{1}xi32>) -> tensor<{0}x{1}xi1>)"};
  const auto module = parsed(program(kBehind, {.queries = 70, .width = 8}, kLeast));
  NamedTensors inputs, state;
  const std::vector<RefTensor> arguments = random_arguments(*module->functions[0], /*seed=*/1);
  for (size_t i = 0; i < arguments.size(); ++i) inputs["arg" + std::to_string(i)] = arguments[i];
  const NamedTensors defined = ReferenceExecutor().run(*module, "main", state, inputs);
  for (const auto& [name, tensor] : CompiledProgram(*module).run("main", 1, state, inputs)) {
    for (int64_t k = 0; k < tensor.elements(); ++k)
      ASSERT_EQ(std::isnan(tensor.f[k]), std::isnan(defined.at(name).f[k])) << name << ", element " << k;
  }
}

}  // namespace
}  // namespace ingot
