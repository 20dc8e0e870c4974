#include "tests/support/schedule_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "aot/base/divide.h"
#include "aot/base/error.h"
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
  GraphBuilder b;
  b.at_end(*region);
  b.create(kYield, body(b, inner));
  Values outer;
  for (size_t i = 0; i < arguments.size(); ++i) {
    outer.push_back(f.function->body.add_argument(arguments[i], "x" + std::to_string(i)));
    f.function->argument_attrs.emplace_back();
  }
  b.at_end(f.function->body);
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(std::move(region));
  Op* kernel = b.create(kKernel, outer, {}, {}, std::move(regions));
  Values results;
  for (const auto& result : kernel->results) results.push_back(result.get());
  b.create(kFuncReturn, results);
  f.kernel = kernel;
  return f;
}

namespace {

constexpr int64_t kGapBytes = INGOT_BUFFER_ALIGNMENT_BYTES;  // at least, behind each place
constexpr std::byte kGap{0xFF};

int64_t most_scratch_bytes(const Lowering& lowering) {
  int64_t most = 0;
  for (const LoweredKernel& step : lowering.steps) most = std::max(most, step.kernel.scratch_bytes);
  return most;
}

int64_t task_at(int64_t k, int64_t count, bool descending) { return descending ? count - 1 - k : k; }

}  // namespace

LoweringRun::LoweringRun(const Op& kernel, const Lowering& lowering) : kernel_(kernel), lowering_(lowering) {
  for (const Value* operand : kernel.operands) operands_.push_back(place(operand->type.bytes()));
  for (const auto& result : kernel.results) results_.push_back(place(result->type.bytes()));
  for (const TensorType& type : lowering.temporaries) temporaries_.push_back(place(type.bytes()));
  scratch_ = place(most_scratch_bytes(lowering));
  memory_.emplace(bytes_);
}

LoweringRun::Place LoweringRun::place(int64_t bytes) {
  const int64_t offset = bytes_;
  bytes_ += divide_up(bytes + kGapBytes, INGOT_BUFFER_ALIGNMENT_BYTES) * INGOT_BUFFER_ALIGNMENT_BYTES;
  return {offset, bytes};
}

const LoweringRun::Place& LoweringRun::place_of(const KernelBinding& binding) const {
  switch (binding.kind) {
    case KernelBinding::Kind::kOperand:
      return operands_.at(binding.index);
    case KernelBinding::Kind::kResult:
      return results_.at(binding.index);
    default:
      return temporaries_.at(binding.index);
  }
}

void LoweringRun::set_operands(const std::vector<RefTensor>& operands) {
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::vector<std::byte> data = to_literal(operands[i])->dense_bytes();
    std::ranges::copy(data, memory_->data() + operands_[i].offset);
  }
}

std::vector<RefTensor> LoweringRun::results() const {
  std::vector<RefTensor> tensors;
  for (size_t i = 0; i < results_.size(); ++i) {
    const std::byte* data = memory_->data() + results_[i].offset;
    tensors.push_back(from_literal(*dense(kernel_.results[i]->type, {data, data + results_[i].bytes})));
  }
  return tensors;
}

std::vector<int64_t> LoweringRun::bind(const LoweredKernel& step) const {
  std::vector<int64_t> offsets;
  for (const KernelBinding& binding : step.bindings) offsets.push_back(place_of(binding).offset);
  // A plan puts an updated result where its operand lies; here it is a copy.
  for (size_t i = 0; i < step.bindings.size(); ++i) {
    const int whole = step.kernel.buffers[i].may_alias;
    if (!step.bindings[i].is_update || whole < 0) continue;
    const std::byte* old = memory_->data() + offsets[whole];
    std::copy(old, old + place_of(step.bindings[i]).bytes, memory_->data() + offsets[i]);
  }
  return offsets;
}

std::vector<std::byte*> LoweringRun::pointers(const std::vector<int64_t>& offsets) const {
  std::vector<std::byte*> starts;
  for (const int64_t offset : offsets) starts.push_back(memory_->data() + offset);
  return starts;
}

void LoweringRun::check_gaps(const LoweredKernel& step) const {
  const auto check = [&](const Place& it) {
    const std::byte* end = memory_->data() + it.offset + it.bytes;
    if (!std::all_of(end, end + kGapBytes, [](std::byte byte) { return byte == kGap; }))
      throw_bug("kernel '" + step.kernel.name + "' writes behind a buffer");
  };
  for (const auto* places : {&operands_, &results_, &temporaries_}) std::ranges::for_each(*places, check);
  check(scratch_);
}

void LoweringRun::interpret(bool descending_tasks) {
  for (const LoweredKernel& step : lowering_.steps) {
    const std::vector<std::byte*> starts = pointers(bind(step));
    const int64_t count = step.kernel.task_count;
    loops::Writers writers(step.kernel);
    loops::Interpreter interpreter(step.kernel);
    for (int64_t k = 0; k < count; ++k) interpreter.run(starts, task_at(k, count, descending_tasks), &writers);
    check_gaps(step);
  }
}

