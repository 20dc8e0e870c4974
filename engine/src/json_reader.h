// Reads JSON text (RFC 8259) front to back, without a tree and without memory: what safetensors headers need.
#pragma once

#include <cstdint>

namespace ingot::engine {

// A string as it stands between its quotes, escapes and all.
struct JsonString {
  const char* begin = nullptr;
  uint64_t byte_count = 0;
};

// True if the decoded string is `text`.
bool equals(const JsonString& string, const char* text);

// The decoded string, cut to out_bytes with the zero at its end.
void copy_text(const JsonString& string, char* out, uint64_t out_bytes);

// Every function returns false, and all later ones too, once the text is not what was asked for.
class JsonReader {
 public:
  JsonReader(const char* text, uint64_t byte_count) : at_(text), end_(text + byte_count) {}

  // Objects and arrays:  open('{'); while (next('}')) { key(&k); ... value ... }   open('['); while (next(']')) ...
  // next() passes commas; it is false at the closing bracket, which it passes, and at an error: ask ok() afterwards.
  bool open(char bracket);
  bool next(char closing_bracket);

  bool key(JsonString* out);  // with its colon
  bool string(JsonString* out);
  bool number(uint64_t* out);  // only unsigned integers
  bool skip_value();
  bool at_end();  // nothing but space is left

  bool ok() const { return ok_; }

 private:
  bool fail() { return ok_ = false; }
  void skip_space();
  bool take(char c);
  bool skip_scalar();

  const char* at_;
  const char* end_;
  bool ok_ = true;
  bool first_ = true;  // in the object or array entered last, nothing was read yet
};

}  // namespace ingot::engine
