#include "aot/pipeline/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "aot/base/contains.h"
#include "aot/base/file.h"
#include "aot/base/join.h"
#include "aot/graph/text/print.h"
#include "aot/graph/verify.h"
#include "aot/passes/checks.h"

namespace ingot {
namespace {

constexpr PassRow kCanonicalize[] = {
    {"fold_constants", fold_constants, nullptr, ""},
    {"simplify", simplify, nullptr, ""},
    {"simplify_branches", simplify_branches, nullptr, ""},
    {"simplify_loops", simplify_loops, nullptr, ""},
    {"carry_last_rows", carry_last_rows, nullptr, ""},
    {"unroll_loops", unroll_loops, nullptr, ""},
    {"hoist", hoist, nullptr, ""},
    {"hoist_rows", hoist_rows, nullptr, ""},
    {"recompute_stacks", recompute_stacks, nullptr, ""},
    {"join_iterations", join_iterations, nullptr, ""},
    {"cse", cse, nullptr, ""},
    {"dce", dce, nullptr, ""},
};
std::span<const PassRow> canonicalize_passes() { return kCanonicalize; }

// Order matters only where a reason is written.
constexpr PassRow kCompilePasses[] = {
    {"inline_calls", inline_calls, no_calls, "first: the others look at one function at a time"},
    {"drop_tokens", drop_tokens, no_tokens, "nothing below knows them"},
    {"refine_shapes", refine_shapes, every_dimension_is_known, "before anything that asks for a shape"},
    {"widen_results", widen_results, nullptr, "before whatever changes the steps that the program is written in"},
    {"quantize_to_integers", quantize_to_integers, no_quantized_types, "before expand: a quantized op is one rounding"},
    {"widen_floats", widen_floats, no_narrow_floats, "before expand: whole ops round once"},
    {"expand", expand, no_expandable_ops, "before canonicalize, which is told only of the ops that stay"},
    {"split_complex", split_complex, no_complex_values,
     "after expand, whose ops may be complex; nothing below knows them"},
    {"roll_loops", roll_loops, nullptr,
     "before canonicalize, which leaves first and last iterations unlike the others"},
    {"canonicalize", nullptr, nullptr, "while barriers still keep apart what the user wants apart",
     canonicalize_passes},
    {"drop_barriers", drop_barriers, no_barriers, "after the last pass that would undo them"},
    {"update_rows", update_rows, nullptr, "once sums and factors are simple"},
    {"split_batch", split_batch, nullptr, "once rows can be followed; what is below sees what a part takes"},
    {"fold_scales", fold_scales, nullptr, "once what scales is one constant; its chains are broken by transposes"},
    {"quantize_products", quantize_products, nullptr, "once weights have their scales; what it makes is for the next"},
    {"sum_integers", sum_integers, nullptr, "once scales are constants"},
    {"quantize_weights", quantize_weights, nullptr,
     "after sum_integers: what has integers on both sides is multiplied so"},
    {"multiply_bytes", multiply_bytes, nullptr, "once zero points are constants; layouts are assigned to its words"},
    {"assign_layouts", assign_layouts, nullptr,
     "after canonicalize, which would take its transposes into convolutions"},
    {"rematerialize", rematerialize, nullptr, "after cse, which would undo it"},
    {"sink_rows", sink_rows, nullptr, "after hoist, which would undo some of it"},
    {"join_products", join_products, nullptr, "after hoist, which would lay joined weights out in memory"},
    {"split_products", split_products, nullptr, "after join_products, which would undo it"},
    {"count_trips", count_trips, nullptr, "while the counter's ops can be seen"},
    {"mark_unread", mark_unread, nullptr, "after cse, which would make its constants one"},
    {"mark_triangles", mark_triangles, nullptr, "after whatever makes other products; while masks can be seen"},
    {"fuse", fuse, every_op_is_a_kernel, "a kernel is opaque to the passes above", nullptr, wrap_ops},
    {"chain_kernels", chain_kernels, nullptr, "once there are kernels"},
    {"use_winograd", use_winograd, nullptr, "once what is fused with convolutions is known"},
    {"mark_replaced", mark_replaced, nullptr, "once there are kernels"},
};

// Passes that may report an error of the user's, in the program or in the options. An error of that kind from any other
// pass is a bug of ours.
constexpr std::string_view kRefusing[] = {"inline_calls", "refine_shapes", "expand", "split_batch"};

std::vector<const PassRow*> all_passes() {
  std::vector<const PassRow*> rows;
  for (const PassRow& row : kCompilePasses) {
    rows.push_back(&row);
    if (!row.parts) continue;
    for (const PassRow& part : row.parts()) rows.push_back(&part);
  }
  return rows;
}

void check_names(const PipelineOptions& options) {
  if (!options.stop_after.empty()) pass_named(options.stop_after, "--stop-after");
  for (const std::string& name : options.print_after) {
    if (name == "all" || contains(options.later_stages, name)) continue;
    pass_named(name, "--print-after", options.later_stages);
  }
  for (const std::string& name : options.skip) pass_named(name, "--skip");
}

void verify_after(const PassRow& row, const Module& module) {
  try {
    verify(module);
  } catch (const Error& error) {
    throw_bug(fmt::format("after pass {}: {}", row.name, error.message()));
  }
}

void check_promise(const PassRow& row, const Module& module) {
  if (!row.holds) return;
  if (const std::string complaint = row.holds(module); !complaint.empty()) {
    throw_bug(fmt::format("after pass {}: {}", row.name, complaint));
  }
}

void check_is_not_needed(const PassRow& row, const Module& module) {
  const std::string need = row.holds ? row.holds(module) : "";
  if (!need.empty()) throw_error(nullptr, fmt::format("--skip {}: this program needs the pass: {}", row.name, need));
}

void dump(const PipelineOptions& options, int number, const PassRow& row, const Module& module, bool changed) {
  std::filesystem::create_directories(options.dump_dir);
  const std::string path = fmt::format("{}/{:02}.{}.mlir", options.dump_dir, number, row.name);
  write_file(path, changed || number == 1 ? print(module) : "// (unchanged)\n");
}

struct PassTime {
  const PassRow* row;
  bool is_part;
  double seconds = 0;
  int runs = 0;
  bool changed = false;
};

std::string table_of(const std::vector<PassTime>& times) {
  std::string text = "pass                       ms\n";
  double total = 0;
  for (const PassTime& time : times) {
    text += fmt::format("{:<20} {:>9.3f}", fmt::format("{}{}", time.is_part ? "  " : "", time.row->name),
                        time.seconds * 1e3);
    if (time.is_part) text += fmt::format("  {} runs", time.runs);
    text += time.changed ? "\n" : "  (unchanged)\n";
    if (!time.is_part) total += time.seconds;
  }
  return text + fmt::format("{:<20} {:>9.3f}\n", "total", total * 1e3);
}

class PassRunner {
 public:
  PassRunner(Module& module, PassContext& context, const PipelineOptions& options)
      : module_(module), context_(context), options_(options) {}

