// Kernels of the graph through every executor: evaluated, interpreted as loops, compiled.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "aot/codegen/execute.h"
#include "aot/graph/builder.h"
#include "aot/schedule/lower.h"

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

// Memory aligned as kernels are promised.
class Buffer {
 public:
  explicit Buffer(int64_t bytes);
  std::byte* data() const { return data_; }

 private:
  std::vector<std::byte> storage_;
  std::byte* data_;
};

// The steps of a lowering bound to memory: operands, results, temporaries.
class LoweringRun {
 public:
  LoweringRun(const Op& kernel, const Lowering& lowering);

  void set_operands(const std::vector<RefTensor>& operands);
  std::vector<RefTensor> results() const;

  void interpret(bool descending_tasks);
  // `first_kernel`: where the lowering's kernels start in `code`.
  void run(const codegen::Executable& code, bool descending_tasks, size_t first_kernel = 0);

 private:
  std::vector<std::byte*> buffers_of(const LoweredKernel& step) const;

  const Op& kernel_;
  const Lowering& lowering_;
  std::vector<Buffer> operands_, results_, temporaries_;
  Buffer scratch_;
};

codegen::CodeImage compile_lowering(const Lowering& lowering, const loops::Target& target);

struct KernelTolerance {
  double relative = 2e-6;  // of the largest magnitude in the expected tensor, or of the element when that is larger
  bool of_terms = false;   // of what the function gives for its arguments' magnitudes, instead: sums that may cancel
  double low = -2, high = 2;
  int64_t integer_low = -9, integer_high = 9;
};

// The function's results for random arguments: evaluate, against loops of every target interpreted with tasks in both
// orders and, on targets that run here, compiled (bit for bit the same in both orders).
void check_kernel(const KernelFunction& f, const KernelTolerance& tolerance = {}, uint32_t seed = 1);

}  // namespace ingot
