// The dimension numbers of a convolution: [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]. Each list says what a tensor's
// dimensions are: b batch, f feature, i and o input and output feature of the kernel, a number a spatial dimension.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "aot/graph/text/print_attr.h"
#include "aot/graph/text/text_reader.h"

namespace ingot {
namespace {

struct Side {
  char letters[2];
  std::string_view letter_names[2];
  std::string_view spatial_name;
};
constexpr std::array<Side, 3> kSides = {{
    {{'b', 'f'}, {"input_batch_dimension", "input_feature_dimension"}, "input_spatial_dimensions"},
    {{'i', 'o'}, {"kernel_input_feature_dimension", "kernel_output_feature_dimension"}, "kernel_spatial_dimensions"},
    {{'b', 'f'}, {"output_batch_dimension", "output_feature_dimension"}, "output_spatial_dimensions"},
}};

void parse_side(TextReader& reader, const Side& side, AttrMap& entries) {
  const Token open = reader.token();
  reader.expect('[');
  std::array<int64_t, 2> letter_at = {-1, -1};
  std::vector<int64_t> spatial;
  int64_t position = 0;
  while (!reader.at(']')) {
    const Token item = reader.token();
    if (reader.at(TokenKind::kInteger)) {
      const int64_t number = reader.expect_integer("a spatial dimension");
      if (number < 0 || number >= 64) reader.fail_at(item.text, "a spatial dimension is 0 to 63");
      if (static_cast<size_t>(number) >= spatial.size()) spatial.resize(number + 1, -1);
      if (spatial[number] != -1) reader.fail_at(item.text, "the spatial dimension is named twice");
      spatial[number] = position;
    } else {
      const int letter = reader.at_word({&side.letters[0], 1}) ? 0 : reader.at_word({&side.letters[1], 1}) ? 1 : -1;
      if (letter < 0) {
        reader.fail_expected(fmt::format("'{}', '{}' or a spatial dimension", side.letters[0], side.letters[1]));
      }
      if (letter_at[letter] != -1) reader.fail(fmt::format("'{}' is named twice", item.text));
      letter_at[letter] = position;
      reader.take();
    }
    ++position;
    if (!reader.accept(',')) break;
  }
  reader.expect(']');
  for (const int letter : {0, 1}) {
    if (letter_at[letter] == -1) reader.fail_at(open.text, fmt::format("'{}' is missing", side.letters[letter]));
    entries.emplace(side.letter_names[letter], IntAttr{letter_at[letter]});
  }
  for (size_t i = 0; i < spatial.size(); ++i) {
    if (spatial[i] == -1) reader.fail_at(open.text, fmt::format("spatial dimension {} is missing", i));
  }
  entries.emplace(side.spatial_name, IntsAttr{std::move(spatial)});
}

}  // namespace

DictAttr parse_conv_dims(TextReader& reader) {
  DictAttr dims{"stablehlo.conv", {}};
  parse_side(reader, kSides[0], dims.entries);
  reader.expect_word("x");
  parse_side(reader, kSides[1], dims.entries);
  if (!reader.accept(TokenKind::kArrow)) reader.fail_expected("'->'");
  parse_side(reader, kSides[2], dims.entries);
  return dims;
}

bool are_conv_dims(const AttrMap& entries) {
  if (entries.size() != 3 * kSides.size()) return false;
  for (const Side& side : kSides) {
    const auto spatial = entries.find(side.spatial_name);
    const auto* ints = spatial == entries.end() ? nullptr : spatial->second.as<IntsAttr>();
    if (!ints || ints->dtype != DType::kI64) return false;
    std::vector<int64_t> positions = ints->values;
    for (const std::string_view name : side.letter_names) {
      const auto letter = entries.find(name);
      const auto* integer = letter == entries.end() ? nullptr : letter->second.as<IntAttr>();
      if (!integer || integer->dtype != DType::kI64) return false;
      positions.push_back(integer->value);
    }
    std::sort(positions.begin(), positions.end());
    for (size_t i = 0; i < positions.size(); ++i) {
      if (positions[i] != static_cast<int64_t>(i)) return false;
    }
  }
  return true;
}

void print_conv_dims(std::string& out, const AttrMap& entries) {
  const Attrs attrs(entries, "stablehlo.conv", nullptr);
  for (size_t i = 0; i < kSides.size(); ++i) {
    const Side& side = kSides[i];
    const std::vector<int64_t> spatial = attrs.ints(side.spatial_name);
    std::vector<std::string> items(spatial.size() + 2);
    for (const int letter : {0, 1}) items.at(attrs.integer(side.letter_names[letter])) = side.letters[letter];
    for (size_t s = 0; s < spatial.size(); ++s) items.at(spatial[s]) = std::to_string(s);
    out += i == 0 ? "[" : i == 1 ? "x[" : "->[";
    for (size_t k = 0; k < items.size(); ++k) out += (k ? ", " : "") + items[k];
    out += ']';
  }
}

}  // namespace ingot
