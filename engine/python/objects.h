// What the module's types share: how failures of the engine become exceptions, and memory that others own.
//
// Of CPython only the limited API of 3.11 is used: one module serves that version and all that follow.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <ingot/engine.h>

namespace ingot::python {

// The types and the exception of the module, and what stands for values of which any will do, or any that is not 0.
struct Types {
  PyObject* block;
  PyObject* bundle;
  PyObject* error;
  PyObject* session;
  PyObject* anything;
  PyObject* nonzero;
};
extern Types types;

extern PyType_Spec block_spec;
extern PyType_Spec bundle_spec;
extern PyType_Spec call_spec;
extern PyType_Spec session_spec;
extern PyType_Spec watch_spec;

// addresses(tensors): where they lie, as bytes; are_at(tensors, addresses): whether they lie there.
PyObject* addresses(PyObject* self, PyObject* tensors);
PyObject* are_at(PyObject* self, PyObject* args);

// kernels(bundle, entry): what its steps call, as the method of Bundle.
PyObject* kernels(PyObject* bundle, PyObject* args);

// living(type): a list of all objects of just that type that Python's garbage collector knows.
PyObject* living(PyObject* self, PyObject* type);

// xla_call(): (the type of state, the handlers) of a custom call of XLA, as capsules in dicts by JAX's names.
PyObject* xla_call(PyObject* self, PyObject* nothing);

// The memory of another framework's tensor that lies row by row; false, with an exception, for others.
bool read_tensor(PyObject* object, void** data, uint64_t* byte_count);

// Raises EngineError with the engine's own text and, as `status`, its code. Returns null.
PyObject* raise(const ingot_error& error);
// The same of a file, which the engine's text may not name.
PyObject* raise_of(const char* path, const ingot_error& error);

// An opened bundle, which lives as long as one of its owners: objects of Python and programs of XLA.
struct OpenBundle {
  ingot_bundle* bundle;
  void* memory;
  ingot_requirements needs;
  uint64_t number;  // random: no other bundle has it, of this process or another
  uint64_t owner_count;
  OpenBundle* next;
};

// Finds an open bundle by its number, and makes the caller an owner; null if there is none. Without Python.
OpenBundle* own_bundle(uint64_t number);
void disown(OpenBundle* bundle);

// The type Bundle.
struct Bundle {
  PyObject_HEAD OpenBundle* open;
};

// What the engine wants the addresses of inputs, outputs and state to be multiples of.
inline constexpr uint64_t kAlignment = 64;

// Memory at a multiple of `alignment`, much of it in large pages as AlignedBytes has it (engine.hpp), or null with
// MemoryError raised. free() ends it.
void* allocate(uint64_t byte_count, uint64_t alignment);
// The same without Python: null is all that is said.
void* try_allocate(uint64_t byte_count, uint64_t alignment);

// The memory of an object, for as long as this lives.
class Buffer {
 public:
  Buffer() = default;
  ~Buffer() {
    if (is_held_) PyBuffer_Release(&view_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  // False, with an exception, if the object has no memory in one piece, or none that may be written where it must be.
  bool take(PyObject* object, bool is_written) {
    is_held_ = PyObject_GetBuffer(object, &view_, is_written ? PyBUF_WRITABLE : PyBUF_SIMPLE) == 0;
    return is_held_;
  }
  void* data() const { return view_.buf; }
  uint64_t size() const { return static_cast<uint64_t>(view_.len); }

 private:
  Py_buffer view_ = {};
  bool is_held_ = false;
};

// Frees an object of a heap type, and its reference to the type.
inline void free_object(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

}  // namespace ingot::python
