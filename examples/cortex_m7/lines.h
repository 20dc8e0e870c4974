/* Images that are drawn as they are needed: of a level, an upright, a falling or a rising line, with noise. */
#include "network.h"

enum { STEPS = 60, IMAGES = 8, SIDE = 16, CLASSES = 4 };

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
