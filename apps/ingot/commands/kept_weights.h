// What the compiler says of weights that are kept as integers.
#pragma once

#include <string>
#include <vector>

#include "aot/passes/pass.h"
#include "apps/ingot/measurements/result_error.h"
#include "apps/ingot/terminal/report.h"

namespace ingot {

inline constexpr const char* kWeightKinds[] = {"int8", "int4"};

// The bits of one of these; 0 for "".
int weight_bits(const std::string& kind);

// Throws an Error where integers are asked for, and no product's weights can be such.
void check_kept_weights(const std::vector<WeightNote>& notes);

// "weights of 3 of 5 products are integers: 1.2 MiB instead of 4.6 MiB", and why the others are not, a line each.
std::string kept_weights_text(const std::vector<WeightNote>& notes);
Json kept_weights_json(const std::vector<WeightNote>& notes);

// The same with the error of each product that is observed, the worst one first.
std::string weight_errors_text(const std::vector<WeightNote>& notes, const std::vector<ProductError>& errors);
Json weight_errors_json(const std::vector<WeightNote>& notes, const std::vector<ProductError>& errors);

}  // namespace ingot
