// Tensors of other frameworks, read where they lie.
#include "engine/python/dlpack.h"
#include "engine/python/objects.h"

namespace ingot::python {
namespace {

const dlpack::Api* api_of(PyTypeObject* type) {
  PyObject* capsule = PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__dlpack_c_exchange_api__");
  if (!capsule) {
    PyErr_SetString(PyExc_TypeError, "neither an object with memory nor a tensor that DLPack knows");
    return nullptr;
  }
  const auto* api = static_cast<const dlpack::Api*>(PyCapsule_GetPointer(capsule, "dlpack_exchange_api"));
  Py_DECREF(capsule);  // the type keeps it
  if (!api) return nullptr;
  if (api->major_version == dlpack::kMajorVersion && api->describe) return api;
  PyErr_SetString(PyExc_BufferError, "a tensor whose framework speaks another version of DLPack");
  return nullptr;
}

bool is_row_major(const dlpack::Tensor& tensor) {
  int64_t stride = 1;
  for (int32_t i = tensor.rank; i-- > 0;) {
    if (tensor.dims[i] == 0) return true;
    if (tensor.dims[i] != 1 && tensor.strides[i] != stride) return false;
    stride *= tensor.dims[i];
  }
  return true;
}

}  // namespace

bool read_tensor(PyObject* object, void** data, uint64_t* byte_count) {
  const dlpack::Api* api = api_of(Py_TYPE(object));
  dlpack::Tensor tensor = {};
  if (!api || api->describe(object, &tensor) != 0) return false;
  uint64_t count = 1;
  for (int32_t i = 0; i < tensor.rank; ++i) count *= static_cast<uint64_t>(tensor.dims[i]);
  *data = static_cast<char*>(tensor.data) + tensor.offset_bytes;
  *byte_count = (count * tensor.element.bits * tensor.element.lanes + 7) / 8;
  const bool is_here = tensor.device_kind == dlpack::kProcessor && (tensor.data || count == 0);
  if (is_here && is_row_major(tensor)) return true;
  PyErr_SetString(PyExc_BufferError, "a tensor that does not lie row by row in the processor's memory");
  return false;
}

}  // namespace ingot::python
