/* Trains the model of line.mlir: train_c line.ingot. Every input and output is found by its name. */
#include <ingot/engine.h>
#include <stdio.h>
#include <stdlib.h>

static ingot_error error;

static void check(ingot_status status) {
  if (status == INGOT_OK) return;
  fprintf(stderr, "%s\n", error.text);
  exit(1);
}

/* Memory as the engine asks for it: at a multiple of its alignment. */
static void* block(const ingot_requirements* needs, uint64_t bytes) {
  const uint64_t a = needs->alignment_bytes;
  void* memory = aligned_alloc(a, (bytes + a) / a * a);
  if (!memory) exit(1);
  return memory;
}

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "line.ingot";
  ingot_requirements needs;
  check(ingot_probe_file(path, &needs, &error));
  ingot_bundle* bundle;
  check(ingot_open_file(path, NULL, block(&needs, needs.bundle_bytes), needs.bundle_bytes, &bundle, &error));

  const uint64_t session_bytes = needs.session_bytes + needs.session_bytes_per_thread;
  const ingot_memory memory = {
      .session = block(&needs, session_bytes),
      .session_bytes = session_bytes,
      .arena = block(&needs, needs.arena_bytes),
      .arena_bytes = needs.arena_bytes,
      .state = block(&needs, needs.state_bytes),
      .state_bytes = needs.state_bytes,
      .scratch = block(&needs, needs.scratch_bytes_per_thread),
      .scratch_bytes = needs.scratch_bytes_per_thread,
      .threads = 1,
  };
  ingot_session* session;
  check(ingot_create(bundle, &memory, &session, &error));

  uint32_t step, x, y, lr, loss;
  check(ingot_find_entry(bundle, "train_step", &step, &error));
  check(ingot_find_input(bundle, step, "x", &x, &error));
  check(ingot_find_input(bundle, step, "y", &y, &error));
  check(ingot_find_input(bundle, step, "lr", &lr, &error));
  check(ingot_find_output(bundle, step, "loss", &loss, &error));

  float* xs = block(&needs, 8 * sizeof(float));
  float* ys = block(&needs, 8 * sizeof(float));
  float* rate = block(&needs, sizeof(float));
  float* result = block(&needs, sizeof(float));
  check(ingot_bind_input(session, step, x, xs, 8 * sizeof(float), &error));
  check(ingot_bind_input(session, step, y, ys, 8 * sizeof(float), &error));
  check(ingot_bind_input(session, step, lr, rate, sizeof(float), &error));
  check(ingot_bind_output(session, step, loss, result, sizeof(float), &error));

  for (int i = 0; i < 8; ++i) {
    xs[i] = (float)i / 8;
    ys[i] = 3 * xs[i] + 1;
  }
  *rate = 0.1f;
  for (int i = 0; i < 200; ++i) check(ingot_run(session, step, &error));
  printf("loss %g\n", (double)*result);
  ingot_destroy(session);
  ingot_close(bundle);
  return *result < 0.01f ? 0 : 1;
}
