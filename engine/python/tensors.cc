// Tensors of other frameworks, read where they lie.
#include <cstring>

#include "engine/python/dlpack.h"
#include "engine/python/objects.h"

namespace ingot::python {
namespace {

const dlpack::Api* find_api(PyTypeObject* type) {
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

// The types of tensors that were met first, which the table keeps alive: to ask each tensor's takes longer than to read it.
struct Known {
  PyTypeObject* type;
  const dlpack::Api* api;
};
Known known[4];

const dlpack::Api* api_of(PyTypeObject* type) {
  for (Known& row : known) {
    if (row.type == type) return row.api;
    if (row.type) continue;
    const dlpack::Api* api = find_api(type);
    if (api) row = {reinterpret_cast<PyTypeObject*>(Py_NewRef(reinterpret_cast<PyObject*>(type))), api};
    return api;
  }
  return find_api(type);
}

bool describe(PyObject* object, dlpack::Tensor* out) {
  const dlpack::Api* api = api_of(Py_TYPE(object));
  return api && api->describe(object, out) == 0;
}

void* data_of(const dlpack::Tensor& tensor) { return static_cast<char*>(tensor.data) + tensor.offset_bytes; }

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
  dlpack::Tensor tensor = {};
  if (!describe(object, &tensor)) return false;
  uint64_t count = 1;
  for (int32_t i = 0; i < tensor.rank; ++i) count *= static_cast<uint64_t>(tensor.dims[i]);
  *data = data_of(tensor);
  *byte_count = (count * tensor.element.bits * tensor.element.lanes + 7) / 8;
  const bool is_here = tensor.device_kind == dlpack::kProcessor && (tensor.data || count == 0);
  if (is_here && is_row_major(tensor)) return true;
  PyErr_SetString(PyExc_BufferError, "a tensor that does not lie row by row in the processor's memory");
  return false;
}

PyObject* addresses(PyObject*, PyObject* tensors) {
  if (!PyTuple_Check(tensors)) return PyErr_Format(PyExc_TypeError, "addresses() takes a tuple of tensors");
  const Py_ssize_t count = PyTuple_Size(tensors);
  PyObject* made = PyBytes_FromStringAndSize(nullptr, count * static_cast<Py_ssize_t>(sizeof(void*)));
  char* next = made ? PyBytes_AsString(made) : nullptr;
  for (Py_ssize_t i = 0; next && i < count; ++i) {
    dlpack::Tensor tensor = {};
    if (!describe(PyTuple_GetItem(tensors, i), &tensor)) {
      Py_DECREF(made);
      return nullptr;
    }
    void* data = data_of(tensor);
    next = static_cast<char*>(std::memcpy(next, &data, sizeof data)) + sizeof data;
  }
  return made;
}

PyObject* are_at(PyObject*, PyObject* args) {
  PyObject* tensors = nullptr;
  PyObject* known_addresses = nullptr;
  if (!PyArg_ParseTuple(args, "O!S", &PyTuple_Type, &tensors, &known_addresses)) return nullptr;
  const Py_ssize_t count = PyTuple_Size(tensors);
  if (PyBytes_Size(known_addresses) != count * static_cast<Py_ssize_t>(sizeof(void*))) {
    return PyErr_Format(PyExc_ValueError, "as many addresses as tensors, of which there are %zd", count);
  }
  const char* next = PyBytes_AsString(known_addresses);
  for (Py_ssize_t i = 0; i < count; ++i, next += sizeof(void*)) {
    dlpack::Tensor tensor = {};
    if (!describe(PyTuple_GetItem(tensors, i), &tensor)) {
      PyErr_Clear();  // what cannot be described is for the caller to compare
      Py_RETURN_FALSE;
    }
    void* data = data_of(tensor);
    if (std::memcmp(next, &data, sizeof data) != 0) Py_RETURN_FALSE;
  }
  Py_RETURN_TRUE;
}

}  // namespace ingot::python
