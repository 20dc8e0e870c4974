/* What an application on a board may count on of the engine, beside that it trains: cli_static_test links it with bundles of
 * a program that multiplies its state w by an input x, for this processor and for another one; and one of which an input
 * takes more than 4 GiB. */
#include <ingot/clock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foreign.h"
#include "huge.h"
#include "scale.h"

static _Alignas(64) unsigned char bundle_block[4096], session_block[2048], arena[SCALE_ARENA_BYTES + 1];
static _Alignas(64) unsigned char state[SCALE_STATE_BYTES], scratch[SCALE_SCRATCH_BYTES_PER_THREAD + 1], file[1024];
static _Alignas(64) float x[4] = {0.5f, 0.25f, 0.5f, 2.0f};

static ingot_error error;

static void check(ingot_status status) {
  if (status == INGOT_OK) return;
  printf("%s\n", error.text);
  fflush(stdout);
  _exit(EXIT_FAILURE);
}

uint64_t ingot_clock_ns(void) {
  static uint64_t now;
  return now += 1000;
}

static void print_times(void* user, const ingot_trace_event* event) {
  (void)user;
  printf("a step of %u ns\n", (unsigned)(event->end_ns - event->begin_ns));
}

enum { FLUSH_TO_ZERO = 1 << 24 }; /* of FPSCR: results below 2^-126 become 0 */

static uint32_t fpu_mode(void) {
  uint32_t mode;
  __asm__ volatile("vmrs %0, fpscr" : "=r"(mode));
  return mode & FLUSH_TO_ZERO;
}

static void say_why_not(const unsigned char* bytes, uint64_t byte_count) {
  ingot_bundle* bundle;
  const ingot_status status =
      ingot_open_memory(bytes, byte_count, NULL, bundle_block, sizeof bundle_block, &bundle, &error);
  printf("%s\n", status == INGOT_OK ? "it is opened" : error.text);
}

int main(void) {
  ingot_bundle* bundle;
  ingot_session* session;
  say_why_not(foreign_bundle, FOREIGN_BUNDLE_BYTES);
  say_why_not(huge_bundle, HUGE_BUNDLE_BYTES);
  check(ingot_open_memory(scale_bundle, SCALE_BUNDLE_BYTES, NULL, bundle_block, sizeof bundle_block, &bundle, &error));
  const ingot_memory memory = {session_block, sizeof session_block, arena, sizeof arena, state, sizeof state,
                               scratch,       sizeof scratch,       1};
  check(ingot_create(bundle, &memory, &session, &error));

  const uint32_t tiny[4] = {0x00000100, 0x00400000, 0x00ffffff, 0x3f800000}; /* three near 0, and 1 */
  check(ingot_write_state(session, 0, tiny, sizeof tiny, &error));
  check(ingot_bind_input(session, SCALE_SCALE, SCALE_SCALE_X, x, sizeof x, &error));
  ingot_set_trace(session, NULL, print_times, NULL);
  __asm__ volatile("vmsr fpscr, %0" ::"r"(FLUSH_TO_ZERO));
  int32_t finished = 0;
  while (!finished) check(ingot_run_slice(session, SCALE_SCALE, 0, 1, &finished, &error));
  printf("the FPU's mode is %s\n", fpu_mode() ? "as it was" : "another");

  uint64_t byte_count;
  check(ingot_save_state_memory(session, NULL, file, sizeof file, &byte_count, &error));
  FILE* const out = fopen("board.safetensors", "wb");
  if (!out || fwrite(file, 1, (size_t)byte_count, out) != byte_count || fclose(out) != 0) return 1;
  return 0;
}