void LoweringRun::run(CodeRunner& code, bool descending_tasks, size_t first_kernel) {
  const std::span<std::byte> memory = code.memory(bytes_);
  for (size_t s = 0; s < lowering_.steps.size(); ++s) {
    const LoweredKernel& step = lowering_.steps[s];
    const std::vector<int64_t> offsets = bind(step);
    std::copy_n(memory_->data(), bytes_, memory.data());
    const int64_t count = step.kernel.task_count;
    for (int64_t k = 0; k < count; ++k)
      code.run(first_kernel + s, offsets, scratch_.offset, task_at(k, count, descending_tasks));
    std::ranges::copy(memory, memory_->data());
    check_gaps(step);
  }
}

void LoweringRun::run(const codegen::Executable& code, bool descending_tasks, size_t first_kernel) {
  for (size_t s = 0; s < lowering_.steps.size(); ++s) {
    const LoweredKernel& step = lowering_.steps[s];
    const std::vector<std::byte*> starts = pointers(bind(step));
    const int64_t count = step.kernel.task_count;
    for (int64_t k = 0; k < count; ++k)
      code.run(first_kernel + s, starts, task_at(k, count, descending_tasks), memory_->data() + scratch_.offset);
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

namespace {

// Random arguments, what the function gives for them, and what errors are relative to.
struct Expected {
  std::vector<RefTensor> arguments, results, scales;

  Expected(const Function& function, const KernelTolerance& tolerance, uint32_t seed) {
    std::mt19937 random(seed);
    for (const auto& argument : function.body.arguments)
      arguments.push_back(random_tensor(argument->type, tolerance, random));
    results = evaluate(function, arguments);
    if (!tolerance.of_terms) {
      std::ranges::transform(results, std::back_inserter(scales), largest_magnitude);
      return;
    }
    std::vector<RefTensor> magnitudes = arguments;
    for (RefTensor& argument : magnitudes) {
      for (double& value : argument.f) value = std::abs(value);
    }
    scales = evaluate(function, magnitudes);
  }
};

// One lowering of a kernel, beside what is expected. Stops at the first fatal failure.
class LoweringCheck {
 public:
  LoweringCheck(const Op& kernel, const Lowering& lowering, const Expected& expected, double relative,
                const loops::Target& target)
      : kernel_(kernel), lowering_(lowering), expected_(expected), relative_(relative), target_(target) {}

  void interpret() const {
    for (const LoweredKernel& step : lowering_.steps) {
      EXPECT_FALSE(loops::verify(step.kernel).is_exhausted) << loops::print(step.kernel);
    }
    for (const bool descending : {false, true}) {
      judge(results_of([&](LoweringRun& run) { run.interpret(descending); }), " interpreted");
      if (!testing::Test::HasFatalFailure()) continue;
      for (const LoweredKernel& step : lowering_.steps) ADD_FAILURE() << loops::print(step.kernel);
      return;
    }
  }

  void run(const codegen::CodeImage& image) const {
    const std::unique_ptr<CodeRunner> code = make_code_runner(target_, image);
    const auto ascending = results_of([&](LoweringRun& run) { run.run(*code, false); });
    judge(ascending, " compiled");
    EXPECT_TRUE(same_bits(ascending, results_of([&](LoweringRun& run) { run.run(*code, true); }))) << target_.name;
  }

 private:
  template <typename Execute>
  std::vector<RefTensor> results_of(const Execute& execute) const {
    LoweringRun run(kernel_, lowering_);
    run.set_operands(expected_.arguments);
    execute(run);
    return run.results();
  }

  void judge(const std::vector<RefTensor>& results, const std::string& how) const {
    expect_close(expected_.results, results, expected_.scales, relative_, std::string(target_.name) + how);
  }

  const Op& kernel_;
  const Lowering& lowering_;
  const Expected& expected_;
  double relative_;
  const loops::Target& target_;
};

}  // namespace

void check_kernel(const KernelFunction& f, const KernelTolerance& tolerance, uint32_t seed,
                  const KernelChecks& checks) {
  std::optional<Expected> expected;
  if (checks.runs) expected.emplace(*f.function, tolerance, seed);
  static int64_t calls = 0;
  const int64_t turn = checks.turn.value_or(++calls);
  for (const loops::Target& target : loops::all_targets()) {
    const Lowering lowering = lower(*f.kernel, target);
    const bool is_its_turn = takes_turn(target, turn);
    const bool is_compiled = checks.compiles && is_its_turn;
    const codegen::CodeImage image = is_compiled ? compile_lowering(lowering, target) : codegen::CodeImage();
    if (!expected || !is_its_turn) continue;
    const LoweringCheck check(*f.kernel, lowering, *expected, tolerance.relative, target);
    check.interpret();
    if (is_compiled && can_run(target) && !testing::Test::HasFatalFailure()) check.run(image);
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace ingot
