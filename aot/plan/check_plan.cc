#include "aot/plan/check_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "aot/base/error.h"

namespace ingot::plan {
namespace {

// Who wrote each byte of one space last: disjoint ranges, by their first byte.
class Memory {
 public:
  void write(int64_t begin, int64_t end, int owner) {
    if (begin == end) return;
    split(begin);
    split(end);
    ranges_.erase(ranges_.lower_bound(begin), ranges_.lower_bound(end));
    ranges_[begin] = {end, owner};
  }

  // The first owner in begin..end that is not `owner`: -1 for bytes never written; `owner` itself when all is well.
  int other_owner(int64_t begin, int64_t end, int owner) const {
    auto at = ranges_.upper_bound(begin);
    if (at != ranges_.begin()) --at;
    int64_t covered = begin;
    for (; at != ranges_.end() && at->first < end; ++at) {
      if (at->second.first <= begin) continue;
      if (at->first > covered) return -1;
      if (at->second.second != owner) return at->second.second;
      covered = at->second.first;
    }
    return covered >= end ? owner : -1;
  }

  // What is known when this or `other` may be true: bytes that one owner wrote in both.
  Memory joined(const Memory& other) const {
    Memory both = *this, theirs = other;
    for (const auto& [begin, range] : other.ranges_) {
      both.split(begin);
      both.split(range.first);
    }
    for (const auto& [begin, range] : both.ranges_) {
      theirs.split(begin);
      theirs.split(range.first);
    }
    std::erase_if(both.ranges_, [&](const auto& entry) {
      const auto found = theirs.ranges_.find(entry.first);
      return found == theirs.ranges_.end() || found->second != entry.second;
    });
    return both;
  }

  // Whether all that `less` knows is known here.
  bool knows(const Memory& less) const {
    return std::ranges::all_of(less.ranges_, [&](const auto& entry) {
      return other_owner(entry.first, entry.second.first, entry.second.second) == entry.second.second;
    });
  }

 private:
  void split(int64_t at) {
    auto after = ranges_.upper_bound(at);
    if (after == ranges_.begin()) return;
    auto& [begin, range] = *--after;
    if (begin < at && at < range.first) {
      ranges_[at] = range;
      range.first = at;
    }
  }

  std::map<int64_t, std::pair<int64_t, int>> ranges_;  // begin -> (end, owner)
};

class Checker {
 public:
  Checker(const Plan& plan, int64_t state_bytes, int64_t rodata_bytes) : plan_(plan) {
    sizes_ = {{Space::kArena, plan.arena_bytes}, {Space::kState, state_bytes}, {Space::kRodata, rodata_bytes}};
  }

  void run() {
    for (size_t i = 0; i < plan_.buffers.size(); ++i) check_place(plan_.buffers[i]);
    for (size_t i = 0; i < plan_.buffers.size(); ++i) {
      if (plan_.buffers[i].first_step == kBeforeFirstStep) write(static_cast<int>(i));
    }
    run_range(0, static_cast<int>(plan_.steps.size()));
    for (size_t i = 0; i < plan_.buffers.size(); ++i) {
      const Buffer& buffer = plan_.buffers[i];
      if (buffer.last_step >= static_cast<int>(plan_.steps.size())) read(static_cast<int>(i), "after the last step");
    }
  }

 private:
  using Memories = std::map<std::pair<Space, int>, Memory>;  // of addressed spaces; by index, inputs and outputs

  void run_range(int begin, int end) {
    for (int at = begin; at < end;) {
      const Step& step = plan_.steps[at];
      if (step.kind == StepKind::kKernel) {
        run_step(at++);
        continue;
      }
      check_jump(at);
      const int target = step.target;
      if (step.kind == StepKind::kJump || target <= at + 1 || target > end) fail_jump(at);
      run_step(at);
      const Step& last = plan_.steps[target - 1];  // of what is done when the test holds
      if (last.kind != StepKind::kJump) fail_jump(at);
      check_jump(target - 1);
      if (last.target <= at) {
        if (last.target < begin) fail_jump(target - 1);
        run_loop(last.target, at, target);
        at = target;
      } else {
        if (last.target < target || last.target > end) fail_jump(target - 1);
        run_branches(at, target, last.target);
        at = last.target;
      }
    }
  }

  // head..test has run; then the body any number of times, the condition after it each time.
  void run_loop(int head, int test, int end) {
    Memories known = memories_;
    while (true) {
      run_range(test + 1, end - 1);
      run_range(head, test);
      run_step(test);
      const bool is_settled = join(known);
      memories_ = known;
      if (is_settled) return;
    }
  }

  void run_branches(int test, int otherwise, int end) {
    Memories before = memories_;
    run_range(test + 1, otherwise - 1);
    std::swap(before, memories_);
    run_range(otherwise, end);
    join(before);
    memories_ = std::move(before);
  }

  // `known` becomes what holds there and in memory; true when it loses nothing.
  bool join(Memories& known) {
    bool loses_nothing = true;
    for (auto& [place, memory] : known) {
      loses_nothing &= memories_[place].knows(memory);
      memory = memory.joined(memories_[place]);
    }
    return loses_nothing;
  }

