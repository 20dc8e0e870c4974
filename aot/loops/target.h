// Targets: what the compiler knows of a processor family. One row each; nothing else in the compiler names a processor,
// and no other file knows the size or speed of a part of one.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aot/graph/type.h"

namespace ingot::loops {

// How a processor sums up the products of four unsigned and four signed bytes (ScalarOp::kDotBytes).
enum class ByteProducts : uint8_t {
  kOneByOne,  // as numbers of 32 bits
  kInPairs,   // as two pairs of numbers of 16 bits, each pair multiplied and added by an instruction
  kAtOnce,    // by one instruction
  kSigned,    // by one instruction, of bytes that are all signed: what that takes off is added again
};

// How a processor adds the products of two pairs of bf16 to a sum in f32 by one instruction.
enum class PairProducts : uint8_t {
  kNone,
  kFused,  // one after the other (ScalarOp::kDotPairs)
  kToOdd,  // their sum (ScalarOp::kDotPairsToOdd)
};

// How far from a pointer a load or store may be. One that takes no distance needs an instruction for its address, which does.
struct Reach {
  int64_t lowest = 0, highest = 0;  // in bytes; none: anywhere that kernels ask for
  bool highest_in_elements = false;
};

// The register tile of contractions for one element type: `rows` x `columns` sums (a multiple of the vector's lanes).
struct RegisterTile {
  int rows, columns;
};

// One core, as cost models see it: times at a usual clock, sizes of what a core has to itself or as its share.
struct Machine {
  int64_t l1_bytes, l2_bytes;
  double instructions_per_ns;      // of all kinds
  double multiply_adds_per_ns;     // vector instructions, and as many loads beside them
  double multiply_add_latency_ns;  // until a sum can be added to again
  double l2_bytes_per_ns, l3_bytes_per_ns;
  double packed_element_ns = 0.1;         // to copy an element of a contraction's operand, in vectors
  double packed_ahead_share = 1;          // ... of which it takes so much beside multiplying; 1: it is not done there
  bool fetches_ahead = true;              // there, what has to be transposed
  bool packs_with_first_rows = false;     // columns, where they are multiplied first (contraction/candidate.h)
  int64_t packed_steps_ahead = 0;         // of the depth, by which what is packed is fetched; 0: processors foresee it
  bool computes_beside_products = false;  // by other units than multiply: what follows a tile's sums
  double row_line_ns = 2.2;      // to fetch a line of rows that lie across, where they lie, from the second-level cache
  double far_row_line_ns = 1.7;  // ... more, of another page at each step
  // How much longer a register tile of more than four rows takes: for each row that is read where it lies, and where rows
  // are packed one after the other instead of beside each other.
  double in_place_row_share = 0.006, packed_apart_share = 0.06;
  // ... and where columns are read where they lie, a page apart at each step; and where each tile of rows fetches them anew
  // from the second-level cache.
  double far_columns_share = 0.2, lost_columns_share = 0;
  double stream_share = 0.2;     // of streaming columns from there, which is not beneath multiplying
  double tile_ns = 20;           // to begin and end a register tile
  double store_vector_ns = 1.0;  // a vector of finished sums
  double hidden_share = 0.5;     // of reading from outer caches: beneath multiplying
  double epilogue_share = 0;     // ... for what follows a product, and has only pieces of what lies in line at once
  double rows_beside_share = 0;  // of a tile's rows: what they take of the first-level cache from a block of columns
  // Of reading from outer caches: rows that lie across, where a block of the depth is all in line; and columns where they
  // lie, a piece of a line at a time. Such pieces take so much longer where each is in another page.
  double in_line_share = 0.75, unforeseen_share = 0.2, far_piece_share = 0;

