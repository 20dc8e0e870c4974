// What commands tell other programs: one JSON object, by --json.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace ingot {

using Json = nlohmann::ordered_json;

// Grows when a field changes its meaning or goes; new fields may come at any time.
constexpr int kReportVersion = 1;

// {"report": "run", "version": 1}, to be added to.
Json report(const std::string& command);
void print(const Json& report);

// "486 bytes", "12.4 KiB", "3.1 MiB"
std::string size_text(uint64_t bytes);

}  // namespace ingot
