// Bundles as sources and objects, linked into programs by a C compiler: the same bits as the engine gives for the bundle.
#include <fmt/format.h>

#include "aot/graph/text/parse.h"
#include "aot/ops/ops.h"
#include "apps/ingot/c_sources/static_sources.h"
#include "apps/ingot/files/sources.h"
#include "tests/support/compiled_program.h"
#include "tests/support/error_of.h"
#include "tests/support/jax_reference.h"
#include "tests/support/static_program.h"
#include "tests/support/walked_program.h"

namespace ingot {
namespace {

// What the bundle's names call "state.w" and "batch.x".
std::string without_kind(const std::string& name) { return name.substr(name.find('.') + 1); }

CompileOptions options_for(const std::string& target, const std::string& initial_state) {
  CompileOptions options;
  options.name = "net";
  options.targets = {target};
  options.initial_state = initial_state;
  return options;
}

// A JAX training step with its first state, and what to run it on.
struct Training {
  Training(const char* name, int step_count) : reference(name), steps(step_count) {}

  std::unique_ptr<Module> module() const {
    std::vector<GivenShape> shapes;
    return load_program(reference.program_path(), shapes).module;
  }
  NamedTensors first_state(const bundle::BundleSpec& spec) const {
    NamedTensors state;
    for (const bundle::State& it : spec.states) state[it.tensor.name] = reference.start(without_kind(it.tensor.name));
    return state;
  }
  std::vector<NamedTensors> batches(const bundle::BundleSpec& spec) const {
    std::vector<NamedTensors> all(steps);
    for (int step = 0; step < steps; ++step) {
      for (const bundle::Tensor& input : spec.entries[0].inputs)
        all[step][input.name] = reference.batch(without_kind(input.name), step);
    }
    return all;
  }

