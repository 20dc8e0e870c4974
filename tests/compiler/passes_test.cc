// Passes keep the meaning: random programs, and training steps traced by JAX.
#include "aot/pipeline/passes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "aot/analysis/flops.h"
#include "aot/analysis/traffic.h"
#include "aot/graph/evaluate.h"
#include "aot/graph/text/parse.h"
#include "aot/graph/text/print.h"
#include "aot/ops/support/build.h"
#include "tests/support/error_of.h"
#include "tests/support/file_text.h"
#include "tests/support/random_graph.h"
#include "tests/support/random_tensor.h"
#include "tests/support/tame_graph.h"
#include "tests/support/temporary_folder.h"

namespace ingot {
namespace {

// Exponentials of exponentials make large numbers, whose last places are not what is tested.
constexpr TameGraphOptions kTame = {.transcendentals = false};
constexpr int kSeeds = 300;

void run(std::initializer_list<const char*> names, Module& module) {
  PassContext context;
  std::vector<PassRow> rows;
  for (const char* name : names) rows.push_back(*find_pass(name));
  run_passes(rows, module, context);
}

void expect_same_meaning(std::initializer_list<const char*> names, uint64_t seed) {
  SCOPED_TRACE(fmt::format("seed {}", seed));
  const auto module = tame_graph(seed, kTame);
  const auto changed = copy_module(*module);
  run(names, *changed);
  const Function& before = *module->functions[0];
  const Function& after = *changed->functions[0];
  const std::vector<RefTensor> arguments = random_arguments(before, seed);
  expect_equal(evaluate(after, arguments), evaluate(before, arguments), {.ulp = 16, .absolute = 1e-5});
  const std::string once = print(*changed);
  run(names, *changed);
  EXPECT_EQ(print(*changed), once) << "not idempotent";
  if (testing::Test::HasFailure()) ADD_FAILURE() << print(*module) << "became\n" << once;
}

class Passes : public testing::TestWithParam<const char*> {};

TEST_P(Passes, KeepTheMeaningOfRandomPrograms) {
  for (uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed) expect_same_meaning({GetParam()}, seed);
}
INSTANTIATE_TEST_SUITE_P(Each, Passes,
                         testing::Values("fold_constants", "simplify", "cse", "dce", "canonicalize", "assign_layouts",
                                         "fuse"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Fuse, KeepsTheMeaningOfCanonicalPrograms) {
  for (uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed) expect_same_meaning({"canonicalize", "fuse"}, seed);
}

// Of random programs those that a pass changes, which only few do.
void expect_same_meaning_where_it_applies(bool (*pass)(Module&, PassContext&), double absolute) {
  constexpr int kChangedMin = 20, kGraphsMax = 20000;
  int changed_count = 0;
  for (int seed = 0; changed_count < kChangedMin && !testing::Test::HasFailure(); ++seed) {
    ASSERT_LT(seed, kGraphsMax) << "it applies to " << changed_count << " programs";
    const auto module = random_graph(seed);
    const auto changed = copy_module(*module);
    PassContext context;
    if (!pass(*changed, context)) continue;
    ++changed_count;
    SCOPED_TRACE(fmt::format("seed {}\n{}\nbecame\n{}", seed, print(*module), print(*changed)));
    const std::vector<RefTensor> arguments = random_arguments(*module->functions[0], 1);
    expect_equal(evaluate(*changed->functions[0], arguments), evaluate(*module->functions[0], arguments),
                 {.ulp = 16, .absolute = absolute});
    EXPECT_FALSE(pass(*changed, context)) << "not idempotent";
  }
}

TEST(JoinIterations, KeepsTheMeaningOfRandomPrograms) { expect_same_meaning_where_it_applies(join_iterations, 1e-4); }

TEST(SumIntegers, KeepsTheMeaningOfRandomPrograms) { expect_same_meaning_where_it_applies(sum_integers, 0); }

TEST(MultiplyBytes, KeepsTheMeaningOfRandomPrograms) { expect_same_meaning_where_it_applies(multiply_bytes, 0); }

// --- the table ---

std::unique_ptr<Module> two_negations() {
  return parse_module(R"(func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @minus(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = call @minus(%0) : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
  func.func private @minus(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.negate %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  })",
                      "two.mlir", all_ops());
}

std::string pipeline_error(std::span<const PassRow> rows, const PipelineOptions& options) {
  PassContext context;
  return error_of([&] { run_passes(rows, *two_negations(), context, options); });
}

TEST(Pipeline, StopsPrintsAndTimesAsAsked) {
  PassContext context;
  std::string printed;
  PipelineOptions options{.stop_after = "drop_tokens", .print_after = {"all"}, .time_passes = true};
  options.print = [&](const std::string& text) { printed += text; };
  run_passes(compile_passes(), *two_negations(), context, options);
  EXPECT_NE(printed.find("// after inline_calls\n"), std::string::npos) << printed;
  EXPECT_NE(printed.find("// after drop_tokens (unchanged)\n"), std::string::npos) << printed;
  EXPECT_EQ(printed.find("// after fuse"), std::string::npos) << printed;
  EXPECT_NE(printed.find("total"), std::string::npos) << printed;
}

TEST(Pipeline, PartsOfAPassAreSkippedPrintedStoppedAfterAndTimed) {
  const auto run = [](PipelineOptions options) {
    std::string printed;
    options.print = [&](const std::string& text) { printed += text; };
    PassContext context;
    const PassRow rows[] = {pass_named("inline_calls", "test"), pass_named("canonicalize", "test")};
    run_passes(rows, *two_negations(), context, options);
    return printed;
  };
  const std::string simplified = run({.print_after = {"simplify", "cse"}});
  EXPECT_EQ(simplified.find("// after simplify\n"), 0u) << simplified;
  EXPECT_NE(simplified.find("return %x"), std::string::npos) << simplified;
  EXPECT_EQ(simplified.find("(unchanged)"), std::string::npos) << simplified;
  EXPECT_EQ(run({.print_after = {"simplify"}, .skip = {"simplify"}}), "");
  EXPECT_EQ(run({.stop_after = "fold_constants", .print_after = {"simplify"}}), "");
  const std::string times = run({.time_passes = true});
  for (const char* line : {"canonicalize", "  simplify", "  dce", " runs", "total"}) {
    EXPECT_NE(times.find(line), std::string::npos) << times;
  }
}

TEST(Pipeline, DumpsOneFileForEachPass) {
  const TemporaryFolder folder;
  PassContext context;
  run_passes(compile_passes(), *two_negations(), context, {.dump_dir = folder.path()});
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  std::vector<std::string> expected;
  for (const PassRow& row : compile_passes()) {
    expected.push_back(fmt::format("{:02}.{}.mlir", expected.size() + 1, row.name));
  }
  EXPECT_EQ(names, expected);
}

TEST(Pipeline, UnknownPassIsTheUsersError) {
  EXPECT_EQ(pipeline_error(compile_passes(), {.stop_after = "fus"}).substr(0, 48),
            "error: --stop-after: there is no pass 'fus'; the");
}

TEST(Pipeline, BrokenPromiseNamesThePass) {
  const PassRow rows[] = {{"idle", [](Module&, PassContext&) { return false; },
                           [](const Module&) { return std::string("nothing was inlined"); }, ""}};
  EXPECT_EQ(pipeline_error(rows, {}), "bug: after pass idle: nothing was inlined");

  static const PassRow kParts[] = {{"rename",
                                    [](Module& module, PassContext&) {
                                      module.name = "renamed";
                                      return true;
                                    },
                                    [](const Module& module) { return "the module is " + module.name; }, ""}};
  const PassRow whole[] = {{"whole", nullptr, nullptr, "", [] { return std::span<const PassRow>(kParts); }}};
  EXPECT_EQ(pipeline_error(whole, {}), "bug: after pass rename: the module is renamed");
}

// A rewriting pass must not blame the program.
TEST(Pipeline, AUsersErrorOfARewritingPassIsABug) {
  constexpr auto refuses = [](Module&, PassContext&) -> bool { throw_error(nullptr, "it does not fit"); };
  const PassRow rewriting[] = {{"rewrite", refuses, nullptr, ""}};
  EXPECT_EQ(pipeline_error(rewriting, {}), "bug: pass rewrite: it does not fit");
  const PassRow refusing[] = {{"refine_shapes", refuses, nullptr, ""}};
  EXPECT_EQ(pipeline_error(refusing, {}), "error: it does not fit");
}

// After what changes the module, and after the last row whatever that says.
TEST(Pipeline, InvalidModulesNameThePass) {
  static constexpr auto breaks = [](Module& module, PassContext&) {
    module.functions[0]->body.ops.front()->result()->type.shape = {5};
    return true;
  };
  constexpr auto breaks_in_silence = [](Module& module, PassContext& context) {
    breaks(module, context);
    return false;
  };
  constexpr auto idles = [](Module&, PassContext&) { return false; };
  const PassRow loud[] = {{"break", breaks, nullptr, ""}, {"idle", idles, nullptr, ""}};
  EXPECT_TRUE(pipeline_error(loud, {}).starts_with("bug: after pass break: @main: func.call: "));
  const PassRow silent[] = {{"break", breaks_in_silence, nullptr, ""}, {"idle", idles, nullptr, ""}};
  EXPECT_TRUE(pipeline_error(silent, {}).starts_with("bug: after pass idle: @main: func.call: "));
}

TEST(Pipeline, RecursionIsTheUsersError) {
  const auto module = tame_graph(1);
  Function* main = module->functions[0].get();
  GraphBuilder b;
  b.before(*main->body.terminator());
  Values arguments;
  std::vector<TensorType> results;
  for (auto& argument : main->body.arguments) arguments.push_back(argument.get());
  for (auto& result : main->results) results.push_back(result.type);
  b.create(kCall, arguments, {{"callee", SymbolAttr{"main"}}}, results);
  PassContext context;
  EXPECT_THROW(inline_calls(*module, context), Error);
}

// --- training steps traced by JAX ---

struct JaxStep {
  const char* name;
  size_t kernels_max;  // fewer is better: lower it when fusion improves
  bool is_evaluated;   // small enough for the reference evaluator
};

void PrintTo(const JaxStep& step, std::ostream* out) { *out << step.name; }

class JaxSteps : public testing::TestWithParam<JaxStep> {};

TEST_P(JaxSteps, BecomeKernelsThatMeanTheSame) {
  const auto path = std::filesystem::path(INGOT_SHARED_DIR) / "goldens/jax" / GetParam().name / "step.mlir";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const auto module = parse_module(file_text(path), "step.mlir", all_ops());
  const auto original = copy_module(*module);
  PassContext context;
  run_passes(compile_passes(), *module, context);
  const Function& fused = *module->functions[0];
  const Traffic traffic = measure_traffic(fused);
  EXPECT_LE(traffic.kernels.size(), GetParam().kernels_max) << to_string(traffic, fused.name);
  fmt::print("{}: {} kernels, {} bytes pass between them\n", GetParam().name, traffic.kernels.size(),
             traffic.between_bytes);
  if (!GetParam().is_evaluated) return;
  const std::vector<RefTensor> arguments = random_arguments(fused, 1);
  expect_equal(evaluate(fused, arguments), evaluate(*original->find("main"), arguments), {.ulp = 64, .absolute = 1e-5});
}

INSTANTIATE_TEST_SUITE_P(All, JaxSteps,
                         testing::Values(JaxStep{"softmax_regression", 5, true}, JaxStep{"mlp_adamw", 20, true},
                                         JaxStep{"cnn_adamw", 40, false},
                                         JaxStep{"resnet8_batchnorm_nesterov", 121, false},
                                         JaxStep{"chargpt_adamw_clip", 250, false}),
                         [](const auto& info) { return std::string(info.param.name); });

// Multiply-adds of elements that exist count two, transcendental functions what their row says, integers nothing.
TEST(Flops, CountWhatIsComputed) {
  const auto flops = [](const std::string& arguments, const std::string& op, const std::string& result) {
    const auto module = parse_module(
        "func.func @main(" + arguments + ") -> " + result + " {\n  %0 = " + op + "\n  return %0 : " + result + "\n}",
        "flops", all_ops());
    return count_flops(module->functions[0]->body);
  };
  const auto convolve = [&](const std::string& x, const std::string& w, const std::string& window,
                            const std::string& y) {
    return flops("%x: " + x + ", %w: " + w,
                 "stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {" +
                     window + "} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (" + x + ", " + w +
                     ") -> " + y,
                 y);
  };
  EXPECT_EQ(flops("%x: tensor<3x5xf32>, %y: tensor<5x4xf32>",
                  "stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<3x5xf32>, tensor<5x4xf32>) -> "
                  "tensor<3x4xf32>",
                  "tensor<3x4xf32>"),
            2 * 3 * 4 * 5);
  // Of a 3x3 window on 3x3 elements, corners see 4, edges 6 and the middle all 9.
  EXPECT_EQ(convolve("tensor<2x1x3x3xf32>", "tensor<5x1x3x3xf32>", "pad = [[1, 1], [1, 1]]", "tensor<2x5x3x3xf32>"),
            2 * (4 * 4 + 4 * 6 + 9) * 2 * 5);
  // Two of three places of the dilated row are holes.
  EXPECT_EQ(convolve("tensor<1x1x1x2xf32>", "tensor<1x1x1x1xf32>", "lhs_dilate = [1, 3]", "tensor<1x1x1x4xf32>"),
            2 * 2);
  EXPECT_EQ(flops("%x: tensor<7xi32>", "stablehlo.add %x, %x : tensor<7xi32>", "tensor<7xi32>"), 0);
  EXPECT_EQ(flops("%x: tensor<7xf32>", "stablehlo.add %x, %x : tensor<7xf32>", "tensor<7xf32>"), 7);
}

// The last of three roundings to bf16 is left out, as its result is converted.
TEST(WidenResults, OneStepIsNotRounded) {
  const auto module = parse_module(
      "func.func @main(%x: tensor<64xbf16>, %y: tensor<64xbf16>) -> tensor<64xf32> {\n"
      "  %0 = stablehlo.add %x, %y : tensor<64xbf16>\n"
      "  %1 = stablehlo.multiply %0, %x : tensor<64xbf16>\n"
      "  %2 = stablehlo.subtract %1, %y : tensor<64xbf16>\n"
      "  %3 = stablehlo.convert %2 : (tensor<64xbf16>) -> tensor<64xf32>\n"
      "  return %3 : tensor<64xf32>\n}\n",
      "steps", all_ops());
  run({"widen_results", "canonicalize"}, *module);
  const std::vector<RefTensor> arguments = random_arguments(*module->functions[0], 1);
  const std::vector<double> actual = evaluate(*module->functions[0], arguments)[0].f;
  for (size_t k = 0; k < actual.size(); ++k) {
    const double x = arguments[0].f[k], y = arguments[1].f[k];
    const double product = round_to(DType::kBF16, round_to(DType::kBF16, x + y) * x);
    EXPECT_EQ(actual[k], round_to(DType::kF32, product - y));
  }
}

}  // namespace
}  // namespace ingot
