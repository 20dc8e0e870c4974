#include "tests/support/mutate_text.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "aot/ops/support/build.h"
#include "tests/support/file_text.h"

namespace ingot {
namespace {

const std::vector<std::string> kNumbers = {"0",
                                           "1",
                                           "-1",
                                           "2",
                                           "3",
                                           "7",
                                           "63",
                                           "64",
                                           "65",
                                           "4096",
                                           "65536",
                                           "2147483648",
                                           "4294967295",
                                           "9223372036854775807",
                                           "-9223372036854775808",
                                           "18446744073709551616",
                                           "0x7FC00000",
                                           "1.0e+400",
                                           "-0.0",
                                           "1e-46",
                                           "?"};

// What tells programs apart: ops and attributes of a dialect, element types, numbers, values. The rest is grammar.
bool has_meaning(std::string_view word) {
  return word.find('.') != word.npos || std::isdigit(static_cast<unsigned char>(word[0])) || word[0] == '%' ||
         (word[0] == 'x' && word.size() > 2);
}

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$'; }

}  // namespace

std::vector<std::string> texts_of_tests(const std::string& source_dir) {
  std::vector<std::string> texts;
  for (const OpDef* def : all_ops().all()) {
    if (!def->samples) continue;
    for (const Sample& sample : def->samples()) texts.push_back(sample.text);
  }
  std::set<std::filesystem::path> files;
  for (const char* folder : {"golden", "reject", "fuzz"}) {
    for (const auto& file : std::filesystem::recursive_directory_iterator(source_dir + "/tests/" + folder)) {
      if (file.path().extension() == ".mlir") files.insert(file.path());
    }
  }
  for (const auto& file : files) texts.push_back(file_text(file));
  return texts;
}

std::vector<TextMutator::Word> TextMutator::words_of(std::string_view text) {
  std::vector<Word> words;
  for (size_t i = 0; i < text.size();) {
    const size_t begin = i;
    const auto c = static_cast<unsigned char>(text[i]);
    if (text.substr(i, 2) == "//") {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (std::isspace(c)) {
      ++i;
      continue;
    }
    Kind kind = kPunctuation;
    if (c == '%' || c == '@' || c == '#' || c == '^') {
      kind = kValue;
      for (++i; i < text.size() && is_name(text[i]);) ++i;
    } else if (std::isdigit(c)) {  // a shape's extent ends before its `x`
      kind = kNumber;
      while (i < text.size() && (std::isdigit(static_cast<unsigned char>(text[i])) || text[i] == '.')) ++i;
    } else if (is_name(text[i])) {
      kind = kName;
      while (i < text.size() && is_name(text[i])) ++i;
    } else {
      ++i;
    }
    words.push_back({begin, i, kind});
  }
  return words;
}

TextMutator::TextMutator(const std::vector<std::string>& texts) {
  std::set<std::string> found[kKinds];
  for (const std::string& text : texts) {
    for (const Word& word : words_of(text)) found[word.kind].insert(text.substr(word.begin, word.end - word.begin));
  }
  found[kNumber].insert(kNumbers.begin(), kNumbers.end());
  for (int kind = 0; kind < kKinds; ++kind) known_[kind].assign(found[kind].begin(), found[kind].end());
}

void TextMutator::change(std::string& text, Random& random) const {
  const std::vector<Word> words = words_of(text);
  if (words.empty()) return;
  const auto any = [&]() -> const Word& { return random.one_of(words); };
  const auto any_with_meaning = [&]() -> const Word& {
    for (int tries = 0; tries < 20; ++tries) {
      const Word& word = any();
      if (has_meaning(std::string_view(text).substr(word.begin, word.end - word.begin))) return word;
    }
    return any();
  };
  const auto span = [&] {
    const int64_t first = random.below(static_cast<int64_t>(words.size()));
    const int64_t last = std::min<int64_t>(first + random.below(6), static_cast<int64_t>(words.size()) - 1);
    return std::pair(words[first].begin, words[last].end);
  };
  switch (random.below(30)) {
    case 0: {
      const auto [begin, end] = span();
      text.erase(begin, end - begin);
      break;
    }
    case 1: {
      const auto [begin, end] = span();
      text.insert(any().begin, text.substr(begin, end - begin) + " ");
      break;
    }
    case 2:
      text[random.below(static_cast<int64_t>(text.size()))] ^= static_cast<char>(1 << random.below(8));
      break;
    case 3:
      text.resize(any().begin);
      break;
    case 4: {
      const Word a = any(), b = any();
      const std::string word = text.substr(a.begin, a.end - a.begin);
      text.replace(b.begin, b.end - b.begin, word);
      break;
    }
    default: {
      const Word& word = any_with_meaning();
      const std::string old = text.substr(word.begin, word.end - word.begin);
      const std::string replacement = random.one_of(alike(old, word.kind));
      const bool is_everywhere = random.chance(0.7);
      for (auto it = words.rbegin(); it != words.rend(); ++it) {
        if (is_everywhere ? text.compare(it->begin, it->end - it->begin, old) != 0 : it->begin != word.begin) continue;
        text.replace(it->begin, it->end - it->begin, replacement);
      }
    }
  }
}

// Names of one dialect, element types, or whatever is of the kind.
std::vector<std::string> TextMutator::alike(const std::string& word, Kind kind) const {
  const size_t dot = word.find('.');
  const std::string prefix = kind != kName ? "" : dot != word.npos ? word.substr(0, dot + 1) : word.substr(0, 1);
  std::vector<std::string> result;
  for (const std::string& known : known_[kind]) {
    if (known.starts_with(prefix)) result.push_back(known);
  }
  return result.empty() ? known_[kind] : result;
}

std::string TextMutator::mutate(const std::string& text, Random& random) const {
  std::string changed = text;
  for (int64_t k = random.below(3); k >= 0; --k) change(changed, random);
  return changed;
}

}  // namespace ingot
