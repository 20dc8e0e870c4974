#include "apps/ingot/commands/kept_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "aot/base/contains.h"
#include "aot/base/error.h"
#include "aot/base/join.h"
#include "apps/ingot/command.h"

namespace ingot {
namespace {

bool are_integers(const WeightNote& note) { return note.why_float.empty(); }

// A line for each product that stays in floats and its reason; one for those of a training step that are called the same.
std::string floats_text(const std::vector<WeightNote>& notes) {
  std::vector<std::string> lines;
  for (const WeightNote& note : notes) {
    if (are_integers(note)) continue;
    std::string line = fmt::format("    {} stays in floats: {}\n", note.name, note.why_float);
    if (!contains(lines, line)) lines.push_back(std::move(line));
  }
  return join(lines, "");
}

Json row_of(const WeightNote& note) {
  Json row = {{"name", note.name}, {"bits", note.bits}};
  if (are_integers(note)) {
    row.update({{"elements", note.elements}, {"bytes", note.bytes}});
  } else {
    row["why"] = note.why_float;
  }
  return row;
}

// The numbers of all notes; those that are not observed are last.
std::vector<size_t> worst_first(const std::vector<WeightNote>& notes, const std::vector<ProductError>& errors) {
  std::vector<size_t> order(notes.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](size_t k) {
    const double relative = errors[k].own.relative_error();
    return notes[k].is_observed ? -relative : are_integers(notes[k]) ? 1.0 : 2.0;
  });
  return order;
}

}  // namespace

int weight_bits(const std::string& kind) { return kind.empty() ? 0 : kind == kWeightKinds[0] ? 8 : 4; }

void check_kept_weights(const std::vector<WeightNote>& notes) {
  if (std::ranges::any_of(notes, are_integers)) return;
  throw_error(nullptr, fmt::format("no product of the program has weights that can be integers; weights that are state "
                                   "become constants by --freeze{}",
                                   notes.empty() ? "; it has none" : "\n" + floats_text(notes)));
}

std::string kept_weights_text(const std::vector<WeightNote>& notes) {
  int64_t elements = 0, bytes = 0;
  for (const WeightNote& note : notes) {
    elements += note.elements;
    bytes += note.bytes;
  }
  std::string text = fmt::format("  weights of {} of {} products are integers: {} instead of {}\n",
                                 std::ranges::count_if(notes, are_integers), notes.size(), size_text(bytes),
                                 size_text(elements * static_cast<int64_t>(sizeof(float))));
  return text + floats_text(notes);
}

Json kept_weights_json(const std::vector<WeightNote>& notes) {
  Json rows = Json::array();
  for (const WeightNote& note : notes) rows.push_back(row_of(note));
  return rows;
}

std::string weight_errors_text(const std::vector<WeightNote>& notes, const std::vector<ProductError>& errors) {
  size_t width = 0;
  for (const WeightNote& note : notes) {
    if (are_integers(note)) width = std::max(width, note.name.size());
  }
  std::string text = fmt::format("    {:{}}  bits  {:>9}  {:>9}\n", "", width, "alone", "in all");
  for (const size_t k : worst_first(notes, errors)) {
    if (!are_integers(notes[k])) continue;
    text += fmt::format("    {:{}}  {:>4}  ", notes[k].name, width, notes[k].bits);
    text += notes[k].is_observed ? fmt::format("{:>9}  {:>9}\n", decibels(errors[k].own), decibels(errors[k].all))
                                 : "stands in a loop or a branch, and is not measured\n";
  }
  return text;
}

Json weight_errors_json(const std::vector<WeightNote>& notes, const std::vector<ProductError>& errors) {
  Json rows = Json::array();
  for (const size_t k : worst_first(notes, errors)) {
    Json row = row_of(notes[k]);
    if (notes[k].is_observed) row.update({{"alone_db", json_of(errors[k].own)}, {"in_all_db", json_of(errors[k].all)}});
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace ingot
