// Kernels of the graph through every executor: evaluated, interpreted as loops, compiled.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "aot/codegen/execute.h"
#include "aot/graph/builder.h"
#include "aot/schedule/lower.h"
#include "tests/support/buffer.h"
#include "tests/support/code_runner.h"

namespace ingot {

// A function of one ingot.kernel op.
struct KernelFunction {
  std::unique_ptr<Module> module = std::make_unique<Module>();
  Function* function = nullptr;
  const Op* kernel = nullptr;
};

// `body` makes the kernel's results from its arguments.
KernelFunction kernel_function(const std::vector<TensorType>& arguments,
                               const std::function<Values(GraphBuilder& b, const Values& arguments)>& body);

// The steps of a lowering bound to memory: operands, results, temporaries, scratch, one after the other.
class LoweringRun {
 public:
  LoweringRun(const Op& kernel, const Lowering& lowering);

  void set_operands(const std::vector<RefTensor>& operands);
  std::vector<RefTensor> results() const;

  // A step that writes beside its buffers is a bug that names it.
  void interpret(bool descending_tasks);
  // `first_kernel`: where the lowering's kernels start in `code`.
  void run(CodeRunner& code, bool descending_tasks, size_t first_kernel = 0);
  // The same without a check, or a copy of the memory: what is measured.
  void run(const codegen::Executable& code, bool descending_tasks, size_t first_kernel = 0);

 private:
  struct Place {
    int64_t offset, bytes;
  };

  Place place(int64_t bytes);
  const Place& place_of(const KernelBinding& binding) const;
  // Where a step's inputs and outputs are, in the kernel's order, once old values are where they are updated.
  std::vector<int64_t> bind(const LoweredKernel& step) const;
  std::vector<std::byte*> pointers(const std::vector<int64_t>& offsets) const;
  void check_gaps(const LoweredKernel& step) const;

  const Op& kernel_;
  const Lowering& lowering_;
  std::vector<Place> operands_, results_, temporaries_;
  Place scratch_;
  int64_t bytes_ = 0;
  std::optional<Buffer> memory_;
};

codegen::CodeImage compile_lowering(const Lowering& lowering, const loops::Target& target);

struct KernelTolerance {
  double relative = 2e-6;  // of the largest magnitude in the expected tensor, or of the element when that is larger
  bool of_terms = false;   // of what the function gives for its arguments' magnitudes, instead: sums that may cancel
  double low = -2, high = 2;
  int64_t integer_low = -9, integer_high = 9;
};

// What is done of a check; it is lowered and verified in any case.
struct KernelChecks {
  bool runs = true;  // interpreted, and if it is compiled by a processor
  bool compiles = true;
  // Which target of each foreign ISA it is done for (takes_turn); none: the next each call.
  std::optional<int64_t> turn = {};
};

// The function's results for random arguments: evaluate, against loops interpreted with tasks in both orders, and
// compiled: machine code of those that can be run (bit for bit the same in both orders). Of every target whose turn it is.
void check_kernel(const KernelFunction& f, const KernelTolerance& tolerance = {}, uint32_t seed = 1,
                  const KernelChecks& checks = {});

}  // namespace ingot
