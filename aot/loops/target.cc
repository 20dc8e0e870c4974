#include "aot/loops/target.h"

#include <algorithm>

#if (defined(__aarch64__) || defined(__riscv)) && defined(__linux__)
#include <sys/auxv.h>
#endif

#include "aot/base/error.h"

namespace ingot::loops {
namespace {

#if defined(__x86_64__)
#define INGOT_CPU_SUPPORTS(level) (__builtin_cpu_init(), __builtin_cpu_supports(level) != 0)
#else
#define INGOT_CPU_SUPPORTS(level) false
#endif
// The ISA that this is built for.
#if defined(__aarch64__)
constexpr std::string_view kIsa = "aarch64";
#elif defined(__riscv) && __riscv_xlen == 64
constexpr std::string_view kIsa = "riscv64";
#else
constexpr std::string_view kIsa = "x86-64";
#endif

#if defined(__aarch64__) && defined(__linux__)
bool has_byte_products() { return getauxval(AT_HWCAP) >> 20 & 1; }   // HWCAP_ASIMDDP
bool has_pair_products() { return getauxval(AT_HWCAP2) >> 14 & 1; }  // HWCAP2_BF16
#else
bool has_byte_products() { return false; }
bool has_pair_products() { return false; }
#endif

#if defined(__riscv) && defined(__linux__)
bool has_riscv_vectors() { return getauxval(AT_HWCAP) >> ('V' - 'A') & 1; }
#else
bool has_riscv_vectors() { return false; }
#endif

// Cores of servers and of boards' faster half.
constexpr Machine kArmMachine = {.l1_bytes = 64 << 10,
                                 .l2_bytes = 1 << 20,
                                 .instructions_per_ns = 7.5,
                                 .multiply_adds_per_ns = 5,
                                 .multiply_add_latency_ns = 1.6,
                                 .l2_bytes_per_ns = 50,
                                 .l3_bytes_per_ns = 16};

// Servers whose two units multiply vectors of 512 bits: faster than caches give what is not packed.
constexpr Machine kWideMachine = {.l1_bytes = 32 << 10,
                                  .l2_bytes = 1 << 20,
                                  .instructions_per_ns = 7.5,
                                  .multiply_adds_per_ns = 4.78,
                                  .multiply_add_latency_ns = 1.8,
                                  .l2_bytes_per_ns = 73,
                                  .l3_bytes_per_ns = 20.8,
                                  .packed_element_ns = 0.147,
                                  .packed_ahead_share = 0.52,
                                  .fetches_ahead = false,
                                  .packs_with_first_rows = true,
                                  .packed_steps_ahead = 8,
                                  .row_line_ns = 4.6,
                                  .far_row_line_ns = 5.3,
                                  .in_place_row_share = 0.0035,
                                  .far_columns_share = 0.74,
                                  .stream_share = 0.082,
                                  .tile_ns = 13.75,
                                  .hidden_share = 0.39,
                                  .epilogue_share = 1,
                                  .rows_beside_share = 1,
                                  .in_line_share = 0.48,
                                  .unforeseen_share = 0.31,
                                  .far_piece_share = 2};

// Processors that multiply such vectors in two halves, or by one unit.
constexpr Machine kHalvesMachine = {.l1_bytes = 32 << 10,
                                    .l2_bytes = 1 << 20,
                                    .instructions_per_ns = 6.6,
                                    .multiply_adds_per_ns = 4.4,
                                    .multiply_add_latency_ns = 1.8,
                                    .l2_bytes_per_ns = 80,
                                    .l3_bytes_per_ns = 16,
                                    .packed_ahead_share = 0.2,
                                    .computes_beside_products = true,
                                    .in_place_row_share = 0.002,
                                    .far_columns_share = 0.1,
                                    .stream_share = 0.05};

// 12x32 fills 24 accumulators + 2 of B of the 32 zmm registers; A is an embedded broadcast.
constexpr Target kAvx512 = {.name = "x86-64-v4",
                            .isa = "x86-64",
                            .triple = "x86_64-unknown-linux-gnu",
                            .cpu = "x86-64-v4",
                            .features = "",
                            .required = "avx2,fma,f16c,bmi2,avx512f,avx512bw,avx512cd,avx512dq,avx512vl",
                            .runs_here = [] { return INGOT_CPU_SUPPORTS("x86-64-v4"); },
                            .vector_bytes = 64,
                            .vector_registers = 32,
                            .spare_registers = 2,
                            .f32 = {.rows = 12, .columns = 32},
                            .f64 = {.rows = 12, .columns = 16},
                            .byte_products = ByteProducts::kInPairs,
                            .multiplies_memory = true,
                            .has_scale = true,
                            .has_masks = true,
                            .machine = kWideMachine};

// The same with products of bytes: Cascade Lake, Ice Lake, Zen 4 and later.
constexpr Target kAvx512Vnni = [] {
  Target row = kAvx512;
  row.name = "x86-64-v4-vnni";
  row.features = "+avx512vnni";
  row.required = "avx2,fma,f16c,bmi2,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vnni";
  row.runs_here = [] { return kAvx512.runs_here() && INGOT_CPU_SUPPORTS("avx512vnni"); };
  row.byte_products = ByteProducts::kAtOnce;
  row.is_default = false;
  return row;
}();

// The same with products of bf16: Cooper Lake, Sapphire Rapids, Zen 4 and later.
constexpr Target kAvx512Bf16 = [] {
  Target row = kAvx512Vnni;
  row.name = "x86-64-v4-bf16";
  row.features = "+avx512vnni,+avx512bf16";
  row.required = "avx2,fma,f16c,bmi2,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vnni,avx512bf16";
  row.runs_here = [] { return kAvx512Vnni.runs_here() && INGOT_CPU_SUPPORTS("avx512bf16"); };
  row.pair_products = PairProducts::kFused;
  row.machine = kHalvesMachine;
  return row;
}();

constexpr Target kAarch64 = {.name = "aarch64",
                             .isa = "aarch64",
                             .triple = "aarch64-unknown-linux-gnu",
                             .cpu = "generic",
                             .tune = "cortex-a57",
                             .features = "+neon",
                             .required = "",
                             .runs_here = [] { return kIsa == "aarch64"; },
                             .vector_bytes = 16,
                             .vector_registers = 32,
                             .spare_registers = 2,
                             .f32 = {.rows = 6, .columns = 16},
                             .f64 = {.rows = 6, .columns = 8},
                             .reach = {.lowest = -256, .highest = 4095, .highest_in_elements = true},
                             .code_alignment_bytes = 4096,  // it finds its constants page by page
                             .machine = kArmMachine};

// The same with products of bytes: ARMv8.4-A, and most cores since Cortex-A55 and Neoverse N1.
constexpr Target kAarch64Dotprod = [] {
  Target row = kAarch64;
  row.name = "aarch64-dotprod";
  row.features = "+neon,+dotprod";
  row.required = "dotprod";
  row.runs_here = has_byte_products;
  row.byte_products = ByteProducts::kSigned;
  row.is_default = false;
  return row;
}();

// The same with products of bf16: ARMv8.6-A, and Neoverse N2 and V1, Cortex-A510 and later.
constexpr Target kAarch64Bf16 = [] {
  Target row = kAarch64Dotprod;
  row.name = "aarch64-bf16";
  row.features = "+neon,+dotprod,+bf16";
  row.required = "dotprod,bf16";
  row.runs_here = [] { return has_byte_products() && has_pair_products(); };
  row.pair_products = PairProducts::kToOdd;
  row.spare_registers = 4;  // LLVM loads pairs of a row two at a time
  return row;
}();

constexpr Target kTargets[] = {
    // 6x16 fills 12 accumulators + 2 of B + 1 of A of the 16 ymm registers; 7x16 spills.
    {.name = "x86-64-v3",
     .isa = "x86-64",
     .triple = "x86_64-unknown-linux-gnu",
     .cpu = "x86-64-v3",
     .features = "",
     .required = "avx2,fma,f16c,bmi2",
     .runs_here = [] { return INGOT_CPU_SUPPORTS("x86-64-v3"); },
     .vector_bytes = 32,
     .vector_registers = 16,
     .spare_registers = 0,
     .f32 = {.rows = 6, .columns = 16},
     .f64 = {.rows = 6, .columns = 8},
     .byte_products = ByteProducts::kInPairs,
     .multiplies_memory = true,
     .machine = {.l1_bytes = 32 << 10,
                 .l2_bytes = 512 << 10,
                 .instructions_per_ns = 10,
                 .multiply_adds_per_ns = 5.6,
                 .multiply_add_latency_ns = 1.45,
                 .l2_bytes_per_ns = 110,
                 .l3_bytes_per_ns = 20,
                 .packed_element_ns = 0.06,
                 .packed_ahead_share = 0.2,
                 .in_place_row_share = 0,
                 .packed_apart_share = 0,
                 .lost_columns_share = 2.5,
                 .stream_share = 0.05}},
    kAvx512,
    kAvx512Vnni,
    kAvx512Bf16,
    kAarch64,
    kAarch64Dotprod,
    kAarch64Bf16,
    // rv64gc, what every Linux distribution for it takes for granted. It has no vectors: one of ours is four registers.
    {.name = "riscv64",
     .isa = "riscv64",
     .triple = "riscv64-unknown-linux-gnu",
     .cpu = "generic-rv64",
     .features = "+m,+a,+f,+d,+c",
     .required = "",
     .runs_here = [] { return kIsa == "riscv64"; },
     .vector_bytes = 16,
     .vector_registers = 8,
     .spare_registers = 0,
     .f32 = {.rows = 4, .columns = 4},
     .f64 = {.rows = 4, .columns = 4},
     .has_f16_conversions = false,
     .machine = {.l1_bytes = 32 << 10,
                 .l2_bytes = 512 << 10,
                 .instructions_per_ns = 3,
                 .multiply_adds_per_ns = 0.375,
                 .multiply_add_latency_ns = 13.5,
                 .l2_bytes_per_ns = 12,
                 .l3_bytes_per_ns = 6}},
    // With vectors of 128 bits, as many as every implementation has.
    {.name = "riscv64-v",
     .isa = "riscv64",
     .triple = "riscv64-unknown-linux-gnu",
     .cpu = "generic-rv64",
     .features = "+m,+a,+f,+d,+c,+v",
     .required = "v",
     .runs_here = has_riscv_vectors,
     .vector_bytes = 16,
     .vector_registers = 32,
     .spare_registers = 2,
     .f32 = {.rows = 6, .columns = 16},
     .f64 = {.rows = 6, .columns = 8},
     .reach = {.lowest = -2048, .highest = 2047},
     .has_f16_conversions = false,
     .has_width_conversions = false,
     .machine = {.l1_bytes = 32 << 10,
                 .l2_bytes = 512 << 10,
                 .instructions_per_ns = 4,
                 .multiply_adds_per_ns = 2,
                 .multiply_add_latency_ns = 4,
                 .l2_bytes_per_ns = 24,
                 .l3_bytes_per_ns = 8}},
    // A microcontroller whose FPU computes in f32 and f64, without an operating system and without vectors: one of ours is
    // four registers. Its constants are operands of instructions, so that the code can lie in memory that is only run.
    {.name = "cortex-m7",
     .isa = "armv7e-m",
     .triple = "thumbv7em-none-unknown-eabihf",
     .cpu = "cortex-m7",
     .features = "+execute-only",
     .required = "fp-armv8d16",
     .runs_here = [] { return kIsa == "armv7e-m"; },
     .vector_bytes = 16,
     .vector_registers = 8,
     .spare_registers = 0,
     .f32 = {.rows = 4, .columns = 4},
     .f64 = {.rows = 2, .columns = 4},
     .reach = {.lowest = -1020, .highest = 1020},
     .maps_files = false,
     .has_i64_division = false,
     .has_float_functions = false,
     .machine = {.l1_bytes = 16 << 10,
                 .l2_bytes = 256 << 10,
                 .instructions_per_ns = 0.5,
                 .multiply_adds_per_ns = 0.1,
                 .multiply_add_latency_ns = 10,
                 .l2_bytes_per_ns = 1.6,
                 .l3_bytes_per_ns = 0.8,
                 .kept_row_bytes = 16 << 10,
                 .small_stream_bytes = 4 << 10}},
};

const Target& host_target() {
  const Target* best = nullptr;
  for (const Target& target : kTargets) {
    if (target.runs_here()) best = &target;
  }
  if (!best) throw_error(nullptr, "target 'host': this machine runs code of none; there are: " + target_names());
  return *best;
}

}  // namespace

std::span<const Target> all_targets() { return kTargets; }

std::string target_names() {
  std::string names = "host";
  for (const Target& target : kTargets) names += ", " + std::string(target.name);
  return names;
}

std::vector<std::string> default_targets() {
  std::vector<std::string> names;
  for (const Target& target : kTargets) {
    if (target.isa == kIsa && target.is_default) names.insert(names.begin(), std::string(target.name));
  }
  return names;
}

const Target& find_target(std::string_view name) {
  if (name == "host") return host_target();
  for (const Target& target : kTargets) {
    if (target.name == name) return target;
  }
  throw_error(nullptr, "unknown target '" + std::string(name) + "'; there are: " + target_names());
}

const Target& strict_row(const Target& target) {
  static const std::vector<Target> rows = [] {
    std::vector<Target> strict(std::begin(kTargets), std::end(kTargets));
    for (Target& row : strict) {
      row.sums_like = &find_target("x86-64-v3");
      row.pair_products = PairProducts::kNone;  // others round otherwise
    }
    return strict;
  }();
  return *std::ranges::find(rows, target.name, &Target::name);
}

}  // namespace ingot::loops
