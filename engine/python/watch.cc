// Watch: whether objects hold the very objects that they held: what Python code compares one by one, at once.
#include <cstdlib>
#include <new>

#include "engine/python/objects.h"

namespace ingot::python {
namespace {

using IsSame = bool (*)(PyObject* container, PyObject** was, Py_ssize_t size);

// A container, `size` objects that it held, of a dict its keys, each before its value, and how they are compared.
struct Container {
  PyObject* object;
  PyObject** was;
  Py_ssize_t size;
  IsSame is_same;
};

// A place in an object, what it held, and how that is read.
struct Place {
  PyObject* object;
  PyObject* key;
  PyObject* was;
  bool (*is_same)(const Place& place);
};

// What it is told to watch, which keeps all objects alive, and the same as the loops read it.
struct Watch {
  PyObject_HEAD PyObject* containers;  // dicts, lists and sets
  PyObject* contents;                  // a tuple for each, of what it held
  PyObject* entries;                   // (mapping or sequence, key, value)
  PyObject* attributes;                // (object, name, value)
  Container* rows;
  PyObject** objects;
  Place* places;  // of entries and attributes
  Py_ssize_t place_count;
};

Watch* of(PyObject* self) { return reinterpret_cast<Watch*>(self); }

// Whether a value may be another than it was.
bool is_free(PyObject* was, PyObject* value) {
  return was == types.anything || (was == types.nonzero && PyObject_IsTrue(value) == 1);
}

bool is_same_dict(PyObject* dict, PyObject** was, Py_ssize_t size) {
  if (PyDict_Size(dict) * 2 != size) return false;
  Py_ssize_t position = 0;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  for (; size > 0 && PyDict_Next(dict, &position, &key, &value); was += 2) {
    if (was[0] != key || (was[1] != value && !is_free(was[1], value))) return false;
  }
  return true;
}

bool is_same_list(PyObject* list, PyObject** was, Py_ssize_t size) {
  if (PyList_Size(list) != size) return false;
  for (Py_ssize_t i = 0; i < size; ++i) {
    if (PyList_GetItem(list, i) != was[i]) return false;
  }
  return true;
}

bool is_same_set(PyObject* set, PyObject** was, Py_ssize_t size) {
  if (PySet_Size(set) != size) return false;
  for (Py_ssize_t i = 0; i < size; ++i) {
    if (PySet_Contains(set, was[i]) != 1) return false;
  }
  return true;
}

// Others than dicts, sets and lists are for the caller to compare.
bool is_unknown(PyObject*, PyObject**, Py_ssize_t) { return false; }

IsSame comparison_of(PyObject* container) {
  if (PyDict_Check(container)) return is_same_dict;
  if (PySet_Check(container)) return is_same_set;
  return PyList_Check(container) ? is_same_list : is_unknown;
}

bool is_same_entry_of_dict(const Place& place) { return PyDict_GetItemWithError(place.object, place.key) == place.was; }

bool is_same_value(PyObject* now, PyObject* was) {
  Py_XDECREF(now);  // the place has it too, if it is the same
  return now == was;
}

bool is_same_entry(const Place& place) { return is_same_value(PyObject_GetItem(place.object, place.key), place.was); }

// Without asking the object, which may have attributes of its own making.
bool is_same_class(const Place& place) { return reinterpret_cast<PyObject*>(Py_TYPE(place.object)) == place.was; }

bool is_same_attribute(const Place& place) {
  return is_same_value(PyObject_GetAttr(place.object, place.key), place.was);
}

PyObject* holds(PyObject* self, PyObject*) {
  if (!of(self)->containers) Py_RETURN_FALSE;  // the collector has cleared it
  const Py_ssize_t count = PyTuple_Size(of(self)->containers);
  bool same = true;
  for (Py_ssize_t i = 0; same && i < count; ++i) {
    const Container& row = of(self)->rows[i];
    same = row.is_same(row.object, row.was, row.size);
  }
  for (Py_ssize_t i = 0; same && i < of(self)->place_count; ++i) {
    const Place& place = of(self)->places[i];
    same = place.is_same(place);
  }
  PyErr_Clear();  // what is not found is not the same
  return PyBool_FromLong(same);
}

bool are_tuples(PyObject* tuples, Py_ssize_t size) {
  for (Py_ssize_t i = 0; i < PyTuple_Size(tuples); ++i) {
    PyObject* tuple = PyTuple_GetItem(tuples, i);
    if (!PyTuple_Check(tuple) || (size >= 0 && PyTuple_Size(tuple) != size)) return false;
  }
  return true;
}

auto* comparison_of_entry(PyObject* object) {
  return PyDict_CheckExact(object) ? is_same_entry_of_dict : is_same_entry;
}

auto* comparison_of_attribute(PyObject* name) {
  const bool is_class = PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, "__class__") == 0;
  return is_class ? is_same_class : is_same_attribute;
}

// Lays out places that are read in one way, the first of them at `next`, and gives where the next ones are.
Place* lay_out_places(PyObject* triples, bool are_entries, Place* next) {
  for (Py_ssize_t i = 0; i < PyTuple_Size(triples); ++i) {
    PyObject* triple = PyTuple_GetItem(triples, i);
    PyObject* object = PyTuple_GetItem(triple, 0);
    PyObject* key = PyTuple_GetItem(triple, 1);
    auto* is_same = are_entries ? comparison_of_entry(object) : comparison_of_attribute(key);
    *next++ = {object, key, PyTuple_GetItem(triple, 2), is_same};
  }
  return next;
}

// Lays out what was held.
bool lay_out(Watch* self) {
  const Py_ssize_t count = PyTuple_Size(self->containers);
  Py_ssize_t total = 0;
  for (Py_ssize_t i = 0; i < count; ++i) total += PyTuple_Size(PyTuple_GetItem(self->contents, i));
  self->rows = new (std::nothrow) Container[static_cast<size_t>(count)];
  self->objects = new (std::nothrow) PyObject*[static_cast<size_t>(total)];
  self->place_count = PyTuple_Size(self->entries) + PyTuple_Size(self->attributes);
  self->places = new (std::nothrow) Place[static_cast<size_t>(self->place_count)];
  if (!self->rows || !self->objects || !self->places) return PyErr_NoMemory() != nullptr;
  lay_out_places(self->attributes, false, lay_out_places(self->entries, true, self->places));
  PyObject** next = self->objects;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* was = PyTuple_GetItem(self->contents, i);
    PyObject* container = PyTuple_GetItem(self->containers, i);
    self->rows[i] = {container, next, PyTuple_Size(was), comparison_of(container)};
    for (Py_ssize_t k = 0; k < PyTuple_Size(was); ++k) *next++ = PyTuple_GetItem(was, k);
  }
  return true;
}

