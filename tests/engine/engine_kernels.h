/* Kernels that tests make bundles of: a least-squares fit, y = x * w elementwise, by gradient descent. */
#ifndef INGOT_TESTS_ENGINE_KERNELS_H_
#define INGOT_TESTS_ENGINE_KERNELS_H_

#include "schema/kernel_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { kElements = 1024, kTasks = 8, kMixElements = 64, kMixTasks = 4 };

/* The image that holds all of them. */
extern const uint8_t __start_ingot_kernels[];
extern const uint8_t __stop_ingot_kernels[];

void fill_weights(const ingot_kernel_context* context, uint32_t task);
void multiply(const ingot_kernel_context* context, uint32_t task);
void difference(const ingot_kernel_context* context, uint32_t task);
void total(const ingot_kernel_context* context, uint32_t task);
void update(const ingot_kernel_context* context, uint32_t task);
void count(const ingot_kernel_context* context, uint32_t task);

/* For plans with loops and branches: vectors of kMixElements uint32, words of 4 bytes, flags of 1 byte. */
void mix_together(const ingot_kernel_context* context, uint32_t task);
void mix_alone(const ingot_kernel_context* context, uint32_t task);
void is_below(const ingot_kernel_context* context, uint32_t task);
void advance(const ingot_kernel_context* context, uint32_t task);
void clear(const ingot_kernel_context* context, uint32_t task);
void pick(const ingot_kernel_context* context, uint32_t task);
void is_odd(const ingot_kernel_context* context, uint32_t task);

#ifdef __cplusplus
}
#endif

#endif /* INGOT_TESTS_ENGINE_KERNELS_H_ */
