// Bundle: an opened bundle, and what it says of its entry points and tensors.
#include <sys/random.h>

#include <cstdlib>
#include <mutex>
#include <new>

#include "engine/python/objects.h"

namespace ingot::python {
namespace {

Bundle* of(PyObject* self) { return reinterpret_cast<Bundle*>(self); }

// All open bundles. XLA's threads look for theirs while Python's open and close others.
std::mutex open_mutex;
OpenBundle* first_open = nullptr;

bool open(OpenBundle* self, const char* path, const char* target) {
  ingot_error error = {};
  if (ingot_probe_file(path, &self->needs, &error) != INGOT_OK) return raise_of(path, error) != nullptr;
  self->memory = allocate(self->needs.bundle_bytes, self->needs.alignment_bytes);
  if (!self->memory) return false;
  if (getrandom(&self->number, sizeof self->number, 0) != sizeof self->number) {
    return PyErr_SetFromErrno(PyExc_OSError) != nullptr;
  }
  self->number >>= 1;  // JAX takes signed numbers
  ingot_open_options options = {};
  options.target = target;
  ingot_status status = INGOT_OK;
  Py_BEGIN_ALLOW_THREADS;
  status = ingot_open_file(path, &options, self->memory, self->needs.bundle_bytes, &self->bundle, &error);
  Py_END_ALLOW_THREADS;
  return status == INGOT_OK || raise_of(path, error) != nullptr;
}

void close(OpenBundle* self) {
  ingot_close(self->bundle);
  std::free(self->memory);
  delete self;
}

OpenBundle* opened(const char* path, const char* target) {
  auto* self = new (std::nothrow) OpenBundle{};
  if (!self) {
    PyErr_NoMemory();
    return nullptr;
  }
  if (!open(self, path, target)) {
    close(self);
    return nullptr;
  }
  const std::lock_guard<std::mutex> guard(open_mutex);
  self->owner_count = 1;
  self->next = first_open;
  first_open = self;
  return self;
}

PyObject* create(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject* path = nullptr;
  const char* target = nullptr;
  if (!PyArg_ParseTuple(args, "O&|z", PyUnicode_FSConverter, &path, &target)) return nullptr;
  PyObject* self = PyType_GenericAlloc(type, 0);
  if (self && !(of(self)->open = opened(PyBytes_AsString(path), target))) {
    Py_DECREF(self);
    self = nullptr;
  }
  Py_DECREF(path);
  return self;
}

void destroy(PyObject* self) {
  disown(of(self)->open);
  free_object(self);
}

PyObject* info(PyObject* self, PyObject*) {
  ingot_bundle_info info = {};
  ingot_get_bundle_info(of(self)->open->bundle, &info);
  return Py_BuildValue("{s:s,s:s,s:s,s:K,s:K,s:K,s:K}", "name", info.name, "producer", info.producer, "target",
                       info.target, "checksum", info.checksum, "arena_bytes", of(self)->open->needs.arena_bytes,
                       "state_bytes", info.state_bytes, "code_bytes", info.code_bytes);
}

// (name, element type, shape, bytes, role, offset)
PyObject* describe(const ingot_tensor_info& tensor) {
  PyObject* shape = PyTuple_New(static_cast<Py_ssize_t>(tensor.rank));
  if (!shape) return nullptr;
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    PyTuple_SetItem(shape, static_cast<Py_ssize_t>(i), PyLong_FromUnsignedLongLong(tensor.dims[i]));
  }
  return Py_BuildValue("(ssNKsK)", tensor.name, ingot_dtype_name(tensor.dtype), shape, tensor.bytes, tensor.role,
                       tensor.offset_bytes);
}

// The descriptions of `count` tensors; `get(i, tensor, error)` asks the engine for one.
template <typename Get>
PyObject* describe_all(uint32_t count, const Get& get) {
  PyObject* all = PyTuple_New(static_cast<Py_ssize_t>(count));
  for (uint32_t i = 0; all && i < count; ++i) {
    ingot_tensor_info tensor = {};
    ingot_error error = {};
    PyObject* one = get(i, &tensor, &error) == INGOT_OK ? describe(tensor) : raise(error);
    if (one) {
      PyTuple_SetItem(all, static_cast<Py_ssize_t>(i), one);
    } else {
      Py_CLEAR(all);
    }
  }
  return all;
}

// (name, inputs, which of them have a value by default, outputs)
PyObject* describe_entry(const ingot_bundle* bundle, uint32_t entry) {
  ingot_entry_info info = {};
  ingot_error error = {};
  if (ingot_get_entry_info(bundle, entry, &info, &error) != INGOT_OK) return raise(error);
  PyObject* defaults = PyTuple_New(static_cast<Py_ssize_t>(info.input_count));
  for (uint32_t i = 0; defaults && i < info.input_count; ++i) {
    const void* value = nullptr;
    ingot_get_input_default(bundle, entry, i, &value, nullptr);
    PyTuple_SetItem(defaults, static_cast<Py_ssize_t>(i), PyBool_FromLong(value != nullptr));
  }
  PyObject* inputs = describe_all(info.input_count, [&](uint32_t i, ingot_tensor_info* tensor, ingot_error* e) {
    return ingot_get_input_info(bundle, entry, i, tensor, e);
  });
  PyObject* outputs = describe_all(info.output_count, [&](uint32_t i, ingot_tensor_info* tensor, ingot_error* e) {
    return ingot_get_output_info(bundle, entry, i, tensor, e);
  });
  return Py_BuildValue("(sNNN)", info.name, inputs, defaults, outputs);
}

PyObject* entries(PyObject* self, PyObject*) {
  ingot_bundle_info info = {};
  ingot_get_bundle_info(of(self)->open->bundle, &info);
  PyObject* all = PyList_New(0);
  for (uint32_t i = 0; all && i < info.entry_count; ++i) {
    PyObject* one = describe_entry(of(self)->open->bundle, i);
    if (!one || PyList_Append(all, one) != 0) Py_CLEAR(all);
    Py_XDECREF(one);
  }
  return all;
}

PyObject* states(PyObject* self, PyObject*) {
  ingot_bundle_info info = {};
  ingot_get_bundle_info(of(self)->open->bundle, &info);
  return describe_all(info.state_count, [&](uint32_t i, ingot_tensor_info* tensor, ingot_error* error) {
    return ingot_get_state_info(of(self)->open->bundle, i, tensor, error);
  });
}

// The index of what has a name; `find` is a function of the engine, with what stands before the name bound to it.
template <typename Find>
PyObject* found(const Find& find) {
  uint32_t index = 0;
  ingot_error error = {};
  return find(&index, &error) == INGOT_OK ? PyLong_FromUnsignedLong(index) : raise(error);
}

PyObject* find_entry(PyObject* self, PyObject* args) {
  const char* name = nullptr;
  if (!PyArg_ParseTuple(args, "s", &name)) return nullptr;
  return found(
      [&](uint32_t* index, ingot_error* e) { return ingot_find_entry(of(self)->open->bundle, name, index, e); });
}

PyObject* find_input(PyObject* self, PyObject* args) {
  unsigned int entry = 0;
  const char* name = nullptr;
  if (!PyArg_ParseTuple(args, "Is", &entry, &name)) return nullptr;
  return found(
      [&](uint32_t* index, ingot_error* e) { return ingot_find_input(of(self)->open->bundle, entry, name, index, e); });
}

PyObject* find_state(PyObject* self, PyObject* args) {
  const char* name = nullptr;
  if (!PyArg_ParseTuple(args, "s", &name)) return nullptr;
  return found(
      [&](uint32_t* index, ingot_error* e) { return ingot_find_state(of(self)->open->bundle, name, index, e); });
}

PyObject* number(PyObject* self, PyObject*) { return PyLong_FromUnsignedLongLong(of(self)->open->number); }

PyMethodDef methods[] = {
    {"info", info, METH_NOARGS, "What the bundle says of itself."},
    {"entries", entries, METH_NOARGS, "(name, inputs, which have a default, outputs) of each entry point."},
    {"kernels", kernels, METH_VARARGS, "(name, source) of each step of an entry point; None of steps that only jump."},
    {"states", states, METH_NOARGS, "(name, element type, shape, bytes, role, offset) of each state."},
    {"find_entry", find_entry, METH_VARARGS, "The index of an entry point, by its name or an end of it."},
    {"find_input", find_input, METH_VARARGS, "The index of an input of an entry point."},
    {"find_state", find_state, METH_VARARGS, "The index of a state."},
    {"number", number, METH_NOARGS, "By which calls of XLA find the bundle, while it is open."},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>("Bundle(path, target=None): opened and verified.")},
    {Py_tp_new, reinterpret_cast<void*>(create)},
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
    {Py_tp_methods, methods},
    {0, nullptr},
};

}  // namespace

OpenBundle* own_bundle(uint64_t number) {
  const std::lock_guard<std::mutex> guard(open_mutex);
  OpenBundle* found = first_open;
  while (found && found->number != number) found = found->next;
  if (found) ++found->owner_count;
  return found;
}

void disown(OpenBundle* bundle) {
  if (!bundle) return;
  {
    const std::lock_guard<std::mutex> guard(open_mutex);
    if (--bundle->owner_count != 0) return;
    OpenBundle** place = &first_open;
    while (*place != bundle) place = &(*place)->next;
    *place = bundle->next;
  }
  close(bundle);
}

PyType_Spec bundle_spec = {"ingot._engine.Bundle", sizeof(Bundle), 0, Py_TPFLAGS_DEFAULT, slots};

}  // namespace ingot::python
