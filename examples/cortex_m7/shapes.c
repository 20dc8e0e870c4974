/* Trains a convolutional network on images that are drawn here, and prints what the loss is on the way, with all its bits,
 * and how many of new images it knows. The same on every processor, for code that is compiled with --strict. */
#include "shapes.h"

#include "network.h"

enum { STEPS = 60, IMAGES = 8, SIDE = 16, CLASSES = 4 };

/* A level, an upright, a falling or a rising line, with noise. */
static void draw(float* image, int32_t shape) {
  const int at = SIDE / 2 + (int)(noise() * 5);
  for (int row = 0; row < SIDE; ++row) {
    for (int column = 0; column < SIDE; ++column) {
      const int distance[CLASSES] = {row - at, column - at, row - column + at - SIDE / 2, row + column - at - SIDE / 2};
      image[row * SIDE + column] = (distance[shape] == 0 ? 1.0f : 0.0f) + noise() * 0.25f;
    }
  }
}

static void draw_batch(float* images, int32_t* labels) {
  for (int k = 0; k < IMAGES; ++k) {
    labels[k] = (int32_t)((noise() + 1) * 0.5f * CLASSES);
    draw(images + k * SIDE * SIDE, labels[k]);
  }
}

static int right_images(const float* scores, const int32_t* labels) {
  int right = 0;
  for (int k = 0; k < IMAGES; ++k) right += best_class(scores + k * CLASSES, CLASSES) == labels[k];
  return right;
}

int main(void) {
  shapes_start();
  run(shapes_init); /* what the optimizer keeps */
  FILL(shapes_state.conv1_weight, 0.5f);
  FILL(shapes_state.conv2_weight, 0.2f);
  FILL(shapes_state.linear_weight, 0.1f);
  for (int step = 0; step < STEPS; ++step) {
    draw_batch(shapes_train_step_images, shapes_train_step_labels);
    run(shapes_train_step);
    if (step % 10 == 9) print_loss("step", step + 1, shapes_train_step_loss);
  }
  int right = 0;
  for (int batch = 0; batch < 16; ++batch) {
    int32_t labels[IMAGES];
    draw_batch(shapes_predict_images, labels);
    run(shapes_predict);
    right += right_images(shapes_predict_scores, labels);
  }
  printf("%d of %d new images\n", right, 16 * IMAGES);
  return 0;
}
