#include "apps/ingot/terminal/row.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace ingot {

std::string to_json(const Row& row) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const auto& [name, field] : row) {
    std::visit([&, &key = name](const auto& value) { object[key] = value; }, field);
  }
  return object.dump();
}

std::string to_string(const Field& field) {
  if (const double* number = std::get_if<double>(&field)) return fmt::format("{:.6g}", *number);
  return std::visit([](const auto& value) { return fmt::format("{}", value); }, field);
}

}  // namespace ingot
