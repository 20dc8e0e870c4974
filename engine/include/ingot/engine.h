/* The ingot engine: runs bundles. Plain C99.
 *
 * A *bundle* is a file with machine code, memory plans and initial state; opened, it never changes and may be shared by
 * threads. A *session* is one running instance of it: state, arena, bindings. One thread at a time may use a session.
 *
 *     probe -> how much memory -> open -> create -> bind inputs and outputs -> run, run, run -> save -> destroy, close
 *
 * The caller gives all memory and keeps it until destroy or close; the engine maps files, and where it says so copies
 * of them, but allocates nothing. run() makes no system call with one thread. Bitwise the same results for any number
 * of threads.
 *
 * Every function that can fail returns a status (ingot/status.h) and takes, last, an ingot_error to fill in, or NULL.
 * After a failure nothing has changed, unless a function says otherwise. Null where it is not allowed is
 * INGOT_BAD_ARGUMENT; functions without a status then do nothing. Names may be given in full or as any dotted suffix
 * that is unambiguous: "fc1.weight" finds "model.fc1.weight".
 *
 * An engine that was built without files (INGOT_ENGINE_FILES=OFF) lacks the functions that take a path. It calls no
 * system, starts no threads, and runs a bundle's code where it lies: the application sees to it that the bytes of a bundle
 * may be executed.
 */
#ifndef INGOT_ENGINE_H_
#define INGOT_ENGINE_H_

#include <ingot/status.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/dtype.h"

#define INGOT_API_VERSION 1

