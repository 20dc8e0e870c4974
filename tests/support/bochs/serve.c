/* Calls kernels as a test asks through the disk: all that the emulated machine does. */
#include "schema/kernel_abi.h"
#include "tests/support/bochs/calls.h"

/* Ports of the first disk, and what is said there (ATA-4, programmed input and output). */
enum { DATA = 0x1F0, COUNT = 0x1F2, SECTOR = 0x1F3, DRIVE = 0x1F6, COMMAND = 0x1F7, CONTROL = 0x3F6 };
enum { BUSY = 0x80, READY = 0x40, DATA_REQUEST = 0x08 };
enum { READ_SECTORS = 0x20, WRITE_SECTORS = 0x30 };
enum { FIRST_DISK_BY_SECTOR = 0xE0, NO_INTERRUPTS = 2, SECTORS_MAX = 256, SECTOR_WORDS = BOCHS_SECTOR_BYTES / 2 };

static void say(uint16_t port, uint64_t byte) { __asm__ volatile("outb %0, %1" ::"a"((uint8_t)byte), "Nd"(port)); }

static void wait_for(uint8_t wanted) {
  uint8_t status;
  do {
    __asm__ volatile("inb %1, %0" : "=a"(status) : "Nd"((uint16_t)COMMAND));
  } while ((status & (BUSY | wanted)) != wanted);
}

static void* memory_of(uint64_t sector) { return (void*)(BOCHS_MEMORY_ADDRESS + sector * BOCHS_SECTOR_BYTES); }

static void transfer(bochs_sectors sectors, uint8_t command) {
  for (uint64_t sector = sectors.first; sector < sectors.end;) {
    const uint64_t left = sectors.end - sector, count = left < SECTORS_MAX ? left : SECTORS_MAX;
    wait_for(READY);
    say(DRIVE, FIRST_DISK_BY_SECTOR | sector >> 24);
    say(COUNT, count); /* 256 is written as 0 */
    for (int k = 0; k < 3; ++k) say(SECTOR + k, sector >> (8 * k));
    say(COMMAND, command);
    for (const uint64_t end = sector + count; sector < end; ++sector) {
      void* at = memory_of(sector);
      uint64_t words = SECTOR_WORDS;
      wait_for(DATA_REQUEST);
      if (command == READ_SECTORS) {
        __asm__ volatile("rep insw" : "+D"(at), "+c"(words) : "d"(DATA) : "memory");
      } else {
        __asm__ volatile("rep outsw" : "+S"(at), "+c"(words) : "d"(DATA) : "memory");
      }
    }
  }
  wait_for(READY);
}

_Noreturn void serve(void) {
  volatile bochs_call* const call = memory_of(BOCHS_CALL_SECTOR);
  volatile uint64_t* const answer = memory_of(BOCHS_ANSWER_SECTOR);
  say(CONTROL, NO_INTERRUPTS);
  for (*answer = 0;;) {
    transfer((bochs_sectors){BOCHS_CALL_SECTOR, BOCHS_CALL_SECTOR + 1}, READ_SECTORS);
    if (call->number == *answer || call->number != call->number_again) continue;
    for (int k = 0; k < 2; ++k) transfer(call->reads[k], READ_SECTORS);
    ((ingot_kernel)call->entry)((const ingot_kernel_context*)call->context, (uint32_t)call->task);
    transfer(call->write, WRITE_SECTORS);
    *answer = call->number;
    transfer((bochs_sectors){BOCHS_ANSWER_SECTOR, BOCHS_ANSWER_SECTOR + 1}, WRITE_SECTORS);
  }
}
