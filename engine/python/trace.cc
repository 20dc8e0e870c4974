// Runs as Python's profilers see them: context managers that are entered around steps.
#include "engine/python/session.h"

namespace ingot::python {
namespace {

// Enters, or leaves, the context manager of a step. What it raises is reported, and the run goes on.
void call_event(void* events, const ingot_trace_event* step, bool begins) {
  if (step->task_count == 0) return;
  const PyGILState_STATE state = PyGILState_Ensure();
  PyObject* of_entry = PyTuple_GetItem(static_cast<PyObject*>(events), static_cast<Py_ssize_t>(step->entry));
  PyObject* event = of_entry ? PyTuple_GetItem(of_entry, static_cast<Py_ssize_t>(step->step)) : nullptr;
  PyObject* done = nullptr;
  if (event && begins) done = PyObject_CallMethod(event, "__enter__", nullptr);
  if (event && !begins) done = PyObject_CallMethod(event, "__exit__", "OOO", Py_None, Py_None, Py_None);
  if (!done) PyErr_WriteUnraisable(event);
  Py_XDECREF(done);
  PyGILState_Release(state);
}

void enter(void* events, const ingot_trace_event* step) { call_event(events, step, true); }
void leave(void* events, const ingot_trace_event* step) { call_event(events, step, false); }

}  // namespace

ingot_status run_entry(const Session* self, uint32_t entry, PyObject* events, ingot_error* error) {
  if (events == Py_None) return ingot_run(self->session, entry, error);
  ingot_set_trace(self->session, enter, leave, events);
  const ingot_status status = ingot_run(self->session, entry, error);
  ingot_set_trace(self->session, nullptr, nullptr, nullptr);
  return status;
}

}  // namespace ingot::python
