#include "tests/support/code_runner.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>

#include "aot/codegen/execute.h"
#include "tests/support/bochs/runner.h"
#include "tests/support/buffer.h"
#include "tests/support/emulated_runner.h"

namespace ingot {
namespace {

class NativeRunner : public CodeRunner {
 public:
  explicit NativeRunner(const codegen::CodeImage& image) : code_(image) {}

  std::span<std::byte> memory(int64_t bytes) override {
    memory_.emplace(bytes);
    return {memory_->data(), static_cast<size_t>(bytes)};
  }

  void run(size_t kernel, std::span<const int64_t> operands, int64_t scratch, int64_t task) override {
    std::vector<std::byte*> starts;
    for (const int64_t offset : operands) starts.push_back(memory_->data() + offset);
    code_.run(kernel, starts, task, memory_->data() + scratch);
  }

 private:
  codegen::Executable code_;
  std::optional<Buffer> memory_;
};

// ISAs whose rows take turns with each other's; the rows of any other ISA take turns among themselves.
struct SharedTurns {
  std::string_view isa, with;
};
constexpr SharedTurns kSharedTurns[] = {{"armv7e-m", "riscv64"}};

std::string_view turns_of(const loops::Target& target) {
  const auto found = std::ranges::find(kSharedTurns, target.isa, &SharedTurns::isa);
  return found == std::end(kSharedTurns) ? target.isa : found->with;
}

}  // namespace

std::vector<std::string> every_target() {
  std::vector<std::string> names;
  for (const loops::Target& target : loops::all_targets()) names.emplace(names.begin(), target.name);
  return names;
}

bool takes_turn(const loops::Target& target, int64_t k) {
  if (target.isa == loops::find_target("host").isa || std::getenv("INGOT_EVERY_TARGET")) return true;
  int64_t rows = 0, row = 0;
  for (const loops::Target& other : loops::all_targets()) {
    if (turns_of(other) != turns_of(target)) continue;
    if (other.name == target.name) row = rows;
    ++rows;
  }
  return k % rows == row;
}

bool can_run(const loops::Target& target) {
  if (is_for_bochs(target) || target.runs_here()) return true;
  const std::optional<std::string> why = why_not_emulated(target);
  static std::set<std::string> said;
  if (why && said.insert(*why).second) std::printf("  not executed: %s\n", why->c_str());
  return !why;
}

std::unique_ptr<CodeRunner> make_code_runner(const loops::Target& target, const codegen::CodeImage& image) {
  if (is_for_bochs(target)) return std::make_unique<BochsRunner>(target, image);
  if (target.runs_here()) return std::make_unique<NativeRunner>(image);
  return make_emulated_runner(target, image);
}

}  // namespace ingot
