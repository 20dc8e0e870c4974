#include "aot/codegen/compile.h"

#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>
#include <system_error>
#include <thread>

#include "aot/base/error.h"
#include "aot/codegen/disassemble.h"
#include "aot/codegen/emit_llvm.h"
#include "aot/codegen/emit_scalar.h"
#include "aot/codegen/expand_conversions.h"
#include "aot/codegen/expand_library.h"
#include "aot/codegen/far_addresses.h"
#include "aot/codegen/fences.h"
#include "aot/codegen/link.h"
#include "aot/codegen/loop_tests.h"
#include "aot/codegen/machine.h"
#include "aot/codegen/without_memory.h"
#include "aot/loops/expand_math.h"

namespace ingot::codegen {
namespace {

// Kernels are compiled in groups, as many as their statements say and not the number of threads, so that the image does not
// depend on it. Below so many statements a second group costs more than it brings; more than two have so many each.
constexpr size_t kMinStatementsForGroups = 60, kStatementsOfGroup = 2000, kGroupsMax = 16;

size_t group_count(size_t statements) {
  if (statements < kMinStatementsForGroups) return 1;
  return std::clamp<size_t>(statements / kStatementsOfGroup, 2, kGroupsMax);
}

size_t count_statements(const std::vector<loops::Stmt>& block) {
  size_t count = block.size();
  for (const loops::Stmt& stmt : block) {
    count += count_statements(stmt.else_body);
    const int64_t copies = stmt.unroll ? (stmt.upper.constant - stmt.lower.constant) / stmt.step : 1;
    count += count_statements(stmt.body) * static_cast<size_t>(copies);
  }
  return count;
}

// Kernels dealt out so that each group has about the same number of statements; the largest first.
std::vector<std::vector<size_t>> deal(std::span<const loops::Kernel> kernels) {
  std::vector<size_t> sizes;
  for (const loops::Kernel& kernel : kernels) sizes.push_back(count_statements(kernel.body));
  const size_t total = std::accumulate(sizes.begin(), sizes.end(), size_t{0});
  std::vector<size_t> order(kernels.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](size_t k) { return sizes[k]; });
  std::vector<std::vector<size_t>> dealt(group_count(total));
  std::vector<size_t> load(dealt.size());
  for (const size_t k : order) {
    const size_t least = std::ranges::min_element(load) - load.begin();
    dealt[least].push_back(k);
    load[least] += sizes[k];
  }
  std::erase_if(dealt, [](const auto& group) { return group.empty(); });
  for (auto& group : dealt) std::ranges::sort(group);
  return dealt;
}

std::string text_of(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

void check_module(const llvm::Module& module) {
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (llvm::verifyModule(module, &stream)) throw_bug("emitted LLVM IR is invalid: " + message);
}

// The bytes of stack that functions take, as LLVM lays out their frames; those that take none are not in it.
class Frames : public llvm::DiagnosticHandler {
 public:
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getKind() != llvm::DK_StackSize) return false;
    const auto& frame = static_cast<const llvm::DiagnosticInfoStackSize&>(info);
    bytes_[frame.getFunction().getName().str()] = frame.getStackSize();
    return true;
  }

  // Of the entry function of a kernel, its body, and what that calls.
  uint64_t stack_bytes(const loops::Kernel& kernel, const std::string& entry) const {
    constexpr uint64_t kCalls = 3, kCallBytes = 128;  // a return address, and what an aligned frame leaves free
    uint64_t bytes = kCalls * kCallBytes + kernel.buffers.size() * sizeof(uint64_t);  // arguments of the body
    for (const auto& [function, frame_bytes] : bytes_) {
      const bool is_shared = function.starts_with(kSharedFunctions);  // these call each other too
      if (is_shared || function == entry || function == body_symbol(entry)) bytes += frame_bytes;
    }
    return bytes;
  }

 private:
  std::map<std::string, uint64_t> bytes_;
};

