/* What a test and the emulated program that calls kernels for it (emulated_kernels.c) say to each other over a socket.
 * Both map one file: the code image, then the memory that kernels may reach. */
#ifndef INGOT_TESTS_SUPPORT_EMULATED_CALLS_H_
#define INGOT_TESTS_SUPPORT_EMULATED_CALLS_H_

#include <stdint.h>

/* Descriptors of the emulated program. */
enum { EMULATED_SOCKET = 0, EMULATED_FILE = 3 };

/* Said once, first; multiples of the page. The answer is the memory's address there: a uint64_t. */
typedef struct emulated_file {
  uint64_t image_bytes;
  uint64_t memory_bytes;
} emulated_file;

/* One task of a kernel. The answer is the same task: a uint32_t. */
typedef struct emulated_call {
  uint64_t entry_offset; /* in the image */
  uint64_t context;      /* address of an ingot_kernel_context, with pointers of that processor */
  uint32_t task;
  uint32_t reserved;
} emulated_call;

#endif /* INGOT_TESTS_SUPPORT_EMULATED_CALLS_H_ */
