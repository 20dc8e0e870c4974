// The node tests of the package onnx: a small model for each use of each op, with inputs and outputs. All are
// evaluated; some are compiled (all with INGOT_ONNX_COMPILE_EVERY=1). What does not pass is listed with its reason in
// onnx_node_reasons.txt, and must not pass.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>

#include "aot/base/error.h"
#include "aot/frontend/onnx/read_model.h"
#include "tests/support/compiled_program.h"
#include "tests/support/onnx_cases.h"
#include "tests/support/onnx_run.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

// What onnx.backend.test.runner compares with.
constexpr double kRtol = 1e-3, kAtol = 1e-7;

std::optional<RefTensor> tensor_of(const OnnxCase& test, const char* kind, size_t i) {
  const fs::path path = test.folder / "test_data_set_0" / fmt::format("{}_{}.pb", kind, i);
  if (!fs::exists(path)) return std::nullopt;
  return from_literal(*onnx::literal_of(onnx::read_tensor(path.string()).tensor, nullptr));
}

// How many of a model's inputs are fixed before it is imported: tests give shapes as inputs.
enum class Fixed { kNothing, kSmallIntegers, kAll };

struct Verdict {
  std::string failure;  // "": it passed
  Fixed fixed = Fixed::kNothing;
};

std::map<std::string, LiteralRef> fixed_inputs(const NamedTensors& inputs, Fixed fixed) {
  std::map<std::string, LiteralRef> literals;
  for (const auto& [name, tensor] : inputs) {
    const bool is_shape = tensor.type.rank() <= 1 && !tensor.is_float() && !tensor.is_complex();
    if (fixed == Fixed::kAll || (fixed == Fixed::kSmallIntegers && is_shape))
      literals.emplace(name, to_literal(tensor));
  }
  return literals;
}

std::string attempt(const OnnxCase& test, Executor& executor, Fixed fixed) {
  const auto model = onnx::read_model(test.model());
  NamedTensors inputs;
  for (size_t i = 0; i < model->graph.inputs.size(); ++i) {
    if (auto tensor = tensor_of(test, "input", i))
      inputs.emplace(std::string(model->graph.inputs[i].name), *std::move(tensor));
  }
  onnx::ImportOptions options;
  options.fixed = fixed_inputs(inputs, fixed);
  for (const auto& [name, tensor] : inputs) options.shapes.push_back({name, tensor.type.shape});
  const onnx::Imported imported = onnx::import_model(test.model(), options);
  const NamedTensors outputs = run_imported(imported, executor, inputs);
  for (size_t i = 0; i < model->graph.outputs.size(); ++i) {
    const std::string name(model->graph.outputs[i].name);
    const auto expected = tensor_of(test, "output", i);
    if (!expected) return "has no output " + name;
    const std::string differs = difference(outputs.at(name), *expected, kRtol, kAtol);
    if (!differs.empty()) return fmt::format("output {}: {}", name, differs);
  }
  return "";
}

Verdict run_case(const OnnxCase& test, const std::function<std::unique_ptr<Executor>()>& make) {
  Verdict verdict;
  for (const Fixed fixed : {Fixed::kNothing, Fixed::kSmallIntegers, Fixed::kAll}) {
    verdict.fixed = fixed;
    try {
      verdict.failure = attempt(test, *make(), fixed);
      return verdict;
    } catch (const Error& error) {
      verdict.failure = fmt::format("{}: {}", error.kind() == ErrorKind::kBug ? "bug" : "error", error.message());
    } catch (const std::exception& error) {
      verdict.failure = fmt::format("exception: {}", error.what());
    }
    if (verdict.failure.find("while it runs") == std::string::npos) return verdict;
  }
  return verdict;
}

// Lines of "name-or-prefix*  reason".
class Reasons {
 public:
  Reasons() {
    std::ifstream in(fs::path(INGOT_SOURCE_DIR) / "tests/programs/onnx_node_reasons.txt");
    for (std::string line; std::getline(in, line);) {
      if (line.empty() || line[0] == '#') continue;
      std::istringstream words(line);
      std::string name;
      words >> name;
      names_.push_back(name);
    }
  }
  bool has(const std::string& test) const {
    return std::ranges::any_of(names_, [&](const std::string& name) {
      return name.ends_with('*') ? test.starts_with(name.substr(0, name.size() - 1)) : test == name;
    });
  }

 private:
  std::vector<std::string> names_;
};

void check_all(const std::function<std::unique_ptr<Executor>()>& make, size_t every, bool list_is_exact) {
  std::vector<OnnxCase> tests = onnx_cases();
  const char* filter = std::getenv("INGOT_ONNX_FILTER");
  if (filter) std::erase_if(tests, [&](const OnnxCase& c) { return c.name.find(filter) == std::string::npos; });
  if (tests.empty())
    GTEST_SKIP()
        << "no tests of onnx: python3 -m venv build/onnx && build/onnx/bin/pip install onnx, or set INGOT_ONNX_TESTS";
  const Reasons reasons;
  std::map<Fixed, int> passed;
  int listed = 0;
  for (size_t i = 0; i < tests.size(); i += every) {
    const Verdict verdict = run_case(tests[i], make);
    const bool is_listed = reasons.has(tests[i].name);
    listed += is_listed;
    if (verdict.failure.empty()) {
      ++passed[verdict.fixed];
      EXPECT_FALSE(is_listed && list_is_exact) << tests[i].name << " passes, but is listed";
    } else if (!is_listed) {
      ADD_FAILURE() << tests[i].name << ": " << verdict.failure;
    }
  }
  std::cout << fmt::format("{} pass as they are, {} with shapes fixed, {} with all inputs fixed; {} are listed\n",
                           passed[Fixed::kNothing], passed[Fixed::kSmallIntegers], passed[Fixed::kAll], listed);
}

TEST(OnnxNodes, Evaluated) {
  check_all([] { return std::make_unique<ReferenceExecutor>(); }, 1, true);
}

TEST(OnnxNodes, Compiled) {
  const char* every = std::getenv("INGOT_ONNX_COMPILE_EVERY");
  check_all([] { return std::make_unique<CompiledExecutor>(1); }, every ? std::strtoul(every, nullptr, 10) : 20, false);
}

}  // namespace
}  // namespace ingot
