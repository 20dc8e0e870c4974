#include "engine/signature/src/sodium.h"

#include <cstring>

namespace ingot::engine {

ingot_status start_sodium(ingot_error* error) {
  return sodium_init() >= 0 ? INGOT_OK : fail(error, INGOT_FILE_FAILED, "libsodium finds no random numbers");
}

ingot_signed_message message_of(const uint8_t* bundle, uint64_t bundle_bytes) {
  ingot_signed_message message = {};
  std::memcpy(message.magic, INGOT_SIGNATURE_MAGIC, sizeof message.magic);
  message.scheme = INGOT_SIGNATURE_ED25519_BLAKE2B;
  message.bundle_bytes = bundle_bytes;
  crypto_generichash_blake2b(message.bundle_hash, sizeof message.bundle_hash, bundle, bundle_bytes, nullptr, 0);
  return message;
}

}  // namespace ingot::engine