class Compilation {
 public:
  Compilation(std::span<const loops::Kernel> kernels, const loops::Target& target, const CodegenOptions& options)
      : kernels_(kernels), target_(target), options_(options), stack_bytes_(kernels.size()) {}

  const std::vector<uint64_t>& stack_bytes() const { return stack_bytes_; }

  std::string compile_group(std::span<const size_t> group) {
    const Machine machine(target_);
    llvm::LLVMContext context;
    auto handler = std::make_unique<Frames>();
    const Frames& frames = *handler;
    context.setDiagnosticHandler(std::move(handler));
    llvm::Module module("ingot", context);
    machine.prepare(module);
    for (const size_t k : group) {
      loops::Kernel kernel = kernels_[k];
      loops::expand_math(kernel);
      emit_llvm(module, kernel, machine, target_, entry_symbol(kernels_, k));
    }
    if (options_.dump) dump("llvm", text_of(module));
    check_module(module);
    if (!target_.has_f16_conversions) expand_half_conversions(module);
    if (!target_.has_width_conversions) expand_width_conversions(module);
    if (!target_.has_float_functions) expand_float_functions(module);
    machine.optimize(module);
    simplify_loop_tests(module);
    fence_logic(module);
    share_far_pointers(module, target_);
    if (options_.dump) {
      dump("optimized.llvm", text_of(module));
      const std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
      dump("asm", machine.assembly(*copy));
    }
    std::string object = machine.object_file(module);
    for (const size_t k : group) stack_bytes_[k] = frames.stack_bytes(kernels_[k], entry_symbol(kernels_, k));
    return object;
  }

 private:
  void dump(std::string_view stage, std::string_view text) {
    const std::lock_guard lock(dump_mutex_);
    options_.dump(stage, text);
  }

  std::span<const loops::Kernel> kernels_;
  const loops::Target& target_;
  const CodegenOptions& options_;
  std::vector<uint64_t> stack_bytes_;  // of each kernel
  std::mutex dump_mutex_;
};

// The object file of each group.
std::vector<std::string> compile_groups(Compilation& compilation, std::span<const std::vector<size_t>> groups,
                                        uint32_t thread_count) {
  const EndsWithoutMemory guard;
  std::vector<std::string> objects(groups.size());
  std::vector<std::exception_ptr> failures(groups.size());
  const auto run = [&](size_t g) {
    try {
      objects[g] = compilation.compile_group(groups[g]);
    } catch (...) {
      failures[g] = std::current_exception();
    }
  };
  std::atomic<size_t> next = 0;
  const auto run_next = [&] {
    for (size_t g = next++; g < groups.size(); g = next++) run(g);
  };
  std::vector<std::thread> threads;
  const size_t helpers = std::min<size_t>(thread_count, groups.size()) - 1;
  try {
    while (threads.size() < helpers) threads.emplace_back(run_next);
  } catch (const std::system_error&) {  // the system has no more threads for us
  }
  run_next();
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  return objects;
}

}  // namespace

std::string entry_symbol(std::span<const loops::Kernel> kernels, size_t index) {
  return kernels[index].name + "." + std::to_string(index);
}

CodeImage compile(std::span<const loops::Kernel> kernels, const loops::Target& target, const CodegenOptions& options) {
  const std::vector<std::vector<size_t>> groups = deal(kernels);
  if (groups.empty()) return {};
  find_llvm_target(target);
  Compilation compilation(kernels, target, options);
  const std::vector<std::string> objects = compile_groups(compilation, groups, options.threads);
  std::vector<std::string> entries;
  for (size_t k = 0; k < kernels.size(); ++k) entries.push_back(entry_symbol(kernels, k));
  CodeImage image = link(objects, entries);
  check_instructions(image, target);
  image.stack_bytes = compilation.stack_bytes();
  image.required_features = target.required;
  return image;
}

}  // namespace ingot::codegen
