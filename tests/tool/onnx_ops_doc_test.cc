// docs/onnx_ops.md is what the table of ONNX's ops says. INGOT_BLESS=1 writes it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "aot/frontend/onnx/op_table.h"
#include "tests/support/file_text.h"

namespace ingot {
namespace {

constexpr std::string_view kOnnxIntroduction = R"(# ONNX's ops

Every op that `ingot compile MODEL.onnx` and `ingot import MODEL.onnx` know, with the versions of its domain in which
they do. Models may be of opset 7 to 27 of ai.onnx and of IR version 3 to 13. What a model uses beside these is listed,
all of it at once, when it is imported; a function of the model may stand for an op.

- Shapes are known when a model is compiled. What they depend on is computed while it is imported: from constants,
  initializers and the shapes of inputs. An input that decides a shape is refused, or given by `--shape NAME=VALUE`
  where it is one integer. Ops whose results have as many elements as values say (NonZero, Compress, Unique,
  NonMaxSuppression) need those values to be known.
- If is decided where its condition is known; else both branches must give the same types. Loop becomes a loop where
  what it carries keeps its types, and is unrolled where it does not and its end is known.
- Weights (initializers of floats, and of integers of 8 bits and fewer, of one dimension or more) are state of the
  bundle, which has their values. Initializers that a model also names as inputs are weights, not inputs.
- Indices count from the end where they are negative. One out of range is an error where it is known while the model is
  imported. Of those that are computed while it runs, Gather, GatherElements and GatherND (and targets of losses) take
  the nearest one in range, and Scatter, ScatterElements, ScatterND, TensorScatter and MaxUnpool leave out the update:
  nothing outside of a tensor is ever read or written. ONNX calls these errors.
- A node has as many inputs as its op takes in that opset.
- Every attribute of a node is heard or refused: one that its op does not have in that opset, of another kind, or
  whose value is not supported is an error with its name. Hints that cannot change a result (`seed`, `sorted`) and notes
  of tools, whose names start with `__`, are passed by.
- Sequences and optionals live while a model is imported, and are neither inputs nor outputs.
- Strings, sparse tensors, random numbers and the training domain are not supported.

| domain | op | opsets |
|---|---|---|
)";

std::string onnx_document() {
  struct Opsets {
    int64_t first, last;
  };
  std::map<std::pair<std::string_view, std::string_view>, Opsets> opsets;  // an op's rows follow each other
  for (const onnx::OpRow& row : onnx::op_table()) {
    const int64_t first = row.domain.empty() ? std::max(row.first, onnx::kOldestOpset) : row.first;
    opsets.try_emplace({row.domain, row.name}, first, row.last).first->second.last = row.last;
  }
  std::string text(kOnnxIntroduction);
  for (const auto& [op, versions] : opsets) {
    text += fmt::format("| {} | `{}` | {} to {} |\n", op.first.empty() ? "ai.onnx" : op.first, op.second,
                        versions.first, versions.last);
  }
  return text;
}

TEST(OnnxOpsDocument, IsCurrent) {
  const std::filesystem::path path = std::filesystem::path(INGOT_SOURCE_DIR) / "docs/onnx_ops.md";
  const std::string expected = onnx_document();
  if (std::getenv("INGOT_BLESS")) std::ofstream(path) << expected;
  EXPECT_EQ(file_text(path), expected) << "run onnx_ops_doc_test with INGOT_BLESS=1";
}

TEST(OnnxOpsDocument, VersionsOfAnOpFollowEachOther) {
  std::map<std::pair<std::string_view, std::string_view>, int64_t> last;
  for (const onnx::OpRow& row : onnx::op_table()) {
    EXPECT_LE(row.first, row.last) << row.name;
    const auto [at, is_new] = last.emplace(std::pair(row.domain, row.name), row.last);
    if (is_new) continue;
    EXPECT_EQ(row.first, at->second + 1) << row.name;
    at->second = row.last;
  }
}

}  // namespace
}  // namespace ingot
