/* Trains a convolutional network on images that are drawn here, and prints what the loss is on the way, with all its bits,
 * and how many of new images it knows. The same on every processor, for code that is compiled with --strict. */
#include "shapes.h"

#include "lines.h"

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
