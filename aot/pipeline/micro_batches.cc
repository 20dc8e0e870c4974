#include "aot/pipeline/micro_batches.h"

#include <fmt/format.h>

#include <algorithm>

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
                                       const std::function<void(const std::vector<MicroBatches>&)>& try_parts) {
  std::vector<MicroBatches> rows = of_entries(asked, entries);
  std::vector<std::string> automatic;
  for (MicroBatches& row : rows) {
    if (!is_auto(row)) continue;
    automatic.push_back(row.entry);
    row = {row.entry, 1, /*is_least=*/true};
  }
  std::optional<OverMemoryLimit> over;
  while (true) {
    try {
      try_parts(rows);
      return rows;
    } catch (const OverMemoryLimit& error) {
      if (std::ranges::find(automatic, error.entry()) == automatic.end()) throw;
      over = error;
      std::ranges::find(rows, error.entry(), &MicroBatches::entry)->count *= 2;
    } catch (const CannotSplit& error) {
      if (!over || std::ranges::find(automatic, error.entry()) == automatic.end()) throw;
      throw OverMemoryLimit(*over, error.message());
    }
  }
}

}  // namespace ingot
