// From modules to a bundle: passes, then for each target lowering, planning, checking and code.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aot/base/safetensors.h"
#include "aot/bundle/bundle.h"
#include "aot/frontend/trace/program.h"
#include "aot/graph/graph.h"
#include "aot/pipeline/freeze_state.h"
#include "aot/pipeline/memory_limit.h"
#include "aot/pipeline/micro_batches.h"
#include "aot/pipeline/passes.h"
#include "aot/plan/plan.h"
#include "aot/schedule/lower_function.h"

namespace ingot {

// What the environment variable INGOT_TARGETS says, separated by commas (ingot_add_bundle sets it), or else what
// loops::default_targets() are.
std::vector<std::string> default_targets();
bool is_strict_by_default();  // whether it sets INGOT_STRICT=1

struct CompileOptions {
  std::string name;                                      // of the bundle
  std::vector<std::string> targets = default_targets();  // names of rows of the target table; the best first
  bool is_strict = is_strict_by_default();               // every target gives the same bits
  Math math = Math::kStandard;                           // exact where is_strict
  std::vector<GivenShape> shapes = {};                   // of what the programs leave open
  std::string initial_state = {};                        // what set_initial_state takes the first values from
  std::map<std::string, SafeTensor> values = {};         // first values of state that programs bring with them
  Freeze freeze = Freeze::kBrought;                      // unless initial_state is kZeroState
  std::vector<MemoryLimit> memory_limits = {};           // of a run's arena and scratch
  std::vector<MicroBatches> micro_batches = {};  // in which batches are computed; counts may be kAutoMicroBatches
  bool plans_only = false;  // nothing is compiled to machine code, and what is returned cannot be written
  std::optional<ProductQuantization> quantization = {};  // of products and convolutions (quantize_products)
  int weight_bits = 0;                                   // of integers that weights are kept as (quantize_weights)
  ObservedWeights observed_weights = ObservedWeights::kNone;
  uint32_t jobs = 2;        // threads that compile machine code at once; what is made does not depend on them
  bool reads_code = false;  // of contractions, for their lowering notes
  PipelineOptions pipeline;
  std::function<void(const std::string& phase)> on_phase = {};  // told of each phase as it begins
};

// Where the time went, in the order of the work.
struct PhaseTime {
  std::string phase;
  double seconds;
};

// One line for each note: where, for which target, what was chosen.
std::string to_string(const std::vector<LoweringNote>& notes);

struct Compiled {
  bundle::BundleSpec spec;
  std::vector<std::vector<plan::Plan>> plans;  // for each target, one for each entry
  std::vector<FuseNote> fuse_notes;
  std::vector<LoweringNote> lowering_notes;
  std::vector<LayoutNote> layout_notes;
  std::vector<ProductNote> product_notes;
  std::vector<WeightNote> weight_notes;
  std::vector<MicroBatchNote> micro_batch_notes;
  std::vector<MemoryNote> memory_notes;  // of each target, in turn: of entry points that have a limit
  std::vector<PhaseTime> times;

  // Writes the bundle, beside `path` and renamed over it. One without a name is called as the file is.
  void write(const std::string& path) const;
};

// Every public function of every module becomes an entry point of that name; entry points share state by name. The
// modules are consumed. Throws Error; nothing is written anywhere.
Compiled compile(std::vector<std::unique_ptr<Module>> modules, const CompileOptions& options = {});

// The same for a traced program, which stays as it is.
Compiled compile(Program& program, const CompileOptions& options = {});

}  // namespace ingot
