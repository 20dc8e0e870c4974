/* XXH64, the checksum of bundles and state files. Plain C, one pass, little-endian machines.
 *
 * Source: Yann Collet, "xxHash fast digest algorithm", version 0.1.1, sections "XXH64" (constants and steps).
 */
#ifndef INGOT_SCHEMA_CHECKSUM_H_
#define INGOT_SCHEMA_CHECKSUM_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define INGOT_XXH_PRIME_1 0x9E3779B185EBCA87ull
#define INGOT_XXH_PRIME_2 0xC2B2AE3D27D4EB4Full
#define INGOT_XXH_PRIME_3 0x165667B19E3779F9ull
#define INGOT_XXH_PRIME_4 0x85EBCA77C2B2AE63ull
#define INGOT_XXH_PRIME_5 0x27D4EB2F165667C5ull

static inline uint64_t ingot_xxh_rotate(uint64_t value, int bits) { return (value << bits) | (value >> (64 - bits)); }

static inline uint64_t ingot_xxh_read64(const uint8_t* at) {
  uint64_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

static inline uint64_t ingot_xxh_round(uint64_t lane, uint64_t input) {
  return ingot_xxh_rotate(lane + input * INGOT_XXH_PRIME_2, 31) * INGOT_XXH_PRIME_1;
}

static inline uint64_t ingot_xxh_merge(uint64_t hash, uint64_t lane) {
  return (hash ^ ingot_xxh_round(0, lane)) * INGOT_XXH_PRIME_1 + INGOT_XXH_PRIME_4;
}

/* XXH64 with seed 0 of bytes data[0, byte_count). */
static inline uint64_t ingot_checksum(const void* data, uint64_t byte_count) {
#ifdef __cplusplus
  const uint8_t* at = static_cast<const uint8_t*>(data);
#else
  const uint8_t* at = data;
#endif
  uint64_t left = byte_count;
  uint64_t hash = INGOT_XXH_PRIME_5;
  if (left >= 32) {
    uint64_t lane[4] = {INGOT_XXH_PRIME_1 + INGOT_XXH_PRIME_2, INGOT_XXH_PRIME_2, 0, 0 - INGOT_XXH_PRIME_1};
    for (; left >= 32; left -= 32, at += 32) {
      for (int i = 0; i < 4; ++i) lane[i] = ingot_xxh_round(lane[i], ingot_xxh_read64(at + 8 * i));
    }
    hash = ingot_xxh_rotate(lane[0], 1) + ingot_xxh_rotate(lane[1], 7) + ingot_xxh_rotate(lane[2], 12) +
           ingot_xxh_rotate(lane[3], 18);
    for (int i = 0; i < 4; ++i) hash = ingot_xxh_merge(hash, lane[i]);
  }
  hash += byte_count;
  for (; left >= 8; left -= 8, at += 8) {
    hash =
        ingot_xxh_rotate(hash ^ ingot_xxh_round(0, ingot_xxh_read64(at)), 27) * INGOT_XXH_PRIME_1 + INGOT_XXH_PRIME_4;
  }
  if (left >= 4) {
    uint32_t word;
    memcpy(&word, at, sizeof word);
    hash = ingot_xxh_rotate(hash ^ (word * INGOT_XXH_PRIME_1), 23) * INGOT_XXH_PRIME_2 + INGOT_XXH_PRIME_3;
    left -= 4;
    at += 4;
  }
  for (; left > 0; --left, ++at) hash = ingot_xxh_rotate(hash ^ (*at * INGOT_XXH_PRIME_5), 11) * INGOT_XXH_PRIME_1;
  hash = (hash ^ (hash >> 33)) * INGOT_XXH_PRIME_2;
  hash = (hash ^ (hash >> 29)) * INGOT_XXH_PRIME_3;
  return hash ^ (hash >> 32);
}

#endif /* INGOT_SCHEMA_CHECKSUM_H_ */
