// Runs ONNX models on named tensors.
#pragma once

#include <string>

#include "aot/frontend/onnx/import.h"
#include "tests/support/program_runner.h"

namespace ingot {

// Where `actual` differs most from what is expected: rtol and atol as NumPy's allclose has them; NaN equals NaN.
// "" where it is as close everywhere.
std::string difference(const RefTensor& actual, const RefTensor& expected, double rtol, double atol);

// The outputs of an imported model.
NamedTensors run_imported(const onnx::Imported& imported, Executor& executor, const NamedTensors& inputs);

}  // namespace ingot
