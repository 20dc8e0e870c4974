// Whether containers hold the very objects that they held before: what Python code compares one by one, at once.
#include "engine/python/objects.h"

namespace ingot::python {
namespace {

// Whether a tuple has these objects at a place and the one after it.
bool has(PyObject* was, Py_ssize_t place, PyObject* key, PyObject* value) {
  return PyTuple_GetItem(was, place) == key && PyTuple_GetItem(was, place + 1) == value;
}

bool is_same_dict(PyObject* dict, PyObject* was) {
  if (PyDict_Size(dict) * 2 != PyTuple_Size(was)) return false;
  Py_ssize_t position = 0;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  for (Py_ssize_t i = 0; PyDict_Next(dict, &position, &key, &value); i += 2) {
    if (!has(was, i, key, value)) return false;
  }
  return true;
}

bool is_same_list(PyObject* list, PyObject* was) {
  const Py_ssize_t size = PyTuple_Size(was);
  if (PyList_Size(list) != size) return false;
  for (Py_ssize_t i = 0; i < size; ++i) {
    if (PyList_GetItem(list, i) != PyTuple_GetItem(was, i)) return false;
  }
  return true;
}

bool is_same_set(PyObject* set, PyObject* was) {
  const Py_ssize_t size = PyTuple_Size(was);
  if (PySet_Size(set) != size) return false;
  for (Py_ssize_t i = 0; i < size; ++i) {
    if (PySet_Contains(set, PyTuple_GetItem(was, i)) != 1) return false;
  }
  return true;
}

// Others than dicts, sets and lists are for the caller to compare.
bool is_same(PyObject* container, PyObject* was) {
  if (PyDict_Check(container)) return is_same_dict(container, was);
  if (PySet_Check(container)) return is_same_set(container, was);
  return PyList_Check(container) && is_same_list(container, was);
}

}  // namespace

PyObject* hold_same(PyObject*, PyObject* args) {
  PyObject* containers = nullptr;
  PyObject* were = nullptr;
  if (!PyArg_ParseTuple(args, "O!O!", &PyTuple_Type, &containers, &PyTuple_Type, &were)) return nullptr;
  const Py_ssize_t count = PyTuple_Size(containers);
  if (PyTuple_Size(were) != count) {
    PyErr_Format(PyExc_ValueError, "%zd containers, and what %zd held", count, PyTuple_Size(were));
    return nullptr;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* was = PyTuple_GetItem(were, i);
    if (!PyTuple_Check(was) || !is_same(PyTuple_GetItem(containers, i), was)) {
      PyErr_Clear();  // what cannot be looked up in a set is not in it
      Py_RETURN_FALSE;
    }
  }
  Py_RETURN_TRUE;
}

}  // namespace ingot::python
