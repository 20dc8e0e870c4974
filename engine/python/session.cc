// Session: a running instance of a bundle. Its state lies in memory that it is given.
#include "engine/python/session.h"

#include <cstdlib>
#include <new>

namespace ingot::python {
namespace {

Session* of(PyObject* self) { return reinterpret_cast<Session*>(self); }

// Calls the engine, on a file if one is named, while Python runs on in other threads; None, or null with an exception.
template <typename Call>
PyObject* call_engine(Session* self, const Call& call, const char* path = "") {
  Turn turn(self);
  ingot_error error = {};
  ingot_status status = INGOT_OK;
  Py_BEGIN_ALLOW_THREADS;
  status = call(&error);
  Py_END_ALLOW_THREADS;
  if (status != INGOT_OK) return raise_of(path, error);
  return Py_NewRef(Py_None);
}

bool start(Session* self, uint32_t threads, bool keeps_state) {
  const ingot_requirements& needs = self->bundle->open->needs;
  const uint64_t count = threads == 0 ? 1 : threads;
  const uint64_t sizes[] = {needs.session_bytes + count * needs.session_bytes_per_thread, needs.arena_bytes,
                            count * needs.scratch_bytes_per_thread};
  for (int i = 0; i < 3; ++i) {
    self->blocks[i] = allocate(sizes[i], needs.alignment_bytes);
    if (!self->blocks[i]) return false;
  }
  const ingot_memory memory = {self->blocks[0],    sizes[0],        self->blocks[1], sizes[1], self->state.data(),
                               self->state.size(), self->blocks[2], sizes[2],        threads};
  ingot_error error = {};
  const auto create = keeps_state ? ingot_create_with_state : ingot_create;
  return create(self->bundle->open->bundle, &memory, &self->session, &error) == INGOT_OK || raise(error) != nullptr;
}

PyObject* create(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject* bundle = nullptr;
  PyObject* state = nullptr;
  unsigned int threads = 1;
  int keeps_state = 0;
  if (!PyArg_ParseTuple(args, "O!O|Ip", types.bundle, &bundle, &state, &threads, &keeps_state)) return nullptr;
  PyObject* self = PyType_GenericAlloc(type, 0);
  if (!self) return nullptr;
  new (&of(self)->state) Buffer();
  of(self)->bundle = reinterpret_cast<Bundle*>(Py_NewRef(bundle));
  of(self)->lock = PyThread_allocate_lock();
  if (of(self)->lock && of(self)->state.take(state, true) && start(of(self), threads, keeps_state)) return self;
  Py_DECREF(self);
  return nullptr;
}

void destroy(PyObject* self) {
  Session* session = of(self);
  ingot_destroy(session->session);
  for (void* block : session->blocks) std::free(block);
  if (session->lock) PyThread_free_lock(session->lock);
  session->state.~Buffer();
  Py_XDECREF(reinterpret_cast<PyObject*>(session->bundle));
  free_object(self);
}

bool bind_default(Session* self, uint32_t entry, uint32_t index) {
  const void* value = nullptr;
  ingot_tensor_info tensor = {};
  ingot_error error = {};
  if (ingot_get_input_info(self->bundle->open->bundle, entry, index, &tensor, &error) == INGOT_OK &&
      ingot_get_input_default(self->bundle->open->bundle, entry, index, &value, &error) == INGOT_OK &&
      ingot_bind_input(self->session, entry, index, value, tensor.bytes, &error) == INGOT_OK) {
    return true;
  }
  return raise(error) != nullptr;
}

bool bind_all(Session* self, uint32_t entry, PyObject* inputs, PyObject* outputs, Port* ports) {
  const Py_ssize_t input_count = PyTuple_Size(inputs);
  for (Py_ssize_t i = 0; i < input_count; ++i) {
    PyObject* object = PyTuple_GetItem(inputs, i);
    const auto index = static_cast<uint32_t>(i);
    if (object == Py_None) {
      if (!bind_default(self, entry, index)) return false;
    } else if (!ports[i].take_input(self, object) || !ports[i].bind_input(self, entry, index)) {
      return false;
    }
  }
  for (Py_ssize_t i = 0; i < PyTuple_Size(outputs); ++i) {
    Port& port = ports[input_count + i];
    if (!port.take_output(PyTuple_GetItem(outputs, i))) return false;
    if (!port.bind_output(self, entry, static_cast<uint32_t>(i))) return false;
  }
  return true;
}

PyObject* run(PyObject* self, PyObject* args) {
  unsigned int entry = 0;
  PyObject* inputs = nullptr;
  PyObject* outputs = nullptr;
  PyObject* events = Py_None;
  if (!PyArg_ParseTuple(args, "IO!O!|O", &entry, &PyTuple_Type, &inputs, &PyTuple_Type, &outputs, &events)) {
    return nullptr;
  }
  Turn turn(of(self));
  const auto count = static_cast<size_t>(PyTuple_Size(inputs) + PyTuple_Size(outputs));
  Port* ports = new (std::nothrow) Port[count];
  if (!ports) return PyErr_NoMemory();
  PyObject* result = nullptr;
  if (bind_all(of(self), entry, inputs, outputs, ports)) {
    ingot_error error = {};
    ingot_status status = INGOT_OK;
    Py_BEGIN_ALLOW_THREADS;
    status = run_entry(of(self), entry, events, &error);
    Py_END_ALLOW_THREADS;
    result = status == INGOT_OK ? Py_NewRef(Py_None) : raise(error);
  }
  delete[] ports;
  return result;
}

PyObject* write_state(PyObject* self, PyObject* args) {
  unsigned int index = 0;
  PyObject* object = nullptr;
  Buffer buffer;
  if (!PyArg_ParseTuple(args, "IO", &index, &object) || !buffer.take(object, false)) return nullptr;
  return call_engine(of(self), [&](ingot_error* error) {
    return ingot_write_state(of(self)->session, index, buffer.data(), buffer.size(), error);
  });
}

PyObject* save(PyObject* self, PyObject* args) {
  PyObject* path = nullptr;
  if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path)) return nullptr;
  const char* file = PyBytes_AsString(path);
  PyObject* result =
      call_engine(of(self), [&](ingot_error* error) { return ingot_save_state(of(self)->session, file, error); }, file);
  Py_DECREF(path);
  return result;
}

