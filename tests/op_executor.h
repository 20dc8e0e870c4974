// Ways to run a function of one op that must agree with its evaluation; whole programs: program_runner.h.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "aot/codegen/compile.h"
#include "aot/codegen/execute.h"
#include "aot/loops/element.h"
#include "aot/loops/expand_math.h"
#include "aot/loops/interpret.h"
#include "tests/op_case.h"

namespace ingot {

class OpExecutor {
 public:
  virtual ~OpExecutor() = default;
  virtual std::string name() const = 0;
  // The results of each case, in order; none for a case that this executor does not take.
  virtual std::vector<std::vector<RefTensor>> run(std::span<const OpCase> cases) = 0;
};

// --- kernels that pull a function's results, element by element ---

// Answers for arguments with loads and for everything else with the op's own element column.
class FunctionSource : public loops::ElementSource {
 public:
  FunctionSource(loops::KernelBuilder& b, const Function& function) : b_(b), function_(function) {
    for (const auto& argument : function.body.arguments) {
      b.input("x" + std::to_string(argument->index), argument->type.dtype, argument->type.elements());
    }
  }

  loops::Expr element(const Value* value, const std::vector<loops::Index>& index, loops::Expr mask) override {
    if (!value->op) {
      INGOT_CHECK(value->block == &function_.body);
      return b_.load(value->index, loops::flatten(index, value->type.shape), mask);
    }
    loops::ElementArgs args{b_, *value->op, value->index, index, std::move(mask), *this};
    return value->op->def->element(args);
  }

 private:
  loops::KernelBuilder& b_;
  const Function& function_;
};

// Whether the results need no template around a root, and no constant table (which a kernel gets as an operand).
inline bool can_pull(const Function& function) {
  return std::ranges::all_of(function.body.ops, [](const auto& op) {
    const bool is_table = op->is("stablehlo.constant") && !op->attrs().literal("value")->is_splat;
    return op->def->is_terminator || (op->def->element && !is_table);
  });
}

inline loops::Kernel pulled_kernel(const Function& function, int lanes, bool has_mathematics) {
  loops::KernelBuilder b("pulled", lanes);
  FunctionSource source(b, function);
  std::vector<loops::BufferId> outputs;
  const Values& results = function.body.ops.back()->operands;
  for (const Value* result : results) {
    outputs.push_back(b.output("y" + std::to_string(outputs.size()), result->type.dtype, result->type.elements()));
  }
  for (size_t k = 0; k < results.size(); ++k) {
    const int64_t count = results[k]->type.elements();
    b.loop("i", 0, count, lanes, [&](const loops::Index& i) {
      const loops::Index flat = i + b.lane();
      const loops::Expr mask = b.in_range(flat, 0, count);
      b.store(outputs[k], flat, source.element(results[k], loops::unflatten(b, flat, results[k]->type.shape), mask),
              mask);
    });
  }
  loops::Kernel kernel = b.finish();
  if (!has_mathematics) loops::expand_math(kernel);
  loops::verify(kernel);
  return kernel;
}

// Memory for a kernel's inputs and outputs, aligned as kernels are promised.
class KernelMemory {
 public:
  KernelMemory(const loops::Kernel& kernel, const OpCase& op_case) {
    for (const loops::Buffer& buffer : kernel.buffers) {
      const size_t bytes = buffer.elements * info(buffer.dtype).bytes;
      storage_.emplace_back(bytes + INGOT_BUFFER_ALIGNMENT_BYTES);
      const auto address = reinterpret_cast<uintptr_t>(storage_.back().data());
      starts_.push_back(storage_.back().data() + (0 - address) % INGOT_BUFFER_ALIGNMENT_BYTES);
    }
    for (size_t k = 0; k < op_case.inputs.size(); ++k) {
      const std::vector<std::byte> bytes = to_literal(op_case.inputs[k])->dense_bytes();
      if (!bytes.empty()) std::memcpy(starts_[k], bytes.data(), bytes.size());
    }
  }

  std::span<std::byte* const> starts() const { return starts_; }

  std::vector<RefTensor> results(const OpCase& op_case) const {
    std::vector<RefTensor> results;
    for (size_t k = 0; k < op_case.expected.size(); ++k) {
      const TensorType& type = op_case.expected[k].type;
      const std::byte* start = starts_[op_case.inputs.size() + k];
      results.push_back(from_literal(*dense(type, {start, start + type.bytes()})));
    }
    return results;
  }

 private:
  std::vector<std::vector<std::byte>> storage_;
  std::vector<std::byte*> starts_;
};

// The loops interpreter.
class InterpretedOps : public OpExecutor {
 public:
  InterpretedOps(int lanes, bool has_mathematics) : lanes_(lanes), has_mathematics_(has_mathematics) {}

  std::string name() const override {
    return "interpreted, " + std::to_string(lanes_) + " lanes" + (has_mathematics_ ? "" : ", expanded mathematics");
  }

  std::vector<std::vector<RefTensor>> run(std::span<const OpCase> cases) override {
    std::vector<std::vector<RefTensor>> results;
    for (const OpCase& op_case : cases) {
      results.emplace_back();
      if (!can_pull(op_case.main())) continue;
      const loops::Kernel kernel = pulled_kernel(op_case.main(), lanes_, has_mathematics_);
      const KernelMemory memory(kernel, op_case);
      loops::interpret_all(kernel, memory.starts());
      results.back() = memory.results(op_case);
    }
    return results;
  }

 private:
  int lanes_;
  bool has_mathematics_;
};

// Machine code of this processor.
class CompiledOps : public OpExecutor {
 public:
  explicit CompiledOps(const loops::Target& target) : target_(target) {}

  std::string name() const override { return "compiled for " + std::string(target_.name); }

  std::vector<std::vector<RefTensor>> run(std::span<const OpCase> cases) override {
    std::vector<loops::Kernel> kernels;
    for (const OpCase& op_case : cases) {
      if (can_pull(op_case.main())) kernels.push_back(pulled_kernel(op_case.main(), target_.lanes(DType::kF32), false));
    }
    const codegen::Executable code(codegen::compile(kernels, target_));
    std::vector<std::vector<RefTensor>> results;
    size_t index = 0;
    for (const OpCase& op_case : cases) {
      results.emplace_back();
      if (!can_pull(op_case.main())) continue;
      const KernelMemory memory(kernels[index], op_case);
      code.run(index++, memory.starts(), 0);
      results.back() = memory.results(op_case);
    }
    return results;
  }

 private:
  const loops::Target& target_;
};

}  // namespace ingot
