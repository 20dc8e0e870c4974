/* Signatures of bundles: a bundle is native code, and opening one that a stranger made is running it. Plain C99; a library
 * of its own, ingot::signature, which uses libsodium. The engine has no cryptography in it.
 *
 *     ingot_public_key key;
 *     ingot_parse_public_key(text_of_the_key_file, bytes_of_it, &key, &error);
 *     ingot_trusted_keys trusted = {&key, 1};
 *     ingot_open_options options = {.bundle_check = ingot_check_signature, .bundle_check_user = &trusted};
 *     ingot_probe_file_with("digits.ingot", &options, &needs, &error);
 *     ingot_open_file("digits.ingot", &options, memory, memory_bytes, &bundle, &error);
 *
 * Keys are Ed25519 in PEM files, as `ingot keygen` and `openssl genpkey -algorithm ed25519` write them. schema/signature.h
 * tells what is signed and where signatures lie.
 */
#ifndef INGOT_SIGNATURE_H_
#define INGOT_SIGNATURE_H_

#include <ingot/engine.h>

#include "schema/signature.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Checking ----------------------------------------------------------------------------------------------------- */

typedef struct ingot_public_key {
  uint8_t bytes[32];
} ingot_public_key;

/* Reads the text of a public key file. INGOT_BAD_ARGUMENT if it is none. */
ingot_status ingot_parse_public_key(const char* text, uint64_t byte_count, ingot_public_key* out, ingot_error* error);

typedef struct ingot_trusted_keys {
  const ingot_public_key* keys;
  uint32_t count;
} ingot_trusted_keys;

/* INGOT_OK if one of the trusted keys signed the bundle in these bytes, every one of which is as it was then. Else
 *     INGOT_NOT_A_BUNDLE, INGOT_TRUNCATED   it is no bundle, or its end is missing
 *     INGOT_NOT_SIGNED       it has no signature
 *     INGOT_UNTRUSTED_KEY    it has, by other keys
 *     INGOT_BAD_SIGNATURE    it was changed after a trusted key signed it
 * Only the header is read, and all bytes hashed. An ingot_bundle_check. */
ingot_status ingot_check_signature(void* trusted_keys, const void* bytes, uint64_t byte_count, ingot_error* error);

/* The key of the signature of that index, which may be false. INGOT_NOT_SIGNED behind the last. */
ingot_status ingot_get_signer(const void* bytes, uint64_t byte_count, uint32_t index, ingot_public_key* out,
                              ingot_error* error);

/* A key as people compare it: the last 44 characters of its line in a key file. */
#define INGOT_KEY_NAME_BYTES 45
void ingot_name_key(const ingot_public_key* key, char name[INGOT_KEY_NAME_BYTES]);

/* --- Signing ------------------------------------------------------------------------------------------------------ */

typedef struct ingot_private_key {
  uint8_t bytes[32];
} ingot_private_key;

/* Of the system's random numbers. */
ingot_status ingot_make_key(ingot_private_key* out, ingot_error* error);
ingot_status ingot_get_public_key(const ingot_private_key* key, ingot_public_key* out, ingot_error* error);

/* Key files, with the zero at their end. */
#define INGOT_KEY_TEXT_BYTES 512
ingot_status ingot_parse_private_key(const char* text, uint64_t byte_count, ingot_private_key* out, ingot_error* error);
void ingot_print_private_key(const ingot_private_key* key, char text[INGOT_KEY_TEXT_BYTES]);
void ingot_print_public_key(const ingot_public_key* key, char text[INGOT_KEY_TEXT_BYTES]);

/* Where the signatures of a bundle begin: its own bytes end there. */
ingot_status ingot_get_bundle_bytes(const void* bytes, uint64_t byte_count, uint64_t* out, ingot_error* error);

/* The signature of the bundle in these bytes, for the caller to put at their end. */
ingot_status ingot_sign(const ingot_private_key* key, const void* bytes, uint64_t byte_count,
                        ingot_signature_record* out, ingot_error* error);

#ifdef __cplusplus
}
#endif

#endif /* INGOT_SIGNATURE_H_ */
