// Keys as text: PEM files of the one form that RFC 8410 gives to Ed25519, some fixed bytes and the key's own.
#include <ingot/signature.h>

#include <cstdio>
#include <cstring>

#include "engine/signature/src/sodium.h"

namespace ingot::engine {
namespace {

constexpr size_t kKeyBytes = 32;
constexpr size_t kFormBytesMax = 16;

struct KeyForm {
  const char* word;
  const char* label;
  const char* about;
  size_t form_bytes;
  uint8_t form[kFormBytesMax];  // what stands before the key's bytes
};

constexpr KeyForm kPublic = {
    "public",
    "PUBLIC KEY",
    "Checks that bundles of ingot were signed by this key's owner. Give it to whoever runs them.",
    12,
    {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00}};
constexpr KeyForm kPrivate = {
    "private",
    "PRIVATE KEY",
    "Signs bundles of ingot. Keep it secret: whoever has it can sign in your name.",
    16,
    {0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20}};

constexpr size_t kLineBytes = 40;
constexpr int kVariant = sodium_base64_VARIANT_ORIGINAL;

// "-----BEGIN PUBLIC KEY-----"
void write_line(const char* what, const KeyForm& form, char (&line)[kLineBytes]) {
  std::snprintf(line, sizeof line, "-----%s %s-----", what, form.label);
}

// The bytes of a text.
struct Text {
  const char* begin;
  const char* end;
};

// What stands between the first and the last line of such a key; null where they are missing.
Text between_lines(const KeyForm& form, const Text& text) {
  char first[kLineBytes], last[kLineBytes];
  write_line("BEGIN", form, first);
  write_line("END", form, last);
  const auto find = [](const char* begin, const char* end, const char* line) {
    return static_cast<const char*>(memmem(begin, static_cast<size_t>(end - begin), line, std::strlen(line)));
  };
  const char* begin = find(text.begin, text.end, first);
  if (!begin) return {};
  begin += std::strlen(first);
  const char* end = find(begin, text.end, last);
  return end ? Text{begin, end} : Text{};
}

bool parse(const KeyForm& form, const Text& text, uint8_t* key) {
  const Text base64 = between_lines(form, text);
  if (!base64.begin) return false;
  uint8_t bytes[kFormBytesMax + kKeyBytes];
  size_t count = 0;
  const bool is_read =
      sodium_base642bin(bytes, sizeof bytes, base64.begin, static_cast<size_t>(base64.end - base64.begin), " \r\n",
                        &count, nullptr, kVariant) == 0;
  const bool is_key =
      is_read && count == form.form_bytes + kKeyBytes && std::memcmp(bytes, form.form, form.form_bytes) == 0;
  if (is_key) std::memcpy(key, bytes + form.form_bytes, kKeyBytes);
  sodium_memzero(bytes, sizeof bytes);
  return is_key;
}

// Reads a key of one form; `other` is the form that may stand there by mistake.
ingot_status parse(const KeyForm& form, const KeyForm& other, const Text& text, uint8_t* key, ingot_error* error) {
  if (parse(form, text, key)) {
    if (!between_lines(form, {between_lines(form, text).end, text.end}).begin) return INGOT_OK;
    return fail(error, INGOT_BAD_ARGUMENT, "there are several %s keys; each belongs in a file of its own", form.word);
  }
  if (between_lines(other, text).begin) {
    return fail(error, INGOT_BAD_ARGUMENT, "this is a %s key; the %s one belongs here", other.word, form.word);
  }
  return fail(error, INGOT_BAD_ARGUMENT, "this is no %s Ed25519 key in PEM form, as `ingot keygen` writes it",
              form.word);
}

void print(const KeyForm& form, const uint8_t* key, char text[INGOT_KEY_TEXT_BYTES]) {
  uint8_t bytes[kFormBytesMax + kKeyBytes];
  std::memcpy(bytes, form.form, form.form_bytes);
  std::memcpy(bytes + form.form_bytes, key, kKeyBytes);
  char base64[sodium_base64_ENCODED_LEN(sizeof bytes, kVariant)];
  sodium_bin2base64(base64, sizeof base64, bytes, form.form_bytes + kKeyBytes, kVariant);
  std::snprintf(text, INGOT_KEY_TEXT_BYTES, "%s\n-----BEGIN %s-----\n%s\n-----END %s-----\n", form.about, form.label,
                base64, form.label);
  sodium_memzero(bytes, sizeof bytes);
  sodium_memzero(base64, sizeof base64);
}

}  // namespace
}  // namespace ingot::engine

using namespace ingot::engine;

ingot_status ingot_parse_public_key(const char* text, uint64_t byte_count, ingot_public_key* out, ingot_error* error) {
  if (!text || !out) return null_argument(error);
  return parse(kPublic, kPrivate, {text, text + byte_count}, out->bytes, error);
}

ingot_status ingot_parse_private_key(const char* text, uint64_t byte_count, ingot_private_key* out,
                                     ingot_error* error) {
  if (!text || !out) return null_argument(error);
  return parse(kPrivate, kPublic, {text, text + byte_count}, out->bytes, error);
}

void ingot_print_public_key(const ingot_public_key* key, char text[INGOT_KEY_TEXT_BYTES]) {
  print(kPublic, key->bytes, text);
}

void ingot_print_private_key(const ingot_private_key* key, char text[INGOT_KEY_TEXT_BYTES]) {
  print(kPrivate, key->bytes, text);
}

void ingot_name_key(const ingot_public_key* key, char name[INGOT_KEY_NAME_BYTES]) {
  sodium_bin2base64(name, INGOT_KEY_NAME_BYTES, key->bytes, sizeof key->bytes, kVariant);
}
