// The module ingot._engine: the engine's C API as Python's objects. What users call is made of it in Python.
#include <cstdio>
#include <cstring>

#include "engine/python/objects.h"

namespace ingot::python {

Types types = {};

PyObject* raise(const ingot_error& error) {
  PyObject* raised = PyObject_CallFunction(types.error, "s", error.text);
  PyObject* status = PyLong_FromLong(error.status);
  if (raised && status && PyObject_SetAttrString(raised, "status", status) == 0) PyErr_SetObject(types.error, raised);
  Py_XDECREF(raised);
  Py_XDECREF(status);
  return nullptr;
}

PyObject* raise_of(const char* path, const ingot_error& error) {
  if (std::strstr(error.text, path)) return raise(error);
  ingot_error named = error;
  std::snprintf(named.text, sizeof named.text, "%s: %s", path, error.text);
  return raise(named);
}

namespace {

bool add_type(PyObject* module, const char* name, PyType_Spec* spec, PyObject** out) {
  *out = PyType_FromSpec(spec);
  return *out && PyModule_AddObjectRef(module, name, *out) == 0;
}

bool fill(PyObject* module) {
  const char* about_all = "What ingot raises of its own; texts name the thing, the place and what to do.";
  PyObject* base = PyErr_NewExceptionWithDoc("ingot.Error", about_all, PyExc_Exception, nullptr);
  PyObject* bases = base ? PyTuple_Pack(2, base, PyExc_RuntimeError) : nullptr;
  const char* about = "A call of the engine that failed.";
  types.error = bases ? PyErr_NewExceptionWithDoc("ingot.EngineError", about, bases, nullptr) : nullptr;
  Py_XDECREF(bases);
  types.anything = PyObject_CallNoArgs(reinterpret_cast<PyObject*>(&PyBaseObject_Type));
  types.nonzero = PyObject_CallNoArgs(reinterpret_cast<PyObject*>(&PyBaseObject_Type));
  PyObject* call = nullptr;
  PyObject* watch = nullptr;
  return types.error && PyModule_AddStringConstant(module, "__version__", INGOT_VERSION) == 0 &&
         PyModule_AddObjectRef(module, "Error", base) == 0 &&
         PyModule_AddObjectRef(module, "EngineError", types.error) == 0 && types.anything &&
         PyModule_AddObjectRef(module, "ANYTHING", types.anything) == 0 && types.nonzero &&
         PyModule_AddObjectRef(module, "NONZERO", types.nonzero) == 0 &&
         add_type(module, "Block", &block_spec, &types.block) &&
         add_type(module, "Bundle", &bundle_spec, &types.bundle) &&
         add_type(module, "Session", &session_spec, &types.session) && add_type(module, "Call", &call_spec, &call) &&
         add_type(module, "Watch", &watch_spec, &watch);
}

PyMethodDef functions[] = {
    {"addresses", addresses, METH_O, "addresses(tensors): where each of a tuple of tensors lies, as bytes for are_at."},
    {"are_at", are_at, METH_VARARGS, "are_at(tensors, addresses): whether each of a tuple of tensors lies there."},
    {"living", living, METH_O, "living(type): all objects of just that type that the garbage collector knows."},
    {"xla_call", xla_call, METH_NOARGS, "xla_call(): the state's type and the handlers of a custom call of XLA."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "ingot._engine", "The ingot engine.", -1, functions, nullptr, nullptr, nullptr, nullptr};

}  // namespace
}  // namespace ingot::python

PyMODINIT_FUNC PyInit__engine() {
  PyObject* module = PyModule_Create(&ingot::python::definition);
  if (module && !ingot::python::fill(module)) Py_CLEAR(module);
  return module;
}