  void run(std::span<const PassRow> rows) {
    int number = 0;
    for (const PassRow& row : rows) {
      ++number;
      if (contains(options_.skip, row.name) && !row.instead) {
        check_is_not_needed(row, module_);
        continue;
      }
      const bool changed = run_row(row, /*is_part=*/false);
      if (!options_.dump_dir.empty()) dump(options_, number, row, module_, changed);
      if (is_stopped_) break;
    }
    if (unverified_) verify_after(*unverified_, module_);
    if (options_.time_passes && options_.print) options_.print(table_of(times_));
  }

 private:
  bool run_row(const PassRow& row, bool is_part) {
    using Clock = std::chrono::steady_clock;
    const size_t entry = time_of(row, is_part);
    const Clock::time_point start = Clock::now();
    const auto run = contains(options_.skip, row.name) ? row.instead : row.run;
    const bool changed = row.parts ? run_parts(row.parts()) : run_pass(row, run);
    PassTime& time = times_[entry];
    time.seconds += std::chrono::duration<double>(Clock::now() - start).count();
    ++time.runs;
    time.changed |= changed;
    if (!is_part || changed) finish(row, changed);
    is_stopped_ |= row.name == options_.stop_after;
    return changed;
  }

  bool run_pass(const PassRow& row, bool (*run)(Module&, PassContext&)) {
    try {
      return run(module_, context_);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kError || contains(kRefusing, row.name)) throw;
      throw_bug(fmt::format("pass {}: {}", row.name, error.message()));
    }
  }

  bool run_parts(std::span<const PassRow> parts) {
    bool changed = false;
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (const PassRow& part : parts) {
        if (contains(options_.skip, part.name)) continue;
        goes_on |= run_row(part, /*is_part=*/true);
        if (is_stopped_) return changed | goes_on;
      }
      changed |= goes_on;
    }
    return changed;
  }

  // Whoever says that nothing is changed is believed until the last row. Parts are verified one by one.
  void finish(const PassRow& row, bool changed) {
    unverified_ = &row;
    if (changed && !row.parts) {
      verify_after(row, module_);
      unverified_ = nullptr;
    }
    check_promise(row, module_);
    if (!options_.print) return;
    if (contains(options_.print_after, row.name) || contains(options_.print_after, "all")) {
      options_.print(fmt::format("// after {}{}\n{}", row.name, changed ? "" : " (unchanged)", print(module_)));
    }
  }

  // The row's place in times_: a part has one for all its runs.
  size_t time_of(const PassRow& row, bool is_part) {
    const auto found = std::ranges::find(times_, &row, &PassTime::row);
    if (is_part && found != times_.end()) return static_cast<size_t>(found - times_.begin());
    times_.push_back({&row, is_part});
    return times_.size() - 1;
  }

  Module& module_;
  PassContext& context_;
  const PipelineOptions& options_;
  std::vector<PassTime> times_;
  const PassRow* unverified_ = nullptr;  // the last row, where the module was not verified after it
  bool is_stopped_ = false;
};

}  // namespace

std::span<const PassRow> compile_passes() { return kCompilePasses; }

const PassRow* find_pass(std::string_view name) {
  for (const PassRow* row : all_passes()) {
    if (row->name == name) return row;
  }
  return nullptr;
}

const PassRow& pass_named(std::string_view name, std::string_view option, const std::vector<std::string>& others) {
  if (const PassRow* row = find_pass(name)) return *row;
  std::vector<std::string> names = pass_names();
  names.insert(names.end(), others.begin(), others.end());
  throw_error(nullptr, fmt::format("{}: there is no pass '{}'; the passes are {}", option, name, join(names, ", ")));
}

std::vector<std::string> pass_names() {
  std::vector<std::string> names;
  for (const PassRow* row : all_passes()) names.emplace_back(row->name);
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
  check_names(options);
  PassRunner(module, context, options).run(rows);
}

void check_shapes_are_used(const std::vector<GivenShape>& shapes) {
  for (const GivenShape& given : shapes) {
    if (given.is_used) continue;
    throw_error(nullptr, "--shape: no entry point has an argument or a dimension of the name " + given.name);
  }
}

}  // namespace ingot
