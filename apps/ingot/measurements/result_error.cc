#include "apps/ingot/measurements/result_error.h"

#include <fmt/format.h>

#include <algorithm>

namespace ingot {
namespace {

void compare_rows(std::span<const float> expected, std::span<const float> actual, ResultError& into) {
  if (into.row_elements < 2) return;
  for (size_t at = 0; at < expected.size(); at += into.row_elements) {
    const auto largest = [&](std::span<const float> values) {
      const std::span<const float> elements = values.subspan(at, into.row_elements);
      return std::ranges::max_element(elements) - elements.begin();
    };
    ++into.rows;
    into.alike += largest(expected) == largest(actual);
  }
}

}  // namespace

std::vector<ResultError> results_of(const ObservedProgram& program) {
  std::vector<ResultError> results;
  for (size_t i = 0; i < program.outputs().size(); ++i) {
    const ingot_tensor_info& output = program.outputs()[i];
    if (output.dtype != INGOT_F32) continue;
    results.push_back({i, output.name, output.rank == 0 ? 1 : output.dims[output.rank - 1]});
  }
  return results;
}

void add_step(const ObservedProgram& floats, const ObservedProgram& integers, size_t product, ProductError& into) {
  into.own.add(floats.gives(product), floats.gives_in_integers(product));
  into.all.add(floats.gives(product), integers.gives(product));
}

void add_step(const ObservedProgram& floats, const ObservedProgram& integers, std::vector<ResultError>& into) {
  for (ResultError& result : into) {
    result.noise.add(floats.output(result.output), integers.output(result.output));
    compare_rows(floats.output(result.output), integers.output(result.output), result);
  }
}

std::string decibels(const Noise& noise) {
  return noise.ratio_db() ? fmt::format("{:.1f} dB", *noise.ratio_db()) : "exact";
}

Json json_of(const Noise& noise) { return noise.ratio_db() ? Json(*noise.ratio_db()) : Json(nullptr); }

std::string results_text(const std::vector<ResultError>& results) {
  std::string text;
  for (const ResultError& result : results) {
    text += fmt::format("  result {}: {}, a relative error of {:.2g}", result.name, decibels(result.noise),
                        result.noise.relative_error());
    if (result.rows > 0)
      text += fmt::format("; the largest element is the same in {} of {} rows", result.alike, result.rows);
    text += "\n";
  }
  return text;
}

Json results_json(const std::vector<ResultError>& results) {
  Json rows = Json::array();
  for (const ResultError& result : results) {
    Json row = {
        {"name", result.name}, {"db", json_of(result.noise)}, {"relative_error", result.noise.relative_error()}};
    if (result.rows > 0) row.update({{"rows", result.rows}, {"largest_alike", result.alike}});
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace ingot
