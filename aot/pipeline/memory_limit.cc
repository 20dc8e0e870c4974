#include "aot/pipeline/memory_limit.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/analysis/kernel_time.h"
#include "aot/analysis/traffic.h"
#include "aot/base/error.h"
#include "aot/base/join.h"
#include "aot/graph/attributes.h"
#include "aot/plan/explain_order.h"
#include "aot/plan/fit_arena.h"

namespace ingot {
namespace {

constexpr int kTightenings = 12;          // of the bytes that live at once, until their places fit
constexpr int kBisections = 8;            // in search for the least
constexpr size_t kHoldersMax = 8;         // tensors that an error names, ...
constexpr int64_t kHolderShareMin = 100;  // each of a hundredth of the arena at least

int64_t bytes_of(const plan::Plan& plan) { return plan.arena_bytes + plan.scratch_bytes; }

struct Fitted {
  lowered::Function function;
  plan::Plan plan;
  std::vector<plan::MadeAgain> again;
};

class MemoryFit {
 public:
  MemoryFit(int64_t limit_bytes, const lowered::Function& function, const Function& entry, const loops::Target& target,
            const MakePlan& make_plan)
      : limit_bytes_(limit_bytes),
        function_(function),
        entry_(entry),
        target_(target),
        make_plan_(make_plan),
        kernels_(kernels_of(entry)) {
    for (const Op* kernel : kernels_) kernel_ns_.push_back(predicted_ns(*kernel, target));
    best_ = {function, make_plan(function), {}};
    unlimited_bytes_ = bytes_of(best_.plan);
  }

  Fitted run() {
    if (limit_bytes_ != kLeastBytes && !fits()) tighten();
    if (!fits()) find_least();
    if (limit_bytes_ != kLeastBytes && !fits()) throw OverMemoryLimit(entry_, bytes_of(best_.plan), complaint());
    return std::move(best_);
  }

  MemoryNote note(const Fitted& fitted) const {
    MemoryNote note;
    note.entry = entry_.name;
    note.target = target_.name;
    note.limit_bytes = limit_bytes_;
    note.bytes = bytes_of(fitted.plan);
    note.unlimited_bytes = unlimited_bytes_;
    for (const double ns : kernel_ns_) note.once_ns += ns;
    for (const auto& [kernel, times, ns] : fitted.again) {
      if (kernel < 0) {
        note.again.push_back({entry_.location, "copy", times, ns});
      } else {
        note.again.push_back({kernels_[kernel]->location, name_of(kernel), times, ns});
      }
    }
    std::ranges::stable_sort(note.again, std::greater<>(),
                             [](const MemoryNote::Again& again) { return again.times * again.ns; });
    return note;
  }

 private:
  bool fits() const { return bytes_of(best_.plan) <= limit_bytes_; }

  std::string name_of(int kernel) const { return attr_text(kernels_[kernel]->attr_map, "name"); }

  double ns_of(const lowered::Node& node) const {
    if (node.graph_kernel >= 0) return kernel_ns_[node.graph_kernel];
    int64_t bytes = 0;
    for (const lowered::ValueId result : node.results) bytes += function_.type(result).bytes();
    return predicted_copy_ns(2 * bytes, target_);
  }

  // Bytes of the plan that has no more of the arena alive at once; nullopt where there is none. The least is kept.
  std::optional<int64_t> attempt(int64_t live_bytes) {
    Fitted fitted{function_, {}, {}};
    const auto again =
        plan::fit_arena(fitted.function, live_bytes, [&](const lowered::Node& node) { return ns_of(node); });
    if (!again) return std::nullopt;
    fitted.again = *again;
    fitted.plan = make_plan_(fitted.function);
    const int64_t bytes = bytes_of(fitted.plan);
    if (bytes < bytes_of(best_.plan)) best_ = std::move(fitted);
    return bytes;
  }

  // What lives at once may leave gaps between its places: by so much it must be less.
  void tighten() {
    int64_t live_bytes = limit_bytes_ - best_.plan.scratch_bytes;
    for (int i = 0; i < kTightenings && live_bytes > 0 && !fits(); ++i) {
      const std::optional<int64_t> bytes = attempt(live_bytes);
      if (!bytes) return;
      live_bytes -= std::max(*bytes - limit_bytes_, plan::kAlignmentBytes);
    }
  }

  void find_least() {
    int64_t low = plan::least_arena_bytes(function_), high = best_.plan.arena_bytes;
    attempt(low);
    for (int i = 0; i < kBisections && low + plan::kAlignmentBytes < high && !fits(); ++i) {
      const int64_t middle = plan::align_up(low + (high - low) / 2);
      (attempt(middle) ? high : low) = middle;
    }
  }

  std::string complaint() const {
    const plan::Plan& plan = best_.plan;
    const std::vector<int64_t> live = plan::live_bytes(plan);
    const int step = live.empty() ? 0 : static_cast<int>(std::ranges::max_element(live) - live.begin());
    return fmt::format(
        "@{} takes {} bytes at least for {}, more than the {} bytes of --memory-limit, even where it computes again "
        "what it reads late: {} of scratch, and an arena of {}, of which at the fullest step {} holds most: {}; "
        "fewer rows at a time take less: --micro-batches",
        entry_.name, bytes_of(plan), target_.name, limit_bytes_, plan.scratch_bytes, plan.arena_bytes, step,
        join(holders(step), ", "));
  }

