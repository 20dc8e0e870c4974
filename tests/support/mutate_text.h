// Changes texts of programs into others that are nearly as right.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/random_tensor.h"

namespace ingot {

// Every op's samples, and the programs in the folders of tests/.
std::vector<std::string> texts_of_tests(const std::string& source_dir);

class TextMutator {
 public:
  // Words of these texts take the place of others.
  explicit TextMutator(const std::vector<std::string>& texts);

  // One to three changes: words replaced by words of the same kind, here or everywhere, numbers also by numbers with a
  // past; spans left out or doubled; bits flipped; the end cut off.
  std::string mutate(const std::string& text, Random& random) const;

 private:
  enum Kind { kName, kNumber, kValue, kPunctuation, kKinds };
  struct Word {
    size_t begin, end;
    Kind kind;
  };
  static std::vector<Word> words_of(std::string_view text);
  void change(std::string& text, Random& random) const;
  std::vector<std::string> alike(const std::string& word, Kind kind) const;

  std::vector<std::string> known_[kKinds];
};

}  // namespace ingot
