// TfIdfVectorizer: how often each of a list of n-grams stands in a row of numbers.
#include <fmt/format.h>

#include "aot/frontend/onnx/node_args.h"

namespace ingot::onnx {
namespace {

// x [rows, columns]: [rows, 1], how often the n-gram stands there with so many elements from one of its to the next.
Term occurrences(Term x, std::span<const int64_t> gram, int64_t spacing, DType dtype) {
  const int64_t reach = (std::ssize(gram) - 1) * spacing, starts = x.shape()[1] - reach;
  GraphBuilder& b = x.builder();
  if (starts <= 0) return constant(b, {dtype, {x.shape()[0], 1}}, 0);
  std::optional<Term> found;
  for (int64_t k = 0; k < std::ssize(gram); ++k) {
    const Term part = slice(x, 1, k * spacing, k * spacing + starts);
    const Term same = equal(part, broadcast(integers(b, {dtype_of(x), {}}, {gram[k]}), part.shape()));
    found = found ? both(*found, same) : same;
  }
  return reduce(kAdd, converted(*found, dtype), {1});
}

struct Gram {
  std::span<const int64_t> numbers;
  int64_t column;  // of the result
  double weight;
};

// The list's n-grams of the lengths that are asked for.
std::vector<Gram> grams_of(NodeArgs& n, const std::vector<int64_t>& pool, const std::vector<int64_t>& columns) {
  const std::vector<int64_t> offsets = n.integers("ngram_counts");
  const std::vector<double> weights = n.numbers("weights", std::vector<double>(columns.size(), 1));
  const int64_t least = n.integer("min_gram_length"), most = n.integer("max_gram_length");
  if (weights.size() != columns.size()) n.fail("it needs a weight for each n-gram");
  std::vector<Gram> grams;
  size_t next = 0;
  for (int64_t length = 1; length <= std::ssize(offsets); ++length) {
    const int64_t begin = offsets[length - 1];
    const int64_t end = length < std::ssize(offsets) ? offsets[length] : std::ssize(pool);
    if (begin < 0 || end < begin || end > std::ssize(pool) || (end - begin) % length)
      n.fail("ngram_counts does not fit its pool");
    for (int64_t at = begin; at < end; at += length, ++next) {
      if (next >= columns.size()) n.fail("it needs an index for each n-gram");
      if (length < least || length > most) continue;
      grams.push_back({std::span(pool).subspan(at, length), columns[next], weights[next]});
    }
  }
  return grams;
}

}  // namespace

Items lower_tf_idf_vectorizer(NodeArgs& n) {
  if (n.has("pool_strings")) n.limit("it looks for strings, which ingot does not compute with; map strings to numbers");
  const Term given = n.in(0);
  if (rank_of(given) < 1 || rank_of(given) > 2) n.fail("its input must have one or two dimensions");
  const Term x = rank_of(given) == 1 ? unsqueeze(given, 0) : given;
  const std::vector<int64_t> pool = n.integers("pool_int64s"), columns = n.integers("ngram_indexes");
  const std::string mode = n.text("mode", "");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF") n.fail(fmt::format("mode = '{}': TF, IDF or TFIDF", mode));
  int64_t width = 0;
  for (const int64_t column : columns) {
    if (column < 0 || column > (1 << 24)) n.fail(fmt::format("the index {} of an n-gram", column));
    width = std::max(width, column + 1);
  }
  const int64_t skips = n.integer("max_skip_count");
  if (skips < 0 || skips > 1024) n.fail(fmt::format("max_skip_count = {}", skips));
  std::vector<Term> parts(width, constant(n.b, {DType::kF32, {x.shape()[0], 1}}, 0));
  for (const Gram& gram : grams_of(n, pool, columns)) {
    Term count = occurrences(x, gram.numbers, 1, DType::kF32);
    for (int64_t skip = 1; skip <= skips && gram.numbers.size() > 1; ++skip) {
      count = count + occurrences(x, gram.numbers, skip + 1, DType::kF32);
    }
    if (mode == "IDF") count = where(count > count.like(0), count.like(gram.weight), 0);
    parts[gram.column] = mode == "TFIDF" ? count * gram.weight : count;
  }
  if (width == 0) n.fail("it has no n-grams");
  const Term y = concat(parts, 1);
  return rank_of(given) == 1 ? reshape(y, {width}) : y;
}

}  // namespace ingot::onnx
