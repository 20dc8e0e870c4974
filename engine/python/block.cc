// Block: memory at a multiple of 64, as the engine wants inputs, outputs and state to lie. Not initialized.
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

#include "engine/python/objects.h"

namespace ingot::python {
namespace {

struct Block {
  PyObject_HEAD void* memory;
  Py_ssize_t byte_count;
};

PyObject* create(PyTypeObject* type, PyObject* args, PyObject*) {
  Py_ssize_t byte_count = 0;
  if (!PyArg_ParseTuple(args, "n", &byte_count)) return nullptr;
  if (byte_count < 0) return PyErr_Format(PyExc_ValueError, "a block of %zd bytes", byte_count);
  auto* self = reinterpret_cast<Block*>(PyType_GenericAlloc(type, 0));
  if (!self) return nullptr;
  self->byte_count = byte_count;
  self->memory = allocate(static_cast<uint64_t>(byte_count), kAlignment);
  if (self->memory) return reinterpret_cast<PyObject*>(self);
  Py_DECREF(self);
  return nullptr;
}

void destroy(PyObject* self) {
  std::free(reinterpret_cast<Block*>(self)->memory);
  free_object(self);
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  auto* block = reinterpret_cast<Block*>(self);
  return PyBuffer_FillInfo(view, self, block->memory, block->byte_count, /*readonly=*/0, flags);
}

PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>("Block(byte_count): memory at a multiple of 64, by the buffer protocol.")},
    {Py_tp_new, reinterpret_cast<void*>(create)},
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
    {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
    {0, nullptr},
};

}  // namespace

void* try_allocate(uint64_t byte_count, uint64_t alignment) {
  constexpr uint64_t kLargePageBytes = uint64_t{2} << 20;
  const bool is_large = byte_count >= kLargePageBytes;
  void* memory = nullptr;
  if (posix_memalign(&memory, is_large ? std::max(alignment, kLargePageBytes) : alignment,
                     byte_count == 0 ? alignment : byte_count) != 0) {
    return nullptr;
  }
#ifdef MADV_HUGEPAGE
  if (is_large) madvise(memory, byte_count / kLargePageBytes * kLargePageBytes, MADV_HUGEPAGE);
#endif
  return memory;
}

void* allocate(uint64_t byte_count, uint64_t alignment) {
  void* memory = try_allocate(byte_count, alignment);
  if (!memory) PyErr_NoMemory();
  return memory;
}

PyType_Spec block_spec = {"ingot._engine.Block", sizeof(Block), 0, Py_TPFLAGS_DEFAULT, slots};

}  // namespace ingot::python
