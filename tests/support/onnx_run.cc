#include "tests/support/onnx_run.h"

#include <fmt/format.h>

#include <cmath>

#include "tests/support/in_memory.h"

namespace ingot {
namespace {

double element(const RefTensor& tensor, int64_t k) {
  if (tensor.is_float()) return tensor.f[k];
  return tensor.type.dtype == DType::kUI64 ? static_cast<double>(static_cast<uint64_t>(tensor.i[k]))
                                           : static_cast<double>(tensor.i[k]);
}

bool is_close(double a, double b, double rtol, double atol) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= atol + rtol * std::abs(b);
}

RefTensor value_of(const SafeTensor& tensor, const TensorType& type) {
  return from_literal(*dense(type, {tensor.data.begin(), tensor.data.end()}));
}

}  // namespace

std::string difference(const RefTensor& given, const RefTensor& wanted, double rtol, double atol) {
  // Compiled programs have complex numbers as pairs, and floats of 8 bits and fewer as their bits.
  const bool is_in_memory = given.type != wanted.type && given.type == in_memory(wanted).type;
  const bool is_complex = wanted.is_complex();
  const RefTensor actual = is_complex ? in_memory(given) : is_in_memory ? from_memory(wanted.type, given) : given;
  const RefTensor expected = is_complex ? in_memory(wanted) : wanted;
  if (actual.type != expected.type) {
    return fmt::format("is {}, not {}", to_string(actual.type), to_string(expected.type));
  }
  int64_t wrong = 0, first = -1;
  for (int64_t k = 0; k < actual.elements(); ++k) {
    if (is_close(element(actual, k), element(expected, k), rtol, atol)) continue;
    if (wrong++ == 0) first = k;
  }
  if (wrong == 0) return "";
  return fmt::format("element {} is {}, not {}; {} of {} differ", first, element(actual, first),
                     element(expected, first), wrong, actual.elements());
}

NamedTensors run_imported(const onnx::Imported& imported, Executor& executor, const NamedTensors& inputs) {
  const Function& function = *imported.module->functions.front();
  NamedTensors state;
  for (int i = 0; i < function.argument_count(); ++i) {
    const std::string name = attr_text(function.argument_attrs[i], attributes::kState);
    if (!name.empty()) state.emplace(name, value_of(imported.weights.at(name), function.body.argument(i)->type));
  }
  return executor.run(*imported.module, function.name, state, inputs);
}

}  // namespace ingot
