/* Learns what garments look like, from images of Fashion-MNIST that are read a batch at a time, and prints what the loss is
 * on the way, with all its bits, and how many of new images it knows. The same on every processor, for code that is compiled
 * with --strict. train-images, train-labels, test-images and test-labels are files of the data set, or their beginnings. */
#include "fashion.h"

#include "network.h"

#ifdef __arm__
#include "board.h"
#endif

#ifndef IMAGES
#define IMAGES 1000 /* of each part of the data set */
#endif
#ifndef EPOCHS
#define EPOCHS 4
#endif

enum { BATCH = 2, PIXELS = 28 * 28, CLASSES = 10, IMAGES_HEADER_BYTES = 16, LABELS_HEADER_BYTES = 8 };

/* One part of the data set. */
struct part {
  FILE *images, *labels;
};

static FILE* opened(const char* name) {
  FILE* const file = fopen(name, "rb");
  if (!file) stop("one of train-images, train-labels, test-images and test-labels cannot be read");
  return file;
}

static void read_from_start(const struct part* part) {
  fseek(part->images, IMAGES_HEADER_BYTES, SEEK_SET);
  fseek(part->labels, LABELS_HEADER_BYTES, SEEK_SET);
}

static void read_batch(const struct part* part, float* images, int32_t* labels) {
  static uint8_t pixels[PIXELS];
  for (int k = 0; k < BATCH; ++k) {
    uint8_t label;
    if (fread(pixels, PIXELS, 1, part->images) != 1 || fread(&label, 1, 1, part->labels) != 1)
      stop("a file has too few images or labels");
    labels[k] = label;
    /* By the mean and the deviation of all images. */
    for (int p = 0; p < PIXELS; ++p) images[k * PIXELS + p] = ((float)pixels[p] - 73.0f) / 90.0f;
  }
}

static void train(const struct part* part) {
  read_from_start(part);
  for (int step = 0; step < IMAGES / BATCH; ++step) {
    read_batch(part, fashion_train_step_images, fashion_train_step_labels);
    run(fashion_train_step);
  }
}

static int right_images(const struct part* part) {
  int right = 0;
  read_from_start(part);
  for (int batch = 0; batch < IMAGES / BATCH; ++batch) {
    int32_t labels[BATCH];
    read_batch(part, fashion_predict_images, labels);
    run(fashion_predict);
    for (int k = 0; k < BATCH; ++k) right += best_class(fashion_predict_scores + k * CLASSES, CLASSES) == labels[k];
  }
  return right;
}

int main(void) {
  const struct part training = {opened("train-images"), opened("train-labels")};
  const struct part test = {opened("test-images"), opened("test-labels")};
  fashion_start();
  run(fashion_init); /* what the optimizer keeps */
  FILL(fashion_state.conv1_weight, 0.5f);
  FILL(fashion_state.conv2_weight, 0.2f);
  FILL(fashion_state.linear_weight, 0.05f);
  for (int epoch = 1; epoch <= EPOCHS; ++epoch) {
    train(&training);
    print_loss("epoch", epoch, fashion_train_step_loss);
  }
  printf("%d of %d new images\n", right_images(&test), IMAGES);
#ifdef __arm__
  print_memory(fashion_train_step);
#endif
  return 0;
}
