/* What the names in a bundle may be: at most so many bytes of UTF-8 without control characters. Then they are safe on a terminal, in a log and in
 * JSON, whoever chose them. Plain C.
 */
#ifndef INGOT_SCHEMA_TEXT_H_
#define INGOT_SCHEMA_TEXT_H_

#include <stddef.h>
#include <stdint.h>

#define INGOT_NAME_BYTES_MAX 1024

/* How many bytes the first character of a text takes; 0: it begins with none, or with a control character. */
static inline size_t ingot_character_bytes(const char* text, size_t byte_count) {
  static const uint32_t least[] = {0x20, 0xa0, 0x800, 0x10000}; /* that so many bytes and one may stand for */
  if (byte_count == 0) return 0;
  const uint32_t lead = text[0] & 0xffu;
  const size_t more = lead < 0xc0 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
  if (more >= byte_count || lead > 0xf4 || (more == 0 && lead >= 0x7f)) return 0;
  uint32_t code = more == 0 ? lead : lead & (0x3fu >> more);
  for (size_t i = 1; i <= more; ++i) {
    if ((text[i] & 0xc0u) != 0x80) return 0;
    code = code << 6 | (text[i] & 0x3fu);
  }
  return code < least[more] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : more + 1;
}

static inline int ingot_is_plain_text(const char* text, size_t byte_count) {
  if (byte_count > INGOT_NAME_BYTES_MAX) return 0;
  for (size_t at = 0, bytes = 0; at < byte_count; at += bytes) {
    bytes = ingot_character_bytes(text + at, byte_count - at);
    if (bytes == 0) return 0;
  }
  return 1;
}

/* No state is called so: in a state file this key is the file's own. */
#define INGOT_RESERVED_STATE "__metadata__"

#endif /* INGOT_SCHEMA_TEXT_H_ */
