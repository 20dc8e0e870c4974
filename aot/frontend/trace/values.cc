// Values of tensors that hold them: read, copied out, printed.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <ostream>

#include "aot/frontend/trace/trace.h"

namespace ingot {
namespace {

constexpr int64_t kPrintedElementsMax = 1000;  // a tensor of more shows
constexpr int64_t kEdgeElements = 3;           // so many from both ends of each dimension

std::string element_text(const TensorType& type, const std::byte* at) {
  if (is_bool(type.dtype)) return load_int(type.dtype, at) ? "true" : "false";
  if (is_float(type.dtype)) return fmt::format("{:g}", load_float(type.dtype, at));
  if (is_complex(type.dtype)) {
    const std::complex<double> z = load_complex(type.dtype, at);
    return fmt::format("{:g}{:+g}i", z.real(), z.imag());
  }
  const int64_t value = load_int(type.dtype, at);
  return is_unsigned(type.dtype) ? fmt::format("{}", static_cast<uint64_t>(value)) : fmt::format("{}", value);
}

// The elements behind `at` along the dimensions from `dim` on: "[[1, 2], [3, 4]]".
std::string text(const TensorType& type, const Shape& strides, int dim, const std::byte* at) {
  if (dim == type.rank()) return element_text(type, at);
  const int64_t size = type.shape[dim];
  const bool is_cut = type.elements() > kPrintedElementsMax && size > 2 * kEdgeElements;
  std::string all;
  for (int64_t i = 0; i < size; ++i) {
    if (i > 0) all += ", ";
    if (is_cut && i == kEdgeElements) {
      all += "..., ";
      i = size - kEdgeElements;
    }
    all += text(type, strides, dim + 1, at + i * strides[dim] * info(type.dtype).bytes);
  }
  return "[" + all + "]";
}

}  // namespace

double Tensor::item(Where at) const {
  const Scope scope(at);
  if (is_number()) return number_;
  if (numel() != 1)
    fail(fmt::format("item: {} has more or fewer elements than one; to_vector() gives all", to_string(type())));
  const std::byte* data = Trace::current().bytes(*this).data();
  if (is_float(dtype())) return load_float(dtype(), data);
  if (is_complex(dtype())) fail("item: a complex number is no double; print it, or take its parts");
  const int64_t value = load_int(dtype(), data);
  return dtype() == DType::kUI64 ? static_cast<double>(static_cast<uint64_t>(value)) : static_cast<double>(value);
}

void Tensor::copy_values(DType dtype, void* out, const Where& at) const {
  const Scope scope(at);
  const DType own = this->dtype();
  if (own != dtype && !(is_bool(own) && dtype == DType::kUI8)) {
    fail(fmt::format("to_vector: the elements are {0}, not {1}; convert the tensor first, as in to({1})",
                     to_string(own), to_string(dtype)));
  }
  const std::span<const std::byte> bytes = Trace::current().bytes(*this);
  if (!bytes.empty()) std::memcpy(out, bytes.data(), bytes.size());
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  if (!tensor.defined()) return out << "Tensor()";
  if (tensor.is_number()) return out << tensor.number();
  const TensorType& type = tensor.type();
  if (!Trace::current().holds_values()) return out << to_string(type);
  const std::byte* data = Trace::current().bytes(tensor).data();
  return out << fmt::format("tensor({}, {})", text(type, row_major_strides(type.shape), 0, data),
                            to_string(type.dtype));
}

}  // namespace ingot
