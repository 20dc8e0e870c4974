#include "apps/ingot/kept_weights.h"

#include <fmt/format.h>

#include <algorithm>

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
  for (const WeightNote& note : notes) {
    Json row = {{"name", note.name}, {"bits", note.bits}};
    if (are_integers(note)) {
      row.update({{"elements", note.elements}, {"bytes", note.bytes}});
    } else {
      row["why"] = note.why_float;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace ingot
