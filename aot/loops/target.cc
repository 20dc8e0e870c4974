#include "aot/loops/target.h"

#include "aot/base/error.h"

namespace ingot::loops {
namespace {

constexpr Target kTargets[] = {
    // 6x16 fills 12 accumulators + 2 of B + 1 of A of the 16 ymm registers; 7x16 spills.
    {.name = "x86-64-v3",
     .triple = "x86_64-unknown-linux-gnu",
     .cpu = "x86-64-v3",
     .features = "",
     .required = "avx2,fma,f16c,bmi2",
     .vector_bytes = 32,
     .f32 = {.mr = 6, .nr = 16, .kc = 512, .mc = 96, .nc = 2048},
     .f64 = {.mr = 6, .nr = 8, .kc = 256, .mc = 96, .nc = 1024}},
    // 12x32 fills 24 accumulators + 2 of B of the 32 zmm registers; A is an embedded broadcast.
    {.name = "x86-64-v4",
     .triple = "x86_64-unknown-linux-gnu",
     .cpu = "x86-64-v4",
     .features = "",
     .required = "avx2,fma,f16c,bmi2,avx512f,avx512bw,avx512cd,avx512dq,avx512vl",
     .vector_bytes = 64,
     .f32 = {.mr = 12, .nr = 32, .kc = 512, .mc = 96, .nc = 2048},
     .f64 = {.mr = 12, .nr = 16, .kc = 256, .mc = 96, .nc = 1024}},
    {.name = "aarch64",
     .triple = "aarch64-unknown-linux-gnu",
     .cpu = "generic",
     .features = "+neon",
     .required = "",
     .vector_bytes = 16,
     .f32 = {.mr = 6, .nr = 16, .kc = 512, .mc = 96, .nc = 2048},
     .f64 = {.mr = 6, .nr = 8, .kc = 256, .mc = 96, .nc = 1024}},
};

const Target& host_target() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("x86-64-v4") ? kTargets[1] : kTargets[0];
#else
  return kTargets[2];
#endif
}

}  // namespace

std::span<const Target> all_targets() { return kTargets; }

const Target& find_target(std::string_view name) {
  if (name == "host") return host_target();
  std::string names = "host";
  for (const Target& target : kTargets) {
    if (target.name == name) return target;
    names += ", " + std::string(target.name);
  }
  throw_error(nullptr, "unknown target '" + std::string(name) + "'; there are: " + names);
}

}  // namespace ingot::loops
