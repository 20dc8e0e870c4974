/* How a bundle is signed. Plain C.
 *
 *   0              file_bytes of the header
 *   +--------------+-----------+-----------+----
 *   | the bundle   | signature | signature | ...
 *   +--------------+-----------+-----------+----
 *
 * Signatures stand behind the bundle, one of each key that signed it. A bundle is the same bytes with and without them,
 * and engines that do not know of them pass them by. Each signs an ingot_signed_message, of which the file holds no
 * copy: what it says is computed anew from the bundle's bytes.
 */
#ifndef INGOT_SCHEMA_SIGNATURE_H_
#define INGOT_SCHEMA_SIGNATURE_H_

#include <stdint.h>

#define INGOT_SIGNATURE_MAGIC "INGOTSIG"

enum ingot_signature_scheme { INGOT_SIGNATURE_ED25519_BLAKE2B = 1 }; /* RFC 8032 and RFC 7693 */

typedef struct ingot_signature_record {
  char magic[8];
  uint32_t scheme;   /* ingot_signature_scheme; records of others are passed by */
  uint32_t reserved; /* zero */
  uint8_t public_key[32];
  uint8_t signature[64]; /* Ed25519, of an ingot_signed_message */
} ingot_signature_record;

typedef struct ingot_signed_message {
  char magic[8]; /* INGOT_SIGNATURE_MAGIC: no other message of the key's owner begins so */
  uint32_t scheme;
  uint32_t reserved; /* zero */
  uint64_t bundle_bytes;
  uint8_t bundle_hash[64]; /* BLAKE2b-512, without a key, of all bytes of the bundle */
} ingot_signed_message;

#endif /* INGOT_SCHEMA_SIGNATURE_H_ */
