/* usage: engine_embed FILE.ingot   The whole of embedding the engine, in C99: train a little, save, predict. */
#define _POSIX_C_SOURCE 200809L
#include <ingot/engine.h>
#include <stdio.h>
#include <stdlib.h>

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

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  ingot_requirements needs;
  check(ingot_probe_file(argv[1], &needs, &error));
  ingot_bundle* bundle;
  check(ingot_open_file(argv[1], NULL, block(needs.bundle_bytes), needs.bundle_bytes, &bundle, &error));

  const ingot_memory memory = {
      .session = block(needs.session_bytes + needs.session_bytes_per_thread),
      .session_bytes = needs.session_bytes + needs.session_bytes_per_thread,
      .arena = block(needs.arena_bytes),
      .arena_bytes = needs.arena_bytes,
      .state = block(needs.state_bytes),
      .state_bytes = needs.state_bytes,
      .scratch = block(needs.scratch_bytes_per_thread),
      .scratch_bytes = needs.scratch_bytes_per_thread,
      .threads = 1,
  };
  ingot_session* session;
  check(ingot_create(bundle, &memory, &session, &error));

  uint32_t init, step, x, y, lr, loss;
  check(ingot_find_entry(bundle, "init", &init, &error));
  check(ingot_find_entry(bundle, "train_step", &step, &error));
  check(ingot_find_input(bundle, step, "x", &x, &error));
  check(ingot_find_input(bundle, step, "y", &y, &error));
  check(ingot_find_input(bundle, step, "lr", &lr, &error));
  check(ingot_find_output(bundle, step, "loss", &loss, &error));

  int32_t* seed = block(4);
  float *xs = block(4096), *ys = block(4096), *rate = block(4), *result = block(4);
  *seed = 1;
  *rate = 0.5f;
  for (int i = 0; i < 1024; ++i) xs[i] = 1, ys[i] = (float)i / 1024;
  check(ingot_bind_input(session, init, 0, seed, 4, &error));
  check(ingot_bind_input(session, step, x, xs, 4096, &error));
  check(ingot_bind_input(session, step, y, ys, 4096, &error));
  check(ingot_bind_input(session, step, lr, rate, 4, &error));
  check(ingot_bind_output(session, step, loss, result, 4, &error));

  check(ingot_run(session, init, &error));
  for (int i = 0; i < 20; ++i) {
    check(ingot_run(session, step, &error));
    printf("step %d loss %g\n", i, (double)*result);
  }
  ingot_destroy(session);
  ingot_close(bundle);
  return *result < 1e-3f ? 0 : 1;
}
