/* Handwritten kernels, against nothing but the kernel ABI. They sit in a section of their own, which the tests take as
 * a flat code image: so they call nothing and refer to no constant outside it.
 */
#include "tests/engine/engine_kernels.h"

#define KERNEL __attribute__((section("ingot_kernels"), noinline, used))

static inline void* operand(const ingot_kernel_context* context, int index) {
  const ingot_operand* o = &context->operands[index];
  return context->bases[o->base] + o->offset_bytes;
}

/* A float that the compiler cannot fold into a constant in memory. */
static inline float number(int32_t value) {
  __asm__("" : "+r"(value));
  return (float)value;
}

enum { kPerTask = kElements / kTasks };

/* weights[i] = something in [0, 1) that depends on seed and i */
KERNEL void fill_weights(const ingot_kernel_context* context, uint32_t task) {
  const int32_t* seed = operand(context, 0);
  float* weights = operand(context, 1);
  for (uint32_t i = task * kPerTask; i < (task + 1) * kPerTask; ++i) {
    const uint32_t mixed = ((uint32_t)*seed + i) * 2654435761u;
    weights[i] = number((int32_t)(mixed >> 8)) / number(1 << 24);
  }
}

/* h[i] = x[i] * w[i] */
KERNEL void multiply(const ingot_kernel_context* context, uint32_t task) {
  const float* x = operand(context, 0);
  const float* w = operand(context, 1);
  float* h = operand(context, 2);
  for (uint32_t i = task * kPerTask; i < (task + 1) * kPerTask; ++i) h[i] = x[i] * w[i];
}

/* d[i] = h[i] - y[i], in place of h; partial[task] = sum of their squares */
KERNEL void difference(const ingot_kernel_context* context, uint32_t task) {
  const float* h = operand(context, 0);
  const float* y = operand(context, 1);
  float* d = operand(context, 2);
  float* partial = operand(context, 3);
  float sum = number(0);
  for (uint32_t i = task * kPerTask; i < (task + 1) * kPerTask; ++i) {
    const float delta = h[i] - y[i];
    d[i] = delta;
    sum += delta * delta;
  }
  partial[task] = sum;
}

/* loss = sum of partial */
KERNEL void total(const ingot_kernel_context* context, uint32_t task) {
  const float* partial = operand(context, 0);
  float* loss = operand(context, 1);
  float sum = number((int32_t)task);
  for (uint32_t i = 0; i < kTasks; ++i) sum += partial[i];
  *loss = sum;
}

/* w[i] -= lr * d[i] * x[i], by way of this thread's scratch */
KERNEL void update(const ingot_kernel_context* context, uint32_t task) {
  const float* d = operand(context, 0);
  const float* x = operand(context, 1);
  const float* lr = operand(context, 2);
  float* w = operand(context, 3);
  float* scratch = (float*)context->scratch;
  for (uint32_t i = 0; i < kPerTask; ++i) scratch[i] = *lr * d[task * kPerTask + i] * x[task * kPerTask + i];
  for (uint32_t i = 0; i < kPerTask; ++i) w[task * kPerTask + i] -= scratch[i];
}

/* step += table[0], a constant 1 from the read-only data */
KERNEL void count(const ingot_kernel_context* context, uint32_t task) {
  const int32_t* table = operand(context, 0);
  int32_t* step = operand(context, 1);
  *step += table[task];
}

static inline void mix(const ingot_kernel_context* context, uint32_t begin, uint32_t end) {
  const uint32_t* a = operand(context, 0);
  const uint32_t* b = operand(context, 1);
  uint32_t* out = operand(context, 2);
  for (uint32_t i = begin; i < end; ++i) out[i] = a[i] * 1664525u + (b[i] >> 3) + i;
}

/* out[i] = a[i] * 1664525 + b[i] / 8 + i, in kMixTasks tasks */
KERNEL void mix_together(const ingot_kernel_context* context, uint32_t task) {
  mix(context, task * (kMixElements / kMixTasks), (task + 1) * (kMixElements / kMixTasks));
}

/* The same in one. */
KERNEL void mix_alone(const ingot_kernel_context* context, uint32_t task) { mix(context, task, kMixElements); }

/* flag = word < limit */
KERNEL void is_below(const ingot_kernel_context* context, uint32_t task) {
  const uint32_t* word = operand(context, 0);
  const uint32_t* limit = operand(context, 1);
  uint8_t* flag = operand(context, 2);
  flag[task] = *word < *limit;
}

/* ++word */
KERNEL void advance(const ingot_kernel_context* context, uint32_t task) {
  uint32_t* word = operand(context, 0);
  ++word[task];
}

/* word = 0 */
KERNEL void clear(const ingot_kernel_context* context, uint32_t task) {
  uint32_t* word = operand(context, 0);
  word[task] = 0;
}

/* word = vector[0] modulo 5 */
KERNEL void pick(const ingot_kernel_context* context, uint32_t task) {
  const uint32_t* vector = operand(context, 0);
  uint32_t* word = operand(context, 1);
  *word = vector[task] % 5;
}

/* flag = vector[0] is odd */
KERNEL void is_odd(const ingot_kernel_context* context, uint32_t task) {
  const uint32_t* vector = operand(context, 0);
  uint8_t* flag = operand(context, 1);
  *flag = vector[task] % 2;
}