  [[noreturn]] void fail_jump(int index) {
    fail(fmt::format("the jump of step {} is neither a loop's nor a branch's", index));
  }

  void check_jump(int index) {
    const Step& step = plan_.steps[index];
    for (const int at : {index, index + 1, step.target}) {
      if (at < 0 || at > static_cast<int>(plan_.steps.size())) fail_jump(index);
      if (at < static_cast<int>(plan_.steps.size()) && !plan_.steps[at].barrier) {
        fail(fmt::format("step {} has no barrier, but step {} jumps", at, index));
      }
    }
  }

  // A memory of its own for each addressed space, and for each input and output.
  Memory& memory(const Buffer& buffer) {
    const bool addressed = sizes_.contains(buffer.space);
    return memories_[{buffer.space, addressed ? 0 : buffer.index}];
  }

  [[noreturn]] void fail(const std::string& what) { throw_bug(fmt::format("plan {}: {}", plan_.entry, what)); }

  void check_place(const Buffer& buffer) {
    if (buffer.offset_bytes < 0 || buffer.offset_bytes % kAlignmentBytes != 0) {
      fail(fmt::format("{} starts at {}, which is not a multiple of {}", buffer.name, buffer.offset_bytes,
                       kAlignmentBytes));
    }
    const auto size = sizes_.find(buffer.space);
    if (size != sizes_.end() && buffer.offset_bytes + buffer.bytes() > size->second) {
      fail(fmt::format("{} ends at byte {} of a space of {}", buffer.name, buffer.offset_bytes + buffer.bytes(),
                       size->second));
    }
  }

  void write(int id) {
    const Buffer& buffer = plan_.buffers[id];
    memory(buffer).write(buffer.offset_bytes, buffer.offset_bytes + buffer.bytes(), id);
  }

  void read(int id, const std::string& when) {
    const Buffer& buffer = plan_.buffers[id];
    if (buffer.space == Space::kRodata) return;  // equal constants share their bytes
    const int owner = memory(buffer).other_owner(buffer.offset_bytes, buffer.offset_bytes + buffer.bytes(), id);
    if (owner == id) return;
    fail(fmt::format("{} is read {}, but its bytes {}", buffer.name, when,
                     owner < 0 ? "were never written" : "hold " + plan_.buffers[owner].name));
  }

  bool overlap(const Buffer& a, const Buffer& b) const {
    if (a.space != b.space) return false;
    if (!sizes_.contains(a.space) && a.index != b.index) return false;
    return a.offset_bytes < b.offset_bytes + b.bytes() && b.offset_bytes < a.offset_bytes + a.bytes();
  }

  void check_concurrent(int index) {
    const Step& step = plan_.steps[index];
    if (step.barrier) concurrent_from_ = index;
    for (int earlier = concurrent_from_; earlier < index; ++earlier) {
      const Step& other = plan_.steps[earlier];
      for (size_t i = 0; i < step.buffers.size(); ++i) {
        for (size_t j = 0; j < other.buffers.size(); ++j) {
          const Buffer& a = plan_.buffers[step.buffers[i]];
          const Buffer& b = plan_.buffers[other.buffers[j]];
          if ((step.writes[i] || other.writes[j]) && overlap(a, b)) {
            fail(fmt::format("steps {} and {} have no barrier between them, but {} and {} share bytes", earlier, index,
                             b.name, a.name));
          }
        }
      }
    }
  }

  void run_step(int index) {
    const Step& step = plan_.steps[index];
    check_concurrent(index);
    for (size_t i = 0; i < step.buffers.size(); ++i) {
      if (!step.writes[i]) read(step.buffers[i], fmt::format("by step {}", index));
    }
    for (int id : step.buffers) {
      const Buffer& buffer = plan_.buffers[id];
      if (index >= buffer.first_step && index <= buffer.last_step) continue;
      fail(fmt::format("step {} uses {} outside of its life", index, buffer.name));
    }
    for (size_t i = 0; i < step.buffers.size(); ++i) {
      if (!step.writes[i]) continue;
      const Buffer& written = plan_.buffers[step.buffers[i]];
      if (written.space == Space::kInput || written.space == Space::kRodata) {
        fail(fmt::format("step {} writes {}, which is read only", index, written.name));
      }
      for (size_t j = 0; j < step.buffers.size(); ++j) {
        const Buffer& other = plan_.buffers[step.buffers[j]];
        // A carried value has one buffer for its old and its new value.
        const bool is_carried = step.buffers[i] == step.buffers[j] && !step.writes[j];
        const bool declared =
            is_carried || (written.in_place_of == step.buffers[j] && other.offset_bytes == written.offset_bytes);
        if (i != j && other.bytes() > 0 && written.bytes() > 0 && overlap(written, other) && !declared) {
          fail(fmt::format("step {} writes {} over its own operand {}", index, written.name, other.name));
        }
      }
      write(step.buffers[i]);
    }
  }

  const Plan& plan_;
  std::map<Space, int64_t> sizes_;
  Memories memories_;
  int concurrent_from_ = 0;
};

}  // namespace

void check_plan(const Plan& plan, int64_t state_bytes, int64_t rodata_bytes) {
  Checker(plan, state_bytes, rodata_bytes).run();
}

}  // namespace ingot::plan
