#include "apps/ingot/c_sources/c_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace ingot {
namespace {

constexpr ElementType kElementTypes[] = {
    {INGOT_BOOL, "std::uint8_t", "uint8_t", 1},
    {INGOT_I2, "std::uint8_t", "uint8_t", 1},
    {INGOT_I4, "std::uint8_t", "uint8_t", 1},
    {INGOT_I8, "std::int8_t", "int8_t", 1},
    {INGOT_I16, "std::int16_t", "int16_t", 2},
    {INGOT_I32, "std::int32_t", "int32_t", 4},
    {INGOT_I64, "std::int64_t", "int64_t", 8},
    {INGOT_U2, "std::uint8_t", "uint8_t", 1},
    {INGOT_U4, "std::uint8_t", "uint8_t", 1},
    {INGOT_U8, "std::uint8_t", "uint8_t", 1},
    {INGOT_U16, "std::uint16_t", "uint16_t", 2},
    {INGOT_U32, "std::uint32_t", "uint32_t", 4},
    {INGOT_U64, "std::uint64_t", "uint64_t", 8},
    {INGOT_F16, "std::uint16_t", "uint16_t", 2},
    {INGOT_BF16, "std::uint16_t", "uint16_t", 2},
    {INGOT_F32, "float", "float", 4},
    {INGOT_F64, "double", "double", 8},
    {INGOT_F8E4M3FN, "std::uint8_t", "uint8_t", 1},
    {INGOT_F8E5M2, "std::uint8_t", "uint8_t", 1},
    {INGOT_C64, "std::complex<float>", "float", 4},
    {INGOT_C128, "std::complex<double>", "double", 8},
};

constexpr ElementType kBytes = {INGOT_U8, "std::byte", "unsigned char", 1};  // of a type that this table lacks

const std::set<std::string> kWords = {
    "alignas",  "and",      "asm",      "auto",     "bool",     "break",     "case",      "catch",    "char",
    "class",    "const",    "default",  "delete",   "do",       "double",    "else",      "enum",     "export",
    "extern",   "false",    "float",    "for",      "friend",   "goto",      "if",        "inline",   "int",
    "long",     "new",      "not",      "nullptr",  "or",       "private",   "protected", "public",   "register",
    "return",   "short",    "signed",   "sizeof",   "static",   "struct",    "switch",    "template", "this",
    "throw",    "true",     "try",      "typedef",  "union",    "using",     "virtual",   "void",     "volatile",
    "while",    "xor",      "operator", "requires", "concept",  "namespace", "alignof",   "explicit", "mutable",
    "typename", "unsigned", "noexcept", "decltype", "constexpr"};

}  // namespace

const ElementType& element_type(ingot_dtype dtype) {
  const auto* found = std::ranges::find(kElementTypes, dtype, &ElementType::dtype);
  return found == std::end(kElementTypes) ? kBytes : *found;
}

std::string capitals(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string identifier(const std::string& text) {
  std::string name;
  for (const char c : text) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (kWords.contains(name)) return name + "_";
  return name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) ? "_" + name : name;
}

NameScope::NameScope(std::initializer_list<std::string> taken) : taken_(kWords) { taken_.insert(taken); }

std::string NameScope::add(const std::string& wanted) {
  std::string name = wanted;
  for (int i = 2; !taken_.insert(name).second; ++i) name = fmt::format("{}_{}", wanted, i);
  return name;
}

}  // namespace ingot
