/* usage: engine_flash FILE.ingot STATE [FILE...]   An application with an engine that was built without files, which gives
 * it bundles as flash would: in memory that is read and executed. Trains the first, writes its state to STATE, goes on from
 * there in another session, and says of the other files why they are no bundles. */
#define _POSIX_C_SOURCE 200809L
#include <ingot/engine.h>
#include <stdio.h>
#include <stdlib.h>

#include "flash.h"

static ingot_error error;

static void check(ingot_status status) {
  if (status == INGOT_OK) return;
  fprintf(stderr, "%s\n", error.text);
  exit(1);
}

/* A block as the engine asks for it. */
static void* block(uint64_t bytes) {
  void* memory = NULL;
  if (posix_memalign(&memory, 64, (size_t)bytes + 1) != 0) exit(1);
  return memory;
}

static ingot_session* session_of(const ingot_bundle* bundle, const ingot_requirements* needs, uint32_t threads,
                                 ingot_status expected) {
  const uint64_t session_bytes = needs->session_bytes + threads * needs->session_bytes_per_thread;
  const uint64_t scratch_bytes = threads * needs->scratch_bytes_per_thread;
  const ingot_memory memory = {
      .session = block(session_bytes),
      .session_bytes = session_bytes,
      .arena = block(needs->arena_bytes),
      .arena_bytes = needs->arena_bytes,
      .state = block(needs->state_bytes),
      .state_bytes = needs->state_bytes,
      .scratch = block(scratch_bytes),
      .scratch_bytes = scratch_bytes,
      .threads = threads,
  };
  ingot_session* session = NULL;
  if (ingot_create(bundle, &memory, &session, &error) != expected) exit(3);
  return session;
}

/* Entries and ports of engine_fixture's program, by index. */
enum { INIT, STEP };

static float train(ingot_session* session, int steps) {
  float *xs = block(4096), *ys = block(4096), *rate = block(4), *loss = block(4);
  *rate = 0.5f;
  for (int i = 0; i < 1024; ++i) xs[i] = 1, ys[i] = (float)i / 1024;
  check(ingot_bind_input(session, STEP, 0, xs, 4096, &error));
  check(ingot_bind_input(session, STEP, 1, ys, 4096, &error));
  check(ingot_bind_input(session, STEP, 2, rate, 4, &error));
  check(ingot_bind_output(session, STEP, 0, loss, 4, &error));
  for (int i = 0; i < steps; ++i) {
    int32_t finished = 0;
    if (ingot_run_slice(session, STEP, 0, 1, &finished, &error) != INGOT_BAD_ARGUMENT) exit(4); /* no clock */
    while (!finished) check(ingot_run_slice(session, STEP, 1, 0, &finished, &error));
    printf("step %d loss %g\n", i, (double)*loss);
  }
  return *loss;
}

static void initialize(ingot_session* session) {
  int32_t* const seed = block(4);
  *seed = 1;
  check(ingot_bind_input(session, INIT, 0, seed, 4, &error));
  check(ingot_run(session, INIT, &error));
}

static void train_and_go_on(const char* path, const char* state_path) {
  const flash file = flash_of(path);
  ingot_requirements needs;
  check(ingot_probe_memory(file.bytes, file.byte_count, &needs, &error));
  ingot_bundle* bundle;
  check(ingot_open_memory(file.bytes, file.byte_count, NULL, block(needs.bundle_bytes), needs.bundle_bytes, &bundle,
                          &error));
  session_of(bundle, &needs, 2, INGOT_NO_THREADS);
  printf("%s\n", error.text);
  ingot_session* const session = session_of(bundle, &needs, 1, INGOT_OK);
  initialize(session);
  train(session, 10);

  uint64_t state_bytes = 0;
  check(ingot_save_state_memory(session, "ten", NULL, 0, &state_bytes, &error));
  uint8_t* const state = block(state_bytes);
  if (ingot_save_state_memory(session, "ten", state, state_bytes - 1, &state_bytes, &error) != INGOT_TOO_LITTLE_MEMORY)
    exit(5);
  check(ingot_save_state_memory(session, "ten", state, state_bytes, &state_bytes, &error));
  FILE* const out = fopen(state_path, "wb");
  if (!out || fwrite(state, 1, state_bytes, out) != state_bytes || fclose(out) != 0) exit(2);

  ingot_session* const second = session_of(bundle, &needs, 1, INGOT_OK);
  char note[8];
  check(ingot_load_state_memory(second, state, state_bytes, 0, note, sizeof note, &error));
  printf("after %s\n", note);
  if (train(session, 1) != train(second, 1)) exit(6);
  state[state_bytes - 1] ^= 1;
  if (ingot_load_state_memory(second, state, state_bytes, 0, NULL, 0, &error) != INGOT_DAMAGED) exit(7);
  ingot_destroy(second);
  ingot_destroy(session);
  ingot_close(bundle);
}

static void say_why_not(const char* path) {
  const flash file = flash_of(path);
  static uint8_t memory[1 << 16] __attribute__((aligned(64)));
  ingot_bundle* bundle;
  const ingot_status status =
      ingot_open_memory(file.bytes, file.byte_count, NULL, memory, sizeof memory, &bundle, &error);
  printf("%d %s\n", (int)status, status == INGOT_OK ? "" : error.text);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  train_and_go_on(argv[1], argv[2]);
  for (int i = 3; i < argc; ++i) say_why_not(argv[i]);
  return 0;
}
