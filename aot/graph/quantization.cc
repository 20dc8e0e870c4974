#include "aot/graph/quantization.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "aot/base/error.h"
#include "aot/graph/text/print_attr.h"

namespace ingot {
namespace {

struct Parameters {
  double scale;
  int64_t zero_point;
};

// Of each element of a quantized tensor, in order.
class ParameterWalk {
 public:
  explicit ParameterWalk(const TensorType& type) : quantization_(*type.quantization) {
    const Shape& shape = type.shape;
    for (size_t d = shape.size(); quantization_.is_per_axis() && d-- > static_cast<size_t>(quantization_.axis) + 1;) {
      inner_ *= shape[d];
    }
  }

  Parameters at(int64_t element) const {
    const size_t k = quantization_.is_per_axis() ? element / inner_ % quantization_.scales.size() : 0;
    return {round_to(quantization_.expressed, quantization_.scales[k]), quantization_.zero_points[k]};
  }

  // The nearest integer, by the specification's steps, each rounded to the expressed type.
  int64_t quantize(double value, const Parameters& p) const {
    const auto rounded = [&](double x) { return round_to(quantization_.expressed, x); };
    // Exactly a value of the grid, though perhaps none of the expressed type: 32-bit integers have more digits.
    const double exact = std::nearbyint(value / p.scale);
    if (exact * p.scale == value && std::abs(exact) < 0x1p33) {
      return clamped(static_cast<int64_t>(exact) + p.zero_point);
    }
    if (std::isnan(value)) return clamped(0);
    const double scaled = rounded(rounded(rounded(value) / p.scale) + rounded(static_cast<double>(p.zero_point)));
    const double low = rounded(static_cast<double>(quantization_.storage_min));
    const double high = rounded(static_cast<double>(quantization_.storage_max));
    return clamped(static_cast<int64_t>(std::nearbyint(std::clamp(scaled, low, high))));
  }

 private:
  int64_t clamped(int64_t integer) const {
    return std::clamp(integer, quantization_.storage_min, quantization_.storage_max);
  }

  const Quantization& quantization_;
  int64_t inner_ = 1;  // elements from one index of the axis to the next
};

double value_of(int64_t integer, const Parameters& p) { return static_cast<double>(integer - p.zero_point) * p.scale; }

std::string parameter_text(const Quantization& q, size_t k) {
  std::string text;
  print_float(text, DType::kF64, q.scales[k]);
  return q.zero_points[k] == 0 ? text : fmt::format("{}:{}", text, q.zero_points[k]);
}

}  // namespace

QuantizationRef interned(Quantization quantization) {
  static std::mutex mutex;
  static std::map<Quantization, QuantizationRef> known;
  const std::lock_guard lock(mutex);
  QuantizationRef& found = known[quantization];
  if (!found) found = std::make_shared<const Quantization>(std::move(quantization));
  return found;
}

std::string to_string(const Quantization& q) {
  std::string text = "!quant.uniform<" + to_string(q.storage);
  if (q.storage_min != least_of(q.storage) || q.storage_max != greatest_of(q.storage)) {
    text += fmt::format("<{}:{}>", q.storage_min, q.storage_max);
  }
  text += ":" + to_string(q.expressed);
  if (!q.is_per_axis()) return text + ", " + parameter_text(q, 0) + ">";
  text += fmt::format(":{}, {{", q.axis);
  for (size_t k = 0; k < q.scales.size(); ++k) text += (k ? "," : "") + parameter_text(q, k);
  return text + "}>";
}

int64_t least_of(DType dtype) { return is_signed(dtype) ? -(int64_t{1} << (info(dtype).bits - 1)) : 0; }

int64_t greatest_of(DType dtype) { return (int64_t{1} << (info(dtype).bits - (is_signed(dtype) ? 1 : 0))) - 1; }

TensorType storage_type(const TensorType& type) { return {type.quantization->storage, type.shape, type.bounds}; }

TensorType expressed_type(const TensorType& type) { return {type.dtype, type.shape, type.bounds}; }

std::string scales_misfit(const TensorType& type) {
  if (!type.quantization || !type.quantization->is_per_axis()) return "";
  const Quantization& q = *type.quantization;
  if (q.axis >= type.rank()) return fmt::format("the shape has no dimension {}, along which scales differ", q.axis);
  const int64_t extent = type.shape[q.axis];
  if (extent == kUnknownDim || extent == std::ssize(q.scales)) return "";
  return fmt::format("dimension {} has {} elements, but there are {} scales", q.axis, extent, q.scales.size());
}

bool same_meaning(const Quantization& a, const Quantization& b) {
  Quantization moved = a;
  if (a.is_per_axis() == b.is_per_axis()) moved.axis = b.axis;
  return moved == b;
}

void quantize_in_place(RefTensor& tensor) {
  const ParameterWalk walk(tensor.type);
  for (int64_t k = 0; k < tensor.elements(); ++k) {
    const Parameters p = walk.at(k);
    tensor.f[k] = value_of(walk.quantize(tensor.f[k], p), p);
  }
}

RefTensor to_storage(const RefTensor& tensor) {
  RefTensor integers(storage_type(tensor.type));
  const ParameterWalk walk(tensor.type);
  for (int64_t k = 0; k < tensor.elements(); ++k) integers.i[k] = walk.quantize(tensor.f[k], walk.at(k));
  return integers;
}

RefTensor from_storage(const TensorType& type, const RefTensor& integers) {
  RefTensor tensor(type);
  const ParameterWalk walk(type);
  for (int64_t k = 0; k < tensor.elements(); ++k) tensor.f[k] = value_of(integers.i[k], walk.at(k));
  return tensor;
}

}  // namespace ingot
