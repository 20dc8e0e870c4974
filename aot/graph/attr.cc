#include "aot/graph/attr.h"

#include <fmt/format.h>

#include "aot/base/error.h"

namespace ingot {
namespace {

std::optional<std::vector<int64_t>> as_ints(const Attr& attr) {
  if (const auto* ints = attr.as<IntsAttr>()) return ints->values;
  if (const auto* literal = attr.as<LiteralRef>()) {
    constexpr int64_t kMostInts = 1 << 16;  // a splat may claim to have any number
    const DType dtype = (*literal)->type.dtype;
    if (is_float(dtype) || is_complex(dtype) || (*literal)->type.elements() > kMostInts) return std::nullopt;
    std::vector<int64_t> values((*literal)->type.elements());
    for (size_t i = 0; i < values.size(); ++i) values[i] = (*literal)->int_at(static_cast<int64_t>(i));
    return values;
  }
  if (const auto* list = attr.as<std::vector<Attr>>()) {
    std::vector<int64_t> values;
    for (const Attr& item : *list) {
      if (const auto* integer = item.as<IntAttr>()) {
        values.push_back(integer->value);
      } else if (const auto* truth = item.as<bool>()) {
        values.push_back(*truth);
      } else {
        return std::nullopt;
      }
    }
    return values;
  }
  return std::nullopt;
}

}  // namespace

Attr::Attr() = default;
Attr::Attr(const Attr&) = default;
Attr::Attr(Attr&&) noexcept = default;
Attr& Attr::operator=(const Attr&) = default;
Attr& Attr::operator=(Attr&&) noexcept = default;
Attr::~Attr() = default;

template <typename T>
Attr::Attr(T v) : value(std::move(v)) {}
template Attr::Attr(UnitAttr);
template Attr::Attr(bool);
template Attr::Attr(IntAttr);
template Attr::Attr(FloatAttr);
template Attr::Attr(std::string);
template Attr::Attr(SymbolAttr);
template Attr::Attr(EnumAttr);
template Attr::Attr(TensorType);
template Attr::Attr(IntsAttr);
template Attr::Attr(LiteralRef);
template Attr::Attr(std::vector<Attr>);
template Attr::Attr(DictAttr);
template Attr::Attr(OpaqueAttr);
Attr::Attr(const char* text) : value(std::string(text)) {}
Attr::Attr(std::vector<int64_t> ints) : value(IntsAttr{std::move(ints)}) {}

bool operator==(const DictAttr& a, const DictAttr& b) { return a.tag == b.tag && a.entries == b.entries; }

bool operator==(const Attr& a, const Attr& b) {
  if (a.value.index() != b.value.index()) return false;
  if (const auto* literal = a.as<LiteralRef>()) return **literal == **b.as<LiteralRef>();
  return a.value == b.value;
}

std::string attr_text(const AttrMap& attrs, std::string_view key) {
  const auto found = attrs.find(key);
  if (found == attrs.end()) return "";
  const auto* text = found->second.as<std::string>();
  return text ? *text : "";
}

Attrs::Attrs(const AttrMap& map, std::string_view owner, const Location& location)
    : map_(map), owner_(owner), location_(location) {}

bool Attrs::has(std::string_view name) const { return map_.find(name) != map_.end(); }

const Attr& Attrs::at(std::string_view name) const {
  const auto found = map_.find(name);
  if (found == map_.end()) throw_error(location_, fmt::format("{}: attribute '{}' is missing", owner_, name));
  return found->second;
}

int64_t Attrs::integer(std::string_view name) const {
  const auto* integer = at(name).as<IntAttr>();
  if (!integer) throw_error(location_, fmt::format("{}: attribute '{}' must be an integer", owner_, name));
  return integer->value;
}

int64_t Attrs::integer(std::string_view name, int64_t otherwise) const { return has(name) ? integer(name) : otherwise; }

double Attrs::number(std::string_view name) const {
  const auto* number = at(name).as<FloatAttr>();
  if (!number) throw_error(location_, fmt::format("{}: attribute '{}' must be a float", owner_, name));
  return number->value;
}

bool Attrs::boolean(std::string_view name, bool otherwise) const {
  if (!has(name)) return otherwise;
  const auto* truth = at(name).as<bool>();
  if (!truth) throw_error(location_, fmt::format("{}: attribute '{}' must be true or false", owner_, name));
  return *truth;
}

const std::string& Attrs::string(std::string_view name) const {
  const Attr& attr = at(name);
  if (const auto* text = attr.as<std::string>()) return *text;
  if (const auto* symbol = attr.as<SymbolAttr>()) return symbol->name;
  if (const auto* word = attr.as<EnumAttr>()) return word->value;
  throw_error(location_, fmt::format("{}: attribute '{}' must be a string", owner_, name));
}

std::vector<int64_t> Attrs::ints(std::string_view name) const {
  auto values = as_ints(at(name));
  if (!values) throw_error(location_, fmt::format("{}: attribute '{}' must be an array of integers", owner_, name));
  return *std::move(values);
}

std::vector<int64_t> Attrs::ints(std::string_view name, std::vector<int64_t> otherwise) const {
  return has(name) ? ints(name) : std::move(otherwise);
}

const LiteralRef& Attrs::literal(std::string_view name) const {
  const auto* literal = at(name).as<LiteralRef>();
  if (!literal) throw_error(location_, fmt::format("{}: attribute '{}' must be dense<...>", owner_, name));
  return *literal;
}

Attrs Attrs::dict(std::string_view name) const {
  const auto* dict = at(name).as<DictAttr>();
  if (!dict) throw_error(location_, fmt::format("{}: attribute '{}' must be a dictionary", owner_, name));
  return Attrs(dict->entries, fmt::format("{} {}", owner_, name), location_);
}

}  // namespace ingot
