// What runs a session: its object, whose turn it is, and the memory of its inputs and outputs for the time of a run.
#pragma once

#include "engine/python/objects.h"

namespace ingot::python {

struct Session {
  PyObject_HEAD ingot_session* session;
  Bundle* bundle;
  Buffer state;
  PyThread_type_lock lock;
  void* blocks[3];  // session, arena, scratch
};

// One thread at a time uses a session; the others wait, and let Python run.
class Turn {
 public:
  explicit Turn(Session* session) : lock_(session->lock) {
    if (PyThread_acquire_lock(lock_, NOWAIT_LOCK)) return;
    Py_BEGIN_ALLOW_THREADS;
    PyThread_acquire_lock(lock_, WAIT_LOCK);
    Py_END_ALLOW_THREADS;
  }
  ~Turn() { PyThread_release_lock(lock_); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  PyThread_type_lock lock_;
};

// Runs an entry point, without Python's lock. `events` is None, or has a tuple for each entry point, with a context manager
// for each step: it is entered around the step, with the lock. Those of steps that only jump are not looked at.
ingot_status run_entry(const Session* self, uint32_t entry, PyObject* events, ingot_error* error);

// An input or output: the caller's memory, or a copy of it where the engine wants another address, and where an input
// is state, which the run changes. What fails raises an exception.
class Port {
 public:
  Port() = default;
  ~Port();
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  // Takes the memory of an object that has a buffer, or is a tensor.
  bool take_input(const Session* self, PyObject* object);
  bool take_output(PyObject* object);

  // Takes memory at a multiple of kAlignment.
  void take_number(double* number) { take_own(number, sizeof *number); }
  void take_bool(char* value) { take_own(value, 1); }

  // Tells the engine where it lies.
  bool bind_input(Session* self, uint32_t entry, uint32_t index) const;
  bool bind_output(Session* self, uint32_t entry, uint32_t index) const;

 private:
  bool take(PyObject* object, bool is_written);
  void take_own(void* data, uint64_t byte_count) {
    data_ = data;
    byte_count_ = byte_count;
  }

  Buffer buffer_;
  void* data_ = nullptr;
  uint64_t byte_count_ = 0;
  void* copy_ = nullptr;
};

}  // namespace ingot::python
