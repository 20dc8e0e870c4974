/* The clock of an engine that was built without files (INGOT_ENGINE_FILES=OFF). Others ask the system. Plain C99. */
#ifndef INGOT_CLOCK_H_
#define INGOT_CLOCK_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Nanoseconds since some moment, never fewer than before. For the application to define, or not: then deadlines of
 * ingot_run_slice are refused, and the times of traces are 0. */
uint64_t ingot_clock_ns(void);

#ifdef __cplusplus
}
#endif

#endif /* INGOT_CLOCK_H_ */
