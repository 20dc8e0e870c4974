#include "tests/support/schedule_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "aot/codegen/compile.h"
#include "aot/graph/evaluate.h"
#include "aot/loops/expand_math.h"
#include "aot/loops/interpret.h"
#include "aot/ops/support/build.h"

namespace ingot {

KernelFunction kernel_function(const std::vector<TensorType>& arguments,
                               const std::function<Values(GraphBuilder&, const Values&)>& body) {
  KernelFunction f;
  f.function = f.module->add_function("main");
  auto region = std::make_unique<Block>();
  Values inner;
  for (size_t i = 0; i < arguments.size(); ++i)
    inner.push_back(region->add_argument(arguments[i], "a" + std::to_string(i)));
  GraphBuilder b(all_ops());
  b.at_end(*region);
  b.create("ingot.yield", body(b, inner));
  Values outer;
  for (size_t i = 0; i < arguments.size(); ++i) {
    outer.push_back(f.function->body.add_argument(arguments[i], "x" + std::to_string(i)));
    f.function->argument_attrs.emplace_back();
  }
  b.at_end(f.function->body);
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(std::move(region));
  Op* kernel = b.create("ingot.kernel", outer, {}, {}, std::move(regions));
  Values results;
  for (const auto& result : kernel->results) results.push_back(result.get());
  b.create("func.return", results);
  f.kernel = kernel;
  return f;
}

Buffer::Buffer(int64_t bytes) : storage_(bytes + 2 * INGOT_BUFFER_ALIGNMENT_BYTES, std::byte{0xFF}) {
  const auto address = reinterpret_cast<uintptr_t>(storage_.data());
  data_ = storage_.data() + (0 - address) % INGOT_BUFFER_ALIGNMENT_BYTES;
}

namespace {

int64_t most_scratch_bytes(const Lowering& lowering) {
  int64_t most = 0;
  for (const LoweredKernel& step : lowering.steps) most = std::max(most, step.kernel.scratch_bytes);
  return most;
}

int64_t task_at(int64_t k, int64_t count, bool descending) { return descending ? count - 1 - k : k; }

}  // namespace

LoweringRun::LoweringRun(const Op& kernel, const Lowering& lowering)
    : kernel_(kernel), lowering_(lowering), scratch_(most_scratch_bytes(lowering)) {
  for (const Value* operand : kernel.operands) operands_.emplace_back(operand->type.bytes());
  for (const auto& result : kernel.results) results_.emplace_back(result->type.bytes());
  for (const TensorType& type : lowering.temporaries) temporaries_.emplace_back(type.bytes());
}

void LoweringRun::set_operands(const std::vector<RefTensor>& operands) {
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::vector<std::byte> data = to_literal(operands[i])->dense_bytes();
    if (!data.empty()) std::memcpy(operands_[i].data(), data.data(), data.size());
  }
}

std::vector<RefTensor> LoweringRun::results() const {
  std::vector<RefTensor> tensors;
  for (size_t i = 0; i < results_.size(); ++i) {
    const TensorType& type = kernel_.results[i]->type;
    tensors.push_back(from_literal(*dense(type, {results_[i].data(), results_[i].data() + type.bytes()})));
  }
  return tensors;
}

std::vector<std::byte*> LoweringRun::buffers_of(const LoweredKernel& step) const {
  std::vector<std::byte*> starts;
  for (const KernelBinding& binding : step.bindings) {
    const std::vector<Buffer>& from = binding.kind == KernelBinding::Kind::kOperand  ? operands_
                                      : binding.kind == KernelBinding::Kind::kResult ? results_
                                                                                     : temporaries_;
    starts.push_back(from.at(binding.index).data());
  }
  // A plan puts an updated result where its operand lies; here it is a copy.
  for (size_t i = 0; i < step.bindings.size(); ++i) {
    if (!step.bindings[i].is_update) continue;
    const std::byte* old = starts[step.kernel.buffers[i].may_alias];
    std::copy(old, old + kernel_.results[step.bindings[i].index]->type.bytes(), starts[i]);
  }
  return starts;
}

void LoweringRun::interpret(bool descending_tasks) {
  for (const LoweredKernel& step : lowering_.steps) {
    const std::vector<std::byte*> starts = buffers_of(step);
    const int64_t count = step.kernel.task_count;
    for (int64_t k = 0; k < count; ++k) loops::interpret(step.kernel, starts, task_at(k, count, descending_tasks));
  }
}