  // Alike in every row so far.
  int64_t line_bytes = 64, page_bytes = 4096;
  // Critical strides: addresses that are multiples of one apart fall into few of the cache's sets.
  int64_t l1_critical_stride = 4096, l2_critical_stride = 1024;
  int64_t packed_rows = 96;               // of a contraction, that are packed and then multiplied at a time
  int64_t kept_row_bytes = 128 << 10;     // of a row that a kernel reads again: stays in the second-level cache
  int64_t small_stream_bytes = 16 << 10;  // of one of several tensors: stays in the first-level cache
  int streams_max = 8;                    // large tensors that are written side by side without delay
  double flop_ns = 0.03;                  // of an element, in vector code with loads and stores beside it
  double byte_ns = 0.06;                  // from or to an outer cache
  double transposed_byte_ns = 0.15;       // ... against the order in which it lies, there and back
  double kernel_ns = 300;                 // to begin one more kernel
  double task_ns = 200;                   // ... one more task
  double task_work_ns = 4000;             // that is worth a task of its own
  int64_t tasks_max = 16;                 // of a kernel

  // Operations on an element that take as long as to fetch it: of 4 bytes, from an outer cache.
  int flops_per_fetch() const { return static_cast<int>(std::lround(4 * byte_ns / flop_ns)); }
  // Chains of multiply-adds under way that hide each other's latency.
  int64_t chains() const { return std::llround(multiply_add_latency_ns * multiply_adds_per_ns); }
};

struct Target {
  std::string_view name;       // "x86-64-v3"
  std::string_view isa;        // "x86-64": what a bundle says that its code is
  std::string_view triple;     // LLVM's
  std::string_view cpu;        // LLVM's -mcpu
  std::string_view tune = "";  // LLVM's -mtune; empty: as `cpu`
  std::string_view features;   // LLVM's -mattr
  // What a device must have, as names that the engine detects ("avx2,fma,f16c"); empty: the baseline of the triple.
  std::string_view required;
  bool (*runs_here)();  // whether this machine runs its code
  int vector_bytes;
  int vector_registers;
  int spare_registers;  // of these, beside those of a register tile: with fewer LLVM's scheduling spills
  RegisterTile f32, f64;
  ByteProducts byte_products = ByteProducts::kOneByOne;
  PairProducts pair_products = PairProducts::kNone;
  bool multiplies_memory = false;  // a multiply-add takes a factor from memory
  bool has_scale = false;          // multiplies floats by powers of two (ScalarOp::kScale)
  bool has_masks = false;          // a part of a vector is stored as fast as all of it
  Reach reach = {};
  int64_t code_alignment_bytes = 64;  // what its code counts on where it lies
  bool maps_files = true;             // the system maps code and constants from a bundle, page by page
  bool is_default = true;             // bundles have code for it unless they are told otherwise
  bool has_f16_conversions = true;    // from and to f32, as instructions
  bool has_width_conversions = true;  // from vectors of floats to integers of other widths, which tests can run
  bool has_i64_division = true;       // and conversions between integers of 64 bits and floats, without a library
  bool has_float_functions = true;    // maximum, minimum, rounding to even, conversions to few bits: as LLVM makes them
  Machine machine;
  // The row in whose order its code sums: rows that have it in common give the same bits. Null: its own.
  const Target* sums_like = nullptr;

  bool is_strict() const { return sums_like != nullptr; }
  const Target& order() const { return sums_like ? *sums_like : *this; }
  int lanes(DType register_dtype) const { return vector_bytes / (info(register_dtype).bytes); }
  // What segments of a bundle start at a multiple of.
  int64_t segment_alignment_bytes() const { return maps_files ? machine.page_bytes : code_alignment_bytes; }
  const RegisterTile& tile(DType register_dtype) const { return register_dtype == DType::kF64 ? f64 : f32; }
};

std::span<const Target> all_targets();  // of one ISA, the better ones later
std::string target_names();             // what find_target takes: "host, x86-64-v3, ..."
// The rows of the ISA that the compiler itself is built for, the best first, but for those that are no default: what a
// bundle has unless it is told.
std::vector<std::string> default_targets();
// By name; "host" is the last row that runs here. Unknown: an Error that lists the names.
const Target& find_target(std::string_view name);
// The same row, strict: the row in whose order it sums is one for all targets.
const Target& strict_row(const Target& target);

}  // namespace ingot::loops
