/* Trains in static memory alone: the bundle is part of the program, and still.h says how large its blocks are. */
#include "still.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>

static alignas(STILL_ALIGNMENT_BYTES) unsigned char arena[STILL_ARENA_BYTES + 1];
static alignas(STILL_ALIGNMENT_BYTES) unsigned char state[STILL_STATE_BYTES + 1];
static alignas(STILL_ALIGNMENT_BYTES) unsigned char scratch[STILL_SCRATCH_BYTES_PER_THREAD + 1];
/* What the engine itself needs depends on the engine: the program says how much it gives, and the engine refuses to
 * open a bundle that needs more. */
static alignas(64) unsigned char bundle_block[16 * 1024];
static alignas(STILL_ALIGNMENT_BYTES) unsigned char session_block[16 * 1024];

static alignas(64) float x[8], y[8], lr[1], loss[1];

static ingot_error error;

static void check(ingot_status status) {
  if (status == INGOT_OK) return;
  fprintf(stderr, "%s\n", error.text);
  exit(1);
}

int main(void) {
  ingot_bundle* bundle;
  check(ingot_open_memory(still_bundle, STILL_BUNDLE_BYTES, NULL, bundle_block, sizeof bundle_block, &bundle, &error));
  const ingot_memory memory = {
      .session = session_block,
      .session_bytes = sizeof session_block,
      .arena = arena,
      .arena_bytes = STILL_ARENA_BYTES,
      .state = state,
      .state_bytes = STILL_STATE_BYTES,
      .scratch = scratch,
      .scratch_bytes = STILL_SCRATCH_BYTES_PER_THREAD,
      .threads = 1,
  };
  ingot_session* session;
  check(ingot_create(bundle, &memory, &session, &error));

  const uint32_t step = STILL_TRAIN_STEP;
  check(ingot_bind_input(session, step, STILL_TRAIN_STEP_X, x, STILL_TRAIN_STEP_X_BYTES, &error));
  check(ingot_bind_input(session, step, STILL_TRAIN_STEP_Y, y, STILL_TRAIN_STEP_Y_BYTES, &error));
  check(ingot_bind_input(session, step, STILL_TRAIN_STEP_LR, lr, STILL_TRAIN_STEP_LR_BYTES, &error));
  check(ingot_bind_output(session, step, STILL_TRAIN_STEP_LOSS, loss, STILL_TRAIN_STEP_LOSS_BYTES, &error));

  for (int i = 0; i < 8; ++i) {
    x[i] = (float)i / 8;
    y[i] = 3 * x[i] + 1;
  }
  lr[0] = 0.1f;
  for (int i = 0; i < 200; ++i) check(ingot_run(session, step, &error));
  printf("loss %g\n", (double)loss[0]);
  ingot_destroy(session);
  ingot_close(bundle);
  return loss[0] < 0.01f ? 0 : 1;
}
