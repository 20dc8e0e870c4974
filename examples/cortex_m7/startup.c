/* What happens on a Cortex-M7 before main: memory gets its first values, the FPU is switched on. What the program prints
 * and reads goes to the debugger or the emulator, by semihosting. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "board.h"

extern unsigned char data_start[], data_end[], bss_start[], bss_end[];
extern const unsigned char data_source[];

extern uint32_t stack_limit[];
void stack_top(void); /* an address, as vectors have them, and no function */

int main(void);
void initialise_monitor_handles(void); /* of newlib's librdimon */
void reset(void);

/* Of the program: it ends, and whoever started it sees that. */
static void fault(void) { _exit(EXIT_FAILURE); }

static void switch_on_the_fpu(void) {
  volatile uint32_t* const access = (volatile uint32_t*)0xE000ED88; /* CPACR */
  *access |= 0xFu << 20;
  __asm__ volatile("dsb\n isb");
}

void reset(void) {
  switch_on_the_fpu();
  memcpy(data_start, data_source, (size_t)(data_end - data_start));
  memset(bss_start, 0, (size_t)(bss_end - bss_start));
  initialise_monitor_handles();
  const int status = main();
  fflush(NULL);
  _exit(status);
}

/* Paints the stack below this function, and looks how far down the paint is gone. */
static size_t stack_bytes(int (*step)(void)) {
  enum { PAINT = 0x5AFE57AC, OWN_BYTES = 128 };
  volatile uint32_t* const top = (uint32_t*)((uintptr_t)__builtin_frame_address(0) - OWN_BYTES);
  volatile uint32_t* end = stack_limit;
  while (end < top) *end++ = PAINT;
  if (step() != 0) _exit(EXIT_FAILURE);
  end = stack_limit;
  while (*end == PAINT) ++end;
  return (size_t)(top - end) * sizeof *top + OWN_BYTES;
}

void print_memory(int (*step)(void)) {
  const size_t data_bytes = (size_t)(data_end - data_start);
  printf("flash %u bytes, RAM %u bytes, stack of a step %u bytes\n", (unsigned)((uintptr_t)data_source + data_bytes),
         (unsigned)(bss_end - data_start), (unsigned)stack_bytes(step));
}

/* The stack, where to begin, and what to do when something goes wrong: NMI, HardFault, MemManage, BusFault, UsageFault. */
__attribute__((section(".vectors"), used)) static void (*const vectors[])(void) = {stack_top, reset, fault, fault,
                                                                                   fault,     fault, fault};
