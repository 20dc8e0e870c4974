// The pipeline's table of contents: every graph pass, in order, with what holds after it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "aot/passes/pass.h"

namespace ingot {

struct PassRow {
  std::string_view name;
  bool (*run)(Module&, PassContext&);   // whether it changed anything. Null: `parts` are run
  std::string (*holds)(const Module&);  // what holds afterwards: "" or a complaint. Null: that the graph is whole
  std::string_view why_here;            // the reason for its place; empty where any place would do
  std::span<const PassRow> (*parts)() = nullptr;  // run in turn until none changes anything: each feeds the others
  // What runs where the pass is skipped. Null: nothing does, and a program for which `holds` then fails needs the pass.
  bool (*instead)(Module&, PassContext&) = nullptr;
};

// What `ingot compile` runs.
std::span<const PassRow> compile_passes();

// The passes of that table and their parts.
const PassRow* find_pass(std::string_view name);  // null when there is none
// Or an error that lists those there are, and `others`, which the option may name as well.
const PassRow& pass_named(std::string_view name, std::string_view option, const std::vector<std::string>& others = {});
std::vector<std::string> pass_names();

// One line for each note: where, what stayed apart, why.
std::string to_string(const std::vector<FuseNote>& notes);
// One line for each convolution: where, how its tensors lie, what that takes, and what the alternatives would.
std::string to_string(const std::vector<LayoutNote>& notes);

struct PipelineOptions {
  std::string stop_after = {};                 // a pass: nothing after it runs
  std::vector<std::string> print_after = {};   // passes, or "all": the module's text goes to `print`; after parts of a
                                               // pass where they change it
  std::vector<std::string> skip = {};          // passes that are left out, to see what they bring
  std::vector<std::string> later_stages = {};  // what comes after the passes (stages.h), which print_after may name
  std::string dump_dir = {};                   // a folder for 01.inline_calls.mlir, ...; made when missing
  bool time_passes = false;                    // a table of times goes to `print`
  std::function<void(const std::string&)> print = {};
};

// Runs the rows in order and checks each one's promise, and that of each part that changed something; a broken promise
// is a kBug error that names the pass. To skip a pass that the program needs is the user's error, which says what needs
// it. Unknown pass names in the options are an error that lists the known ones.
void run_passes(std::span<const PassRow> rows, Module& module, PassContext& context,
                const PipelineOptions& options = {});

// After refine_shapes: an Error names a size that no program asked for.
void check_shapes_are_used(const std::vector<GivenShape>& shapes);

}  // namespace ingot
