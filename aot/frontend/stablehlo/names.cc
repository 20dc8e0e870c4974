#include "aot/frontend/stablehlo/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/base/error.h"
#include "aot/base/join.h"
#include "aot/base/nearest.h"

namespace ingot {
namespace {

bool is_name_char(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' || c == '/';
}

// Takes a run of name characters from the front.
std::string_view take_word(std::string_view& text) {
  const size_t length = std::find_if_not(text.begin(), text.end(), is_name_char) - text.begin();
  const std::string_view word = text.substr(0, length);
  text.remove_prefix(length);
  return word;
}

// Takes 'key'], "key"], 3] or <flat index 3>], after the bracket.
std::optional<std::string_view> take_subscript(std::string_view& text) {
  const size_t close = text.find(']');
  if (close == text.npos || close == 0) return std::nullopt;
  std::string_view key = text.substr(0, close);
  text.remove_prefix(close + 1);
  constexpr std::string_view kFlatIndex = "<flat index ";
  if (key.front() == '\'' || key.front() == '"') {
    if (key.size() < 3 || key.back() != key.front()) return std::nullopt;
    key = key.substr(1, key.size() - 2);
  } else if (key.starts_with(kFlatIndex) && key.back() == '>') {
    key = key.substr(kFlatIndex.size(), key.size() - kFlatIndex.size() - 1);
  }
  return key;
}

// How far a name is from what was asked for: by its last parts, as many as the query has.
int distance(std::string_view name, std::string_view query) {
  const auto part_count = std::count(query.begin(), query.end(), '.') + 1;
  size_t start = name.size() + 1;
  for (auto part = part_count; part > 0 && start > 0; --part) {
    const size_t dot = start >= 2 ? name.rfind('.', start - 2) : name.npos;
    start = dot == name.npos ? 0 : dot + 1;
  }
  return std::min(edit_distance(name, query), edit_distance(name.substr(start), query));
}

}  // namespace

std::optional<std::string> dotted_name(std::string_view path) {
  std::string name(take_word(path));
  while (!path.empty()) {
    const char c = path[0];
    path.remove_prefix(1);
    std::string_view part;
    if (c == '.') {
      part = take_word(path);
    } else if (c == '[') {
      const auto key = take_subscript(path);
      if (!key) return std::nullopt;
      part = *key;
    } else {
      return std::nullopt;
    }
    if (part.empty()) return std::nullopt;
    if (!name.empty()) name += '.';
    name += part;
  }
  return name.empty() ? std::nullopt : std::optional(name);
}

std::string_view without_first(std::string_view dotted) {
  const size_t dot = dotted.find('.');
  return dot == dotted.npos ? "" : dotted.substr(dot + 1);
}

const std::string& resolve_suffix(const std::vector<std::string>& names, std::string_view query, std::string_view kind,
                                  const Location& location) {
  const std::string ending = fmt::format(".{}", query);
  std::vector<const std::string*> matches;
  for (const std::string& name : names) {
    if (name == query) return name;
    if (name.ends_with(ending)) matches.push_back(&name);
  }
  if (matches.size() == 1) return *matches[0];

  constexpr size_t kMostListed = 8;
  std::vector<std::string> listed;
  if (!matches.empty()) {
    for (const std::string* name : matches) listed.push_back(*name);
  } else {
    std::vector<std::pair<int, const std::string*>> ranked;
    for (const std::string& name : names) ranked.emplace_back(distance(name, query), &name);
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [rank, name] : ranked) listed.push_back(*name);
  }
  const size_t more = listed.size() > kMostListed ? listed.size() - kMostListed : 0;
  listed.resize(listed.size() - more);
  const std::string rest = more ? fmt::format(" and {} more", more) : "";
  if (!matches.empty()) {
    throw_error(location,
                fmt::format("{} '{}' may be any of {}{}; write more of it", kind, query, join(listed, ", "), rest));
  }
  if (names.empty()) throw_error(location, fmt::format("there is no {} '{}'; there are none", kind, query));
  throw_error(location, fmt::format("there is no {} '{}'; there are {}{}", kind, query, join(listed, ", "), rest));
}

}  // namespace ingot
