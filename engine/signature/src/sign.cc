// Keys, and what they sign.
#include <ingot/signature.h>

#include <cstring>

#include "engine/signature/src/sodium.h"

namespace ingot::engine {
namespace {

// libsodium's form of a key: the private one and the public one that belongs to it.
struct KeyPair {
  explicit KeyPair(const ingot_private_key& key) { crypto_sign_seed_keypair(public_key.bytes, both, key.bytes); }
  ~KeyPair() { sodium_memzero(both, sizeof both); }

  ingot_public_key public_key;
  uint8_t both[crypto_sign_SECRETKEYBYTES];
};

static_assert(sizeof(ingot_private_key) == crypto_sign_SEEDBYTES);
static_assert(sizeof(ingot_public_key) == crypto_sign_PUBLICKEYBYTES);
static_assert(sizeof(ingot_signature_record::signature) == crypto_sign_BYTES);

}  // namespace
}  // namespace ingot::engine

using namespace ingot::engine;

ingot_status ingot_make_key(ingot_private_key* out, ingot_error* error) {
  if (!out) return null_argument(error);
  INGOT_TRY(start_sodium(error));
  randombytes_buf(out->bytes, sizeof out->bytes);
  return INGOT_OK;
}

ingot_status ingot_get_public_key(const ingot_private_key* key, ingot_public_key* out, ingot_error* error) {
  if (!key || !out) return null_argument(error);
  INGOT_TRY(start_sodium(error));
  *out = KeyPair(*key).public_key;
  return INGOT_OK;
}

ingot_status ingot_sign(const ingot_private_key* key, const void* bytes, uint64_t byte_count,
                        ingot_signature_record* out, ingot_error* error) {
  if (!key || !bytes || !out) return null_argument(error);
  INGOT_TRY(start_sodium(error));
  uint64_t bundle_bytes = 0;
  INGOT_TRY(ingot_get_bundle_bytes(bytes, byte_count, &bundle_bytes, error));
  const ingot_signed_message message = message_of(static_cast<const uint8_t*>(bytes), bundle_bytes);
  const KeyPair pair(*key);
  *out = ingot_signature_record();
  std::memcpy(out->magic, INGOT_SIGNATURE_MAGIC, sizeof out->magic);
  out->scheme = message.scheme;
  std::memcpy(out->public_key, pair.public_key.bytes, sizeof out->public_key);
  crypto_sign_detached(out->signature, nullptr, reinterpret_cast<const uint8_t*>(&message), sizeof message, pair.both);
  return INGOT_OK;
}
