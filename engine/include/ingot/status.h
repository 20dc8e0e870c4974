/* What every call of the engine returns: a stable code, and a text for it. Plain C. */
#ifndef INGOT_STATUS_H_
#define INGOT_STATUS_H_

#include <stdint.h>

/* X(NAME, code, text). A code never changes its meaning; new ones are added at the end. */
#define INGOT_STATUSES(X)                                                                        \
  X(OK, 0, "ok")                                                                                 \
  X(BAD_ARGUMENT, 1, "an argument is null or out of range")                                      \
  X(TOO_LITTLE_MEMORY, 2, "the memory given is smaller than required")                           \
  X(MISALIGNED, 3, "an address is not aligned as required")                                      \
  X(FILE_FAILED, 4, "the system refused a file operation")                                       \
  X(NOT_A_BUNDLE, 5, "the bytes are not an ingot bundle")                                        \
  X(TRUNCATED, 6, "the bundle is shorter than its header says")                                  \
  X(DAMAGED, 7, "a checksum does not match: the bytes were changed")                             \
  X(WRONG_VERSION, 8, "the bundle was written for another format or kernel ABI version")         \
  X(UNKNOWN_FEATURE, 9, "the bundle requires a feature that this engine does not have")          \
  X(BAD_METADATA, 10, "the bundle's metadata contradicts itself")                                \
  X(BAD_PLAN, 11, "a plan in the bundle is not safe to run")                                     \
  X(NO_TARGET, 12, "the bundle holds no code for this processor")                                \
  X(CODE_REFUSED, 13, "the code cannot be made executable, or the host's check refused it")      \
  X(NO_SUCH_NAME, 14, "nothing has this name")                                                   \
  X(AMBIGUOUS_NAME, 15, "several things have this name")                                         \
  X(WRONG_SIZE, 16, "the number of bytes is not that of the tensor")                             \
  X(WRONG_TYPE, 17, "the element type or the shape is not that of the tensor")                   \
  X(NOT_BOUND, 18, "an input or output of the entry point has no memory bound to it")            \
  X(OVERLAP, 19, "an output overlaps another input or output")                                   \
  X(NOT_INITIALIZED, 20, "the state has no values yet: run the entry point \"init\" or load it") \
  X(BAD_STATE_FILE, 21, "the file is not a well-formed safetensors file")                        \
  X(MISSING_TENSOR, 22, "the file lacks a tensor of the state")                                  \
  X(UNKNOWN_TENSOR, 23, "the file holds a tensor that the state does not have")                  \
  X(NO_THREADS, 24, "threads cannot be started, or the engine was built without them")           \
  X(BUSY, 25, "a run in slices is not finished")                                                 \
  X(NOT_SIGNED, 26, "the bundle has no signature")                                               \
  X(UNTRUSTED_KEY, 27, "the bundle is signed by no trusted key")                                 \
  X(BAD_SIGNATURE, 28, "the bundle was changed after it was signed")                             \
  X(FROZEN_TENSOR, 29, "the file has other values for what is a constant of the bundle")

typedef enum ingot_status {
#define INGOT_STATUS_CODE(NAME, code, text) INGOT_##NAME = code,
  INGOT_STATUSES(INGOT_STATUS_CODE)
#undef INGOT_STATUS_CODE
} ingot_status;

/* A failure with its particulars: the thing, the place and what to do. */
typedef struct ingot_error {
  int32_t status; /* an ingot_status */
  char text[252]; /* ends in a zero */
} ingot_error;

#ifdef __cplusplus
extern "C" {
#endif

/* The text of a status; of a code that this version does not know, "unknown status". */
const char* ingot_status_text(int32_t status);

#ifdef __cplusplus
}
#endif

#endif /* INGOT_STATUS_H_ */