void LoweringRun::run(const codegen::Executable& code, bool descending_tasks, size_t first_kernel) {
  for (size_t s = 0; s < lowering_.steps.size(); ++s) {
    const std::vector<std::byte*> starts = buffers_of(lowering_.steps[s]);
    const int64_t count = lowering_.steps[s].kernel.task_count;
    for (int64_t k = 0; k < count; ++k)
      code.run(first_kernel + s, starts, task_at(k, count, descending_tasks), scratch_.data());
  }
}

codegen::CodeImage compile_lowering(const Lowering& lowering, const loops::Target& target) {
  std::vector<loops::Kernel> kernels;
  for (const LoweredKernel& step : lowering.steps) {
    kernels.push_back(step.kernel);
    loops::expand_math(kernels.back());
  }
  return codegen::compile(kernels, target, {.threads = 1, .dump = {}});
}

namespace {

RefTensor random_tensor(const TensorType& type, const KernelTolerance& range, std::mt19937& random) {
  RefTensor tensor(type);
  for (double& value : tensor.f) value = std::uniform_real_distribution<double>(range.low, range.high)(random);
  for (int64_t& value : tensor.i) {
    value = is_bool(type.dtype) ? static_cast<int64_t>(random() % 2)
                                : std::uniform_int_distribution<int64_t>(range.integer_low, range.integer_high)(random);
  }
  round_in_place(tensor);
  return tensor;
}

// `scales`: what an error is relative to.
void expect_close(const std::vector<RefTensor>& expected, const std::vector<RefTensor>& actual,
                  const std::vector<RefTensor>& scales, double relative, const std::string& where) {
  for (size_t r = 0; r < expected.size(); ++r) {
    for (int64_t k = 0; k < expected[r].elements(); ++k) {
      if (!expected[r].is_float()) {
        ASSERT_EQ(expected[r].i[k], actual[r].i[k]) << where << ": result " << r << " element " << k;
        continue;
      }
      const double e = expected[r].f[k], a = actual[r].f[k];
      if (e == a || (std::isnan(e) && std::isnan(a))) continue;
      ASSERT_LE(std::abs(e - a), relative * scales[r].f[k])
          << where << ": result " << r << " element " << k << ": " << a << " for " << e;
    }
  }
}

// Every element becomes the largest finite magnitude.
RefTensor largest_magnitude(RefTensor tensor) {
  double largest = 0;
  for (const double value : tensor.f) largest = std::isfinite(value) ? std::max(largest, std::abs(value)) : largest;
  std::ranges::fill(tensor.f, largest);
  return tensor;
}

bool same_bits(const std::vector<RefTensor>& a, const std::vector<RefTensor>& b) {
  for (size_t r = 0; r < a.size(); ++r) {
    if (to_literal(a[r])->data != to_literal(b[r])->data) return false;
  }
  return true;
}

}  // namespace

void check_kernel(const KernelFunction& f, const KernelTolerance& tolerance, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<RefTensor> arguments;
  for (const auto& argument : f.function->body.arguments)
    arguments.push_back(random_tensor(argument->type, tolerance, random));
  const std::vector<RefTensor> expected = evaluate(*f.function, arguments);
  std::vector<RefTensor> scales;
  if (tolerance.of_terms) {
    std::vector<RefTensor> magnitudes = arguments;
    for (RefTensor& argument : magnitudes) {
      for (double& value : argument.f) value = std::abs(value);
    }
    scales = evaluate(*f.function, magnitudes);
  } else {
    std::ranges::transform(expected, std::back_inserter(scales), largest_magnitude);
  }
  for (const loops::Target& target : loops::all_targets()) {
    const Lowering lowering = lower(*f.kernel, target);
    const auto results_of = [&](const auto& execute) {
      LoweringRun run(*f.kernel, lowering);
      run.set_operands(arguments);
      execute(run);
      return run.results();
    };
    const std::string where = std::string(target.name);
    for (const bool descending : {false, true}) {
      expect_close(expected, results_of([&](LoweringRun& run) { run.interpret(descending); }), scales,
                   tolerance.relative, where + " interpreted");
      if (testing::Test::HasFatalFailure()) {
        for (const LoweredKernel& step : lowering.steps) ADD_FAILURE() << loops::print(step.kernel);
        return;
      }
    }
    if (!codegen::runs_here(target)) continue;
    const codegen::Executable code(compile_lowering(lowering, target));
    const auto ascending = results_of([&](LoweringRun& run) { run.run(code, false); });
    expect_close(expected, ascending, scales, tolerance.relative, where + " compiled");
    EXPECT_TRUE(same_bits(ascending, results_of([&](LoweringRun& run) { run.run(code, true); }))) << where;
  }
}

}  // namespace ingot
