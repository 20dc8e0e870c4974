// Programs and bundles from files, for the command line.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "aot/base/safetensors.h"
#include "aot/bundle/bundle.h"
#include "aot/graph/graph.h"
#include "aot/passes/pass.h"
#include "aot/pipeline/at_sizes.h"

namespace ingot {

// What `[ENTRY=]FILE.mlir` and `[ENTRY=]FILE.onnx` name.
struct ProgramName {
  std::string entry;  // ENTRY, or else what the file is called; predict for FILE.onnx
  std::string path;
  bool is_named = false;  // ENTRY was given

  bool is_onnx() const { return path.ends_with(".onnx"); }
};
ProgramName program_name(const std::string& argument);

// `[ENTRY=]FILE` as they are; in the place of a FOLDER its FILE.mlir, or else FILE.onnx, in the order of their names.
std::vector<std::string> program_files(const std::vector<std::string>& arguments);

struct LoadedProgram {
  std::unique_ptr<Module> module;
  std::map<std::string, SafeTensor> values;  // first values of its state, where the file has them: an ONNX model
  std::shared_ptr<const void> holder;        // of those values
};

// Parses and imports `[ENTRY=]FILE.mlir`, whose function @main is named ENTRY, or else after the file; or imports
// `[ENTRY=]FILE.onnx`, whose function is named ENTRY, or else predict, with the sizes that `shapes`
// give, which are marked as used. A mistake is
// thrown as an Error whose message shows the line of the text.
LoadedProgram load_program(const std::string& argument, std::vector<GivenShape>& shapes);

// The state.safetensors in the folders of the programs, of which there may be one; "" where there is none.
std::string saved_state(const std::vector<std::string>& inputs);

// What `--shape batch=32,x=32x784` gives.
std::vector<GivenShape> given_shapes(const std::vector<std::string>& texts);

// What `--shape batch=1,8,32,x=32x784` gives: several sizes of a name.
std::vector<SizeChoices> size_choices(const std::vector<std::string>& texts);

// A module's text as it is, without import.
std::unique_ptr<Module> parse_program(const std::string& text, const std::string& path);

// What is in a bundle, for whatever processor.
bundle::BundleSpec load_bundle(const std::string& path);

}  // namespace ingot