PyObject* load(PyObject* self, PyObject* args) {
  PyObject* path = nullptr;
  unsigned int flags = 0;
  if (!PyArg_ParseTuple(args, "O&|I", PyUnicode_FSConverter, &path, &flags)) return nullptr;
  const char* file = PyBytes_AsString(path);
  PyObject* result = call_engine(
      of(self), [&](ingot_error* error) { return ingot_load_state(of(self)->session, file, flags, error); }, file);
  Py_DECREF(path);
  return result;
}

PyMethodDef methods[] = {
    {"run", run, METH_VARARGS,
     "run(entry, inputs, outputs, events=None): once. An input that is None has its default value. Events are context "
     "managers around steps: a tuple for each entry."},
    {"write_state", write_state, METH_VARARGS, "write_state(index, data): copies one state in."},
    {"save", save, METH_VARARGS, "save(path): the state as a safetensors file."},
    {"load", load, METH_VARARGS, "load(path, flags=0): the state from a safetensors file."},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_doc,
     const_cast<char*>("Session(bundle, state, threads=1, keeps_state=False): its state lies in the memory given.")},
    {Py_tp_new, reinterpret_cast<void*>(create)},
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
    {Py_tp_methods, methods},
    {0, nullptr},
};

}  // namespace

PyType_Spec session_spec = {"ingot._engine.Session", sizeof(Session), 0, Py_TPFLAGS_DEFAULT, slots};

}  // namespace ingot::python
