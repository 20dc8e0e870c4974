/* The fixed-size records of a plan, as they lie in the metadata and as the engine walks them. Plain C.
 *
 * A plan is a list of steps. A step calls every task of one kernel with its operands. Steps run in order, but a step
 * may overlap in time with those before it back to the last barrier: steps from one barrier to the next are one
 * *group*.
 *
 * A buffer is a place with a lifetime, [offset, offset + bytes) of the arena during steps first_step .. last_step. Two
 * buffers that are alive in one group never overlap, but for one case: a buffer may start in place of another, at the
 * same offset, in the very step that uses the other for the last time.
 *
 * Steps that jump make loops and branches, of these two shapes alone, nested INGOT_CONTROL_DEPTH_MAX deep at most:
 *
 *     while  H:   condition ...                  case   x == 0, else -> L1       if: a case of two branches whose
 *                 p == 1, else -> E                     branch 0 ...                 one test is x == 1
 *                 body ...                              JUMP -> E
 *                 JUMP -> H                         L1: x == 1, else -> L2       a branch may be empty, and the last
 *            E:                                         branch 1 ...                 one has neither test nor jump
 *                                                       JUMP -> E
 *                                                   L2: last branch ...
 *                                                   E:
 *
 * E may be the end of the plan. Lifetimes still count steps in the order in which they stand: a buffer that a loop
 * touches and that starts before it lives to the loop's last step, its jump back; one that starts inside dies inside.
 * A buffer may be written by several steps: a value carried by a loop, a result that each branch writes.
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
  uint16_t kind;          /* ingot_step_kind */
  uint16_t flags;         /* ingot_step_flags */
  uint32_t target;        /* of a jump: the step it goes to, or the number of steps; else zero */
} ingot_step_record;

enum ingot_step_kind {
  INGOT_STEP_KERNEL = 0,
  INGOT_STEP_JUMP = 1,       /* goes to `target`; no operands; `kernel` is zero */
  INGOT_STEP_JUMP_UNLESS = 2 /* goes to `target` unless the value of its one operand equals `kernel`; the operand lies
                                in the arena, the state, the read-only data or an input */
};

enum ingot_step_flags {
  INGOT_STEP_BARRIER = 1, /* all earlier steps are finished before this one starts. Set on every jump, on every step
                             that a jump leads to, and on the step behind a jump */
  INGOT_STEP_WORD = 2     /* of INGOT_STEP_JUMP_UNLESS: the operand has 4 bytes, little-endian; else it has 1 */
};

#define INGOT_CONTROL_DEPTH_MAX 16

/* What a bundle requires of an engine if any of its plans jumps. */
#define INGOT_FEATURE_CONTROL_FLOW "control_flow"

#endif /* INGOT_SCHEMA_PLAN_RECORDS_H_ */
