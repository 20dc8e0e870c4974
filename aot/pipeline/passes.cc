#include "aot/pipeline/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "aot/base/file.h"
#include "aot/base/join.h"
#include "aot/graph/text/print.h"
#include "aot/graph/verify.h"
#include "aot/passes/checks.h"

namespace ingot {
namespace {

// Order matters only where a reason is written.
constexpr PassRow kCompilePasses[] = {
    {"inline_calls", inline_calls, no_calls, "first: the others look at one function at a time"},
    {"drop_tokens", drop_tokens, no_tokens, "nothing below knows them"},
    {"refine_shapes", refine_shapes, every_dimension_is_known, "before anything that asks for a shape"},
    {"quantize_to_integers", quantize_to_integers, no_quantized_types, "before expand: a quantized op is one rounding"},
    {"widen_floats", widen_floats, no_narrow_floats, "before expand: whole ops round once"},
    {"widen_results", widen_results, nullptr, "before whatever changes the steps that the program is written in"},
    {"expand", expand, no_expandable_ops, "before canonicalize, which is told only of the ops that stay"},
    {"split_complex", split_complex, no_complex_values,
     "after expand, whose ops may be complex; nothing below knows them"},
    {"canonicalize", canonicalize, nullptr, "while barriers still keep apart what the user wants apart"},
    {"drop_barriers", drop_barriers, no_barriers, "after the last pass that would undo them"},
    {"assign_layouts", assign_layouts, nullptr,
     "after canonicalize, which would take its transposes into convolutions"},
    {"rematerialize", rematerialize, nullptr, "after cse, which would undo it"},
    {"join_products", join_products, nullptr, "after hoist, which would lay joined weights out in memory"},
    {"count_trips", count_trips, nullptr, "while the counter's ops can be seen"},
    {"fuse", fuse, every_op_is_a_kernel, "a kernel is opaque to the passes above"},
    {"mark_replaced", mark_replaced, nullptr, "once there are kernels"},
};

// The parts of canonicalize, for `ingot opt` and tests.
constexpr PassRow kOtherPasses[] = {
    {"fold_constants", fold_constants, nullptr, ""},
    {"simplify", simplify, nullptr, ""},
    {"simplify_branches", simplify_branches, nullptr, ""},
    {"simplify_loops", simplify_loops, nullptr, ""},
    {"unroll_loops", unroll_loops, nullptr, ""},
    {"hoist", hoist, nullptr, ""},
    {"recompute_stacks", recompute_stacks, nullptr, ""},
    {"cse", cse, nullptr, ""},
    {"dce", dce, nullptr, ""},
};

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void check_names(const PipelineOptions& options) {
  if (!options.stop_after.empty()) pass_named(options.stop_after, "--stop-after");
  for (const std::string& name : options.print_after) {
    if (name != "all") pass_named(name, "--print-after");
  }
  for (const std::string& name : options.skip) pass_named(name, "--skip");
}

void check_promise(const PassRow& row, const Module& module) {
  try {
    verify(module);
  } catch (const Error& error) {
    throw_bug(fmt::format("after pass {}: {}", row.name, error.message()));
  }
  if (!row.holds) return;
  if (const std::string complaint = row.holds(module); !complaint.empty()) {
    throw_bug(fmt::format("after pass {}: {}", row.name, complaint));
  }
}

void dump(const PipelineOptions& options, int number, const PassRow& row, const Module& module, bool changed) {
  std::filesystem::create_directories(options.dump_dir);
  const std::string path = fmt::format("{}/{:02}.{}.mlir", options.dump_dir, number, row.name);
  write_file(path, changed || number == 1 ? print(module) : "// (unchanged)\n");
}

struct PassTime {
  std::string_view name;
  double seconds;
  bool changed;
};

std::string table_of(const std::vector<PassTime>& times) {
  std::string text = "pass                       ms\n";
  double total = 0;
  for (const PassTime& time : times) {
    text += fmt::format("{:<20} {:>9.3f}{}\n", time.name, time.seconds * 1e3, time.changed ? "" : "  (unchanged)");
    total += time.seconds;
  }
  return text + fmt::format("{:<20} {:>9.3f}\n", "total", total * 1e3);
}

}  // namespace

std::span<const PassRow> compile_passes() { return kCompilePasses; }

const PassRow* find_pass(std::string_view name) {
  for (const std::span<const PassRow> table :
       {std::span<const PassRow>(kCompilePasses), std::span<const PassRow>(kOtherPasses)}) {
    for (const PassRow& row : table) {
      if (row.name == name) return &row;
    }
  }
  return nullptr;
}

const PassRow& pass_named(std::string_view name, std::string_view option) {
  if (const PassRow* row = find_pass(name)) return *row;
  throw_error(nullptr,
              fmt::format("{}: there is no pass '{}'; the passes are {}", option, name, join(pass_names(), ", ")));
}

std::vector<std::string> pass_names() {
  std::vector<std::string> names;
  for (const PassRow& row : kCompilePasses) names.emplace_back(row.name);
  for (const PassRow& row : kOtherPasses) names.emplace_back(row.name);
  return names;
}

std::string to_string(const std::vector<FuseNote>& notes) {
  std::string text;
  for (const FuseNote& note : notes) {
    const std::string place = describe(note.location);
    text += fmt::format("{}{}: {} stays out of the kernel of {}: {}\n", place, place.empty() ? "fuse" : ": fuse",
                        note.producer, note.consumer, note.reason);
  }
  return text;
}

std::string to_string(const std::vector<LayoutNote>& notes) {
  std::string text;
  for (const LayoutNote& note : notes) {
    const std::string place = describe(note.location);
    text +=
        fmt::format("{}{}layout: {} [{}] x [{}] -> [{}]: {:.1f} us; as written {:.1f} us, channels last {:.1f} us\n",
                    place, place.empty() ? "" : ": ", note.is_kernel_gradient ? "kernel gradient" : "convolution",
                    join(note.orders[0], ", "), join(note.orders[1], ", "), join(note.orders[2], ", "),
                    note.chosen_ns / 1e3, note.written_ns / 1e3, note.last_ns / 1e3);
  }
  return text;
}

void run_passes(std::span<const PassRow> rows, Module& module, PassContext& context, const PipelineOptions& options) {
  using Clock = std::chrono::steady_clock;
  check_names(options);
  std::vector<PassTime> times;
  int number = 0;
  for (const PassRow& row : rows) {
    ++number;
    if (contains(options.skip, row.name)) continue;
    const Clock::time_point start = Clock::now();
    const bool changed = row.run(module, context);
    times.push_back({row.name, std::chrono::duration<double>(Clock::now() - start).count(), changed});
    check_promise(row, module);
    if (!options.dump_dir.empty()) dump(options, number, row, module, changed);
    if (options.print && (contains(options.print_after, row.name) || contains(options.print_after, "all"))) {
      options.print(fmt::format("// after {}{}\n{}", row.name, changed ? "" : " (unchanged)", print(module)));
    }
    if (row.name == options.stop_after) break;
  }
  if (options.time_passes && options.print) options.print(table_of(times));
}

void check_shapes_are_used(const std::vector<GivenShape>& shapes) {
  for (const GivenShape& given : shapes) {
    if (given.is_used) continue;
    throw_error(nullptr, "--shape: no entry point has an argument or a dimension of the name " + given.name);
  }
}

}  // namespace ingot
