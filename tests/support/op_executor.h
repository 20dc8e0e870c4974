// Ways to run a function of one op that must agree with its evaluation; whole programs: program_runner.h.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ranges>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "aot/codegen/compile.h"
#include "aot/loops/expand_math.h"
#include "aot/passes/pass.h"
#include "tests/support/op_case.h"
#include "tests/support/schedule_fixture.h"

namespace ingot {

class OpExecutor {
 public:
  virtual ~OpExecutor() = default;
  virtual std::string name() const = 0;
  // The results of each case, in order; none where the op has no kernel, or where the case is left out.
  virtual std::vector<std::vector<RefTensor>> run(std::span<const OpCase> cases) = 0;
  // Whether the last run left a case out, which an emulator does not compute as processors do.
  virtual bool leaves_out(const OpCase&) const { return false; }
};

// What expands is compiled by expand_test.
inline bool has_kernel(const OpCase& op_case) {
  PassContext context;
  return !has_complex(op_case.main()) && op_case.def->root != KernelRoot::kNone &&
         op_case.def->root != KernelRoot::kControlFlow && !expand(*copy_module(*op_case.module), context);
}

// A case as a kernel, lowered. As `fuse` leaves it, the kernel gets tables (constants that are no splats) as operands.
class LoweredCase {
 public:
  LoweredCase(const OpCase& op_case, const loops::Target& target, bool has_math_functions) : operands_(op_case.inputs) {
    const Block& body = op_case.main().body;
    Values outside;
    for (const auto& argument : body.arguments) outside.push_back(argument.get());
    for (const auto& op : body.ops) {
      if (!op->is(kConstant) || op->attrs().literal("value")->is_splat) continue;
      outside.push_back(op->result());
      operands_.push_back(from_literal(*op->attrs().literal("value")));
    }
    std::vector<TensorType> types;
    for (const Value* value : outside) types.push_back(value->type);
    function_ = kernel_function(types, [&](GraphBuilder& b, const Values& arguments) {
      ValueMap map;
      for (size_t k = 0; k < outside.size(); ++k) map[outside[k]] = arguments[k];
      for (const auto& op : body.ops) {
        if (!op->def->is_terminator && !map.contains(op->result())) copy_op(*op, *b.block(), map);
      }
      Values results;
      for (const Value* result : body.terminator()->operands) results.push_back(map.at(result));
      return results;
    });
    lowering_ = lower(*function_.kernel, target);
    for (LoweredKernel& step : lowering_.steps) {
      EXPECT_FALSE(loops::verify(step.kernel).is_exhausted) << loops::print(step.kernel);
      if (!has_math_functions) loops::expand_math(step.kernel);
    }
  }

  const Lowering& lowering() const { return lowering_; }

  template <typename Execute>
  std::vector<RefTensor> results(Execute execute) const {
    LoweringRun run(*function_.kernel, lowering_);
    run.set_operands(operands_);
    execute(run);
    return run.results();
  }

 private:
  std::vector<RefTensor> operands_;
  KernelFunction function_;
  Lowering lowering_;
};

// The loops interpreter.
class InterpretedOps : public OpExecutor {
 public:
  InterpretedOps(const loops::Target& target, bool has_math_functions)
      : target_(target), has_math_functions_(has_math_functions) {}

  std::string name() const override {
    return "interpreted for " + std::string(target_.name) + (has_math_functions_ ? "" : ", expanded math functions");
  }

  std::vector<std::vector<RefTensor>> run(std::span<const OpCase> cases) override {
    std::vector<std::vector<RefTensor>> results;
    for (const OpCase& op_case : cases) {
      results.emplace_back();
      if (!has_kernel(op_case)) continue;
      results.back() =
          LoweredCase(op_case, target_, has_math_functions_).results([](LoweringRun& run) { run.interpret(false); });
    }
    return results;
  }

 private:
  const loops::Target& target_;
  bool has_math_functions_;
};

// Machine code.
class CompiledOps : public OpExecutor {
 public:
  explicit CompiledOps(const loops::Target& target) : target_(target) {}

  std::string name() const override { return "compiled for " + std::string(target_.name); }

  // For a target of which code can be run (can_run).
  std::vector<std::vector<RefTensor>> run(std::span<const OpCase> cases) override {
    const std::vector<LoweredCase> lowered = lower_all(cases);
    const std::unique_ptr<CodeRunner> code = make_code_runner(target_, compile(lowered));
    std::vector<std::vector<RefTensor>> results;
    left_out_.clear();
    size_t next = 0, kernel = 0;
    for (const OpCase& op_case : cases) {
      results.emplace_back();
      if (!has_kernel(op_case)) continue;
      const LoweredCase& it = lowered[next++];
      const size_t first = kernel;
      kernel += it.lowering().steps.size();
      const auto is_faithful = [&](size_t k) { return code->is_faithful(k); };
      if (!std::ranges::all_of(std::views::iota(first, kernel), is_faithful)) {
        left_out_.insert(&op_case);
        continue;
      }
      try {
        results.back() = it.results([&](LoweringRun& run) { run.run(*code, false, first); });
      } catch (const Error& error) {
        throw_bug(fmt::format("{}: {}\n{}", op_case.def->name, error.what(), op_case.sample.text));
      }
    }
    return results;
  }

  bool leaves_out(const OpCase& op_case) const override { return left_out_.contains(&op_case); }

  // For any target.
  void compile_only(std::span<const OpCase> cases) const { compile(lower_all(cases)); }

 private:
  std::vector<LoweredCase> lower_all(std::span<const OpCase> cases) const {
    std::vector<LoweredCase> lowered;
    for (const OpCase& op_case : cases) {
      if (has_kernel(op_case)) lowered.emplace_back(op_case, target_, false);
    }
    return lowered;
  }

  codegen::CodeImage compile(const std::vector<LoweredCase>& lowered) const {
    std::vector<loops::Kernel> kernels;
    for (const LoweredCase& it : lowered) {
      for (const LoweredKernel& step : it.lowering().steps) kernels.push_back(step.kernel);
    }
    return codegen::compile(kernels, target_);
  }

  const loops::Target& target_;
  std::set<const OpCase*> left_out_;
};

}  // namespace ingot
