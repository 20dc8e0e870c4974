// Columns of a contraction that are in no buffer, and whose vectors are made where they are multiplied: weights of few bits,
// which memory holds as they are and registers hold as floats.
#pragma once

#include <optional>

#include "aot/schedule/contraction/geometry.h"
#include "aot/schedule/draft.h"

namespace ingot::schedule {

inline constexpr int kMadeColumnsMax = 8;  // at once: others would not stay in registers

// What making all elements of an operand takes.
struct MadeColumns {
  int64_t source_bytes = 0;  // that are read
  int64_t element_ops = 0;   // for each element
};

// Of an operand whose elements are made one by one of what lies in line along iteration dimension `innermost`, or does not
// depend on it; nullopt for others, and where the operand would take as little memory as what it is made of.
std::optional<MadeColumns> made_columns(const Draft& draft, const ContractionSide& side, int innermost);

}  // namespace ingot::schedule
