// Strict programs: every target gives the same bits, NaNs among them. Loops are interpreted for all, and code is run for
// those that this processor is, or an emulator.
//   INGOT_STRICT_GRAPHS, INGOT_STRICT_PROBLEMS   how many random graphs, and random contractions
//   INGOT_STRICT_SAMPLES_EACH                    of so many samples of ops one is compiled
//   INGOT_STRICT_STEPS                           of training; with 20, programs that are not strict train beside, and the
//                                                tables of docs/devices.md are compared
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <ingot/ingot.h>

#include <bit>

#include "aot/graph/text/parse.h"
#include "aot/graph/text/print.h"
#include "aot/loops/expand_math.h"
#include "aot/ops/support/build.h"
#include "tests/support/contraction_problem.h"
#include "tests/support/documented_table.h"
#include "tests/support/environment.h"
#include "tests/support/in_memory.h"
#include "tests/support/joined_graphs.h"
#include "tests/support/op_executor.h"
#include "tests/support/random_graph.h"
#include "tests/support/random_tensor.h"
#include "tests/support/walked_program.h"

namespace ingot {
namespace {

using BitTensors = std::vector<RefTensor>;

CompileOptions options_for_all(bool is_strict) {
  CompileOptions options;
  options.targets = every_target();
  options.is_strict = is_strict;
  return options;
}

// Where results differ, in whatever bit; "" if they do not.
std::string bit_difference(const BitTensors& a, const BitTensors& b) {
  if (a.size() != b.size()) return fmt::format("{} and {} results", a.size(), b.size());
  for (size_t r = 0; r < a.size(); ++r) {
    for (size_t e = 0; e < a[r].f.size(); ++e) {
      const auto x = std::bit_cast<uint64_t>(a[r].f[e]), y = std::bit_cast<uint64_t>(b[r].f[e]);
      if (x != y) return fmt::format("result {} element {}: {:a} {:x} and {:a} {:x}", r, e, a[r].f[e], x, b[r].f[e], y);
    }
    for (size_t e = 0; e < a[r].i.size(); ++e) {
      if (a[r].i[e] != b[r].i[e]) return fmt::format("result {} element {}: {} and {}", r, e, a[r].i[e], b[r].i[e]);
    }
  }
  return "";
}

// What was there first; all that comes later must be the same.
class SameBits {
 public:
  void add(const std::string& what, const BitTensors& results) {
    if (first_.empty()) {
      first_ = what;
      results_ = results;
      return;
    }
    const std::string other = bit_difference(results_, results);
    if (!other.empty()) ADD_FAILURE() << first_ << " and " << what << ": " << other;
  }

 private:
  std::string first_;
  BitTensors results_;
};

// A compiled module's entry points, run for each target whose code can be.
class EveryCode {
 public:
  explicit EveryCode(const Module& module, bool is_strict = true) {
    std::vector<std::unique_ptr<Module>> modules;
    modules.push_back(copy_module(module));
    spec_ = compile(std::move(modules), options_for_all(is_strict)).spec;
    for (const loops::Target& target : loops::all_targets()) {
      if (can_run(target)) programs_.emplace_back(target.name, WalkedProgram(spec_, target));
    }
  }

  const bundle::BundleSpec& spec() const { return spec_; }
  std::vector<std::pair<std::string, WalkedProgram>>& programs() { return programs_; }

