#include "aot/graph/tensor.h"

#include "aot/base/error.h"
#include "aot/graph/quantization.h"

namespace ingot {

RefTensor::RefTensor(TensorType t) : type(std::move(t)) {
  if (is_float()) {
    f.resize(elements());
  } else if (is_complex()) {
    f.resize(2 * elements());
  } else {
    i.resize(elements());
  }
}

void RefTensor::copy_element(int64_t to, const RefTensor& from, int64_t from_index) {
  if (is_float()) {
    f[to] = from.f[from_index];
  } else if (is_complex()) {
    set_complex(to, from.complex_at(from_index));
  } else {
    i[to] = from.i[from_index];
  }
}

RefTensor from_literal(const Literal& literal) {
  RefTensor tensor(literal.type);
  for (int64_t k = 0; k < tensor.elements(); ++k) {
    if (tensor.is_float()) {
      tensor.f[k] = literal.float_at(k);
    } else if (tensor.is_complex()) {
      tensor.set_complex(k, literal.complex_at(k));
    } else {
      tensor.i[k] = literal.int_at(k);
    }
  }
  return tensor;
}

LiteralRef to_literal(const RefTensor& tensor) {
  const DType dtype = tensor.type.dtype;
  std::vector<std::byte> data(tensor.type.bytes());
  for (int64_t k = 0; k < tensor.elements(); ++k) {
    std::byte* to = data.data() + k * info(dtype).bytes;
    if (tensor.is_float()) {
      store_float(dtype, tensor.f[k], to);
    } else if (tensor.is_complex()) {
      store_complex(dtype, tensor.complex_at(k), to);
    } else {
      store_int(dtype, tensor.i[k], to);
    }
  }
  return dense(tensor.type, std::move(data));
}

void round_in_place(RefTensor& tensor) {
  if (tensor.type.quantization) return quantize_in_place(tensor);
  for (double& value : tensor.f) value = round_to(part_of(tensor.type.dtype), value);
  for (int64_t& value : tensor.i) value = wrap_to(tensor.type.dtype, value);
}

bool next_index(Shape& at, const Shape& shape) {
  for (size_t k = shape.size(); k-- > 0;) {
    if (++at[k] < shape[k]) return true;
    at[k] = 0;
  }
  return false;
}

int64_t linear_index(const Shape& at, const Shape& strides) {
  int64_t index = 0;
  for (size_t k = 0; k < at.size(); ++k) index += at[k] * strides[k];
  return index;
}

}  // namespace ingot