  // The largest tensors of the arena that are alive in a step.
  std::vector<std::string> holders(int step) const {
    std::vector<const plan::Buffer*> alive;
    for (const plan::Buffer& buffer : best_.plan.buffers) {
      if (buffer.space == plan::Space::kArena && buffer.first_step <= step && buffer.last_step >= step)
        alive.push_back(&buffer);
    }
    std::ranges::stable_sort(alive, std::greater<>(), [](const plan::Buffer* buffer) { return buffer->bytes(); });
    std::vector<std::string> texts;
    for (const plan::Buffer* buffer : alive) {
      if (texts.size() == kHoldersMax || buffer->bytes() < best_.plan.arena_bytes / kHolderShareMin) break;
      const int call = buffer->first_step < 0 ? -1 : best_.plan.steps[buffer->first_step].call;
      const std::string place = call < 0 ? "" : describe(kernels_[call]->location);
      texts.push_back(fmt::format("{} ({}, {} bytes{}{})", buffer->name, to_string(buffer->type), buffer->bytes(),
                                  place.empty() ? "" : ", made at ", place));
    }
    return texts;
  }

  const int64_t limit_bytes_;
  const lowered::Function& function_;
  const Function& entry_;
  const loops::Target& target_;
  const MakePlan& make_plan_;
  const std::vector<const Op*> kernels_;  // by lowered::Node::graph_kernel
  std::vector<double> kernel_ns_;
  Fitted best_;
  int64_t unlimited_bytes_ = 0;
};

}  // namespace

OverMemoryLimit::OverMemoryLimit(const Function& entry, int64_t bytes, const std::string& message)
    : Error(ErrorKind::kError, entry.location, message), entry_(entry.name), bytes_(bytes) {}

OverMemoryLimit::OverMemoryLimit(const OverMemoryLimit& error, const std::string& more)
    : Error(error.kind(), error.location(), error.message() + "; " + more),
      entry_(error.entry()),
      bytes_(error.bytes()) {}

std::optional<int64_t> limit_of(const std::vector<MemoryLimit>& limits, const std::string& entry) {
  std::optional<int64_t> bytes;
  for (const MemoryLimit& limit : limits) {
    if (limit.entry == entry) return limit.bytes;
    if (limit.entry.empty()) bytes = limit.bytes;
  }
  return bytes;
}

void check_limits(const std::vector<MemoryLimit>& limits, const std::vector<Function*>& entries) {
  for (auto at = limits.begin(); at != limits.end(); ++at) {
    const std::string what = at->entry.empty() ? "every entry point" : "the entry point '" + at->entry + "'";
    if (std::ranges::find(limits.begin(), at, at->entry, &MemoryLimit::entry) != at) {
      throw_error(nullptr, fmt::format("--memory-limit: {} has two limits; give one", what));
    }
    const auto is_it = [&](const Function* entry) { return entry->name == at->entry; };
    if (at->entry.empty() || std::ranges::any_of(entries, is_it)) continue;
    std::vector<std::string> names;
    for (const Function* entry : entries) names.push_back(entry->name);
    throw_error(nullptr, fmt::format("--memory-limit: there is no entry point '{}'; the entry points are {}", at->entry,
                                     join(names, ", ")));
  }
}

int MemoryNote::runs_again() const {
  int runs = 0;
  for (const Again& kernel : again) runs += kernel.times;
  return runs;
}

double MemoryNote::again_ns() const {
  double ns = 0;
  for (const Again& kernel : again) ns += kernel.times * kernel.ns;
  return ns;
}

std::string to_string(const std::vector<MemoryNote>& notes) {
  std::string text;
  for (const MemoryNote& note : notes) {
    text += fmt::format(
        "memory of {} for {}: {} bytes of {}, {} without the limit; {} kernels run again: {:.1f} us predicted beside "
        "{:.1f} us\n",
        note.entry, note.target, note.bytes,
        note.limit_bytes == kLeastBytes ? "the least" : std::to_string(note.limit_bytes), note.unlimited_bytes,
        note.runs_again(), note.again_ns() / 1e3, note.once_ns / 1e3);
    for (const MemoryNote::Again& again : note.again) {
      const std::string place = describe(again.location);
      text += fmt::format("  {}{}{}: {}, {:.1f} us\n", place, place.empty() ? "" : ": ", again.kernel,
                          again.times == 1 ? "once more" : fmt::format("{} times more", again.times), again.ns / 1e3);
    }
  }
  return text;
}

plan::Plan plan_within(int64_t limit_bytes, lowered::Function& function, const Function& entry,
                       const loops::Target& target, const MakePlan& make_plan, std::vector<MemoryNote>& notes) {
  MemoryFit fit(limit_bytes, function, entry, target, make_plan);
  Fitted fitted = fit.run();
  notes.push_back(fit.note(fitted));
  function = std::move(fitted.function);
  return std::move(fitted.plan);
}

}  // namespace ingot
