// What ops of the domain ai.onnx.ml share, of which exporters make classical models: scikit-learn's, XGBoost's.
#pragma once

#include "aot/frontend/onnx/node_args.h"

namespace ingot::onnx {

// Rows of features; a vector is a row.
Term features(NodeArgs& n, DType dtype = DType::kF32);

// Scores [rows, classes] as the attribute post_transform says.
Term transformed(NodeArgs& n, Term scores);

// The integers that name the classes, in the attribute; strings are a limit.
std::vector<int64_t> class_labels(NodeArgs& n, std::string_view attribute);

// The label of each row's greatest score, the first of equal ones.
Term label_of_greatest(NodeArgs& n, const std::vector<int64_t>& labels, Term scores);

}  // namespace ingot::onnx
