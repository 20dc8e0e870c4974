/* The contract between the engine and compiled kernels. Plain C; includes nothing but fixed-width integers.
 *
 * A kernel is a function of a context and a task index. Tasks of one step are independent of each other; the engine may
 * run them in any order on any number of threads. A kernel reads and writes only what its operands and its scratch
 * reach, calls nothing outside its code segment, and keeps no state of its own.
 */
#ifndef INGOT_SCHEMA_KERNEL_ABI_H_
#define INGOT_SCHEMA_KERNEL_ABI_H_

#include <stdint.h>

#define INGOT_KERNEL_ABI_VERSION 1

/* Every buffer that a kernel sees starts at a multiple of this. */
#define INGOT_BUFFER_ALIGNMENT_BYTES 64

/* Indices into ingot_kernel_context.bases. Inputs and outputs of the entry point follow, in the order of its signature.
 */
enum ingot_base {
  INGOT_BASE_ARENA = 0,  /* transient buffers of this run */
  INGOT_BASE_STATE = 1,  /* what lives from run to run: parameters, optimizer slots, counters */
  INGOT_BASE_RODATA = 2, /* constants */
  INGOT_BASE_IO = 3      /* first input; then the other inputs, then the outputs */
};

/* Where one operand of a step lies: bases[base] + offset_bytes. */
typedef struct ingot_operand {
  uint64_t offset_bytes;
  uint32_t base;
  uint32_t reserved; /* zero */
} ingot_operand;

/* What a kernel is given. */
typedef struct ingot_kernel_context {
  uint8_t* const* bases;
  const ingot_operand* operands; /* this step's, in the order of the kernel's parameters */
  uint8_t* scratch; /* this thread's own; at least the bundle's scratch_bytes; contents undefined at entry */
} ingot_kernel_context;

typedef void (*ingot_kernel)(const ingot_kernel_context* context, uint32_t task);

#endif /* INGOT_SCHEMA_KERNEL_ABI_H_ */