#ifdef __cplusplus
extern "C" {
#endif

/* That of the engine which the program runs with: a shared library may be newer than the header. */
uint32_t ingot_api_version(void);

typedef struct ingot_bundle ingot_bundle;
typedef struct ingot_session ingot_session;

/* --- Memory ------------------------------------------------------------------------------------------------------- */

/* What a bundle needs on this processor. All blocks start at multiples of alignment_bytes. */
typedef struct ingot_requirements {
  uint64_t alignment_bytes;          /* at least 64 */
  uint64_t bundle_bytes;             /* for ingot_open_* */
  uint64_t session_bytes;            /* for ingot_create, ... */
  uint64_t session_bytes_per_thread; /* ... and this for each thread */
  uint64_t arena_bytes;              /* transient buffers: the most of any entry point */
  uint64_t state_bytes;              /* parameters, optimizer slots, counters; a snapshot takes as much */
  uint64_t scratch_bytes_per_thread;
  uint64_t stack_bytes; /* the most that a kernel uses, which the session's own threads have; 0 is unknown */
} ingot_requirements;

/* --- Bundles ------------------------------------------------------------------------------------------------------ */

/* May look at all of a bundle before anything of it is read, e.g. at its signature (ingot/signature.h does); other than
 * INGOT_OK refuses it, with *error filled in unless that is NULL. A file is then copied as by copy_file: what was looked
 * at is what runs. Bytes in memory must not change from then on. */
typedef ingot_status (*ingot_bundle_check)(void* user, const void* bytes, uint64_t byte_count, ingot_error* error);

/* The same for machine code alone, before it is mapped executable; other than 0 refuses it. */
typedef int32_t (*ingot_code_check)(void* user, const void* code_segment, uint64_t byte_count);

typedef struct ingot_open_options {
  const char* target;   /* NULL: the first in the bundle that this processor can run */
  int32_t trust_rodata; /* other than 0: skip the checksum of read-only data, which reads all of it */
  ingot_code_check code_check;
  void* code_check_user;
  int32_t copy_file; /* other than 0: all of the file is read into memory first, and may change afterwards */
  ingot_bundle_check bundle_check;
  void* bundle_check_user;
} ingot_open_options;

/* Checks the header and the metadata, and picks the target for this processor. Plans and data are for open to check. */
ingot_status ingot_probe_file(const char* path, ingot_requirements* out, ingot_error* error);
ingot_status ingot_probe_memory(const void* bytes, uint64_t byte_count, ingot_requirements* out, ingot_error* error);

/* The same for a bundle that is to be opened with these options: for their target, and behind their bundle_check. */
ingot_status ingot_probe_file_with(const char* path, const ingot_open_options* options, ingot_requirements* out,
                                   ingot_error* error);
ingot_status ingot_probe_memory_with(const void* bytes, uint64_t byte_count, const ingot_open_options* options,
                                     ingot_requirements* out, ingot_error* error);

/* The bytes of a file, read into memory of their own, which no one else can change; at a multiple of 64. Who checks a
 * bundle that it has so, before it probes and opens it from memory, checks it once: files are checked by probe and by open.
 * Freed after the bundle is closed. Freeing what was never read, {NULL, 0}, does nothing. */
typedef struct ingot_file {
  const void* bytes;
  uint64_t byte_count;
} ingot_file;

ingot_status ingot_read_file(const char* path, ingot_file* out, ingot_error* error);
void ingot_free_file(ingot_file* file);

/* Opens and verifies a bundle. The file is mapped, its code read+execute straight from it; it must not change while
 * open: code and plans would no longer be those that were verified, and what is cut off ends the process (SIGBUS).
 * Replace it by renaming another over it, or have it copied. Bytes in memory start at a multiple of 64 and stay until
 * close; their code is copied to a sealed memory file, or by an engine without files run where it lies.
 *   options  NULL: the defaults, all zero.
 *   memory   bundle_bytes of the requirements. */
ingot_status ingot_open_file(const char* path, const ingot_open_options* options, void* memory, uint64_t memory_bytes,
                             ingot_bundle** out, ingot_error* error);
ingot_status ingot_open_memory(const void* bytes, uint64_t byte_count, const ingot_open_options* options, void* memory,
                               uint64_t memory_bytes, ingot_bundle** out, ingot_error* error);

/* Ends what open began. No session of the bundle may be left. NULL does nothing. */
void ingot_close(ingot_bundle* bundle);

typedef struct ingot_bundle_info {
  const char* name;
  const char* producer;
  const char* target; /* the one picked */
  uint64_t code_bytes;
  uint64_t rodata_bytes;
  uint64_t state_bytes;
  uint32_t entry_count;
  uint32_t state_count;
  uint32_t kernel_count;
  uint64_t checksum; /* of the metadata, which has those of all the rest: two bundles that differ differ in it */
} ingot_bundle_info;

typedef struct ingot_entry_info {
  const char* name;
  uint32_t input_count;
  uint32_t output_count;
  uint32_t step_count;
  uint64_t arena_bytes;
  uint64_t lower_bound_bytes; /* most bytes alive at once */
  uint64_t scratch_bytes;     /* per thread */
} ingot_entry_info;

/* An input, an output or a state. Row-major. */
typedef struct ingot_tensor_info {
  const char* name;
  ingot_dtype dtype;
  uint32_t rank;
  const uint64_t* dims;
  uint64_t bytes;
  const char* role;      /* of a state: "param", "optimizer", ...; else "" */
  uint64_t offset_bytes; /* of a state: in the state region */
} ingot_tensor_info;

/* The bundle from its first byte, for hosts that know its format (schema/bundle_header.h, schema/bundle.fbs). What it tells
 * tools is not verified. */
const void* ingot_get_bytes(const ingot_bundle* bundle);

void ingot_get_bundle_info(const ingot_bundle* bundle, ingot_bundle_info* out);
ingot_status ingot_get_entry_info(const ingot_bundle* bundle, uint32_t entry, ingot_entry_info* out,
                                  ingot_error* error);
ingot_status ingot_get_input_info(const ingot_bundle* bundle, uint32_t entry, uint32_t input, ingot_tensor_info* out,
                                  ingot_error* error);
ingot_status ingot_get_output_info(const ingot_bundle* bundle, uint32_t entry, uint32_t output, ingot_tensor_info* out,
                                   ingot_error* error);
/* The value that an input has until it is bound, in the bundle's own bytes; NULL: it has none and must be bound. */
ingot_status ingot_get_input_default(const ingot_bundle* bundle, uint32_t entry, uint32_t input, const void** out,
                                     ingot_error* error);
ingot_status ingot_get_state_info(const ingot_bundle* bundle, uint32_t state, ingot_tensor_info* out,
                                  ingot_error* error);

ingot_status ingot_find_entry(const ingot_bundle* bundle, const char* name, uint32_t* out, ingot_error* error);
ingot_status ingot_find_input(const ingot_bundle* bundle, uint32_t entry, const char* name, uint32_t* out,
                              ingot_error* error);
ingot_status ingot_find_output(const ingot_bundle* bundle, uint32_t entry, const char* name, uint32_t* out,
                               ingot_error* error);
ingot_status ingot_find_state(const ingot_bundle* bundle, const char* name, uint32_t* out, ingot_error* error);

/* --- Sessions ----------------------------------------------------------------------------------------------------- */

typedef struct ingot_memory {
  void* session;
  uint64_t session_bytes; /* session_bytes + threads * session_bytes_per_thread */
  void* arena;
  uint64_t arena_bytes;
  void* state;
  uint64_t state_bytes;
  void* scratch;
  uint64_t scratch_bytes; /* threads * scratch_bytes_per_thread */
  uint32_t threads;       /* 0 and 1: the caller's thread alone; n: n - 1 more are started */
} ingot_memory;

/* Makes a session and gives the state its first values. A block whose requirement is zero may be NULL. */
ingot_status ingot_create(const ingot_bundle* bundle, const ingot_memory* memory, ingot_session** out,
                          ingot_error* error);

/* Makes a session over a state that exists: keeps the values in the state's memory. */
ingot_status ingot_create_with_state(const ingot_bundle* bundle, const ingot_memory* memory, ingot_session** out,
                                     ingot_error* error);

/* Ends the session's threads. NULL does nothing. A process that was forked has none of them: there a session of several
 * threads runs only entry points whose steps have one task each, and is destroyed like any other. */
void ingot_destroy(ingot_session* session);

/* Tells where an input or output lies: no copy is made. Bindings hold until bound anew. An input that has a default
 * value is bound to that from the start.
 *   data   a multiple of 64; inputs are only read. Outputs must not overlap other inputs or outputs, nor the arena.
 *   bytes  exactly those of the tensor. */
ingot_status ingot_bind_input(ingot_session* session, uint32_t entry, uint32_t input, const void* data, uint64_t bytes,
                              ingot_error* error);
ingot_status ingot_bind_output(ingot_session* session, uint32_t entry, uint32_t output, void* data, uint64_t bytes,
                               ingot_error* error);

/* Runs every step of the entry point once. Inputs, state and processor the same: the same bits. */
ingot_status ingot_run(ingot_session* session, uint32_t entry, ingot_error* error);

/* Runs a part: at most step_limit steps (0: no limit), and no longer than until deadline_ns of CLOCK_MONOTONIC (0: no
 * limit), rounded up to where all threads meet. In a loop, each time round counts: a part may end within. *finished
 * tells whether the run is complete; if not, call again. Until then only this entry may run, and the state is half
 * updated. */
ingot_status ingot_run_slice(ingot_session* session, uint32_t entry, uint32_t step_limit, uint64_t deadline_ns,
                             int32_t* finished, ingot_error* error);

/* Gives up a run in slices; the state stays half updated until it is rolled back or loaded. */
void ingot_abandon_run(ingot_session* session);

/* --- State -------------------------------------------------------------------------------------------------------- */

/* Copies one state out or in. bytes: exactly those of the tensor. */
ingot_status ingot_read_state(const ingot_session* session, uint32_t state, void* out, uint64_t bytes,
                              ingot_error* error);
ingot_status ingot_write_state(ingot_session* session, uint32_t state, const void* data, uint64_t bytes,
                               ingot_error* error);

/* Copies the whole state out, or back in. memory: state_bytes. */
ingot_status ingot_snapshot(const ingot_session* session, void* memory, uint64_t memory_bytes, ingot_error* error);
ingot_status ingot_rollback(ingot_session* session, const void* memory, uint64_t memory_bytes, ingot_error* error);

/* Saves the state as a safetensors file: written beside `path` (`path`.partial0, or the first free number), synced,
 * renamed over it, directory synced. What `path` was before stays as `path`.previous, and its permissions stay; of a
 * symbolic link, what it names is meant. A crash at any instant leaves the old or the new file whole, and so do several
 * savers at a time. If the new file cannot take the place of the old, it stays, and the error names it.
 *   note  UTF-8 text to go with the state, as where in its data a training stands; NULL: none. Other readers see it as
 *         the metadata "ingot.note". */
ingot_status ingot_save_state(const ingot_session* session, const char* path, ingot_error* error);
ingot_status ingot_save_state_noted(const ingot_session* session, const char* path, const char* note,
                                    ingot_error* error);

enum ingot_load_flags {
  INGOT_LOAD_PARTIAL = 1,        /* states that the file lacks keep their values */
  INGOT_LOAD_IGNORE_UNKNOWN = 2, /* tensors that the state lacks are skipped; constants of the bundle are compared */
  INGOT_LOAD_OR_PREVIOUS = 4     /* if `path` is missing or damaged, load `path`.previous: *error then tells why */
};

/* Loads a safetensors file. All of it is read into memory of its own and checked first: on failure, also where the file
 * changes meanwhile, the state is as it was. What the compiler froze is constant: a file that has other values for it is
 * refused (INGOT_FROZEN_TENSOR). After a success error->status is INGOT_OK, unless the previous file was loaded.
 *   note  gets the file's note, "" if it has none, cut to note_bytes with the zero at its end; NULL: it is not wanted. */
ingot_status ingot_load_state(ingot_session* session, const char* path, uint32_t flags, ingot_error* error);
ingot_status ingot_load_state_noted(ingot_session* session, const char* path, uint32_t flags, char* note,
                                    uint64_t note_bytes, ingot_error* error);

/* The same bytes, in memory instead of a file: to be kept in flash, or sent to where files are, and loaded there or here.
 *   memory      gets the bytes, of which *byte_count tells how many they are, also where there is too little memory for
 *               them. NULL: only that is asked. */
ingot_status ingot_save_state_memory(const ingot_session* session, const char* note, void* memory,
                                     uint64_t memory_bytes, uint64_t* byte_count, ingot_error* error);

/* Loads such bytes, or those of any safetensors file, once all of them are checked: on failure the state is as it was. They
 * must not change meanwhile.
 *   flags  all but INGOT_LOAD_OR_PREVIOUS. */
ingot_status ingot_load_state_memory(ingot_session* session, const void* bytes, uint64_t byte_count, uint32_t flags,
                                     char* note, uint64_t note_bytes, ingot_error* error);

/* --- Watching ----------------------------------------------------------------------------------------------------- */

/* One step as the calling thread sees it: its own share of the tasks, without waiting. Times of CLOCK_MONOTONIC. */
typedef struct ingot_trace_event {
  uint32_t entry;
  uint32_t step;
  const char* kernel;  /* its name, or ""; of steps that only jump: "jump", "jump_unless" */
  uint32_t task_count; /* of jumps: 0 */
  uint64_t begin_ns;   /* before the step: 0 */
  uint64_t end_ns;     /* likewise */
} ingot_trace_event;

typedef void (*ingot_trace)(void* user, const ingot_trace_event* event);

/* Calls `before` and `after` around each step, on the thread that runs the session. Either may be NULL; if both are, the trace
 * ends. Reads the clock twice a step, between the two; without a clock the host may time the calls. From there the session
 * may be looked at, but not run, bound, saved or changed: INGOT_BUSY. */
void ingot_set_trace(ingot_session* session, ingot_trace before, ingot_trace after, void* user);

/* Counts since the session was created. */
typedef struct ingot_metrics {
  uint64_t runs;
  uint64_t steps;    /* that were taken: in a loop, each time round */
  uint64_t meetings; /* times within runs that the threads waited for each other */
  uint64_t sleeps;   /* times that a thread gave up spinning and slept */
} ingot_metrics;

void ingot_get_metrics(const ingot_session* session, ingot_metrics* out);

#ifdef __cplusplus
}
#endif

#endif /* INGOT_ENGINE_H_ */
