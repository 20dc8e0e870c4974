// Reads a graph from StableHLO text: MLIR's pretty and generic forms.
//
// What comes back is verified (verify.h). Every mistake is an Error at its file, line and column: kind kError for texts
// that are wrong, kLimit for what is right but not supported yet (types other than static tensors of real elements,
// several blocks in a region). No text makes the parser crash or hang.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "aot/base/error.h"
#include "aot/graph/op.h"

namespace ingot {

// One module: `module @name { functions }`, or functions alone. `file` is what locations say.
std::unique_ptr<Module> parse_module(std::string_view text, std::string file, const OpTable& table);

// The modules of a text that is split by lines `// -----`; parts without a function are left out. A mistake in one part
// gives an Error in its place.
struct ParsedPart {
  std::unique_ptr<Module> module;  // or null
  std::unique_ptr<Error> error;    // when there is no module
};
std::vector<ParsedPart> parse_split_parts(std::string_view text, std::string file, const OpTable& table);
// Likewise; the first mistake is thrown.
std::vector<std::unique_ptr<Module>> parse_split(std::string_view text, std::string file, const OpTable& table);

// The error's text with the line of `text` that it points at and a caret below the column:
//   step.mlir:3:22: error: %2 is not defined above
//       %1 = stablehlo.add %0, %2 : tensor<f32>
//                              ^
// Only what() when the error points into another file.
std::string render(const Error& error, std::string_view text, std::string_view file);

}  // namespace ingot
