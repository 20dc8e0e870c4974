/* Bytes as flash has them, in memory that is read and executed. For C and C++. */
#ifndef INGOT_TESTS_ENGINE_FLASH_H_
#define INGOT_TESTS_ENGINE_FLASH_H_

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct flash {
  const void* bytes;
  uint64_t byte_count;
} flash;

/* Those of a file. */
static flash flash_of(const char* path) {
  struct stat status;
  const int descriptor = open(path, O_RDONLY);
  if (descriptor < 0 || fstat(descriptor, &status) != 0) exit(2);
  const size_t byte_count = (size_t)status.st_size;
  void* const bytes = mmap(NULL, byte_count, PROT_READ | PROT_EXEC, MAP_PRIVATE, descriptor, 0);
  if (bytes == MAP_FAILED) exit(2);
  close(descriptor);
  const flash result = {bytes, byte_count};
  return result;
}

#endif /* INGOT_TESTS_ENGINE_FLASH_H_ */