 private:
  bundle::BundleSpec spec_;
  std::vector<std::pair<std::string, WalkedProgram>> programs_;
};

void expect_same_bits(const std::vector<const Module*>& graphs) {
  const std::unique_ptr<Module> program = joined(graphs);
  EveryCode code(*program);
  for (size_t k = 0; k < graphs.size(); ++k) {
    const Function& function = *graphs[k]->functions[0];
    BitTensors arguments;
    for (const RefTensor& example : examples(function)) arguments.push_back(in_memory(example));
    SameBits same;
    for (const loops::Target& target : loops::all_targets()) {
      const loops::Target& row = loops::strict_row(target);
      same.add(fmt::format("interpreted for {}", target.name), interpreted_results(*graphs[k], row, row, arguments));
    }
    const Function& entry = *program->functions[k];
    for (auto& [target, walked] : code.programs()) {
      if (!walked.is_faithful(entry.name)) continue;
      same.add("compiled for " + target,
               results_by_name(entry, arguments, [&](NamedTensors& state, const NamedTensors& inputs) {
                 return walked.run(entry.name, state, inputs);
               }));
    }
    if (testing::Test::HasFailure()) {
      fmt::print("{}\n", print(*graphs[k]));
      return;
    }
  }
}

TEST(Strict, RandomGraphs) {
  constexpr int64_t kBatch = 20, kLargeEach = 10;
  const int64_t count = number_from_environment("INGOT_STRICT_GRAPHS", 20);
  for (int64_t seed = 0; seed < count && !HasFailure(); seed += kBatch) {
    std::vector<std::unique_ptr<Module>> graphs;
    std::vector<const Module*> tried;
    for (int64_t s = seed; s < std::min(seed + kBatch, count); ++s) {
      graphs.push_back(s % kLargeEach == 0 ? random_graph(s, kLargeTensors) : random_graph(s));
      tried.push_back(graphs.back().get());
    }
    SCOPED_TRACE(fmt::format("seeds from {}", seed));
    expect_same_bits(tried);
  }
}

BitTensors interpreted_problem(const RandomProblem& problem, const loops::Target& target, const BitTensors& arguments) {
  Lowering lowering = lower(*problem.function.kernel, target);
  for (LoweredKernel& step : lowering.steps) loops::expand_math(step.kernel);
  LoweringRun run(*problem.function.kernel, lowering);
  run.set_operands(arguments);
  run.interpret(false);
  return run.results();
}

// Products and convolutions where the template changes its mind, each from the same operands. That many of them differ
// where targets have orders of their own shows that they can.
TEST(Strict, Contractions) {
  constexpr int64_t kMultiplyAdds = 600000;
  int64_t differing = 0;
  const int64_t count = number_from_environment("INGOT_STRICT_PROBLEMS", 40);
  for (int64_t seed = 0; seed < count && !HasFailure(); ++seed) {
    const RandomProblem problem = random_problem(static_cast<unsigned>(seed), kMultiplyAdds);
    const BitTensors arguments = random_arguments(*problem.function.function, static_cast<uint64_t>(seed));
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, print(*problem.function.module)));
    SameBits same;
    for (const loops::Target& target : loops::all_targets()) {
      same.add(std::string(target.name), interpreted_problem(problem, loops::strict_row(target), arguments));
    }
    const BitTensors narrow = interpreted_problem(problem, loops::find_target("riscv64"), arguments);
    const BitTensors wide = interpreted_problem(problem, loops::find_target("x86-64-v4"), arguments);
    differing += !bit_difference(narrow, wide).empty();
  }
  EXPECT_GT(differing, count / 20);
}

TEST(Strict, SamplesOfOps) {
  const int64_t each = number_from_environment("INGOT_STRICT_SAMPLES_EACH", 20);
  std::vector<OpCase> cases;  // those that are compiled are the first
  for (const OpDef* def : all_ops().all()) {
    if (!def->samples) continue;
    for (const Sample& sample : def->samples()) cases.push_back(make_case(*def, sample));
  }
  int64_t position = 0;
  const auto others = std::ranges::stable_partition(cases, [&](const OpCase&) { return position++ % each == 0; });
  const size_t compiled_count = cases.size() - others.size();
  std::vector<SameBits> same(cases.size());
  const auto run = [&](OpExecutor&& executor, size_t count) {
    const std::vector<BitTensors> results = executor.run(std::span(cases).first(count));
    for (size_t k = 0; k < count; ++k) {
      SCOPED_TRACE(cases[k].sample.text);
      if (!executor.leaves_out(cases[k])) same[k].add(executor.name(), results[k]);
    }
  };
  for (const loops::Target& target : loops::all_targets()) {
    run(InterpretedOps(loops::strict_row(target), false), cases.size());
    if (can_run(target)) run(CompiledOps(loops::strict_row(target)), compiled_count);
  }
}