PyObject* create(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject *containers, *contents, *entries, *attributes;
  if (!PyArg_ParseTuple(args, "O!O!O!O!", &PyTuple_Type, &containers, &PyTuple_Type, &contents, &PyTuple_Type, &entries,
                        &PyTuple_Type, &attributes)) {
    return nullptr;
  }
  if (PyTuple_Size(containers) != PyTuple_Size(contents) || !are_tuples(contents, -1) || !are_tuples(entries, 3) ||
      !are_tuples(attributes, 3)) {
    PyErr_SetString(PyExc_ValueError, "containers, a tuple of what each held, and tuples of an object, a key, a value");
    return nullptr;
  }
  PyObject* self = PyType_GenericAlloc(type, 0);
  if (!self) return nullptr;
  of(self)->containers = Py_NewRef(containers);
  of(self)->contents = Py_NewRef(contents);
  of(self)->entries = Py_NewRef(entries);
  of(self)->attributes = Py_NewRef(attributes);
  if (lay_out(of(self))) return self;
  Py_DECREF(self);
  return nullptr;
}

// What is watched may hold the watch itself: the collector must see all of it.
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(of(self)->containers);
  Py_VISIT(of(self)->contents);
  Py_VISIT(of(self)->entries);
  Py_VISIT(of(self)->attributes);
  return 0;
}

int clear(PyObject* self) {
  Py_CLEAR(of(self)->containers);
  Py_CLEAR(of(self)->contents);
  Py_CLEAR(of(self)->entries);
  Py_CLEAR(of(self)->attributes);
  return 0;
}

void destroy(PyObject* self) {
  PyObject_GC_UnTrack(self);
  clear(self);
  delete[] of(self)->rows;
  delete[] of(self)->objects;
  delete[] of(self)->places;
  free_object(self);
}

PyMethodDef methods[] = {
    {"holds", holds, METH_NOARGS, "Whether all is held that was; not by its value, but as the same objects."},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>("Watch(containers, contents, entries, attributes): what objects held, and where.")},
    {Py_tp_new, reinterpret_cast<void*>(create)},
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {Py_tp_methods, methods},
    {0, nullptr},
};

}  // namespace

PyType_Spec watch_spec = {"ingot._engine.Watch", sizeof(Watch), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};

}  // namespace ingot::python
