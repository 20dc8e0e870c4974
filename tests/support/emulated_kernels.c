/* Calls kernels of a code image for aarch64, riscv64 or a Cortex-M, one task after the other, as a test asks: a whole
 * program without a library, so that making it takes clang and lld alone. */
#include "schema/kernel_abi.h"
#include "tests/support/emulated_calls.h"

#if defined(__thumb__)
enum { SYS_READ = 3, SYS_WRITE = 4, SYS_EXIT = 1, SYS_MMAP = 192 };
enum {
  OFFSET_BYTES = 4096,
  IS_THUMB = 1
}; /* what offsets of maps are counted in; the last bit of functions' addresses */
#else
enum { SYS_READ = 63, SYS_WRITE = 64, SYS_EXIT = 93, SYS_MMAP = 222 };
enum { OFFSET_BYTES = 1, IS_THUMB = 0 };
#endif
enum { PROT_RW = 3, PROT_RX = 5, MAP_SHARED = 1 };

#if defined(__aarch64__)
#define NUMBER "x8"
#define REGISTER(i) "x" #i
#define CALL "svc 0"
#elif defined(__thumb__)
#define NUMBER "r7"
#define REGISTER(i) "r" #i
#define CALL "svc 0"
#else
#define NUMBER "a7"
#define REGISTER(i) "a" #i
#define CALL "ecall"
#endif

static long system_call(long number, long a, long b, long c, long d, long e, long f) {
  register long n __asm__(NUMBER) = number;
  register long a0 __asm__(REGISTER(0)) = a;
  register long a1 __asm__(REGISTER(1)) = b;
  register long a2 __asm__(REGISTER(2)) = c;
  register long a3 __asm__(REGISTER(3)) = d;
  register long a4 __asm__(REGISTER(4)) = e;
  register long a5 __asm__(REGISTER(5)) = f;
  __asm__ volatile(CALL : "+r"(a0) : "r"(n), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5) : "memory");
  return a0;
}

static _Noreturn void end(int status) {
  for (;;) system_call(SYS_EXIT, status, 0, 0, 0, 0, 0);
}

/* Messages are short: each comes and goes whole. The test's end is ours. */
static void receive(void* message, long bytes) {
  if (system_call(SYS_READ, EMULATED_SOCKET, (long)message, bytes, 0, 0, 0) != bytes) end(0);
}

static void answer(const void* message, long bytes) {
  if (system_call(SYS_WRITE, EMULATED_SOCKET, (long)message, bytes, 0, 0, 0) != bytes) end(0);
}

static uintptr_t map(uint64_t bytes, int protection, uint64_t offset) {
  const long address =
      system_call(SYS_MMAP, 0, (long)bytes, protection, MAP_SHARED, EMULATED_FILE, (long)(offset / OFFSET_BYTES));
  if (address < 0 && address > -4096) end(1);
  return (uintptr_t)address;
}

void _start(void) {
  emulated_file file;
  receive(&file, sizeof file);
  const uintptr_t image = map(file.image_bytes, PROT_RX, 0);
  const uint64_t memory = map(file.memory_bytes, PROT_RW, file.image_bytes);
  answer(&memory, sizeof memory);
  for (;;) {
    emulated_call call;
    receive(&call, sizeof call);
    const ingot_kernel kernel = (ingot_kernel)(image + (uintptr_t)call.entry_offset + IS_THUMB);
    kernel((const ingot_kernel_context*)(uintptr_t)call.context, call.task);
    answer(&call.task, sizeof call.task);
  }
}
