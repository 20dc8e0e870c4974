// Texts of graphs, as tests read and print them.
#pragma once

#include <string>

#include "aot/graph/equal.h"
#include "aot/graph/text/parse.h"
#include "aot/graph/text/print.h"
#include "aot/ops/ops.h"
#include "tests/support/error_of.h"

namespace ingot {

inline std::unique_ptr<Module> parse(std::string_view text) { return parse_module(text, "test.mlir", all_ops()); }

// What parsing says, as the command line would print it; "" when nothing is wrong.
inline std::string rejection(std::string_view text) {
  try {
    parse(text);
    return "";
  } catch (const Error& error) {
    return render(error, text, "test.mlir");
  }
}

// Empty when print and parse are inverse on the module, with and without locations.
inline std::string round_trip_failure(const Module& module) {
  return text_or_error([&]() -> std::string {
    for (const bool locations : {false, true}) {
      const std::string text = print(module, {.locations = locations});
      const auto again = parse_module(text, "printed.mlir", all_ops());
      std::string difference;
      if (!equal(module, *again, &difference)) return difference;
      if (print(*again, {.locations = locations}) != text) return "the second print differs from the first";
    }
    return "";
  });
}

}  // namespace ingot
