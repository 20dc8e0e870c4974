#include "tests/support/onnx_run.h"

#include <fmt/format.h>

#include <cmath>

#include "aot/graph/narrow_float.h"

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

// Complex numbers as pairs.
RefTensor as_reals(const RefTensor& tensor) {
  if (!tensor.is_complex()) return tensor;
  RefTensor reals = tensor;
  reals.type.dtype = part_of(tensor.type.dtype);
  reals.type.shape.push_back(2);
  return reals;
}

// Compiled programs have floats of 8 bits and fewer as their bits.
RefTensor from_bits(const RefTensor& tensor, const TensorType& type) {
  if (!is_narrow_float(type.dtype) || tensor.type.dtype != storage_of(type.dtype)) return tensor;
  RefTensor floats({type.dtype, tensor.type.shape});
  for (int64_t k = 0; k < tensor.elements(); ++k) {
    floats.f[k] = narrow_float_value(narrow_float(type.dtype), static_cast<uint32_t>(tensor.i[k]));
  }
  return floats;
}

RefTensor value_of(const SafeTensor& tensor, const TensorType& type) {
  return from_literal(*dense(type, {tensor.data.begin(), tensor.data.end()}));
}

}  // namespace

std::string difference(const RefTensor& given, const RefTensor& wanted, double rtol, double atol) {
  const RefTensor actual = as_reals(from_bits(given, wanted.type)), expected = as_reals(wanted);
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
