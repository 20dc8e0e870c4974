/* What shapes.c does, by the engine: the steps are a bundle, which lies in flash and runs there. shapes.h is what `ingot
 * header` writes. Prints the same; and what RAM the engine itself takes. */
#include "lines.h"
#include "shapes.h"

#define BLOCK(name, bytes) static _Alignas(SHAPES_ALIGNMENT_BYTES) unsigned char name[bytes]

/* What the engine needs for itself depends on the engine: it refuses to do with less. */
BLOCK(bundle_block, 6 * 1024);
BLOCK(session_block, 2 * 1024);
BLOCK(arena, SHAPES_ARENA_BYTES);
BLOCK(state, SHAPES_STATE_BYTES);
BLOCK(scratch, SHAPES_SCRATCH_BYTES_PER_THREAD);

static _Alignas(64) float images[IMAGES * SIDE * SIDE], scores[IMAGES * CLASSES], loss[1];
static _Alignas(64) int32_t labels[IMAGES];
static _Alignas(64) int64_t seed[1];

static ingot_error error;
static ingot_bundle* bundle;
static ingot_session* session;

static void check(ingot_status status) {
  if (status != INGOT_OK) stop(error.text);
}

static void open_bundle(void) {
  check(
      ingot_open_memory(shapes_bundle, SHAPES_BUNDLE_BYTES, NULL, bundle_block, sizeof bundle_block, &bundle, &error));
  const ingot_memory memory = {.session = session_block,
                               .session_bytes = sizeof session_block,
                               .arena = arena,
                               .arena_bytes = sizeof arena,
                               .state = state,
                               .state_bytes = sizeof state,
                               .scratch = scratch,
                               .scratch_bytes = sizeof scratch,
                               .threads = 1};
  check(ingot_create(bundle, &memory, &session, &error));
}

#define BIND_INPUT(entry, input, data) check(ingot_bind_input(session, entry, input, data, sizeof data, &error))
#define BIND_OUTPUT(entry, output, data) check(ingot_bind_output(session, entry, output, data, sizeof data, &error))

static void bind(void) {
  BIND_INPUT(SHAPES_INIT, SHAPES_INIT_SEED, seed);
  BIND_INPUT(SHAPES_TRAIN_STEP, SHAPES_TRAIN_STEP_IMAGES, images);
  BIND_INPUT(SHAPES_TRAIN_STEP, SHAPES_TRAIN_STEP_LABELS, labels);
  BIND_OUTPUT(SHAPES_TRAIN_STEP, SHAPES_TRAIN_STEP_LOSS, loss);
  BIND_INPUT(SHAPES_PREDICT, SHAPES_PREDICT_IMAGES, images);
  BIND_OUTPUT(SHAPES_PREDICT, SHAPES_PREDICT_SCORES, scores);
}

/* Of a weight that the state lies with in memory of ours. */
static void fill_state(const char* name, float scale) {
  uint32_t index;
  ingot_tensor_info weight;
  check(ingot_find_state(bundle, name, &index, &error));
  check(ingot_get_state_info(bundle, index, &weight, &error));
  fill((float*)(state + weight.offset_bytes), (size_t)weight.bytes / sizeof(float), scale);
}

static void print_needs(void) {
  ingot_requirements needs;
  check(ingot_probe_memory(shapes_bundle, SHAPES_BUNDLE_BYTES, &needs, &error));
  printf("engine: %u bytes of RAM to open the bundle, %u of a session\n", (unsigned)needs.bundle_bytes,
         (unsigned)(needs.session_bytes + needs.session_bytes_per_thread));
}

int main(void) {
  open_bundle();
  bind();
  check(ingot_run(session, SHAPES_INIT, &error)); /* what the optimizer keeps */
  fill_state("conv1.weight", 0.5f);
  fill_state("conv2.weight", 0.2f);
  fill_state("linear.weight", 0.1f);
  for (int step = 0; step < STEPS; ++step) {
    draw_batch(images, labels);
    check(ingot_run(session, SHAPES_TRAIN_STEP, &error));
    if (step % 10 == 9) print_loss("step", step + 1, loss);
  }
  int right = 0;
  for (int batch = 0; batch < 16; ++batch) {
    draw_batch(images, labels);
    check(ingot_run(session, SHAPES_PREDICT, &error));
    right += right_images(scores, labels);
  }
  printf("%d of %d new images\n", right, 16 * IMAGES);
  print_needs();
  return 0;
}
