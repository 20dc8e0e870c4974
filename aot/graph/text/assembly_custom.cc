#include "aot/graph/text/assembly_custom.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/graph/text/assembly_regions.h"
#include "aot/graph/text/op_printer.h"
#include "aot/graph/text/op_reader.h"

namespace ingot {
namespace {

using Kind = AssemblyItem::Kind;

const Attr* find(const Op& op, std::string_view name) {
  const auto found = op.attr_map.find(name);
  return found == op.attr_map.end() ? nullptr : &found->second;
}

const std::vector<int64_t>* find_ints(const Op& op, std::string_view name, DType dtype = DType::kI64) {
  const Attr* attr = find(op, name);
  const auto* ints = attr ? attr->as<IntsAttr>() : nullptr;
  return ints && ints->dtype == dtype ? &ints->values : nullptr;
}

// --- constant: dense<...> : type, which is also the type of the result; of a quantized one () <{value = ...}> :
// () -> type

void parse_constant(OpReader& reader, OpDraft& draft) {
  TextReader& text = reader.text;
  draft.has_declared = true;
  if (text.accept('(')) {
    text.expect(')');
    const bool is_property = text.accept('<');
    text.expect('{');
    parse_attr_entries(text, '}', draft.attrs);
    if (is_property) text.expect('>');
    text.expect(':');
    text.expect('(');
    text.expect(')');
    text.expect(TokenKind::kArrow, "'->'");
    draft.declared = {parse_type(text)};
    return;
  }
  draft.declared.emplace_back();
  LiteralRef value = parse_literal(text, &draft.declared[0]);
  draft.attrs.insert_or_assign("value", std::move(value));
}

void print_constant(OpPrinter& printer, const Op& op) {
  printer.space();
  print_literal(printer.out, **find(op, "value")->as<LiteralRef>());
}

bool can_print_constant(const Op& op) {
  const Attr* value = find(op, "value");
  const auto* literal = value ? value->as<LiteralRef>() : nullptr;
  return literal && op.results.size() == 1 && (*literal)->type == op.result()->type;
}

// --- dot_dims: batching_dims = [0] x [0], contracting_dims = [1] x [0] -----------------------------------------------

struct DotPart {
  std::string_view word, lhs, rhs;
};
constexpr DotPart kDotParts[] = {
    {"batching_dims", "lhs_batching_dimensions", "rhs_batching_dimensions"},
    {"contracting_dims", "lhs_contracting_dimensions", "rhs_contracting_dimensions"},
};

void parse_dot_dims(OpReader& reader, OpDraft& draft) {
  TextReader& text = reader.text;
  DictAttr dims{"stablehlo.dot", {}};
  for (const DotPart& part : kDotParts) {
    std::vector<int64_t> lhs, rhs;
    if (text.accept_word(part.word)) {
      text.expect('=');
      lhs = parse_int_list(text);
      text.expect_word("x");
      rhs = parse_int_list(text);
      if (part.word == "batching_dims") text.expect(',');
    } else if (part.word == "contracting_dims") {
      text.fail_expected("'contracting_dims'");
    }
    dims.entries.emplace(part.lhs, IntsAttr{std::move(lhs)});
    dims.entries.emplace(part.rhs, IntsAttr{std::move(rhs)});
  }
  draft.attrs.insert_or_assign("dot_dimension_numbers", std::move(dims));
}

void print_dot_dims(OpPrinter& printer, const Op& op) {
  const Attrs dims = op.attrs().dict("dot_dimension_numbers");
  for (const DotPart& part : kDotParts) {
    const std::vector<int64_t> lhs = dims.ints(part.lhs, {}), rhs = dims.ints(part.rhs, {});
    const bool is_batching = part.word == "batching_dims";
    if (is_batching && lhs.empty() && rhs.empty()) continue;
    printer.space();
    printer.out += fmt::format("{} = ", part.word);
    print_int_list(printer.out, lhs);
    printer.out += " x ";
    print_int_list(printer.out, rhs);
    if (is_batching) printer.out += ',';
  }
}

bool can_print_dot_dims(const Op& op) {
  const Attr* dims = find(op, "dot_dimension_numbers");
  const auto* dict = dims ? dims->as<DictAttr>() : nullptr;
  return dict && dict->tag == "stablehlo.dot" && dict->entries.size() <= 4;
}

// --- precision: , precision = [DEFAULT, HIGHEST], algorithm = <lhs_precision_type = tf32, ...> -----------------------

void parse_precision(OpReader& reader, OpDraft& draft) {
  TextReader& text = reader.text;
  while (text.accept(',')) {
    if (text.accept_word("algorithm")) {
      text.expect('=');
      text.expect('<');
      DictAttr algorithm{"stablehlo.dot_algorithm", {}};
      parse_attr_entries(text, '>', algorithm.entries);
      draft.attrs.insert_or_assign("algorithm", std::move(algorithm));
      continue;
    }
    text.expect_word("precision");
    text.expect('=');
    text.expect('[');
    std::vector<Attr> precisions;
    while (!text.at(']')) {
      precisions.push_back(EnumAttr{"precision", std::string(text.expect(TokenKind::kIdentifier, "a precision").text)});
      if (!text.accept(',')) break;
    }
    text.expect(']');
    draft.attrs.insert_or_assign("precision_config", std::move(precisions));
  }
}

void print_precision(OpPrinter& printer, const Op& op) {
  if (const Attr* precisions = find(op, "precision_config")) {
    printer.out += ", precision = [";
    bool first = true;
    for (const Attr& precision : *precisions->as<std::vector<Attr>>()) {
      if (!first) printer.out += ", ";
      first = false;
      printer.out += precision.as<EnumAttr>()->value;
    }
    printer.out += ']';
  }
  if (const Attr* algorithm = find(op, "algorithm")) {
    printer.out += ", algorithm = <";
    print_tagged_entries(printer.out, algorithm->as<DictAttr>()->entries);
    printer.out += '>';
  }
}

bool can_print_precision(const Op& op) {
  const Attr* precisions = find(op, "precision_config");
  const auto* list = precisions ? precisions->as<std::vector<Attr>>() : nullptr;
  const Attr* algorithm = find(op, "algorithm");
  const auto* dict = algorithm ? algorithm->as<DictAttr>() : nullptr;
  if ((precisions && !list) || (algorithm && (!dict || dict->tag != "stablehlo.dot_algorithm"))) return false;
  return !list || std::all_of(list->begin(), list->end(), [](const Attr& item) {
    const auto* precision = item.as<EnumAttr>();
    return precision && precision->kind == "precision";
  });
}

// --- conv_dims: [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1] --------------------------------------------------------------

void parse_conv(OpReader& reader, OpDraft& draft) {
  draft.attrs.insert_or_assign("dimension_numbers", parse_conv_dims(reader.text));
}

void print_conv(OpPrinter& printer, const Op& op) {
  printer.space();
  print_conv_dims(printer.out, find(op, "dimension_numbers")->as<DictAttr>()->entries);
}

bool can_print_conv(const Op& op) {
  const Attr* dims = find(op, "dimension_numbers");
  const auto* dict = dims ? dims->as<DictAttr>() : nullptr;
  return dict && dict->tag == "stablehlo.conv" && are_conv_dims(dict->entries);
}

// --- conv_window: {stride = [1, 1], pad = [[0, 0], [1, 1]], lhs_dilate = .., rhs_dilate = .., reverse = ..} ----------

struct WindowPart {
  std::string_view word, attribute;
  DType dtype;
};
constexpr std::string_view kPadding = "padding";
constexpr WindowPart kWindowParts[] = {
    {"stride", "window_strides", DType::kI64},   {"pad", kPadding, DType::kI64},
    {"lhs_dilate", "lhs_dilation", DType::kI64}, {"rhs_dilate", "rhs_dilation", DType::kI64},
    {"reverse", "window_reversal", DType::kI1},
};

// [[0, 0], [1, 1]] as a literal of type tensor<2x2xi64>.
LiteralRef parse_pairs(TextReader& text) {
  std::vector<int64_t> values;
  text.expect('[');
  while (!text.at(']')) {
    const Token open = text.token();
    const std::vector<int64_t> pair = parse_int_list(text);
    if (pair.size() != 2) text.fail_at(open.text, "expected [low, high]");
    values.insert(values.end(), pair.begin(), pair.end());
    if (!text.accept(',')) break;
  }
  text.expect(']');
  const auto flat = dense_ints(values);
  return dense({DType::kI64, {static_cast<int64_t>(values.size() / 2), 2}}, flat->data);
}

void print_pairs(std::string& out, const Literal& literal) {
  out += '[';
  for (int64_t i = 0; i + 1 < literal.type.elements(); i += 2) {
    if (i) out += ", ";
    print_int_list(out, std::vector{literal.int_at(i), literal.int_at(i + 1)});
  }
  out += ']';
}

void parse_conv_window(OpReader& reader, OpDraft& draft) {
  TextReader& text = reader.text;
  text.expect('{');
  while (!text.at('}')) {
    const Token word = text.expect(TokenKind::kIdentifier, "stride, pad, lhs_dilate, rhs_dilate or reverse");
    const auto* part = std::find_if(std::begin(kWindowParts), std::end(kWindowParts),
                                    [&](const WindowPart& row) { return row.word == word.text; });
    if (part == std::end(kWindowParts)) {
      text.fail_at(word.text, "expected stride, pad, lhs_dilate, rhs_dilate or reverse");
    }
    text.expect('=');
    Attr value =
        part->attribute == kPadding ? Attr(parse_pairs(text)) : Attr(IntsAttr{parse_int_list(text), part->dtype});
    if (!draft.attrs.emplace(part->attribute, std::move(value)).second) {
      text.fail_at(word.text, fmt::format("{} is given twice", word.text));
    }
    if (!text.accept(',')) break;
  }
  text.expect('}');
}

void print_conv_window(OpPrinter& printer, const Op& op) {
  printer.space();
  printer.out += '{';
  bool first = true;
  for (const WindowPart& part : kWindowParts) {
    const Attr* attr = find(op, part.attribute);
    if (!attr) continue;
    printer.out += fmt::format("{}{} = ", first ? "" : ", ", part.word);
    first = false;
    if (part.attribute == kPadding) {
      print_pairs(printer.out, **attr->as<LiteralRef>());
    } else if (part.dtype == DType::kI1) {
      print_bool_list(printer.out, attr->as<IntsAttr>()->values);
    } else {
      print_int_list(printer.out, attr->as<IntsAttr>()->values);
    }
  }
  printer.out += '}';
}

bool can_print_conv_window(const Op& op) {
  for (const WindowPart& part : kWindowParts) {
    const Attr* attr = find(op, part.attribute);
    if (!attr) continue;
    const auto* literal = attr->as<LiteralRef>();
    const bool fits = part.attribute == kPadding ? literal && (*literal)->type.dtype == DType::kI64 &&
                                                       (*literal)->type.rank() == 2 && (*literal)->type.shape[1] == 2 &&
                                                       !((*literal)->is_splat && (*literal)->type.elements() > 128)
                                                 : find_ints(op, part.attribute, part.dtype) != nullptr;
    if (!fits) return false;
  }
  return true;
}

// --- slice_ranges: [0:4, 1:9:2] as start:limit:stride ----------------------------------------------------------------

void parse_slice_ranges(OpReader& reader, OpDraft& draft) {
  TextReader& text = reader.text;
  std::vector<int64_t> start, limit, strides;
  text.expect('[');
  while (!text.at(']')) {
    start.push_back(text.expect_integer("a start index"));
    text.expect(':');
    limit.push_back(text.expect_integer("a limit index"));
    strides.push_back(text.accept(':') ? text.expect_integer("a stride") : 1);
    if (!text.accept(',')) break;
  }
  text.expect(']');
  draft.attrs.insert_or_assign("start_indices", IntsAttr{std::move(start)});
  draft.attrs.insert_or_assign("limit_indices", IntsAttr{std::move(limit)});
  draft.attrs.insert_or_assign("strides", IntsAttr{std::move(strides)});
}

void print_slice_ranges(OpPrinter& printer, const Op& op) {
  const auto &start = *find_ints(op, "start_indices"), &limit = *find_ints(op, "limit_indices"),
             &strides = *find_ints(op, "strides");
  printer.space();
  printer.out += '[';
  for (size_t i = 0; i < start.size(); ++i) {
    printer.out += fmt::format("{}{}:{}", i ? ", " : "", start[i], limit[i]);
    if (strides[i] != 1) printer.out += fmt::format(":{}", strides[i]);
  }
  printer.out += ']';
}

bool can_print_slice_ranges(const Op& op) {
  const auto *start = find_ints(op, "start_indices"), *limit = find_ints(op, "limit_indices"),
             *strides = find_ints(op, "strides");
  return start && limit && strides && start->size() == limit->size() && start->size() == strides->size();
}

// --- exponent_mantissa: e5m10 ----------------------------------------------------------------------------------------

void parse_exponent_mantissa(OpReader& reader, OpDraft& draft) {
  const Token format = reader.text.expect(TokenKind::kIdentifier, "a format like e5m10");
  const size_t m = format.text.find('m');
  const auto exponent =
      format.text[0] == 'e' && m != format.text.npos ? integer_value(format.text.substr(1, m - 1)) : std::nullopt;
  const auto mantissa = exponent ? integer_value(format.text.substr(m + 1)) : std::nullopt;
  if (!mantissa || *exponent > 1000 || *mantissa > 1000)
    reader.text.fail_at(format.text, "expected a format like e5m10");
  draft.attrs.insert_or_assign("exponent_bits", IntAttr{static_cast<int64_t>(*exponent), DType::kI32});
  draft.attrs.insert_or_assign("mantissa_bits", IntAttr{static_cast<int64_t>(*mantissa), DType::kI32});
}

const IntAttr* find_i32(const Op& op, std::string_view name) {
  const Attr* attr = find(op, name);
  const auto* integer = attr ? attr->as<IntAttr>() : nullptr;
  return integer && integer->dtype == DType::kI32 ? integer : nullptr;
}

void print_exponent_mantissa(OpPrinter& printer, const Op& op) {
  printer.space();
  printer.out += fmt::format("e{}m{}", find_i32(op, "exponent_bits")->value, find_i32(op, "mantissa_bits")->value);
}

bool can_print_exponent_mantissa(const Op& op) {
  const auto *exponent = find_i32(op, "exponent_bits"), *mantissa = find_i32(op, "mantissa_bits");
  return exponent && mantissa && exponent->value >= 0 && mantissa->value >= 0 && exponent->value <= 1000 &&
         mantissa->value <= 1000;
}

// --- sharding: <@mesh, [{"x"}, {}]>, kept as it was written

constexpr std::string_view kShardingTag = "#sdy.sharding";

void parse_sharding(OpReader& reader, OpDraft& draft) {
  const size_t start = reader.text.offset();
  reader.text.skip_group();
  const std::string text = std::string(kShardingTag) + std::string(reader.text.text_since(start));
  draft.attrs.insert_or_assign("sharding", OpaqueAttr{text});
}

void print_sharding(OpPrinter& printer, const Op& op) {
  printer.space();
  printer.out += find(op, "sharding")->as<OpaqueAttr>()->text.substr(kShardingTag.size());
}

bool can_print_sharding(const Op& op) {
  const Attr* sharding = find(op, "sharding");
  const auto* opaque = sharding ? sharding->as<OpaqueAttr>() : nullptr;
  return opaque && opaque->text.starts_with(kShardingTag);
}

const CustomForm kForms[] = {
    {"sharding", parse_sharding, print_sharding, {{Kind::kOther, "sharding"}}, can_print_sharding},
    {"constant", parse_constant, print_constant, {{Kind::kLiteral, "value"}}, can_print_constant},
    {"dot_dims", parse_dot_dims, print_dot_dims, {{Kind::kOther, "dot_dimension_numbers"}}, can_print_dot_dims},
    {"precision",
     parse_precision,
     print_precision,
     {{Kind::kOther, "precision_config"}, {Kind::kOther, "algorithm"}},
     can_print_precision},
    {"conv_dims", parse_conv, print_conv, {{Kind::kOther, "dimension_numbers"}}, can_print_conv},
    {"conv_window",
     parse_conv_window,
     print_conv_window,
     {{Kind::kInts, "window_strides"},
      {Kind::kOther, "padding"},
      {Kind::kInts, "lhs_dilation"},
      {Kind::kInts, "rhs_dilation"},
      {Kind::kBools, "window_reversal"}},
     can_print_conv_window},
    {"slice_ranges",
     parse_slice_ranges,
     print_slice_ranges,
     {{Kind::kInts, "start_indices"}, {Kind::kInts, "limit_indices"}, {Kind::kInts, "strides"}},
     can_print_slice_ranges},
    {"exponent_mantissa",
     parse_exponent_mantissa,
     print_exponent_mantissa,
     {{Kind::kOther, "exponent_bits"}, {Kind::kOther, "mantissa_bits"}},
     can_print_exponent_mantissa},
    {"reduce", parse_reduce, print_reduce, {{Kind::kInts, "dimensions"}}, can_print_reduce},
    {"while", parse_while, print_while, {}, can_print_while},
};

}  // namespace

const CustomForm& find_custom(std::string_view name) {
  for (const CustomForm& form : kForms) {
    if (form.name == name) return form;
  }
  throw_bug(fmt::format("assembly format: unknown custom({})", name));
}

}  // namespace ingot
