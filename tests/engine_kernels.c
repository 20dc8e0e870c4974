/* Handwritten kernels, against nothing but the kernel ABI. They sit in a section of their own, which the tests take as
 * a flat code image: so they call nothing and refer to no constant outside it.
 */
#include "tests/engine_kernels.h"

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
