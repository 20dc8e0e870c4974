/* What a test and the ROM of an emulated machine (serve.c) say to each other: the machine's disk is its memory, sector
 * by sector, and its first two sectors hold a call and the answer. */
#ifndef INGOT_TESTS_SUPPORT_BOCHS_CALLS_H_
#define INGOT_TESTS_SUPPORT_BOCHS_CALLS_H_

#include <stdint.h>

enum {
  BOCHS_SECTOR_BYTES = 512,
  BOCHS_CALL_SECTOR = 0,
  BOCHS_ANSWER_SECTOR = 1,           /* the number of the last call that is done: a uint64_t */
  BOCHS_MEMORY_ADDRESS = 0x01000000, /* of what the disk's start is read to */
};

typedef struct bochs_sectors {
  uint64_t first, end;
} bochs_sectors;

/* Read from the disk, call a kernel, write to the disk. */
typedef struct bochs_call {
  uint64_t number; /* from 1 on */
  bochs_sectors reads[2];
  bochs_sectors write;
  uint64_t entry;   /* address of an ingot_kernel */
  uint64_t context; /* address of an ingot_kernel_context */
  uint64_t task;
  uint64_t number_again; /* differs from `number` while the call is being written */
} bochs_call;

#endif /* INGOT_TESTS_SUPPORT_BOCHS_CALLS_H_ */
