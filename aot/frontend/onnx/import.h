// Makes an ONNX model into a module of the graph, as importing StableHLO text does.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "aot/base/safetensors.h"
#include "aot/frontend/onnx/model.h"
#include "aot/graph/graph.h"
#include "aot/passes/pass.h"

namespace ingot::onnx {

struct Imported {
  std::unique_ptr<Module> module;             // one public function
  std::map<std::string, SafeTensor> weights;  // the first values of its state; they lie in the model's files
  std::shared_ptr<const Model> model;
  std::vector<LiteralRef> copies;  // of weights that the file keeps in another form
  std::set<std::string> given;     // the names in ImportOptions::shapes that the model has
};

struct ImportOptions {
  std::string entry = "predict";  // what the function is called
  // Of dimensions that the model leaves open: by their names, or of a whole input; or the value of an input that is one
  // integer, which is a constant from now on.
  std::vector<GivenShape> shapes = {};
  std::map<std::string, LiteralRef> fixed = {};  // inputs that are constants from now on
};

// The model's graph as one function. Inputs, outputs and weights keep their names. Weights are state that is only read:
// initializers of floats or of integers of 8 bits and fewer; other initializers, and single numbers, are constants.
// Functions are inlined; what shapes depend on is computed at once, so every shape is known afterwards.
//
// Throws an Error that names the node for a model that is wrong, and a limit for one that is not supported: of ops that
// have no row in ops.def, all at once.
Imported import_model(const std::string& path, const ImportOptions& options = {});

// The initializers of the model's graph, by their names: their values lie in its files, or in copies.
struct Initializers {
  std::map<std::string, SafeTensor> values;
  std::shared_ptr<const Model> model;
  std::vector<LiteralRef> copies;
};
Initializers read_initializers(const std::string& path);

}  // namespace ingot::onnx
