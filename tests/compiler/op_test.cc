// Every op of the table, by its samples: text round trip, inference against evaluation, every executor against
// evaluation within the op's stated bound, the gradient against finite differences.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "aot/graph/text/print.h"
#include "aot/graph/verify.h"
#include "aot/passes/pass.h"
#include "tests/support/op_agreement.h"
#include "tests/support/op_executor.h"
#include "tests/support/op_gradient.h"

namespace ingot {
namespace {

// Ops that only exist around others.
bool needs_no_samples(const OpDef& def) { return def.is_terminator || def.name == "ingot.kernel"; }

bool multiplies(const OpCase& op_case) {
  return std::ranges::any_of(op_case.main().body.ops, [](const auto& op) { return op->def->contraction != nullptr; });
}

// Those that multiply are the first.
const std::vector<OpCase>& all_cases() {
  static const std::vector<OpCase> cases = [] {
    std::vector<OpCase> result;
    for (const OpDef* def : all_ops().all()) {
      if (!def->samples) continue;
      for (const Sample& sample : def->samples()) {
        try {
          result.push_back(make_case(*def, sample));
        } catch (const Error& error) {
          ADD_FAILURE() << def->name << ": " << error.what() << "\n" << sample.text;
        }
      }
    }
    std::ranges::stable_partition(result, multiplies);
    return result;
  }();
  return cases;
}

// Another ISA's rows that are no default multiply otherwise than those beside them, and do nothing else otherwise: with
// INGOT_EVERY_TARGET=1 these too have all samples.
std::span<const OpCase> cases_of(const loops::Target& target) {
  const std::span<const OpCase> cases = all_cases();
  const bool has_all =
      target.is_default || target.isa == loops::find_target("host").isa || std::getenv("INGOT_EVERY_TARGET");
  return has_all ? cases : cases.first(static_cast<size_t>(std::ranges::count_if(cases, multiplies)));
}

void expect_agreement(OpExecutor& executor, std::span<const OpCase> cases) {
  const std::vector<std::vector<RefTensor>> results = executor.run(cases);
  ASSERT_EQ(results.size(), cases.size());
  int left_out = 0;
  for (size_t k = 0; k < cases.size(); ++k) {
    if (!has_kernel(cases[k])) continue;
    if (executor.leaves_out(cases[k])) {
      ++left_out;
      continue;
    }
    ASSERT_EQ(results[k].size(), cases[k].expected.size()) << cases[k].sample.text;
    for (size_t r = 0; r < cases[k].expected.size(); ++r) {
      EXPECT_EQ(disagreement(cases[k], r, results[k][r]), "")
          << cases[k].def->name << ", " << executor.name() << ", result " << r << "\n"
          << cases[k].sample.text;
    }
  }
  if (left_out > 0) std::printf("  %d samples are not %s\n", left_out, executor.name().c_str());
}

TEST(Op, EveryOneHasSamples) {
  for (const OpDef* def : all_ops().all()) {
    EXPECT_TRUE(needs_no_samples(*def) || (def->samples && !def->samples().empty())) << def->name << " has no samples";
    EXPECT_FALSE(def->doc.empty()) << def->name << " has no doc";
  }
}

TEST(Op, TextRoundTrips) {
  for (const OpCase& op_case : all_cases()) {
    const std::string text = print(*op_case.module);
    const auto again = parse_module(text, "printed", all_ops());
    EXPECT_EQ(print(*again), text) << op_case.sample.text;
  }
}

TEST(Op, EvaluationGivesTheInferredTypes) {
  for (const OpCase& op_case : all_cases()) {
    verify(*op_case.module);
    const Function& main = op_case.main();
    ASSERT_EQ(op_case.expected.size(), main.results.size()) << op_case.sample.text;
    for (size_t r = 0; r < main.results.size(); ++r) {
      const RefTensor& result = op_case.expected[r];
      EXPECT_EQ(result.type, main.results[r].type) << op_case.sample.text;
      EXPECT_EQ(static_cast<int64_t>(result.f.size() + result.i.size()),
                result.elements() * (result.is_complex() ? 2 : 1))
          << op_case.sample.text;
    }
  }
}

TEST(Op, InterpretedAgrees) {
  for (const loops::Target& target : loops::all_targets()) {
    InterpretedOps executor(target, target.name != "x86-64-v3");
    expect_agreement(executor, cases_of(target));
  }
}

TEST(Op, CompiledAgrees) {
  for (const loops::Target& target : loops::all_targets()) {
    CompiledOps executor(target);
    if (can_run(target)) {
      expect_agreement(executor, cases_of(target));
    } else {
      executor.compile_only(cases_of(target));
    }
  }
}

// d(sum of dy y)/dx by central differences, for one element of one argument.
double finite_difference(const OpCase& op_case, const std::vector<RefTensor>& dy, size_t argument, int64_t element) {
  const double x = op_case.inputs[argument].f[element];
  const double h = 1e-6 * std::max(1.0, std::abs(x));
  const auto loss = [&](double at) {
    std::vector<RefTensor> inputs = op_case.inputs;
    inputs[argument].f[element] = at;
    const std::vector<RefTensor> y = evaluate(op_case.main(), inputs, {.round = false});
    double sum = 0;
    size_t next = 0;
    for (const RefTensor& result : y) {
      if (!result.is_float()) continue;
      for (int64_t k = 0; k < result.elements(); ++k) sum += dy[next].f[k] * result.f[k];
      ++next;
    }
    return sum;
  };
  return (loss(x + h) - loss(x - h)) / (2 * h);
}

// A differentiable case's gradient: its arguments and the gradients of its results in, those of its arguments out.
OpCase gradient_case(const OpCase& op_case) {
  OpCase result{op_case.def, op_case.sample, copy_module(*op_case.module), op_case.inputs, {}, {}, {}};
  PassContext context;
  if (!op_case.def->gradient) expand(*result.module, context);
  make_gradient(*result.module->find("main"));
  verify(*result.module);
  std::mt19937_64 random(7);
  for (const RefTensor& y : op_case.expected) {
    if (y.is_float()) result.inputs.push_back(draw(y.type, {.text = "", .low = -1, .high = 1}, random, 0));
  }
  result.exact = evaluate(result.main(), result.inputs, {.round = false});
  return result;
}

bool is_differentiable(const OpCase& op_case) {
  return op_case.sample.differentiable && !has_complex(op_case.main()) &&
         (op_case.def->gradient || op_case.def->expand);
}

TEST(Op, GradientAgreesWithFiniteDifferences) {
  constexpr int64_t kElementsTried = 12;
  int tried = 0;
  for (const OpCase& op_case : all_cases()) {
    if (!is_differentiable(op_case)) continue;
    SCOPED_TRACE(op_case.sample.text);
    const OpCase gradient = gradient_case(op_case);
    const std::vector<RefTensor> dy(gradient.inputs.begin() + static_cast<int64_t>(op_case.inputs.size()),
                                    gradient.inputs.end());
    size_t next = 0;
    for (size_t a = 0; a < op_case.inputs.size(); ++a) {
      if (!op_case.inputs[a].is_float()) continue;
      const RefTensor& actual = gradient.exact[next++];
      const int64_t step = std::max<int64_t>(1, actual.elements() / kElementsTried);
      for (int64_t k = 0; k < actual.elements(); k += step) {
        const double expected = finite_difference(op_case, dy, a, k);
        EXPECT_NEAR(actual.f[k], expected, 1e-6 * std::max(1.0, std::abs(expected)))
            << op_case.def->name << ": argument " << a << ", element " << k;
      }
    }
    ++tried;
  }
  std::printf("  %d samples\n", tried);
}

// Several ops in one kernel. Errors are judged by the largest element: what is summed up is not known here.
TEST(Op, InterpretedGradientAgrees) {
  constexpr double kAllowedUlps = 16;
  std::vector<OpCase> cases;
  for (const OpCase& op_case : all_cases()) {
    if (!is_differentiable(op_case) || !has_kernel(op_case)) continue;
    cases.push_back(gradient_case(op_case));
    PassContext context;
    expand(*cases.back().module, context);
  }
  const std::vector<std::vector<RefTensor>> results = InterpretedOps(loops::find_target("x86-64-v3"), true).run(cases);
  for (size_t k = 0; k < cases.size(); ++k) {
    for (size_t r = 0; r < results[k].size(); ++r) {
      const RefTensor& exact = cases[k].exact[r];
      double largest = 1;
      for (const double value : exact.f) largest = std::max(largest, std::abs(value));
      for (int64_t e = 0; e < exact.elements(); ++e) {
        ASSERT_LE(ulps(exact.type.dtype, results[k][r].f[e], exact.f[e], largest), kAllowedUlps)
            << "gradient " << r << ", element " << e << "\n"
            << print(*cases[k].module);
      }
    }
  }
}

}  // namespace
}  // namespace ingot
