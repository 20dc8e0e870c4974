// Call: an entry point on a step's arguments and on numbers where Python keeps them, behind checks of both.
#include <cstdlib>
#include <new>

#include "engine/python/session.h"

namespace ingot::python {
namespace {

// Where an input comes from: an argument, or a number in a dict, or in a sequence there.
struct Source {
  Py_ssize_t argument;  // negative for numbers
  PyObject* dict;
  PyObject* key;
  Py_ssize_t index;  // negative for a number of the dict itself
};

struct Call {
  PyObject_HEAD PyObject* session;
  PyObject* given;  // a tuple of what the sources are made of, which keeps their objects alive
  Source* sources;  // one for each input
  Py_ssize_t source_count;
  uint32_t entry;
  uint32_t* checks;  // entry points of the same inputs, each with an output of one byte
  Py_ssize_t check_count;
  char* memory;  // at multiples of kAlignment: of each input that is a number, then of what each check gives
};

Call* of(PyObject* self) { return reinterpret_cast<Call*>(self); }
Session* session_of(Call* self) { return reinterpret_cast<Session*>(self->session); }
char* memory_of(const Call* self, Py_ssize_t i) { return self->memory + static_cast<size_t>(i) * kAlignment; }

// What an input is read from: the place of an argument, or (dict, key, index) with None for no index.
bool lay_out_source(PyObject* given, Source* out) {
  *out = {-1, nullptr, nullptr, -1};
  if (PyLong_Check(given)) {
    out->argument = PyLong_AsSsize_t(given);
    if (out->argument >= 0) return true;
  } else if (PyTuple_Check(given) && PyTuple_Size(given) == 3 && PyDict_Check(PyTuple_GetItem(given, 0))) {
    out->dict = PyTuple_GetItem(given, 0);
    out->key = PyTuple_GetItem(given, 1);
    PyObject* index = PyTuple_GetItem(given, 2);
    if (index == Py_None) return true;
    out->index = PyLong_AsSsize_t(index);
    if (out->index >= 0) return true;
  }
  if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "sources: places of arguments, or (dict, key, index)");
  return false;
}

bool lay_out(Call* self, PyObject* checks) {
  self->source_count = PyTuple_Size(self->given);
  self->check_count = PyTuple_Size(checks);
  const auto count = static_cast<uint64_t>(self->source_count + self->check_count);
  self->sources = new (std::nothrow) Source[static_cast<size_t>(self->source_count)];
  self->checks = new (std::nothrow) uint32_t[static_cast<size_t>(self->check_count)];
  self->memory = static_cast<char*>(allocate(count * kAlignment, kAlignment));
  if (!self->sources || !self->checks || !self->memory) return PyErr_NoMemory() != nullptr;
  for (Py_ssize_t i = 0; i < self->source_count; ++i) {
    if (!lay_out_source(PyTuple_GetItem(self->given, i), &self->sources[i])) return false;
  }
  for (Py_ssize_t i = 0; i < self->check_count; ++i) {
    self->checks[i] = static_cast<uint32_t>(PyLong_AsUnsignedLong(PyTuple_GetItem(checks, i)));
  }
  return !PyErr_Occurred();
}

PyObject* create(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject *session, *sources, *checks;
  unsigned int entry = 0;
  if (!PyArg_ParseTuple(args, "O!IO!O!", types.session, &session, &entry, &PyTuple_Type, &sources, &PyTuple_Type,
                        &checks)) {
    return nullptr;
  }
  PyObject* self = PyType_GenericAlloc(type, 0);
  if (!self) return nullptr;
  of(self)->session = Py_NewRef(session);
  of(self)->given = Py_NewRef(sources);
  of(self)->entry = entry;
  if (lay_out(of(self), checks)) return self;
  Py_DECREF(self);
  return nullptr;
}

// The number that a source names, as it is now.
bool read_number(const Source& source, double* out) {
  PyObject* held = PyDict_GetItemWithError(source.dict, source.key);
  if (!held) {
    if (!PyErr_Occurred()) PyErr_SetObject(PyExc_KeyError, source.key);
    return false;
  }
  PyObject* number = source.index < 0 ? Py_NewRef(held) : PySequence_GetItem(held, source.index);
  if (!number) return false;
  *out = PyFloat_AsDouble(number);
  Py_DECREF(number);
  return *out != -1.0 || !PyErr_Occurred();
}

// Takes an input's memory, and binds it for the entry point and each check.
bool bind_input(Call* self, Py_ssize_t i, PyObject* arguments, Port* port) {
  const Source& source = self->sources[i];
  const auto index = static_cast<uint32_t>(i);
  Session* session = session_of(self);
  if (source.argument < 0) {
    auto* number = reinterpret_cast<double*>(memory_of(self, i));
    if (!read_number(source, number)) return false;
    port->take_number(number);
  } else {
    PyObject* argument = PyTuple_GetItem(arguments, source.argument);  // IndexError where there are too few
    if (!argument || !port->take_input(session, argument)) return false;
  }
  for (Py_ssize_t check = 0; check < self->check_count; ++check) {
    if (!port->bind_input(session, self->checks[check], index)) return false;
  }
  return port->bind_input(session, self->entry, index);
}

bool bind_all(Call* self, PyObject* arguments, PyObject* outputs, Port* ports) {
  Session* session = session_of(self);
  for (Py_ssize_t i = 0; i < self->source_count; ++i) {
    if (!bind_input(self, i, arguments, &ports[i])) return false;
  }
  for (Py_ssize_t i = 0; i < self->check_count; ++i) {
    Port holds;
    holds.take_bool(memory_of(self, self->source_count + i));
    if (!holds.bind_output(session, self->checks[i], 0)) return false;
  }
  for (Py_ssize_t i = 0; i < PyTuple_Size(outputs); ++i) {
    Port& port = ports[self->source_count + i];
    if (!port.take_output(PyTuple_GetItem(outputs, i))) return false;
    if (!port.bind_output(session, self->entry, static_cast<uint32_t>(i))) return false;
  }
  return true;
}

// Runs the checks, and the entry point if all of them hold. Python runs on in other threads.
PyObject* run_bound(Call* self, PyObject* events) {
  const Session* session = session_of(self);
  ingot_error error = {};
  ingot_status status = INGOT_OK;
  bool holds = true;
  Py_BEGIN_ALLOW_THREADS;
  for (Py_ssize_t i = 0; status == INGOT_OK && holds && i < self->check_count; ++i) {
    status = run_entry(session, self->checks[i], events, &error);
    holds = *memory_of(self, self->source_count + i) != 0;
  }
  if (status == INGOT_OK && holds) status = run_entry(session, self->entry, events, &error);
  Py_END_ALLOW_THREADS;
  return status == INGOT_OK ? PyBool_FromLong(holds) : raise(error);
}

PyObject* run(PyObject* self, PyObject* args) {
  PyObject* arguments = nullptr;
  PyObject* outputs = nullptr;
  PyObject* events = Py_None;
  if (!PyArg_ParseTuple(args, "O!O!|O", &PyTuple_Type, &arguments, &PyTuple_Type, &outputs, &events)) return nullptr;
  if (!of(self)->session) return PyErr_Format(PyExc_RuntimeError, "the collector has cleared the call");
  Turn turn(session_of(of(self)));
  const auto count = static_cast<size_t>(of(self)->source_count + PyTuple_Size(outputs));
  Port* ports = new (std::nothrow) Port[count];
  if (!ports) return PyErr_NoMemory();
  PyObject* result = bind_all(of(self), arguments, outputs, ports) ? run_bound(of(self), events) : nullptr;
  delete[] ports;
  return result;
}

// The dicts may hold the call itself: the collector must see all of it.
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(of(self)->session);
  Py_VISIT(of(self)->given);
  return 0;
}

int clear(PyObject* self) {
  Py_CLEAR(of(self)->session);
  Py_CLEAR(of(self)->given);
  return 0;
}

void destroy(PyObject* self) {
  PyObject_GC_UnTrack(self);
  clear(self);
  delete[] of(self)->sources;
  delete[] of(self)->checks;
  std::free(of(self)->memory);
  free_object(self);
}

PyMethodDef methods[] = {
    {"run", run, METH_VARARGS,
     "run(arguments, outputs, events=None): once, if all checks hold; whether they do. Events as of Session."},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>("Call(session, entry, sources, checks): an entry point on arguments and numbers.")},
    {Py_tp_new, reinterpret_cast<void*>(create)},
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {Py_tp_methods, methods},
    {0, nullptr},
};

}  // namespace

PyType_Spec call_spec = {"ingot._engine.Call", sizeof(Call), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};

}  // namespace ingot::python
