// Targets: what the compiler knows of a processor family. One row each; nothing else in the compiler names one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "aot/graph/type.h"

namespace ingot::loops {

// Register tile and cache blocks of the contraction template for one element type.
//   mr x nr       the register tile: mr rows of nr columns (nr a multiple of the vector's lanes)
//   kc, mc, nc    blocks: a packed mc x kc panel of the left operand stays in L2,
//                 a kc x nr sliver of the right one in L1
struct ContractionTile {
  int mr, nr;
  int kc, mc, nc;
};

struct Target {
  std::string_view name;      // "x86-64-v3"
  std::string_view isa;       // "x86-64": what a bundle says that its code is
  std::string_view triple;    // LLVM's
  std::string_view cpu;       // LLVM's -mcpu
  std::string_view features;  // LLVM's -mattr
  // What a device must have, as names that the engine detects ("avx2,fma,f16c"); empty: the baseline of the triple.
  std::string_view required;
  bool (*runs_here)();  // whether this machine runs its code
  int vector_bytes;
  ContractionTile f32, f64;

  int lanes(DType register_dtype) const { return vector_bytes / (info(register_dtype).bytes); }
  const ContractionTile& tile(DType register_dtype) const { return register_dtype == DType::kF64 ? f64 : f32; }
};

std::span<const Target> all_targets();  // of one ISA, the better ones later
std::string target_names();             // what find_target takes: "host, x86-64-v3, ..."
// By name; "host" is the last row that runs here. Unknown: an Error that lists the names.
const Target& find_target(std::string_view name);

}  // namespace ingot::loops
