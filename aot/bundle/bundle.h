// A BundleSpec says everything that goes into a bundle file; write_bundle makes the file from it.
//
// Plain structs, in the terms of the contract (schema/): whoever plans and generates code fills them in. Equal specs
// give equal bytes. What a field means in the file is written in schema/bundle.fbs, plan_records.h and bundle_header.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "aot/base/version.h"
#include "schema/dtype.h"

namespace ingot::bundle {

// A named array, row-major. No dims: a scalar.
struct Tensor {
  std::string name;
  ingot_dtype dtype = INGOT_F32;
  std::vector<uint64_t> dims;
  std::vector<std::byte> default_value = {};  // of an input: its value until it is bound; empty: it must be bound
};

// A state's first value.
enum class Start {
  kZero,     // zero bytes
  kSegment,  // the next bytes of BundleSpec::initial_state
  kUnset,    // none until the entry point "init" or the host gives it one; other entries refuse to run before
};

// Something that lives from run to run: a parameter, an optimizer slot, a counter.
struct State {
  Tensor tensor;
  std::string role;           // "param", "buffer", "optimizer", "rng", "step"; free text for people and tools
  uint64_t offset_bytes = 0;  // in the state region; a multiple of 64
  Start start = Start::kZero;
};

// What was state in the program and is constant here: state files may have it with these values alone.
struct Frozen {
  Tensor tensor;
  uint64_t checksum = 0;  // of its values: ingot_checksum
};

// An entry point as its caller sees it. Arguments and results that are state are not listed here.
struct Entry {
  std::string name;
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  uint64_t flops = 0;  // floating point operations of a run, a multiply-add being two; 0 is unknown
};

// One parameter of a kernel: the code touches bytes [0, reach_bytes) of its operand, in the stated ways.
// A parameter that a task writes before it reads it back is a write only.
struct Parameter {
  uint64_t reach_bytes = 0;
  bool reads = false;
  bool writes = false;
  std::optional<uint32_t> replaced_by = {};  // of what is only read: the parameter that may be written in its place
};

struct Kernel {
  std::string name;          // shown in traces
  uint32_t code_offset = 0;  // of its first instruction, in Target::code
  uint32_t task_count = 1;   // tasks 0 .. task_count-1, independent of each other
  uint64_t scratch_bytes = 0;
  uint32_t stack_bytes = 0;  // the most that one task uses; 0 is unknown
  std::vector<Parameter> parameters;
};

// A place in the arena with a lifetime.
struct Buffer {
  uint64_t offset_bytes = 0;  // a multiple of 64
  uint64_t bytes = 0;
  uint32_t first_step = 0;              // the step that first writes it
  uint32_t last_step = 0;               // the last step that touches it
  std::optional<uint32_t> in_place_of;  // index of the buffer that ends in first_step, at the same offset
};

// Where one operand of a step lies: bytes [offset_bytes, offset_bytes + reach of its parameter) of a base.
struct Operand {
  uint32_t base = 0;          // enum ingot_base: arena, state, rodata, then the entry's inputs and outputs in order
  uint64_t offset_bytes = 0;  // from the start of that base (of the arena, not of the buffer); a multiple of 64
  uint32_t index = 0;  // arena: of the buffer in Plan::buffers. state: of the state in BundleSpec::states. else 0
};

// What a step is; schema/plan_records.h says which loops and branches jumps may make.
enum class StepKind : uint16_t {
  kKernel,      // calls all tasks of a kernel
  kJump,        // goes on at Step::target
  kJumpUnless,  // goes on at Step::target unless its operand equals Step::kernel
};

// A kernel of the program as the compiler grouped its ops, which takes one step or a few: what it computes and moves,
// and where it was written. For people and tools; names are "" where nothing is known.
struct Call {
  std::string name;               // "f32_dot_general_64x10x784_add"
  std::string op;                 // what the user's framework calls it: "jit(train_step)/dot_general"
  std::string source;             // the user's own line: "model.py:12:8"
  ingot_dtype dtype = INGOT_F32;  // of what is computed
  uint64_t flops = 0;             // as in Entry
  uint64_t read_bytes = 0;        // of its operands, each once, as far as they are read
  uint64_t written_bytes = 0;
};

struct Step {
  uint32_t kernel = 0;   // index into Target::kernels. kJumpUnless: the value compared with. kJump: zero
  bool barrier = false;  // every earlier step is finished before this one starts; else it may overlap them, back to the
                         // last barrier, and must touch nothing that they write, nor write what they touch. Jumps have
                         // one, and so has the step behind a jump and every step that one leads to
  std::vector<Operand> operands;  // one per parameter of the kernel. kJumpUnless: one that is no output. kJump: none
  StepKind kind = StepKind::kKernel;
  uint32_t target = 0;                          // of a jump: a step, or the number of steps
  bool word = false;                            // of kJumpUnless: its operand has 4 bytes, not 1
  std::optional<uint32_t> call = std::nullopt;  // index into Plan::calls
};

// How a target runs an entry point.
struct Plan {
  uint64_t arena_bytes = 0;
  uint64_t lower_bound_bytes = 0;  // most bytes alive at once: what no plan for these steps can go below
  uint64_t alignment_bytes = 64;   // of the arena and the state region
  std::vector<Buffer> buffers;     // in any order
  std::vector<Step> steps;
  std::vector<Call> calls;
};

// Code for one kind of processor.
struct Target {
  std::string name;                       // "x86-64-v3"
  std::string isa;                        // "x86-64", "aarch64", "riscv64" or "armv7e-m"
  std::vector<std::string> cpu_features;  // what the code really uses, in LLVM's spelling: "avx2", "fma"
  std::vector<std::byte> code;            // flat, position independent; runs from any multiple of page_bytes
  uint32_t page_bytes = 4096;             // what its segments start at a multiple of: 64, 128, ...
  std::vector<Kernel> kernels;
  std::vector<std::byte> rodata;  // base 2 of every kernel; equal rodata of several targets is stored once
  std::vector<Plan> plans;        // one per entry, in the order of BundleSpec::entries
};

struct BundleSpec {
  std::string producer = std::string("ingot ") + kVersion;
  std::string name;
  std::vector<std::string> required_features;  // what an engine must know beyond format 1.0; names, not versions.
                                               // "control_flow" is added where a plan jumps
  std::vector<Target> targets;                 // best first: an engine takes the first that its processor can run
  std::vector<Entry> entries;
  std::vector<State> states;  // in ascending offset, without overlap
  std::vector<Frozen> frozen;
  bool is_strict = false;  // every target gives the same bits: for people and tools
  uint64_t state_bytes = 0;
  std::vector<std::byte> initial_state;  // values of the states with Start::kSegment, in table order, back to back
  bool compress_initial_state = false;   // zlib
};

// Of its targets; there is one. A bundle's bytes start at a multiple of it where they are not mapped.
uint32_t largest_page_bytes(const BundleSpec& spec);

// Bytes of a tensor's values.
uint64_t tensor_bytes(const Tensor& tensor);

// The bundle as bytes. Throws a bug (ours, not the user's) if the spec contradicts itself, naming the field.
std::vector<std::byte> write_bundle(const BundleSpec& spec);

// The same into a file: written beside it, synced, then renamed over it, so that `path` is never half a bundle.
// Throws an error with the path and the system's reason if that fails; `path` is then as it was.
void write_bundle_file(const BundleSpec& spec, const std::filesystem::path& path);

}  // namespace ingot::bundle