// What processors make NaNs of, and what they make of NaNs with a sign and a payload.
TEST(Strict, ComputedNansHaveOnePattern) {
  constexpr const char* kText = R"(
func.func @main(%x: tensor<9xf32>, %h: tensor<9xf16>, %b: tensor<9xbf16>) -> (tensor<9xf32>, tensor<9xi32>, tensor<9xf16>, tensor<9xbf16>, tensor<9xf32>, tensor<i32>, tensor<9xi32>) {
  %none = stablehlo.constant dense<0.0> : tensor<9xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %difference = stablehlo.subtract %x, %x : tensor<9xf32>
  %quotient = stablehlo.divide %difference, %none : tensor<9xf32>
  %root = stablehlo.sqrt %x : tensor<9xf32>
  %most = stablehlo.maximum %quotient, %root : tensor<9xf32>
  %turned = stablehlo.negate %most : tensor<9xf32>
  %bits = stablehlo.bitcast_convert %root : (tensor<9xf32>) -> tensor<9xi32>
  %half = stablehlo.add %h, %h : tensor<9xf16>
  %brain = stablehlo.multiply %b, %b : tensor<9xbf16>
  %power = stablehlo.tanh %x : tensor<9xf32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<9xf32>, tensor<f32>) -> tensor<f32>
  %sum.bits = stablehlo.bitcast_convert %sum : (tensor<f32>) -> tensor<i32>
  %moved = stablehlo.reverse %x, dims = [0] : tensor<9xf32>
  %moved.bits = stablehlo.bitcast_convert %moved : (tensor<9xf32>) -> tensor<9xi32>
  return %turned, %bits, %half, %brain, %power, %sum.bits, %moved.bits : tensor<9xf32>, tensor<9xi32>, tensor<9xf16>, tensor<9xbf16>, tensor<9xf32>, tensor<i32>, tensor<9xi32>
})";
  const std::unique_ptr<Module> module = parse_module(kText, "nans", all_ops());
  name_ports(*module->functions[0]);
  EveryCode code(*module);
  const double nan = std::bit_cast<double>(0x7FF8000000000000), other = std::bit_cast<double>(0xFFFA468000000000);
  BitTensors arguments;
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    arguments.emplace_back(TensorType{dtype, {9}});
    arguments.back().f = {1, -1, 0, INFINITY, -INFINITY, nan, -nan, other, -other};
  }
  SameBits same;
  for (auto& [target, walked] : code.programs()) {
    const Function& entry = *module->functions[0];
    const BitTensors results = results_by_name(entry, arguments, [&](NamedTensors& state, const NamedTensors& inputs) {
      return walked.run(entry.name, state, inputs);
    });
    same.add(target, results);
    for (const size_t r : {0, 2, 3, 4}) {
      for (const double value : results[r].f)
        EXPECT_TRUE(!std::isnan(value) || std::bit_cast<uint64_t>(value) == std::bit_cast<uint64_t>(nan)) << target;
    }
    EXPECT_EQ(results[1].i[1], 0x7FC00000) << target;
    EXPECT_EQ(results[5].i[0], 0x7FC00000) << target;
    EXPECT_EQ(results[6].i[0], 0x7FD23400) << target << ": what is moved stays as it is";
  }
}

// What a program leaves behind for a target: the loss of each step, and all state after the last.
struct Trained {
  std::string target;
  std::vector<double> losses;
  BitTensors state;
};

std::vector<Trained> train(EveryCode& code, const NamedTensors& inputs, int64_t steps) {
  RefTensor seed(TensorType{DType::kUI64, {}});
  seed.i = {3};
  std::vector<Trained> all;
  for (auto& [target, walked] : code.programs()) {
    Trained& trained = all.emplace_back(Trained{target, {}, {}});
    NamedTensors state;
    walked.run("init", state, {{"seed", seed}});
    for (int64_t step = 0; step < steps; ++step) {
      trained.losses.push_back(walked.run("train_step", state, inputs).begin()->second.f.at(0));
    }
    for (const auto& [name, tensor] : state) trained.state.push_back(tensor);
  }
  return all;
}

// What a target takes for a program's steps, and the last loss, as docs/devices.md has them side by side.
struct Sizes {
  int64_t flash_bytes = 0, arena_bytes = 0, scratch_bytes = 0;
  double loss = 0;

  Sizes(const bundle::BundleSpec& spec, const Trained& trained) : loss(trained.losses.back()) {
    const auto target = std::ranges::find(spec.targets, trained.target, &bundle::Target::name);
    const auto most = [](int64_t& bytes, uint64_t other) { bytes = std::max(bytes, static_cast<int64_t>(other)); };
    most(flash_bytes, target->code.size() + target->rodata.size() + spec.initial_state.size());
    for (const bundle::Plan& plan : target->plans) most(arena_bytes, plan.arena_bytes);
    for (const bundle::Kernel& kernel : target->kernels) most(scratch_bytes, kernel.scratch_bytes);
  }

  void expect_documented(const DocumentedTable& table, const std::string& row, size_t first_column) const {
    constexpr double kLastDigit = 1e-7;
    fmt::print("  {:14} flash {:6}, arena {:6}, scratch {:6} bytes, loss {:.7f}\n", row, flash_bytes, arena_bytes,
               scratch_bytes, loss);
    table.expect_bytes(row, first_column, flash_bytes);
    table.expect_bytes(row, first_column + 1, arena_bytes);
    table.expect_bytes(row, first_column + 2, scratch_bytes);
    table.expect(row, first_column + 3, loss, kLastDigit);
  }
};

