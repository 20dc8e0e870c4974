/* The fixed-size records of a plan, as they lie in the metadata and as the engine walks them. Plain C.
 *
 * A plan is a list of steps. A step calls every task of one kernel with its operands. Steps run in order, but a step
 * may overlap in time with those before it back to the last barrier: steps from one barrier to the next are one
 * *group*.
 *
 * A buffer is a place with a lifetime, [offset, offset + bytes) of the arena during steps first_step .. last_step. Two
 * buffers that are alive in one group never overlap, but for one case: a buffer may start in place of another, at the
 * same offset, in the very step that uses the other for the last time.
 */
#ifndef INGOT_SCHEMA_PLAN_RECORDS_H_
#define INGOT_SCHEMA_PLAN_RECORDS_H_

#include <stdint.h>

#define INGOT_NONE UINT32_MAX

/* Sorted by first_step. */
typedef struct ingot_buffer_record {
  uint64_t offset_bytes; /* in the arena; a multiple of INGOT_BUFFER_ALIGNMENT_BYTES */
  uint64_t bytes;
  uint32_t first_step;  /* writes it */
  uint32_t last_step;   /* the last that touches it */
  uint32_t in_place_of; /* index of an earlier buffer, or INGOT_NONE */
  uint32_t reserved;    /* zero */
} ingot_buffer_record;

typedef struct ingot_step_record {
  uint32_t kernel;        /* index into the code segment's kernels, which tells the task and operand counts */
  uint32_t first_operand; /* index into the plan's operands */
  uint16_t kind;          /* INGOT_STEP_KERNEL; later: loop, branch, jump */
  uint16_t flags;         /* INGOT_STEP_BARRIER */
  uint32_t reserved;      /* zero */
} ingot_step_record;

enum ingot_step_kind { INGOT_STEP_KERNEL = 0 };

/* All earlier steps are finished before this one starts. */
enum ingot_step_flags { INGOT_STEP_BARRIER = 1 };

#endif /* INGOT_SCHEMA_PLAN_RECORDS_H_ */
