#include "engine/src/json_reader.h"

namespace ingot::engine {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The bytes of a string, one after another, escapes decoded. Strings that JsonReader has passed are well formed, but
// for lone surrogates, which stand for themselves.
class StringBytes {
 public:
  explicit StringBytes(const JsonString& string) : at_(string.begin), end_(string.begin + string.byte_count) {}

  bool next(uint8_t* out) {
    if (pending_ == 0) {
      if (at_ == end_) return false;
      if (*at_ != '\\') {
        *out = static_cast<uint8_t>(*at_++);
        return true;
      }
      unescape();
    }
    *out = bytes_[--pending_];
    return true;
  }

 private:
  void unescape() {
    const char c = at_[1];
    at_ += 2;
    if (c == 'u') {
      uint32_t code = hex4();
      if (code >= 0xd800 && code < 0xdc00 && end_ - at_ >= 6 && at_[0] == '\\' && at_[1] == 'u') {
        at_ += 2;
        code = 0x10000 + ((code - 0xd800) << 10) + (hex4() - 0xdc00);
      }
      encode(code);
      return;
    }
    static constexpr char kEscapes[] = "b\bf\fn\nr\rt\t";
    bytes_[0] = static_cast<uint8_t>(c);
    for (int i = 0; kEscapes[i]; i += 2) {
      if (c == kEscapes[i]) bytes_[0] = static_cast<uint8_t>(kEscapes[i + 1]);
    }
    pending_ = 1;
  }

  uint32_t hex4() {
    uint32_t value = 0;
    for (int i = 0; i < 4; ++i) value = value << 4 | static_cast<uint32_t>(hex_digit(*at_++));
    return value;
  }

  // UTF-8, last byte first.
  void encode(uint32_t code) {
    static constexpr uint32_t kLengths[] = {0x80, 0x800, 0x10000, 0x110000};  // codes below take 1, 2, 3, 4 bytes
    static constexpr uint8_t kLeads[] = {0, 0xc0, 0xe0, 0xf0};
    int length = 0;
    while (code >= kLengths[length] && length < 3) ++length;
    for (int i = 0; i < length; ++i, code >>= 6) bytes_[i] = static_cast<uint8_t>(0x80 | (code & 0x3f));
    bytes_[length] = static_cast<uint8_t>(kLeads[length] | code);
    pending_ = length + 1;
  }

  const char* at_;
  const char* end_;
  uint8_t bytes_[4] = {};
  int pending_ = 0;
};

}  // namespace

bool equals(const JsonString& string, const char* text) {
  StringBytes bytes(string);
  uint8_t byte;
  while (bytes.next(&byte)) {
    if (byte == 0 || static_cast<uint8_t>(*text++) != byte) return false;
  }
  return *text == 0;
}

void copy_text(const JsonString& string, char* out, uint64_t out_bytes) {
  StringBytes bytes(string);
  uint8_t byte;
  while (--out_bytes > 0 && bytes.next(&byte)) *out++ = static_cast<char>(byte);
  *out = 0;
}

void JsonReader::skip_space() {
  while (at_ < end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\n' || *at_ == '\r')) ++at_;
}

bool JsonReader::take(char c) {
  skip_space();
  if (!ok_ || at_ == end_ || *at_ != c) return false;
  ++at_;
  return true;
}

bool JsonReader::open(char bracket) {
  if (!take(bracket)) return fail();
  return first_ = true;
}

bool JsonReader::next(char closing_bracket) {
  const bool first = first_;
  first_ = false;
  if (!ok_ || take(closing_bracket)) return false;
  return first || take(',') || fail();
}

bool JsonReader::key(JsonString* out) { return string(out) && (take(':') || fail()); }

bool JsonReader::string(JsonString* out) {
  if (!take('"')) return fail();
  out->begin = at_;
  for (; at_ < end_; ++at_) {
    if (*at_ == '"') {
      out->byte_count = static_cast<uint64_t>(at_++ - out->begin);
      return true;
    }
    if (static_cast<uint8_t>(*at_) < 0x20) return fail();
    if (*at_ != '\\') continue;
    if (++at_ == end_) return fail();
    if (*at_ == 'u') {
      for (int i = 0; i < 4; ++i) {
        if (++at_ == end_ || hex_digit(*at_) < 0) return fail();
      }
    } else {
      bool known = false;
      for (const char* c = "\"\\/bfnrt"; *c; ++c) known |= *at_ == *c;
      if (!known) return fail();
    }
  }
  return fail();
}

bool JsonReader::number(uint64_t* out) {
  skip_space();
  if (!ok_ || at_ == end_ || *at_ < '0' || *at_ > '9') return fail();
  uint64_t value = 0;
  for (; at_ < end_ && *at_ >= '0' && *at_ <= '9'; ++at_) {
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *at_ - '0', &value)) return fail();
  }
  *out = value;
  return true;
}

// A number, true, false or null: only that it ends is of interest.
bool JsonReader::skip_scalar() {
  const char* begin = at_;
  while (at_ < end_ && ((*at_ >= '0' && *at_ <= '9') || (*at_ >= 'a' && *at_ <= 'z') || *at_ == '-' || *at_ == '+' ||
                        *at_ == '.' || *at_ == 'E')) {
    ++at_;
  }
  return at_ > begin || fail();
}

bool JsonReader::skip_value() {
  uint32_t depth = 0;
  JsonString ignored;
  do {
    skip_space();
    if (!ok_ || at_ == end_) return fail();
    switch (*at_) {
      case '{':
      case '[':
        ++depth;
        ++at_;
        break;
      case '}':
      case ']':
        if (depth == 0) return fail();
        --depth;
        ++at_;
        break;
      case ',':
      case ':':
        if (depth == 0) return fail();
        ++at_;
        break;
      case '"':
        if (!string(&ignored)) return false;
        break;
      default:
        if (!skip_scalar()) return false;
    }
  } while (depth > 0);
  return true;
}

bool JsonReader::at_end() {
  skip_space();
  return ok_ && at_ == end_;
}

}  // namespace ingot::engine
