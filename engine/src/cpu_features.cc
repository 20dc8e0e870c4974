#include "engine/src/cpu_features.h"

#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#elif (defined(__aarch64__) || defined(__riscv)) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace ingot::engine {
namespace {

// A feature is a bit of a word that the constructor reads. It needs registers that the operating system must save.
struct Feature {
  char name[16];  // in the table itself, which then holds no address
  uint8_t bit;    // of all words, one after another
  uint8_t state = 0;
};

constexpr uint8_t bit_of(int word, int bit) { return static_cast<uint8_t>(32 * word + bit); }

#if defined(__x86_64__)

// Intel SDM volume 2A, CPUID, and volume 1, 13.3, XCR0.
enum Word { k1Ecx, k7Ebx, k7Ecx, k7Edx, k71Eax, kExtendedEcx, kAlways };
constexpr uint8_t kAvx = 0x06;     // xmm, ymm
constexpr uint8_t kAvx512 = 0xe6;  // and masks, zmm

constexpr Feature kFeatures[] = {
    {"sse", bit_of(kAlways, 0)},
    {"sse2", bit_of(kAlways, 0)},
    {"sse3", bit_of(k1Ecx, 0)},
    {"pclmul", bit_of(k1Ecx, 1)},
    {"ssse3", bit_of(k1Ecx, 9)},
    {"cx16", bit_of(k1Ecx, 13)},
    {"sse4.1", bit_of(k1Ecx, 19)},
    {"sse4.2", bit_of(k1Ecx, 20)},
    {"movbe", bit_of(k1Ecx, 22)},
    {"popcnt", bit_of(k1Ecx, 23)},
    {"sahf", bit_of(kExtendedEcx, 0)},
    {"lzcnt", bit_of(kExtendedEcx, 5)},
    {"bmi", bit_of(k7Ebx, 3)},
    {"bmi2", bit_of(k7Ebx, 8)},
    {"fma", bit_of(k1Ecx, 12), kAvx},
    {"avx", bit_of(k1Ecx, 28), kAvx},
    {"f16c", bit_of(k1Ecx, 29), kAvx},
    {"avx2", bit_of(k7Ebx, 5), kAvx},
    {"avxvnni", bit_of(k71Eax, 4), kAvx},
    {"avx512f", bit_of(k7Ebx, 16), kAvx512},
    {"avx512dq", bit_of(k7Ebx, 17), kAvx512},
    {"avx512ifma", bit_of(k7Ebx, 21), kAvx512},
    {"avx512cd", bit_of(k7Ebx, 28), kAvx512},
    {"avx512bw", bit_of(k7Ebx, 30), kAvx512},
    {"avx512vl", bit_of(k7Ebx, 31), kAvx512},
    {"avx512vbmi", bit_of(k7Ecx, 1), kAvx512},
    {"avx512vbmi2", bit_of(k7Ecx, 6), kAvx512},
    {"avx512vnni", bit_of(k7Ecx, 11), kAvx512},
    {"avx512bitalg", bit_of(k7Ecx, 12), kAvx512},
    {"avx512vpopcntdq", bit_of(k7Ecx, 14), kAvx512},
    {"avx512fp16", bit_of(k7Edx, 23), kAvx512},
    {"avx512bf16", bit_of(k71Eax, 5), kAvx512},
};

constexpr uint32_t kOsSavesExtendedState = 1u << 27;  // of 1.ecx

uint32_t saved_state() {
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

#elif defined(__aarch64__)

// Linux, arch/arm64/include/uapi/asm/hwcap.h.
enum Word { kHwcap, kHwcap2 };

constexpr Feature kFeatures[] = {
    {"fp-armv8", bit_of(kHwcap, 0)},  {"neon", bit_of(kHwcap, 1)},   {"lse", bit_of(kHwcap, 8)},
    {"fullfp16", bit_of(kHwcap, 10)}, {"rdm", bit_of(kHwcap, 12)},   {"dotprod", bit_of(kHwcap, 20)},
    {"fp16fml", bit_of(kHwcap, 23)},  {"sve", bit_of(kHwcap, 22)},   {"sve2", bit_of(kHwcap2, 1)},
    {"i8mm", bit_of(kHwcap2, 13)},    {"bf16", bit_of(kHwcap2, 14)},
};

#elif defined(__riscv)

// Linux, arch/riscv/include/uapi/asm/hwcap.h: a bit for each extension of one letter.
enum Word { kHwcap };

constexpr Feature kFeatures[] = {
    {"a", bit_of(kHwcap, 'a' - 'a')}, {"c", bit_of(kHwcap, 'c' - 'a')}, {"d", bit_of(kHwcap, 'd' - 'a')},
    {"f", bit_of(kHwcap, 'f' - 'a')}, {"m", bit_of(kHwcap, 'm' - 'a')}, {"v", bit_of(kHwcap, 'v' - 'a')},
};

#elif defined(__arm__)

// A microcontroller has nobody to ask: the engine is compiled for the one that it is linked for.
enum Word { kFpu };

constexpr Feature kFeatures[] = {
    {"fp-armv8d16", bit_of(kFpu, 0)},  // FPv5-D16: the only one of ARMv7E-M's that computes in f64
};

#else
constexpr Feature kFeatures[] = {{"", 0}};
#endif

}  // namespace

const char* CpuFeatures::isa() {
#if defined(__x86_64__)
  return "x86-64";
#elif defined(__aarch64__)
  return "aarch64";
#elif defined(__riscv) && __riscv_xlen == 64
  return "riscv64";
#elif defined(__ARM_ARCH_7EM__)
  return "armv7e-m";
#else
  return "";
#endif
}

CpuFeatures::CpuFeatures() {
#if defined(__x86_64__)
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
  words_[kAlways] = 1;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx)) words_[k1Ecx] = ecx;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) {
    words_[k7Ebx] = ebx;
    words_[k7Ecx] = ecx;
    words_[k7Edx] = edx;
    if (eax >= 1 && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx)) words_[k71Eax] = eax;
  }
  if (__get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx)) words_[kExtendedEcx] = ecx;

  const uint32_t state = words_[k1Ecx] & kOsSavesExtendedState ? saved_state() : 0;
  for (const Feature& f : kFeatures) {
    if ((state & f.state) != f.state) words_[f.bit / 32] &= ~(1u << f.bit % 32);
  }
#elif defined(__aarch64__) && defined(__linux__)
  words_[kHwcap] = static_cast<uint32_t>(getauxval(AT_HWCAP));
  words_[kHwcap2] = static_cast<uint32_t>(getauxval(AT_HWCAP2));
#elif defined(__riscv) && defined(__linux__)
  words_[kHwcap] = static_cast<uint32_t>(getauxval(AT_HWCAP));
#elif defined(__arm__) && defined(__ARM_FP)
  words_[kFpu] = (__ARM_FP & 8) != 0;
#endif
}

bool CpuFeatures::has_all(const char* list, size_t list_bytes, const char** missing, size_t* missing_bytes) const {
  for (size_t begin = 0; begin < list_bytes;) {
    size_t end = begin;
    while (end < list_bytes && list[end] != ',') ++end;
    bool has = false;
    for (const Feature& f : kFeatures) {
      if (std::strlen(f.name) == end - begin && std::memcmp(f.name, list + begin, end - begin) == 0) {
        has = words_[f.bit / 32] >> f.bit % 32 & 1;
      }
    }
    if (!has) {
      *missing = list + begin;
      *missing_bytes = end - begin;
      return false;
    }
    begin = end + 1;
  }
  return true;
}

}  // namespace ingot::engine
