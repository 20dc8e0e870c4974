#include "engine/src/format_text.h"

namespace ingot::engine {
namespace {

// So that it is passed by reference on every processor.
struct Arguments {
  va_list list;
};

[[gnu::noinline]] uint32_t take_word(Arguments* arguments) { return va_arg(arguments->list, uint32_t); }

// What stands behind a '.'; moves `format` behind it.
uint64_t read_precision(const char** format, Arguments* arguments) {
  if (**format == '*') {
    ++*format;
    return take_word(arguments);
  }
  uint64_t value = 0;
  for (; **format >= '0' && **format <= '9'; ++*format) value = 10 * value + static_cast<uint64_t>(**format - '0');
  return value;
}

// The next argument, of a directive that ends in `kind`.
uint64_t take_number(char kind, Text* text, Arguments* arguments) {
  if (kind == 'j') return va_arg(arguments->list, uint64_t);
  const uint32_t value = take_word(arguments);
  if (kind != 'd' || value <= INT32_MAX) return value;
  text->put('-');
  return 0u - value;
}

// Writes the next argument as `format`, behind its '%', says, and moves `format` to the last character of that.
void put_argument(Text* text, const char** format, Arguments* arguments) {
  uint64_t precision = UINT64_MAX;
  if (**format == '.') precision = read_precision(&++*format, arguments);
  const char kind = **format;
  if (kind == 's') {
    text->put_text(va_arg(arguments->list, const char*), precision);
  } else if (kind == '%') {
    text->put(kind);
  } else {
    text->put_number(take_number(kind, text, arguments));
    if (kind == 'j') ++*format;
  }
}

}  // namespace

void Text::put(char c) {
  if (left_bytes_ == 0) return;
  *at_++ = c;
  *at_ = 0;
  --left_bytes_;
}

void Text::put_text(const char* text, uint64_t bytes_max) {
  for (; bytes_max > 0 && *text; --bytes_max) put(*text++);
}

void Text::put_number(uint64_t value) {
  char digits[20];
  uint32_t count = 0;
  for (; value > 0 || count == 0; value /= 10) digits[count++] = static_cast<char>('0' + value % 10);
  while (count > 0) put(digits[--count]);
}

void Text::put_formatted(const char* format, va_list arguments) {
  Arguments left;
  va_copy(left.list, arguments);
  for (; *format; ++format) {
    if (*format == '%') {
      put_argument(this, &++format, &left);
    } else {
      put(*format);
    }
  }
  va_end(left.list);
}

}  // namespace ingot::engine
