#include "apps/ingot/commands/compile_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/plan/explain_order.h"
#include "apps/ingot/commands/kept_weights.h"
#include "apps/ingot/commands/memory_options.h"

namespace ingot {
namespace {

const MicroBatchNote* parts_of(const Compiled& compiled, const std::string& entry) {
  const auto found = std::ranges::find(compiled.micro_batch_notes, entry, &MicroBatchNote::entry);
  return found == compiled.micro_batch_notes.end() ? nullptr : &*found;
}

const MemoryNote* note_of(const Compiled& compiled, std::string_view target, const std::string& entry) {
  const auto is_it = [&](const MemoryNote& note) { return note.target == target && note.entry == entry; };
  const auto found = std::ranges::find_if(compiled.memory_notes, is_it);
  return found == compiled.memory_notes.end() ? nullptr : &*found;
}

}  // namespace

void print_compiled(const Compiled& compiled, const Written& written) {
  fmt::print("{}: {}\n", written.path, size_text(written.bytes));
  for (size_t t = 0; t < compiled.plans.size(); ++t) {
    const bundle::Target& target = compiled.spec.targets[t];
    fmt::print("  {}: {} kernels, {} of code, {} of constants\n", target.name, target.kernels.size(),
               size_text(target.code.size()), size_text(target.rodata.size()));
    for (const plan::Plan& plan : compiled.plans[t]) {
      fmt::print("    {}: {} steps, arena {}, lower bound {}, scratch {} a thread\n", plan.entry, plan.steps.size(),
                 size_text(plan.arena_bytes), size_text(plan.lower_bound_bytes), size_text(plan.scratch_bytes));
      if (const MicroBatchNote* parts = parts_of(compiled, plan.entry)) {
        fmt::print("      {} micro-batches of {} rows; what is summed over rows is so in another order\n", parts->count,
                   parts->rows);
      }
      const MemoryNote* note = note_of(compiled, target.name, plan.entry);
      if (!note) continue;
      const bool is_least = note->limit_bytes == kLeastBytes;
      fmt::print("      {} of {}; without the limit {}; {} kernels run again, {:.1f} % more time predicted\n",
                 size_text(note->bytes), is_least ? "the least" : size_text(note->limit_bytes) + " allowed",
                 size_text(note->unlimited_bytes), note->runs_again(), 100 * note->again_share());
    }
  }
}

Json compiled_json(const Compiled& compiled, const Written& written, const std::vector<std::string>& notes) {
  Json object = report("compile");
  object[written.kind] = written.path;
  object["bytes"] = written.bytes;
  if (!notes.empty()) object["notes"] = notes;
  if (!compiled.weight_notes.empty()) object["weights"] = kept_weights_json(compiled.weight_notes);
  for (size_t t = 0; t < compiled.plans.size(); ++t) {
    const bundle::Target& target = compiled.spec.targets[t];
    Json row = {{"name", target.name},
                {"kernels", target.kernels.size()},
                {"code_bytes", target.code.size()},
                {"constant_bytes", target.rodata.size()}};
    for (const plan::Plan& plan : compiled.plans[t]) {
      row["entries"].push_back({{"name", plan.entry},
                                {"steps", plan.steps.size()},
                                {"arena_bytes", plan.arena_bytes},
                                {"lower_bound_bytes", plan.lower_bound_bytes},
                                {"scratch_bytes", plan.scratch_bytes}});
      if (const MicroBatchNote* parts = parts_of(compiled, plan.entry))
        row["entries"].back().update({{"micro_batches", parts->count}, {"micro_batch_rows", parts->rows}});
      const MemoryNote* note = note_of(compiled, target.name, plan.entry);
      if (!note) continue;
      const bool is_least = note->limit_bytes == kLeastBytes;
      row["entries"].back().update({{"memory_limit_bytes", is_least ? Json(kLeast) : Json(note->limit_bytes)},
                                    {"unlimited_bytes", note->unlimited_bytes},
                                    {"kernels_run_again", note->runs_again()},
                                    {"more_time_predicted", note->again_share()}});
    }
    object["targets"].push_back(std::move(row));
  }
  return object;
}

std::string explanation(const Compiled& compiled, const std::string& subject) {
  if (subject == "fuse") return to_string(compiled.fuse_notes);
  if (subject == "layout") return to_string(compiled.layout_notes);
  if (subject == "contraction") return to_string(compiled.lowering_notes);
  if (subject == "memory") return to_string(compiled.memory_notes);
  std::string text;
  for (size_t t = 0; t < compiled.plans.size(); ++t) {
    text += fmt::format("for {}\n", compiled.spec.targets[t].name);
    for (const plan::Plan& plan : compiled.plans[t]) text += plan::explain_order(plan);
  }
  return text;
}

}  // namespace ingot
