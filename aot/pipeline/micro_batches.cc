#include "aot/pipeline/micro_batches.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/base/contains.h"
#include "aot/base/error.h"
#include "aot/base/join.h"

namespace ingot {
namespace {

bool is_auto(const MicroBatches& row) { return row.count == kAutoMicroBatches; }

// A row of its own for each entry point that has one.
std::vector<MicroBatches> of_entries(const std::vector<MicroBatches>& asked, const std::vector<Function*>& entries) {
  std::vector<MicroBatches> rows;
  for (const Function* entry : entries) {
    if (const MicroBatches* row = micro_batches_for(entry->name, asked)) rows.push_back({entry->name, row->count});
  }
  return rows;
}

// Doubles the parts of the entry points whose number is automatic.
class PartsSearch {
 public:
  PartsSearch(std::vector<MicroBatches> rows, const TryParts& try_parts)
      : rows_(std::move(rows)), try_parts_(try_parts) {
    for (MicroBatches& row : rows_) {
      if (!is_auto(row)) continue;
      automatic_.push_back(row.entry);
      row = {row.entry, 1, /*is_least=*/true};
    }
  }

  std::vector<MicroBatches> run() {
    while (true) {
      try {
        const std::vector<std::string> slow = slowed_down(try_parts_(rows_));
        if (slow.empty()) return rows_;
        if (!fitting_) fitting_ = rows_;
        for (const std::string& entry : slow) add_parts(entry);
      } catch (const OverMemoryLimit& error) {
        if (!contains(automatic_, error.entry())) throw;
        if (fitting_) return *fitting_;
        over_ = error;
        add_parts(error.entry());
      } catch (const CannotSplit& error) {
        if (fitting_) return *fitting_;
        if (!over_ || !contains(automatic_, error.entry())) throw;
        throw OverMemoryLimit(*over_, error.message());
      }
    }
  }

 private:
  MicroBatches& row(const std::string& entry) { return *std::ranges::find(rows_, entry, &MicroBatches::entry); }
  void add_parts(const std::string& entry) { row(entry).count *= 2; }

  // The entry points in which more parts may take less time. A whole batch stays whole, as no bit of it changes.
  std::vector<std::string> slowed_down(const std::map<std::string, double>& again_shares) {
    constexpr double kLittle = 0.1;
    std::vector<std::string> slow;
    for (const std::string& entry : automatic_) {
      const auto share = again_shares.find(entry);
      if (row(entry).count > 1 && share != again_shares.end() && share->second > kLittle) slow.push_back(entry);
    }
    return slow;
  }

  std::vector<MicroBatches> rows_;
  const TryParts& try_parts_;
  std::vector<std::string> automatic_;
  std::optional<OverMemoryLimit> over_;               // the last
  std::optional<std::vector<MicroBatches>> fitting_;  // the first that keep the limits
};

}  // namespace

bool has_auto(const std::vector<MicroBatches>& asked) { return std::ranges::any_of(asked, is_auto); }

void check_micro_batches(const std::vector<MicroBatches>& asked, const std::vector<Function*>& entries,
                         const std::vector<MemoryLimit>& limits) {
  for (auto at = asked.begin(); at != asked.end(); ++at) {
    const std::string what = at->entry.empty() ? "every entry point" : "the entry point '" + at->entry + "'";
    if (std::ranges::find(asked.begin(), at, at->entry, &MicroBatches::entry) != at)
      throw_error(nullptr, fmt::format("--micro-batches: {} has two numbers; give one", what));
    std::vector<std::string> names;
    for (const Function* entry : entries) names.push_back(entry->name);
    if (!at->entry.empty() && std::ranges::find(names, at->entry) == names.end()) {
      throw_error(nullptr, fmt::format("--micro-batches: there is no entry point '{}'; the entry points are {}",
                                       at->entry, join(names, ", ")));
    }
    const bool is_limited = std::ranges::any_of(names, [&](const std::string& name) {
      return (at->entry.empty() || at->entry == name) && limit_of(limits, name).value_or(kLeastBytes) != kLeastBytes;
    });
    if (is_auto(*at) && !is_limited)
      throw_error(nullptr, fmt::format("--micro-batches auto keeps --memory-limit: give {} one in bytes", what));
  }
}

std::vector<MicroBatches> fewest_parts(const std::vector<MicroBatches>& asked, const std::vector<Function*>& entries,
                                       const TryParts& try_parts) {
  return PartsSearch(of_entries(asked, entries), try_parts).run();
}

}  // namespace ingot
