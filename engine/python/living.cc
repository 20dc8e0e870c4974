// Which objects of a type there are.
#include "engine/python/objects.h"

namespace ingot::python {

// The list of all objects must die before another thread runs: a thread that is filling a tuple cannot resize it while
// the list refers to it. No bytecode runs in between, so Python switches no threads.
PyObject* living(PyObject*, PyObject* type) {
  PyObject* gc = PyImport_ImportModule("gc");
  const int was_enabled = PyGC_Disable();  // finalizers may be Python's
  PyObject* all = gc ? PyObject_CallMethod(gc, "get_objects", nullptr) : nullptr;
  PyObject* found = all ? PyList_New(0) : nullptr;
  for (Py_ssize_t i = 0; found && i < PyList_Size(all); ++i) {
    PyObject* object = PyList_GetItem(all, i);
    if (reinterpret_cast<PyObject*>(Py_TYPE(object)) == type && PyList_Append(found, object) != 0) Py_CLEAR(found);
  }
  Py_XDECREF(all);
  Py_XDECREF(gc);
  if (was_enabled) PyGC_Enable();
  return found;
}

}  // namespace ingot::python
