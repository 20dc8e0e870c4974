// A row of named values: what one training step or one measurement gave.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace ingot {

using Field = std::variant<std::string, int64_t, uint64_t, double>;
using Row = std::vector<std::pair<std::string, Field>>;

std::string to_json(const Row& row);        // one object on one line; a number that is not finite is null
std::string to_string(const Field& field);  // for people: numbers to six digits

}  // namespace ingot
