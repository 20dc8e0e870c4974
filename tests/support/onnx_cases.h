// The node tests of the package onnx: a folder each, with a model, its inputs and its outputs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ingot {

struct OnnxCase {
  std::string name;
  std::filesystem::path folder;

  std::string model() const { return (folder / "model.onnx").string(); }
};

// By name, without those of opsets that are too old: of the package that INGOT_ONNX_TESTS names (its backend/test/data),
// or that lies in the environment build/onnx. None where there is no such package.
std::vector<OnnxCase> onnx_cases();

// What to say where there are none.
inline constexpr const char* kNoOnnxCases =
    "no tests of onnx: python3 -m venv build/onnx && build/onnx/bin/pip install onnx, or set INGOT_ONNX_TESTS";

}  // namespace ingot
