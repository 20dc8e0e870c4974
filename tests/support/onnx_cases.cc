#include "tests/support/onnx_cases.h"

#include <algorithm>
#include <cstdlib>

#include "aot/frontend/onnx/op_table.h"
#include "aot/frontend/onnx/read_model.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

fs::path test_data() {
  if (const char* folder = std::getenv("INGOT_ONNX_TESTS")) return folder;
  std::error_code error;
  for (const auto& version : fs::directory_iterator(fs::path(INGOT_SOURCE_DIR) / "build/onnx/lib", error)) {
    const fs::path data = version.path() / "site-packages/onnx/backend/test/data";
    if (fs::exists(data)) return data;
  }
  return {};
}

bool is_too_old(const OnnxCase& test) {
  const auto model = onnx::read_model(test.model());
  return std::ranges::any_of(model->opsets, [](const onnx::OpsetImport& opset) {
    return opset.domain.empty() && opset.version < onnx::kOldestOpset;
  });
}

}  // namespace

std::vector<OnnxCase> onnx_cases() {
  std::vector<OnnxCase> found;
  const fs::path data = test_data();
  for (const char* kind : {"node", "simple", "light", "pytorch-operator", "pytorch-converted"}) {
    if (data.empty() || !fs::exists(data / kind)) continue;
    for (const auto& folder : fs::directory_iterator(data / kind)) {
      const OnnxCase test{folder.path().filename().string(), folder.path()};
      if (fs::exists(folder.path() / "model.onnx") && !is_too_old(test)) found.push_back(test);
    }
  }
  std::ranges::sort(found, {}, &OnnxCase::name);
  return found;
}

}  // namespace ingot
