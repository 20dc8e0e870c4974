// digest(): what a module or a class holds, as one number that two processes have alike where they hold the same.
//
// What is written in no certain order, of dicts and sets and of lists made of these, is summed up.
#include <cstdio>
#include <cstring>

#include "engine/python/objects.h"

namespace ingot::python {
namespace {

constexpr int kDeepest = 2;          // containers in containers, and functions in closures of functions
constexpr Py_ssize_t kLongest = 24;  // characters of a setting; longer texts are messages, paths, names of a process

// A reference that it gives back.
class Owned {
 public:
  explicit Owned(PyObject* object) : object_(object) {}
  ~Owned() { Py_XDECREF(object_); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  PyObject* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_;
};

// 128 bits of all that was added, one after the other.
class Digest {
 public:
  void add(uint64_t word) {
    low_ = mixed((low_ ^ word) * 0x9E3779B97F4A7C15);
    high_ = mixed((high_ + word) * 0xD6E8FEB86659FD93);
  }
  void add(const void* data, size_t size) {
    add(size);
    const char* bytes = static_cast<const char*>(data);
    for (; size >= 8; size -= 8, bytes += 8) add_bytes(bytes, 8);
    if (size) add_bytes(bytes, size);
  }
  void add(const Digest& other) {
    add(other.low_);
    add(other.high_);
  }
  // The same whatever comes first.
  void add_in_any_order(const Digest& other) {
    low_ += mixed(other.low_ * 0xFF51AFD7ED558CCD);
    high_ += mixed(other.high_ * 0xC4CEB9FE1A85EC53);
  }
  PyObject* text() const {
    char digits[33];
    snprintf(digits, sizeof digits, "%016llx%016llx", static_cast<unsigned long long>(high_),
             static_cast<unsigned long long>(low_));
    return PyUnicode_FromString(digits);
  }

 private:
  static uint64_t mixed(uint64_t word) { return word ^ (word >> 31); }
  void add_bytes(const char* bytes, size_t size) {
    uint64_t word = 0;
    memcpy(&word, bytes, size);
    add(word);
  }
  uint64_t low_ = 0x243F6A8885A308D3;
  uint64_t high_ = 0x13198A2E03707344;
};

// Adds a text; false for what is none.
bool add_text(Digest& digest, PyObject* value) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(value, &size);
  if (text) {
    digest.add(text, static_cast<size_t>(size));
    return true;
  }
  PyErr_Clear();
  return false;
}

enum Tag : uint64_t { kNone, kNumber, kText, kBytes, kTyped, kClass, kTuple, kUnordered, kAbsent };

bool is_number(PyObject* value) { return PyLong_CheckExact(value) || PyFloat_CheckExact(value) || PyBool_Check(value); }

bool is_plain(PyObject* value) {
  return value == Py_None || is_number(value) || PyUnicode_CheckExact(value) || PyBytes_CheckExact(value);
}

bool is_container(PyObject* value) {
  return PyDict_CheckExact(value) || PyList_CheckExact(value) || PyTuple_CheckExact(value) ||
         Py_IS_TYPE(value, &PySet_Type) || Py_IS_TYPE(value, &PyFrozenSet_Type);
}

// Whether it is a variable that functions share; others are not asked for attributes, which may run what is theirs.
bool is_cell(PyObject* value) {
  static PyObject* const type = [] {
    const Owned types(PyImport_ImportModule("types"));
    return types ? PyObject_GetAttrString(types.get(), "CellType") : nullptr;
  }();
  return type && Py_IS_TYPE(value, reinterpret_cast<PyTypeObject*>(type));
}

void add_plain(Digest& digest, PyObject* value) {
  if (value == Py_None) return digest.add(kNone);
  if (PyBytes_CheckExact(value)) {
    digest.add(kBytes);
    return digest.add(PyBytes_AsString(value), static_cast<size_t>(PyBytes_Size(value)));
  }
  digest.add(PyUnicode_CheckExact(value) ? kText : kNumber);
  if (PyUnicode_CheckExact(value) && add_text(digest, value)) return;
  const Owned written(PyObject_ASCII(value));  // of numbers, and of texts that are not UTF-8
  if (!written || !add_text(digest, written.get())) PyErr_Clear();
}

// What the digest is of: names and, in modules whose values are settings, plain values and containers of them.
struct Walk {
  PyObject* module;  // its name
  bool has_values;
  PyObject* parts;  // by types, the attributes that say what objects of them are

