// Memory of inputs and outputs for the time of a run.
#include <cstdlib>
#include <cstring>

#include "engine/python/session.h"

namespace ingot::python {
namespace {

bool is_state(const Session* self, const void* data) {
  const auto address = reinterpret_cast<uintptr_t>(data);
  const auto begin = reinterpret_cast<uintptr_t>(self->state.data());
  return address >= begin && address < begin + self->state.size();
}

}  // namespace

Port::~Port() { std::free(copy_); }

bool Port::take(PyObject* object, bool is_written) {
  if (!PyObject_CheckBuffer(object)) return read_tensor(object, &data_, &byte_count_);
  if (!buffer_.take(object, is_written)) return false;
  data_ = buffer_.data();
  byte_count_ = buffer_.size();
  return true;
}

bool Port::take_input(const Session* self, PyObject* object) {
  if (!take(object, false)) return false;
  const bool is_aligned = reinterpret_cast<uintptr_t>(data_) % kAlignment == 0;
  if (byte_count_ == 0 || (is_aligned && !is_state(self, data_))) return true;
  copy_ = allocate(byte_count_, kAlignment);
  if (!copy_) return false;
  data_ = std::memcpy(copy_, data_, byte_count_);
  return true;
}

bool Port::take_output(PyObject* object) { return take(object, true); }

bool Port::bind_input(Session* self, uint32_t entry, uint32_t index) const {
  if (byte_count_ == 0) return true;  // needs no binding
  ingot_error error = {};
  return ingot_bind_input(self->session, entry, index, data_, byte_count_, &error) == INGOT_OK ||
         raise(error) != nullptr;
}

bool Port::bind_output(Session* self, uint32_t entry, uint32_t index) const {
  if (byte_count_ == 0) return true;  // needs no binding
  ingot_error error = {};
  return ingot_bind_output(self->session, entry, index, data_, byte_count_, &error) == INGOT_OK ||
         raise(error) != nullptr;
}

}  // namespace ingot::python
