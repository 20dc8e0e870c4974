// The rules of `simplify`: tables of algebra and the function that applies it. A rule never makes a result less exact
// than its op's stated bound, and never needs the help of another rule to be right.
#pragma once

#include <optional>
#include <span>

#include "aot/ops/support/build.h"

namespace ingot {

struct SimplifyRule {
  const OpDef* op;           // applies to ops of this kind; null: to every op
  std::string_view algebra;  // what the rule says: "x - 0 == x"
  // The value that replaces the op's only result (of its type), or null when the rule does not apply. New ops are made
  // with the builder, which stands before the op.
  Value* (*apply)(GraphBuilder&, const Op&);
};

std::span<const SimplifyRule> arithmetic_rules();  // elementwise ops
std::span<const SimplifyRule> move_rules();        // ops that rename elements
std::span<const SimplifyRule> reduction_rules();   // reduce
std::span<const SimplifyRule> scatter_rules();     // scatter
std::span<const SimplifyRule> index_rules();       // index vectors of gather and scatter
std::span<const SimplifyRule> dot_rules();         // dot_general
std::span<const SimplifyRule> convolution_rules();

// --- matchers ---

// `value` is made by an op of this kind: that op, else null.
const Op* made_by(const Value* value, const OpDef& kind);

// Every element of `value` is known to be this number (floats: including the sign of zero; NaN never matches).
bool is_all(const Value* value, double number);

// The one number that all elements are known to be.
std::optional<double> common_float(const Value* value);

}  // namespace ingot
