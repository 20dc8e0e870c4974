/* What the programs here share. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* From -1 to 1, exact in a float. */
static float noise(void) {
  static uint32_t state = 1;
  state = state * 1664525u + 1013904223u;
  return (float)((int32_t)state >> 16) / 32768.0f;
}

static void fill(float* weights, size_t count, float scale) {
  for (size_t k = 0; k < count; ++k) weights[k] = noise() * scale;
}
#define FILL(weights, scale) fill(weights, sizeof(weights) / sizeof((weights)[0]), scale)

/* The first of those with the greatest score. */
static int best_class(const float* scores, int classes) {
  int best = 0;
  for (int c = 1; c < classes; ++c) best = scores[c] > scores[best] ? c : best;
  return best;
}

/* With all its bits. */
static void print_loss(const char* what, int number, const float* loss) {
  uint32_t bits;
  memcpy(&bits, loss, sizeof bits);
  printf("%s %2d: loss %.6f (%08lx)\n", what, number, (double)*loss, (unsigned long)bits);
}

/* Of the program, which says why. */
static void stop(const char* why) {
  printf("%s\n", why);
  fflush(stdout);
  _exit(EXIT_FAILURE);
}

/* `entry` is a function of the static sources. */
static void run(int (*entry)(void)) {
  if (entry() != 0) stop("the state has no values");
}