  const JaxReference reference;
  const int steps;
};

// A CNN, two transformers, a loop, a recurrent network.
class StaticTraining : public testing::TestWithParam<const char*> {};

TEST_P(StaticTraining, GivesTheEnginesBits) {
  const CTools tools = c_tools("host");
  const Training training(GetParam(), 2);
  if (!training.reference.exists()) GTEST_SKIP() << "no goldens of " << GetParam();
  if (!tools.missing().empty()) GTEST_SKIP() << "missing Debian packages: " << tools.missing();
  CompiledProgram program(*training.module(), options_for("host", training.reference.data_path()));
  const bundle::BundleSpec& spec = program.spec();
  NamedTensors state = training.first_state(spec), static_state;
  const std::vector<NamedTensors> batches = training.batches(spec);
  const auto outputs = StaticProgram(spec, tools).run(spec.entries[0].name, batches, static_state);
  for (size_t step = 0; step < batches.size(); ++step) {
    expect_same_values(outputs[step], program.run(spec.entries[0].name, 1, state, batches[step]));
  }
  expect_same_values(static_state, state);
}

INSTANTIATE_TEST_SUITE_P(All, StaticTraining,
                         testing::Values("cnn_adamw", "chargpt_adamw_clip", "vit_adamw_schedule",
                                         "accumulate_fori_adamw", "lstm_scan_adam", "dlrm_sgd"),
                         [](const auto& info) { return std::string(info.param); });

// A program for another processor, and the JAX training step that it is made of.
struct Cross {
  const char *target, *program;
};

// The bits of its own processor, and what JAX computes.
class StaticCrossTraining : public testing::TestWithParam<Cross> {};

TEST_P(StaticCrossTraining, TrainsOnTheOtherProcessor) {
  const std::string target = GetParam().target;
  const CTools tools = c_tools(target);
  const Training training(GetParam().program, 3);
  if (!training.reference.exists()) GTEST_SKIP() << "no goldens of " << GetParam().program;
  if (!tools.missing().empty()) GTEST_SKIP() << "missing Debian packages: " << tools.missing();
  if (!can_run(loops::find_target(target))) GTEST_SKIP() << "no emulator";
  std::vector<std::unique_ptr<Module>> modules;
  modules.push_back(training.module());
  const bundle::BundleSpec spec = compile(std::move(modules), options_for(target, training.reference.data_path())).spec;
  NamedTensors state = training.first_state(spec), static_state;
  const std::vector<NamedTensors> batches = training.batches(spec);
  const auto outputs = StaticProgram(spec, tools).run(spec.entries[0].name, batches, static_state);
  WalkedProgram walked(spec, loops::find_target(target));
  for (size_t step = 0; step < batches.size(); ++step) {
    expect_same_values(outputs[step], walked.run(spec.entries[0].name, state, batches[step]));
    for (const std::string& name : training.reference.scalar_outputs())
      training.reference.expect_output(name, static_cast<int>(step), outputs[step].at(name).f[0]);
  }
  expect_same_values(static_state, state);
}

INSTANTIATE_TEST_SUITE_P(All, StaticCrossTraining,
                         testing::Values(Cross{"aarch64", "accumulate_fori_adamw"},
                                         Cross{"aarch64", "depthwise_groupnorm_lion"},
                                         Cross{"cortex-m7", "accumulate_fori_adamw"},
                                         Cross{"cortex-m7", "depthwise_groupnorm_lion"}),
                         [](const auto& info) {
                           std::string name = fmt::format("{}_{}", info.param.target, info.param.program);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

std::unique_ptr<Module> parsed(const char* text) { return parse_module(text, "net.mlir", all_ops()); }

class Static : public testing::Test {
 protected:
  void SetUp() override {
    if (!tools_.missing().empty()) GTEST_SKIP() << "missing Debian packages: " << tools_.missing();
  }

  const CTools tools_ = c_tools("host");
};

// init gives what compilation does not, and nothing else runs before.
TEST_F(Static, StepsWaitForTheFirstValues) {
  const auto module = parsed(R"(
func.func @init(%seed: tensor<f32> {ingot.name = "seed"}) -> (tensor<f32> {ingot.state = "w"}) {
  return %seed : tensor<f32>
}
func.func @step(%w: tensor<f32> {ingot.state = "w"})
    -> (tensor<f32> {ingot.state = "w"}, tensor<f32> {ingot.name = "before"}) {
  %n = stablehlo.add %w, %w : tensor<f32>
  return %n, %w : tensor<f32>, tensor<f32>
}
)");
  CompiledProgram compiled(*module, options_for("host", ""));
  const StaticProgram program(compiled.spec(), tools_);
  EXPECT_EQ(
      program.run("  if (net_step() != 1) return 1;\n  net_start();\n  if (net_step() != 1) return 2;\n"
                  "  net_init_seed[0] = 3;\n  if (net_init() != 0 || net_step() != 0 || net_step() != 0) return 3;\n"
                  "  printf(\"%g %g\", net_step_before[0], net_state.w[0]);\n"
                  "  net_start();\n  if (net_step() != 1) return 4;\n"),
      "6 12");
}

TEST_F(Static, StateWithoutFirstValuesIsRefused) {
  const auto module = parsed(R"(
func.func @step(%w: tensor<f32> {ingot.state = "w"}) -> (tensor<f32> {ingot.state = "w"}) {
  %n = stablehlo.add %w, %w : tensor<f32>
  return %n : tensor<f32>
}
)");
  CompiledProgram compiled(*module, options_for("host", ""));
  const std::string error = error_of([&] { static_sources(compiled.spec(), "net"); });
  EXPECT_NE(error.find("state 'w' has no first value, and there is no entry point 'init'"), std::string::npos) << error;
}

// A loop whose length and a branch whose index are inputs, one of them with a default.
TEST_F(Static, LoopsAndBranchesGoTheSameWay) {
  const auto module = parsed(R"(
func.func @main(%x: tensor<3xf32> {ingot.name = "x"}, %n: tensor<i32> {ingot.name = "n"},
                %which: tensor<i32> {ingot.name = "which", ingot.default = dense<1> : tensor<i32>})
    -> (tensor<3xf32> {ingot.name = "sum"}, tensor<i32> {ingot.name = "count"}) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<3xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %t = "stablehlo.case"(%which) ({
      %a = stablehlo.add %s, %s : tensor<3xf32>
      stablehlo.return %a : tensor<3xf32>
    }, {
      %b = stablehlo.add %s, %x : tensor<3xf32>
      stablehlo.return %b : tensor<3xf32>
    }, {
      stablehlo.return %x : tensor<3xf32>
    }) : (tensor<i32>) -> tensor<3xf32>
    stablehlo.return %next, %t : tensor<i32>, tensor<3xf32>
  }
  return %r#1, %r#0 : tensor<3xf32>, tensor<i32>
}
)");
  CompiledProgram compiled(*module, options_for("host", ""));
  const StaticProgram program(compiled.spec(), tools_);
  NamedTensors state;
  std::vector<NamedTensors> inputs;
  for (int which = 0; which < 3; ++which) {
    for (const double n : {0.0, 1.0, 5.0}) {
      inputs.push_back({{"x", tensor_of_values({DType::kF32, {3}}, {1, 2, -3})},
                        {"n", tensor_of_values({DType::kI32, {}}, {n})},
                        {"which", tensor_of_values({DType::kI32, {}}, {static_cast<double>(which)})}});
    }
  }
  const auto outputs = program.run("main", inputs, state);
  for (size_t k = 0; k < inputs.size(); ++k) expect_same_values(outputs[k], compiled.run("main", 1, state, inputs[k]));
  EXPECT_EQ(program.run("  net_main_x[1] = 7;\n  net_main_n[0] = 2;\n  if (net_main() != 0) return 1;\n"
                        "  printf(\"%g\", net_main_sum[1]);\n"),
            "21")
      << "which is 1 until the program says otherwise";
}

// Two sources of these names in one program are apart, and the header is C++ too.
TEST_F(Static, NamesAreApartWhateverTensorsAreCalled) {
  const auto module = parsed(R"(
func.func @state(%a: tensor<2xf32> {ingot.state = "a b"}, %b: tensor<2xf32> {ingot.state = "a_b"},
                 %c: tensor<2xf32> {ingot.name = "*/ int"}, %d: tensor<2xf32> {ingot.name = "__int"})
    -> (tensor<2xf32> {ingot.state = "a b"}, tensor<2xf32> {ingot.state = "a_b"}, tensor<2xf32> {ingot.name = "x"}) {
  %n = stablehlo.add %a, %c : tensor<2xf32>
  %m = stablehlo.multiply %b, %d : tensor<2xf32>
  return %n, %m, %n : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
)");
  CompiledProgram compiled(*module, options_for("host", "zeros"));
  const StaticProgram program(compiled.spec(), tools_);
  EXPECT_EQ(program.run("  net_start();\n  net_state.a_b_2[1] = 5;\n  net_state_2____int[1] = 3;\n"
                        "  net_state_2___int[1] = 2;\n  if (net_state_2() != 0) return 1;\n"
                        "  printf(\"%g %g %g\", net_state.a_b[1], net_state.a_b_2[1], net_state_2_x[1]);\n"),
            "3 10 3");
}

}  // namespace
}  // namespace ingot