// Strict programs leave the same behind. Others have about the same losses.
void expect_same_training(const std::string& name, Program& program, const NamedTensors& inputs) {
  constexpr int64_t kDocumentedSteps = 20;
  constexpr double kTolerance = 1e-3;
  const int64_t steps = number_from_environment("INGOT_STRICT_STEPS", 2);
  EveryCode code(program.module());
  const std::vector<Trained> strict = train(code, inputs, steps);
  SameBits same;
  for (const Trained& trained : strict) {
    BitTensors results = trained.state;
    results.emplace_back(TensorType{DType::kF64, {steps}}).f = trained.losses;
    same.add(trained.target, results);
  }
  if (steps < kDocumentedSteps) return;
  EXPECT_LT(strict[0].losses.back(), strict[0].losses.front()) << "it does not learn";
  fmt::print("  {}: {:.7f} at first\n", name, strict[0].losses.front());
  EveryCode own(program.module(), false);
  const std::vector<Trained> others = train(own, inputs, steps);
  const DocumentedTable table("devices.md", "| " + name + " |");
  for (size_t t = 0; t < others.size(); ++t) {
    const Trained& trained = others[t];
    for (int64_t k = 0; k < steps; ++k) {
      EXPECT_NEAR(trained.losses[k], strict[0].losses[k], kTolerance * strict[0].losses[k]) << trained.target << k;
    }
    if (steps != kDocumentedSteps || !loops::find_target(trained.target).is_default) continue;
    Sizes(code.spec(), strict[t]).expect_documented(table, trained.target, 0);
    Sizes(own.spec(), trained).expect_documented(table, trained.target, 4);
  }
}

RefTensor classes_of(int64_t count, int64_t classes) {
  RefTensor tensor(TensorType{DType::kI32, {count}});
  for (int64_t k = 0; k < count; ++k) tensor.i[k] = k * 7 % classes;
  return tensor;
}

TEST(Strict, ConvolutionalNetworkTrains) {
  nn::Sequential net{nn::Conv2d(3, 8, 3, {.padding = 1}),  nn::BatchNorm2d(8), nn::ReLU(),        nn::MaxPool2d(2),
                     nn::Conv2d(8, 12, 3, {.padding = 1}), nn::ReLU(),         nn::MaxPool2d(2),  nn::Flatten(),
                     nn::Linear(12 * 3 * 3, 33),           nn::ReLU(),         nn::Linear(33, 10)};
  optim::AdamW adam(net.parameters(), {.weight_decay = 1e-2});
  Program program;
  program.add(
      "train_step",
      [&](Tensor images, Tensor classes) {
        Tensor loss = cross_entropy(net(images), classes);
        loss.backward();
        adam.step();
        return loss;
      },
      f32[{6, 3, 12, 12}].named("images"), i32[{6}].named("classes"));
  expect_same_training("network", program,
                       {{"images", random_tensor({DType::kF32, {6, 3, 12, 12}}, 1)}, {"classes", classes_of(6, 10)}});
}

struct SmallTransformer : nn::Module {
  static constexpr int64_t kWords = 16, kWidth = 24, kHeads = 2;
  nn::Embedding words = add("words", nn::Embedding(40, kWidth));
  nn::LayerNorm before = add("before", nn::LayerNorm(kWidth)), after = add("after", nn::LayerNorm(kWidth));
  nn::Linear query = add("query", nn::Linear(kWidth, kWidth)), key = add("key", nn::Linear(kWidth, kWidth)),
             value = add("value", nn::Linear(kWidth, kWidth));
  nn::Linear in = add("in", nn::Linear(kWidth, 4 * kWidth)), out = add("out", nn::Linear(4 * kWidth, kWidth));
  nn::Linear next = add("next", nn::Linear(kWidth, 40));

  Tensor forward(const Tensor& text) override {
    Tensor x = words(text);
    const Tensor normal = before(x);
    const auto heads = [&](const Tensor& y) {
      return y.reshape({-1, kWords, kHeads, kWidth / kHeads}).transpose(1, 2);
    };
    const Tensor scores = matmul(heads(query(normal)), heads(key(normal)).transpose(2, 3)) * 0.3;
    const Tensor seen = matmul(softmax(scores, -1), heads(value(normal)));
    x = x + seen.transpose(1, 2).reshape({-1, kWords, kWidth});
    x = x + out(gelu(in(after(x))));
    return next(x).reshape({-1, 40});
  }
};

TEST(Strict, TransformerTrains) {
  constexpr int64_t kTexts = 3, kCount = kTexts * SmallTransformer::kWords;
  SmallTransformer net;
  optim::AdamW adam(net.parameters());
  Program program;
  program.add(
      "train_step",
      [&](Tensor text, Tensor next) {
        Tensor loss = cross_entropy(net(text), next);
        loss.backward();
        adam.step();
        return loss;
      },
      i32[{kTexts, SmallTransformer::kWords}].named("text"), i32[{kCount}].named("next"));
  RefTensor text = classes_of(kCount, 40);
  text.type.shape = {kTexts, SmallTransformer::kWords};
  expect_same_training("transformer", program, {{"text", text}, {"next", classes_of(kCount, 37)}});
}

}  // namespace
}  // namespace ingot
