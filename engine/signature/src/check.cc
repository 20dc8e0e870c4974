// Who signed a bundle, and whether it is as it was then.
#include <ingot/signature.h>

#include <cstddef>
#include <cstring>

#include "engine/signature/src/sodium.h"
#include "engine/src/checksum.h"
#include "schema/bundle_header.h"

namespace ingot::engine {
namespace {

static_assert(sizeof(ingot_signature_record) == 112 && sizeof(ingot_signed_message) == 88);

// A bundle and the signatures behind it.
struct SignedBundle {
  const uint8_t* bytes;
  uint64_t bundle_bytes;
  uint64_t count;  // of signatures

  ingot_signature_record signature(uint64_t index) const {
    ingot_signature_record record;
    std::memcpy(&record, bytes + bundle_bytes + index * sizeof record, sizeof record);
    return record;
  }
};

bool is_signature(const ingot_signature_record& record) {
  return std::memcmp(record.magic, INGOT_SIGNATURE_MAGIC, sizeof record.magic) == 0;
}

ingot_status read_header(const void* bytes, uint64_t byte_count, ingot_bundle_header* header, ingot_error* error) {
  if (byte_count < sizeof header->magic || std::memcmp(bytes, INGOT_BUNDLE_MAGIC, sizeof header->magic) != 0) {
    return fail(error, INGOT_NOT_A_BUNDLE, "the first bytes are not those of an ingot bundle");
  }
  if (byte_count < sizeof *header) return fail(error, INGOT_TRUNCATED, "the bundle ends within its header");
  std::memcpy(header, bytes, sizeof *header);
  if (header->header_checksum != checksum(header, offsetof(ingot_bundle_header, header_checksum)) ||
      header->file_bytes < sizeof *header) {
    return fail(error, INGOT_DAMAGED, "the header's checksum does not match");
  }
  if (header->file_bytes > byte_count) {
    return fail(error, INGOT_TRUNCATED, "the bundle has %ju bytes of %ju", byte_count, header->file_bytes);
  }
  return INGOT_OK;
}

ingot_status read_signatures(const void* bytes, uint64_t byte_count, SignedBundle* out, ingot_error* error) {
  ingot_bundle_header header;
  INGOT_TRY(read_header(bytes, byte_count, &header, error));
  const uint64_t rest = byte_count - header.file_bytes;
  *out = {static_cast<const uint8_t*>(bytes), header.file_bytes, 0};
  for (uint64_t most = rest / sizeof(ingot_signature_record); out->count < most; ++out->count) {
    if (!is_signature(out->signature(out->count))) break;
  }
  if (out->count * sizeof(ingot_signature_record) == rest) return INGOT_OK;
  return fail(error, INGOT_TRUNCATED, "after the bundle and its %ju signatures there are other bytes", out->count);
}

bool is_same(const ingot_public_key& key, const ingot_signature_record& record) {
  return std::memcmp(key.bytes, record.public_key, sizeof key.bytes) == 0;
}

bool is_trusted(const ingot_trusted_keys& trusted, const ingot_signature_record& record) {
  for (uint32_t i = 0; i < trusted.count; ++i) {
    if (record.scheme == INGOT_SIGNATURE_ED25519_BLAKE2B && is_same(trusted.keys[i], record)) return true;
  }
  return false;
}

bool is_good(const ingot_signature_record& record, ingot_signed_message message) {
  message.reserved = record.reserved;
  return crypto_sign_verify_detached(record.signature, reinterpret_cast<const uint8_t*>(&message), sizeof message,
                                     record.public_key) == 0;
}

ingot_status refuse_signers(const SignedBundle& bundle, ingot_error* error) {
  if (bundle.count == 0) return fail(error, INGOT_NOT_SIGNED, "the bundle has no signature");
  ingot_public_key key;
  std::memcpy(key.bytes, bundle.signature(0).public_key, sizeof key.bytes);
  char name[INGOT_KEY_NAME_BYTES];
  ingot_name_key(&key, name);
  return fail(error, INGOT_UNTRUSTED_KEY, "the bundle is signed by %s, which is no trusted key", name);
}

ingot_status check_signature(const ingot_trusted_keys& trusted, const SignedBundle& bundle, ingot_error* error) {
  ingot_signed_message message;
  bool is_hashed = false;  // once: it reads all of the bundle
  for (uint64_t i = 0; i < bundle.count; ++i) {
    const ingot_signature_record record = bundle.signature(i);
    if (!is_trusted(trusted, record)) continue;
    if (!is_hashed) message = message_of(bundle.bytes, bundle.bundle_bytes);
    is_hashed = true;
    if (is_good(record, message)) return INGOT_OK;
  }
  if (!is_hashed) return refuse_signers(bundle, error);
  return fail(error, INGOT_BAD_SIGNATURE, "the bundle was changed after it was signed");
}

}  // namespace
}  // namespace ingot::engine

using namespace ingot::engine;

ingot_status ingot_check_signature(void* trusted_keys, const void* bytes, uint64_t byte_count, ingot_error* error) {
  const auto* trusted = static_cast<const ingot_trusted_keys*>(trusted_keys);
  if (!trusted || (!bytes && byte_count > 0) || (trusted->count > 0 && !trusted->keys)) return null_argument(error);
  INGOT_TRY(start_sodium(error));
  SignedBundle bundle;
  INGOT_TRY(read_signatures(bytes, byte_count, &bundle, error));
  return check_signature(*trusted, bundle, error);
}

ingot_status ingot_get_signer(const void* bytes, uint64_t byte_count, uint32_t index, ingot_public_key* out,
                              ingot_error* error) {
  if (!bytes || !out) return null_argument(error);
  SignedBundle bundle;
  INGOT_TRY(read_signatures(bytes, byte_count, &bundle, error));
  if (index >= bundle.count) return fail(error, INGOT_NOT_SIGNED, "the bundle has no signature %u", index);
  std::memcpy(out->bytes, bundle.signature(index).public_key, sizeof out->bytes);
  return INGOT_OK;
}

ingot_status ingot_get_bundle_bytes(const void* bytes, uint64_t byte_count, uint64_t* out, ingot_error* error) {
  if (!bytes || !out) return null_argument(error);
  ingot_bundle_header header;
  INGOT_TRY(read_header(bytes, byte_count, &header, error));
  *out = header.file_bytes;
  return INGOT_OK;
}