  Digest held(PyObject* mapping, int depth) const;
  Digest value(PyObject* value, int depth) const;
  Digest object(PyObject* object, int depth) const;
  void add_class(Digest& digest, PyObject* kind, int depth) const;
  void add_attribute(Digest& digest, PyObject* object, PyObject* name, int depth) const;
  void add_element(Digest& digest, PyObject* element, int depth) const;
};

Digest Walk::held(PyObject* mapping, int depth) const {
  Digest digest;
  const Owned items(PyMapping_Items(mapping));
  for (Py_ssize_t i = 0; items && i < PyList_Size(items.get()); ++i) {
    PyObject* key = PyTuple_GetItem(PyList_GetItem(items.get(), i), 0);
    PyObject* entry = PyTuple_GetItem(PyList_GetItem(items.get(), i), 1);
    PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(entry));
    const bool is_long = PyUnicode_CheckExact(entry) && PyUnicode_GetLength(entry) > kLongest;
    const bool is_value = has_values && !is_long && (is_plain(entry) || is_container(entry));
    const bool is_described = PyType_Check(entry) || PyDict_GetItemWithError(parts, type);
    if (!is_described && !is_value) continue;
    Digest pair;
    add_plain(pair, key);
    pair.add(is_described ? object(entry, depth) : value(entry, 0));
    digest.add_in_any_order(pair);
  }
  return digest;
}

// A plain value, or what a container has of them and of functions and classes.
Digest Walk::value(PyObject* value, int depth) const {
  Digest digest;
  if (is_plain(value)) {
    add_plain(digest, value);
    return digest;
  }
  if (!is_container(value) || depth == kDeepest) return object(value, 1);
  const bool is_dict = PyDict_CheckExact(value);
  const bool is_tuple = PyTuple_CheckExact(value);
  digest.add(is_tuple ? kTuple : kUnordered);
  const Owned elements(is_dict ? PyDict_Items(value) : PySequence_List(value));
  for (Py_ssize_t i = 0; elements && i < PyList_Size(elements.get()); ++i) {
    PyObject* element = PyList_GetItem(elements.get(), i);
    Digest one;
    if (is_dict) one.add(this->value(PyTuple_GetItem(element, 0), kDeepest));
    one.add(this->value(is_dict ? PyTuple_GetItem(element, 1) : element, depth + 1));
    is_tuple ? digest.add(one) : digest.add_in_any_order(one);
  }
  return digest;
}

// What an object is by its parts; of one whose type has none, the type.
Digest Walk::object(PyObject* object, int depth) const {
  Digest digest;
  PyTypeObject* type = Py_TYPE(object);
  PyObject* names = PyDict_GetItemWithError(parts, reinterpret_cast<PyObject*>(type));
  if (!names && PyType_Check(object)) {
    add_class(digest, object, depth);
    return digest;
  }
  digest.add(kTyped);
  const Owned name(PyType_GetName(type));
  if (name) add_plain(digest, name.get());
  for (Py_ssize_t i = 0; names && i < PyTuple_Size(names); ++i) {
    add_attribute(digest, object, PyTuple_GetItem(names, i), depth);
  }
  return digest;
}

// The name of a class and, where it is the module's own, what it holds.
void Walk::add_class(Digest& digest, PyObject* kind, int depth) const {
  digest.add(kClass);
  const Owned module_name(PyObject_GetAttrString(kind, "__module__"));
  const Owned name(PyObject_GetAttrString(kind, "__qualname__"));
  const Owned own(PyObject_GetAttrString(kind, "__dict__"));
  if (!module_name || !name || !own) return PyErr_Clear();
  add_plain(digest, module_name.get());
  add_plain(digest, name.get());
  const bool is_own = PyUnicode_Check(module_name.get()) && PyUnicode_Compare(module_name.get(), module) == 0;
  if (is_own && depth == 0) digest.add(held(own.get(), 1));
}

void Walk::add_attribute(Digest& digest, PyObject* object, PyObject* name, int depth) const {
  const Owned part(PyObject_GetAttr(object, name));
  if (!part) {
    digest.add(kAbsent);
    PyErr_Clear();
  } else if (PyTuple_CheckExact(part.get())) {
    digest.add(kTuple);
    for (Py_ssize_t i = 0; i < PyTuple_Size(part.get()); ++i)
      add_element(digest, PyTuple_GetItem(part.get(), i), depth);
  } else if (is_plain(part.get())) {
    add_plain(digest, part.get());
  } else {
    digest.add(this->object(part.get(), depth));
  }
}

// A default of a function, or what a cell of its closure has, which counts as deeper: of a plain value there, its type.
void Walk::add_element(Digest& digest, PyObject* element, int depth) const {
  if (is_plain(element)) return add_plain(digest, element);
  if (!is_cell(element)) return digest.add(object(element, depth));
  const Owned inside(PyObject_GetAttrString(element, "cell_contents"));
  if (!inside) return PyErr_Clear();  // it has no value yet
  if (depth < kDeepest) digest.add(object(inside.get(), depth + 1));
}

}  // namespace

PyObject* digest(PyObject*, PyObject* args) {
  PyObject *mapping, *module, *parts;
  int has_values = 0;
  if (!PyArg_ParseTuple(args, "O!UpO!", &PyDict_Type, &mapping, &module, &has_values, &PyDict_Type, &parts)) {
    return nullptr;
  }
  const Digest made = Walk{module, has_values != 0, parts}.held(mapping, 0);
  if (PyErr_Occurred()) return nullptr;
  return made.text();
}

}  // namespace ingot::python
