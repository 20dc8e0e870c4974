// !quant.uniform<i8<-127:127>:f32:0, {0.1:-30,0.5:-20}>: storage type and range, expressed type, axis, and scales with
// zero points.
#include <fmt/format.h>

#include <cmath>

#include "aot/graph/literal.h"
#include "aot/graph/quantization.h"
#include "aot/graph/text/text_reader.h"

namespace ingot {
namespace {

// MLIR writes ui8 as u8.
DType parse_storage(TextReader& reader) {
  const Token word = reader.expect(TokenKind::kIdentifier, "a storage type like i8");
  const std::string name = word.text.starts_with('u') && !word.text.starts_with("ui")
                               ? "ui" + std::string(word.text.substr(1))
                               : std::string(word.text);
  const auto dtype = dtype_from_name(name);
  if (!dtype || !is_integer(*dtype) || info(*dtype).bits > 32) {
    reader.fail_at(word.text, "a storage type is an integer type of at most 32 bits, like i8");
  }
  return *dtype;
}

void parse_range(TextReader& reader, Quantization& q) {
  const Token open = reader.token();
  if (!reader.accept('<')) return;
  q.storage_min = reader.expect_integer("the least integer");
  reader.expect(':');
  q.storage_max = reader.expect_integer("the greatest integer");
  reader.expect('>');
  const bool fits =
      least_of(q.storage) <= q.storage_min && q.storage_min < q.storage_max && q.storage_max <= greatest_of(q.storage);
  if (!fits) reader.fail_at(open.text, fmt::format("these are no ascending bounds of {}", to_string(q.storage)));
}

void parse_parameters(TextReader& reader, Quantization& q) {
  const Token written = reader.token();
  q.scales.push_back(reader.expect_number("a scale"));
  q.zero_points.push_back(reader.accept(':') ? reader.expect_integer("a zero point") : 0);
  const double scale = round_to(q.expressed, q.scales.back());
  if (!(scale > 0) || std::isinf(scale)) {
    reader.fail_at(written.text, fmt::format("a scale is a positive, finite {}", to_string(q.expressed)));
  }
  if (q.zero_points.back() < q.storage_min || q.zero_points.back() > q.storage_max) {
    reader.fail_at(written.text, fmt::format("the zero point is outside of {} to {}", q.storage_min, q.storage_max));
  }
}

}  // namespace

QuantizationRef parse_quantization(TextReader& reader) {
  const Token name = reader.expect(TokenKind::kBang, "!quant.uniform<...>");
  if (name.text != "!quant.uniform") {
    throw_limit(reader.source().location(name.text),
                fmt::format("the element type {} is not supported; !quant.uniform<...> is", name.text));
  }
  reader.expect('<');
  Quantization q;
  q.storage = parse_storage(reader);
  q.storage_min = least_of(q.storage);
  q.storage_max = greatest_of(q.storage);
  parse_range(reader, q);
  reader.expect(':');
  const Token expressed = reader.expect(TokenKind::kIdentifier, "an expressed type like f32");
  const auto dtype = dtype_from_name(expressed.text);
  if (!dtype || !is_float(*dtype) || is_narrow_float(*dtype)) {
    reader.fail_at(expressed.text, "an expressed type is f16, bf16, f32 or f64");
  }
  q.expressed = *dtype;
  if (reader.accept(':')) {
    const Token axis = reader.token();
    if (reader.at('{')) throw_limit(reader.location(), "quantization of blocks is not supported; along one axis is");
    const int64_t number = reader.expect_integer("the dimension along which scales differ");
    if (number < 0 || number > INT16_MAX) reader.fail_at(axis.text, "there is no such dimension");
    q.axis = static_cast<int>(number);
  }
  reader.expect(',');
  if (q.is_per_axis()) {
    reader.expect('{');
    do parse_parameters(reader, q);
    while (reader.accept(','));
    reader.expect('}');
  } else {
    parse_parameters(reader, q);
  }
  reader.expect('>');
  return interned(std::move(q));
}

}  // namespace ingot
